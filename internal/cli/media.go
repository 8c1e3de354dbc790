package cli

import (
	"context"
	"fmt"

	"atelie/internal/app"
	"atelie/internal/media"
)

// mediaCommand is the command atelie media, for uploaded pictures and films and the files that are derived from them.
type mediaCommand struct {
	Verify  mediaVerifyCommand  `cmd:"" help:"Read every picture and all that was made of it, and every film, and tell what is missing or damaged."`
	Rebuild mediaRebuildCommand `cmd:"" help:"Make what is missing of the smaller pictures, or was made by an older version, and let films begin with their index."`
}

type mediaVerifyCommand struct{}

// Run checks all pictures and films. It fails if a stored file, or a file made from it, is missing or damaged.
func (mediaVerifyCommand) Run(env *environment) error {
	return env.withMedia(func(ctx context.Context, a *app.App, report media.Progress) (int, error) {
		return a.Media.VerifyMedia(ctx, report)
	})
}

type mediaRebuildCommand struct {
	All bool `help:"Make everything anew, also what is there."`
}

// Run makes missing files again. If a stored file cannot be read, Run continues with the other files and returns an error at the end.
func (c mediaRebuildCommand) Run(env *environment) error {
	return env.withMedia(func(ctx context.Context, a *app.App, report media.Progress) (int, error) {
		return a.Media.RebuildMedia(ctx, c.All, report)
	})
}

// withMedia runs fn, which returns the number of problems, and prints a line for each picture and film. It fails if there are
// problems.
func (e *environment) withMedia(fn func(context.Context, *app.App, media.Progress) (int, error)) error {
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
