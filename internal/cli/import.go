package cli

import (
	"errors"
	"strings"

	"atelie/internal/app"
	"atelie/internal/archive"
)

// importCommand is the command atelie import, a group with one command for each source. atelie import FILE means atelie import site
// FILE.
type importCommand struct {
	Site     importSiteCommand     `cmd:"" default:"withargs" help:"Import an archive that atelie export has made into an empty site."`
	Supabase importSupabaseCommand `cmd:"" help:"Import a Supabase project: accounts, files and rows. A second time changes nothing."`
}

type importSiteCommand struct {
	File string `arg:"" type:"existingfile" help:"The archive."`
}

// Run checks the whole archive before it opens the site.
func (c *importSiteCommand) Run(env *environment) (err error) {
	from, err := archive.Open(c.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	report := env.reportProgress()
	if err := from.Verify(env.ctx, report); err != nil {
		return err
	}
	return env.with(func(a *app.App) error {
		if err := a.Import(env.ctx, from, report); err != nil {
			if env.ctx.Err() != nil {
				return errors.New("stopped: nothing is shown yet; the same command goes on where it was")
			}
			return err
		}
		m := from.Manifest
		if err := env.printf("Imported from %s: %d works, %d messages, %d files. The server makes the smaller pictures when it runs.\n", m.SiteURL, m.Rows["products"], m.Rows["contact_submissions"], m.Files); err != nil {
			return err
		}
		hasOwner, err := a.Auth.HasOwner(env.ctx)
		if err != nil || hasOwner || len(m.Owners) == 0 {
			return err
		}
		return env.printf("Its owners were %s. Accounts are not in an archive: atelie owner add ADDRESS makes one.\n", strings.Join(m.Owners, ", "))
	})
}
