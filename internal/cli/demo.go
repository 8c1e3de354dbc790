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

// demoCommand is the command atelie demo. It loads the demo content.
type demoCommand struct {
	New bool `help:"Create a missing database or file store although other parts of the site exist, as serve --new does."`
}

// Run loads the demo content and ends. The command atelie serve --demo loads it too, and then serves the site.
func (c *demoCommand) Run(env *environment) error {
	env.cfg.New = c.New
	return env.with(func(a *app.App) error { return loadDemo(env, a) })
}

// demoOwner is the e-mail address of the demo's owner account. Its password is generated for each data folder.
const demoOwner = "owner@demo.example"

// loadDemo loads the demo content, and creates the demo's owner account if the site has no owner. It stores the account's
// password in a file of the data folder, so that the next start can print it again. Only the user that runs the program can
// read the file.
func loadDemo(env *environment, a *app.App) error {
	if err := a.LoadDemo(env.ctx); err != nil {
		return fmt.Errorf("demo content: %w", err)
	}
	file := filepath.Join(env.cfg.Server.DataDir, "demo-owner-password")
	stored, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	password := strings.TrimSpace(string(stored))
	hasOwner, err := a.Auth.HasOwner(env.ctx)
	if err != nil {
		return err
	}
	if !hasOwner {
		// The file can have the password that was made for an earlier database. It is used again for the new account.
		if password == "" {
			// Store the password before using it, so that the next start can print it.
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
