package cli

import (
	"context"
	"fmt"

	"atelie/internal/app"
	"atelie/internal/media"
)

// mediaCommand is the command atelie media. It checks uploaded pictures and videos, and makes the renditions (resized copies) of pictures
// again.
type mediaCommand struct {
	Verify  mediaVerifyCommand  `cmd:"" help:"Read every picture, its renditions and every video, and list what is missing or damaged."`
	Rebuild mediaRebuildCommand `cmd:"" help:"Make renditions that are missing or were made by an older version, and move the index of videos to the beginning of the file."`
}

type mediaVerifyCommand struct{}

// Run checks all pictures, their renditions and all videos. It fails if one of these files is missing or damaged.
func (mediaVerifyCommand) Run(env *environment) error {
	return env.withMedia(func(ctx context.Context, a *app.App, report media.Progress) (int, error) {
		return a.Media.VerifyMedia(ctx, report)
	})
}

type mediaRebuildCommand struct {
	All bool `help:"Make all renditions again, including existing ones."`
}

// Run makes missing, damaged and outdated renditions again. It also moves the index of each video (the table of its frames) to the
// beginning of the file, so that browsers can start the video before they have all of it. If an uploaded file cannot be read, Run continues
// with the other files and returns an error at the end.
func (c mediaRebuildCommand) Run(env *environment) error {
	return env.withMedia(func(ctx context.Context, a *app.App, report media.Progress) (int, error) {
		return a.Media.RebuildMedia(ctx, c.All, report)
	})
}

// withMedia opens the site, runs fn and prints a line for each picture and video. fn returns the number of pictures and videos with
// problems; withMedia returns an error if there are any.
func (e *environment) withMedia(fn func(context.Context, *app.App, media.Progress) (int, error)) error {
	return e.with(func(a *app.App) error {
		fileCount := 0
		problems, err := fn(e.ctx, a, func(done, total int, name, problem string) error {
			fileCount = total
			if problem == "" {
				problem = "ok"
			}
			width := len(fmt.Sprint(total)) // aligns the numbers of all lines
			return e.printf("%*d/%d %s: %s\n", width, done, total, name, problem)
		})
		if err != nil {
			return err
		}
		if problems > 0 {
			return fmt.Errorf("%d of %d pictures and videos have problems", problems, fileCount)
		}
		return e.printf("%d pictures and videos\n", fileCount)
	})
}
