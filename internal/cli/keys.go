package cli

import (
	"time"

	"atelie/internal/app"
	"atelie/internal/identity"
)

type keysCommand struct {
	Print  keysPrintCommand  `cmd:"" default:"1" help:"Print the public and the elevated key, in dotenv form."`
	Rotate keysRotateCommand `cmd:"" help:"Make a new key for access tokens, with jwt-algorithm ES256."`
}

type keysPrintCommand struct{}

// Run prints what the official client needs. It touches the data folder only to read or make the secret.
func (c *keysPrintCommand) Run(env *environment) error {
	if err := env.prepare(); err != nil {
		return err
	}
	tokens := identity.NewTokens([]byte(env.cfg.Auth.JWTSecret), env.now)
	anon, err := tokens.Key(identity.Anon)
	if err != nil {
		return err
	}
	service, err := tokens.Key(identity.Service)
	if err != nil {
		return err
	}
	return env.printf("ANON_KEY=%s\nSERVICE_ROLE_KEY=%s\nURL=%s\n", anon, service, env.cfg.Server.APIURL)
}

type keysRotateCommand struct{}

// Run leaves the anon and service keys as they are: they do not depend on these keys.
func (c *keysRotateCommand) Run(env *environment) error {
	return env.with(func(a *app.App) error {
		id, from, err := a.Auth.RotateSigningKey(env.ctx)
		if err != nil {
			return err
		}
		return env.printf("Key %s is published now and signs from %s on. Nobody is signed out.\n", id, from.Format(time.RFC3339))
	})
}
