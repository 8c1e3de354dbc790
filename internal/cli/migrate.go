package cli

import (
	"errors"

	"atelie/internal/app"
	"atelie/internal/db"
)

// migrateCommand is the command atelie migrate. It brings the schema of the database up to date.
type migrateCommand struct{}

// Run migrates the database. It needs no secret, because it changes only the schema.
func (c *migrateCommand) Run(env *environment) error {
	if err := app.CheckDatabaseFile(env.cfg, env.log); err != nil {
		return err
	}
	d, err := db.Open(env.ctx, env.cfg.DatabaseURL(), app.CommandHooks(env.log))
	if err != nil {
		return err
	}
	if err := errors.Join(d.Migrate(env.ctx), d.Close()); err != nil {
		return err
	}
	return env.printf("The database is up to date.\n")
}
