package cli

import "atelie/internal/identity"

type keysCommand struct{}

// Run prints what the official client needs. It touches the data folder only to read or make the secret.
func (c *keysCommand) Run(env *environment) error {
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
