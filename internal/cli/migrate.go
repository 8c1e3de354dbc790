package cli

import (
	"errors"

	"atelie/internal/db"
)

type migrateCommand struct{}

func (c *migrateCommand) Run(env *environment) error {
	if err := env.prepare(); err != nil {
		return err
	}
	d, err := db.Open(env.ctx, env.cfg.DatabaseURL())
	if err != nil {
		return err
	}
	if err := errors.Join(d.Migrate(env.ctx), d.Close()); err != nil {
		return err
	}
	return env.printf("The database is up to date.\n")
}
