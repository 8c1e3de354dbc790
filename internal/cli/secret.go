package cli

import (
	"errors"
	"fmt"

	"atelie/internal/app"
	"atelie/internal/datafolder"
)

// secretCommand is the command atelie secret. It changes the site's secret, from which the program derives its keys.
type secretCommand struct {
	Reset  secretResetCommand  `cmd:"" help:"Use this when the secret is lost. From then on the database belongs to the secret that is set, or to a new one. This ends all sessions and removes what only the lost secret could decrypt: second factors by an authenticator app, recovery codes, waiting mails."`
	Rotate secretRotateCommand `cmd:"" help:"Create a new secret in the data folder and keep the current one as the previous secret."`
	Forget secretForgetCommand `cmd:"" help:"Remove the previous secret once no value is encrypted with it."`
}

var errSecretSet = errors.New("secret: ATELIE_JWT_SECRET sets it, so the data folder has none to change: set the new one as ATELIE_JWT_SECRET and the old one as ATELIE_JWT_SECRET_PREVIOUS, then start the servers again")

type secretRotateCommand struct{}

// Run puts a new secret into the data folder and keeps the current one as the previous secret. After its next start, the server encrypts
// all values again with the new secret.
func (c *secretRotateCommand) Run(env *environment) error {
	if env.cfg.Auth.JWTSecret != "" {
		return errSecretSet
	}
	// with opens the site, and so checks that the secret in the folder belongs to the database.
	if err := env.with(func(*app.App) error { return nil }); err != nil {
		return err
	}
	if err := datafolder.RotateSecret(env.cfg.Server.DataDir); err != nil {
		return err
	}
	return env.printf("A new secret was created. Start the server again: it encrypts all values with the new secret, and logs when the old one may be removed.\nUntil then existing sessions, tokens and keys stay valid; atelie keys prints the new keys.\n")
}

type secretForgetCommand struct{}

// Run removes the previous secret. It fails while values are still encrypted with it.
func (c *secretForgetCommand) Run(env *environment) error {
	if env.cfg.Auth.JWTSecret != "" {
		return errSecretSet
	}
	return env.with(func(a *app.App) error {
		if !a.HasPreviousSecret() {
			return errors.New("secret: there is no previous one")
		}
		found, err := a.Reseal(env.ctx, false /* only count */)
		if err != nil {
			return err
		}
		if found > 0 {
			return fmt.Errorf("secret: %d values are still encrypted with the previous one; start the server, which encrypts them again", found)
		}
		if err := a.ForgetPreviousSecret(env.ctx); err != nil {
			return err
		}
		return env.printf("The previous secret is removed. Start the server again: keys and access tokens made with it then become invalid; sessions continue.\n")
	})
}

type secretResetCommand struct{}

// Run makes the database accept another secret, and prints what was removed, so that the operator can inform the affected users.
func (secretResetCommand) Run(env *environment) error {
	r, err := app.ResetSecret(env.ctx, env.cfg, env.log, env.now)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("The database accepts the secret now. All sessions have ended; atelie keys prints the new keys.\nWaiting mails and other jobs that were removed: %d\n", r.Jobs)
	for _, account := range r.Factors {
		text += account + " has lost the second factor and must enrol it again.\n"
	}
	return env.printf("%s", text)
}
