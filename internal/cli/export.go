package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"atelie/internal/app"
	"atelie/internal/archive"
)

// exportCommand is the command atelie export. It writes the whole site into one archive. The server may run during an export.
type exportCommand struct {
	To string `required:"" type:"path" placeholder:"FILE" help:"The archive to write, such as site.zip; the file must not exist yet."`
}

// Run writes the archive to a temporary file and renames it at the end, so that the file at the path c.To is always complete. Only the user
// that runs the program can read the file.
func (c *exportCommand) Run(env *environment) error {
	if _, err := os.Lstat(c.To); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fmt.Errorf("%s exists: name another file, or move that one away", c.To)
		}
		return err
	}
	return env.with(func(a *app.App) (err error) {
		partial := c.To + ".part"
		out, err := os.OpenFile(partial, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		renamed := false
		defer func() {
			if !renamed {
				err = errors.Join(err, out.Close(), os.Remove(partial))
			}
		}()
		m, err := a.Export(env.ctx, out, env.reportProgress())
		if env.ctx.Err() != nil {
			return fmt.Errorf("interrupted: %s was not written", c.To)
		}
		if err != nil {
			return err
		}
		info, err := out.Stat()
		if err != nil {
			return err
		}
		if err := out.Sync(); err != nil {
			return err
		}
		if err := out.Close(); err != nil {
			return err
		}
		if err := os.Rename(partial, c.To); err != nil {
			return err
		}
		renamed = true
		return env.printf("%s: %d works, %d messages, %d files and %d pages, %s.\nIt contains visitors' messages and addresses: protect it like the site.\n",
			c.To, m.Rows["products"], m.Rows["contact_submissions"], m.Files, m.Pages, megabytes(info.Size()))
	})
}

// reportProgress returns a function that prints a line of progress at most once per reportInterval, and at the end of each step.
func (e *environment) reportProgress() archive.Progress {
	labels := map[string]string{"pages": "Pages", "tables": "Tables", "files": "Files", "check": "Checked"} // by step
	var lastPrinted time.Time
	return func(step string, done, total int) {
		if now := e.now(); now.Sub(lastPrinted) >= reportInterval || done == total {
			lastPrinted = now
			_ = e.printf("%s: %d of %d\n", labels[step], done, total) // an error of printing progress does not stop the command
		}
	}
}
