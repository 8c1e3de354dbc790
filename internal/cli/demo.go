package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"atelie/internal/app"
)

type demoCommand struct{}

func (c *demoCommand) Run(env *environment) error {
	return env.with(func(a *app.App) error { return loadDemo(env, a) })
}

// demoOwner is the account that comes with the demo. Its password is generated for each data folder.
const demoOwner = "owner@demo.example"

// loadDemo loads the content and, when the site has no owner, makes one. The password lies beside the secret, readable
// by this user alone, so that it can be shown again at the next start.
func loadDemo(env *environment, a *app.App) error {
	if err := a.LoadDemo(env.ctx); err != nil {
		return fmt.Errorf("demo content: %w", err)
	}
	file := filepath.Join(env.cfg.Server.DataDir, "demo-owner-password")
	known, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	password := strings.TrimSpace(string(known))
	hasOwner, err := a.Auth.HasOwner(env.ctx)
	if err != nil {
		return err
	}
	if !hasOwner { // also beside a password that was made for another database
		if password == "" { // written before it is needed: it could not be told again
			password = makePassword(env.cfg.Auth.PasswordMinLength)
			if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
				return err
			}
		}
		if err := a.Auth.AddOwner(env.ctx, demoOwner, password); err != nil {
			return err
		}
		return env.printf("Demo owner: %s\nPassword:   %s\n", demoOwner, password)
	}
	if password == "" {
		return nil
	}
	return env.printf("Demo owner: %s\nPassword:   %s (as it was made for the demo)\n", demoOwner, password)
}
