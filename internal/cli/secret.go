package cli

import (
	"errors"
	"fmt"

	"atelie/internal/app"
	"atelie/internal/datafolder"
)

// secretCommand is the command atelie secret, which changes the secret from which the program derives its keys.
type secretCommand struct {
	Reset  secretResetCommand  `cmd:"" help:"Let the database accept the secret that is set, or a new one, when its own is lost for good. Ends all sessions and removes what only the lost one could read: second factors by an authenticator app, recovery codes, waiting mails."`
	Rotate secretRotateCommand `cmd:"" help:"Put a new secret into the data folder and keep the one of now beside it."`
	Forget secretForgetCommand `cmd:"" help:"Remove the previous secret, once nothing is sealed with it."`
}

var errSecretSet = errors.New("secret: it is set, not kept in the data folder: set the new one as ATELIE_JWT_SECRET and the old one as ATELIE_JWT_SECRET_PREVIOUS, then start the servers again")

type secretRotateCommand struct{}

// Run puts a new secret into the data folder and keeps the current one as the previous secret. At its next start the server begins to
// seal the sealed values again, with the new secret.
func (c *secretRotateCommand) Run(env *environment) error {
	if env.cfg.Auth.JWTSecret != "" {
		return errSecretSet
	}
	if err := env.with(func(*app.App) error { return nil }); err != nil { // opening the site checks that the folder's secret belongs to the database
		return err
	}
	if err := datafolder.RotateSecret(env.cfg.Server.DataDir); err != nil {
		return err
	}
	return env.printf("The secret is new. Start the server again: it seals anew what the old one has sealed, and says when the old one may go.\nUntil then sessions, tokens and keys of before stay valid; atelie keys prints the new keys.\n")
}

type secretForgetCommand struct{}

// Run removes the previous secret. It fails while values are still sealed with it.
func (c *secretForgetCommand) Run(env *environment) error {
	if env.cfg.Auth.JWTSecret != "" {
		return errSecretSet
	}
	return env.with(func(a *app.App) error {
		if !a.HasPreviousSecret() {
			return errors.New("secret: there is no previous one")
		}
		found, err := a.Reseal(env.ctx, false)
		if err != nil {
			return err
		}
		if found > 0 {
			return fmt.Errorf("secret: %d values are still sealed with the previous one; start the server, which seals them anew", found)
		}
		if err := a.ForgetPreviousSecret(env.ctx); err != nil {
			return err
		}
		return env.printf("The previous secret is gone. Start the server again: keys and access tokens made with the previous one then end; sessions go on.\n")
	})
}

type secretResetCommand struct{}

// Run makes the database accept another secret, and prints what was removed, so that the operator can inform the people concerned.
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
