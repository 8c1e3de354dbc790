package cli

import (
	"bufio"
	"crypto/rand"
	"errors"
	"strings"

	"atelie/internal/app"
	"atelie/internal/apperr"
)

// ownerCommand is the command atelie owner. It manages the accounts of the owners, who are the administrators of the site.
type ownerCommand struct {
	Add      ownerAddCommand      `cmd:"" help:"Create an owner account, or make an existing account an owner."`
	Password ownerPasswordCommand `cmd:"" help:"Set a new password and end all sessions of the account."`
	List     ownerListCommand     `cmd:"" help:"List the owners."`
	Remove   ownerRemoveCommand   `cmd:"" help:"Remove the owner's rights from an account."`
}

type ownerAddCommand struct {
	Email         string `arg:"" help:"Address of the account."`
	PasswordStdin bool   `help:"Read the password from standard input instead of making one."`
}

// Run makes an account an owner. If there is no account with this address, Run creates it. A confirmed account that has a password keeps
// it, unless --password-stdin sets another one.
func (c *ownerAddCommand) Run(env *environment) error {
	password, generated, err := choosePassword(env, c.PasswordStdin)
	if err != nil {
		return err
	}
	return env.with(func(a *app.App) error {
		if generated {
			err := a.Auth.AddOwner(env.ctx, c.Email, "") // "" keeps the password of the account
			if err == nil {
				return env.printf("Owner %s is ready, with the password it had.\n", c.Email)
			}
			if apperr.From(err).Code != "validation_failed" { // validation_failed: the account does not exist and needs a password
				return err
			}
		}
		if err := a.Auth.AddOwner(env.ctx, c.Email, password); err != nil {
			return err
		}
		return printPassword(env, "Owner "+c.Email+" is ready.", password, generated)
	})
}

type ownerPasswordCommand struct {
	Email         string `arg:"" help:"Address of the account."`
	PasswordStdin bool   `help:"Read the password from standard input instead of making one."`
	ResetFactors  bool   `help:"Remove the account's second factors too."`
}

// Run sets a new password for an existing account.
func (c *ownerPasswordCommand) Run(env *environment) error {
	password, generated, err := choosePassword(env, c.PasswordStdin)
	if err != nil {
		return err
	}
	return env.with(func(a *app.App) error {
		if err := a.Auth.SetPassword(env.ctx, c.Email, password, c.ResetFactors); err != nil {
			return err
		}
		return printPassword(env, "The password of "+c.Email+" is changed and all its sessions have ended.", password, generated)
	})
}

type ownerListCommand struct{}

func (c *ownerListCommand) Run(env *environment) error {
	return env.with(func(a *app.App) error {
		owners, err := a.Auth.Owners(env.ctx)
		if err != nil {
			return err
		}
		for _, o := range owners {
			env.say("%s\n", o.Email)
		}
		return nil
	})
}

type ownerRemoveCommand struct {
	Email string `arg:"" help:"Address of the account."`
}

func (c *ownerRemoveCommand) Run(env *environment) error {
	return env.with(func(a *app.App) error {
		if err := a.Auth.RemoveOwner(env.ctx, c.Email); err != nil {
			return err
		}
		return env.printf("%s is not an owner any more.\n", c.Email)
	})
}

// choosePassword reads a password from standard input, or creates one; then generated is true.
func choosePassword(env *environment, fromStdin bool) (password string, generated bool, err error) {
	if !fromStdin {
		return makePassword(env.cfg.Auth.PasswordMinLength), true, nil
	}
	scanner := bufio.NewScanner(env.in)
	if !scanner.Scan() {
		return "", false, errors.Join(errors.New("no password on standard input"), scanner.Err())
	}
	return strings.TrimRight(scanner.Text(), "\r"), false, nil
}

// makePassword returns a random password with at least 128 random bits and at least minLength characters.
func makePassword(minLength int) string {
	password := rand.Text()
	for len(password) < minLength {
		password += rand.Text()
	}
	return password
}

// printPassword prints text, and also the password if this program has created it.
func printPassword(env *environment, text, password string, generated bool) error {
	if generated {
		text += "\nPassword: " + password
	}
	return env.printf("%s\n", text)
}
