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

// demoCommand is the command atelie demo, which loads the demo content.
type demoCommand struct {
	New bool `help:"Begin what is missing anew, as serve --new does."`
}

func (c *demoCommand) Run(env *environment) error {
	env.cfg.New = c.New
	return env.with(func(a *app.App) error { return loadDemo(env, a) })
}

// demoOwner is the e-mail address of the demo's owner account. Its password is generated for each data folder.
const demoOwner = "owner@demo.example"

// loadDemo loads the demo content, and creates an owner account if the site has none. The password is stored in the data
// folder, readable only by this user, so that the next start can print it again.
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
	if !hasOwner { // a stored password may belong to an earlier database
		if password == "" { // store the password before using it, so that the next start can print it
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
