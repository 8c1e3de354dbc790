package cli

import (
	"context"
	"fmt"

	"atelie/internal/app"
	"atelie/internal/storage"
)

type mediaCommand struct {
	Verify  mediaVerifyCommand  `cmd:"" help:"Read every picture and all that was made of it, and every film, and tell what is missing or damaged."`
	Rebuild mediaRebuildCommand `cmd:"" help:"Make what is missing of the smaller pictures, or was made by an older version, and let films begin with their index."`
}

type mediaVerifyCommand struct{}

// Run fails when a picture or film is not as it should be.
func (mediaVerifyCommand) Run(env *environment) error {
	return env.pictures(func(ctx context.Context, a *app.App, report storage.Progress) (int, error) {
		return a.Storage.VerifyMedia(ctx, report)
	})
}

type mediaRebuildCommand struct {
	All bool `help:"Make everything anew, also what is there."`
}

// Run goes on after a file that cannot be read, and fails at the end.
func (c mediaRebuildCommand) Run(env *environment) error {
	return env.pictures(func(ctx context.Context, a *app.App, report storage.Progress) (int, error) {
		return a.Storage.RebuildMedia(ctx, c.All, report)
	})
}

// pictures runs fn with a line for each picture and film.
func (e *environment) pictures(fn func(context.Context, *app.App, storage.Progress) (int, error)) error {
	return e.with(func(a *app.App) error {
		total := 0
		problems, err := fn(e.ctx, a, func(done, all int, name, problem string) error {
			total = all
			if problem == "" {
				problem = "ok"
			}
			return e.printf("%*d/%d %s: %s\n", len(fmt.Sprint(all)), done, all, name, problem)
		})
		if err != nil {
			return err
		}
		if problems > 0 {
			return fmt.Errorf("%d of %d pictures and films are not as they should be", problems, total)
		}
		return e.printf("%d pictures and films\n", total)
	})
}
