package cli

import (
	"errors"
	"fmt"
	"strings"

	"atelie/internal/app"
	"atelie/internal/archive"
)

// importCommand is the command atelie import, a group with one command for each kind of source. "atelie import FILE" is short for "atelie
// import site FILE".
type importCommand struct {
	Site     importSiteCommand     `cmd:"" default:"withargs" help:"Import an archive that atelie export has made into an empty site."`
	Supabase importSupabaseCommand `cmd:"" help:"Import a Supabase project: accounts, files and rows. Importing it again changes nothing."`
}

// importSiteCommand is the command atelie import site. It imports an archive that atelie export has made.
type importSiteCommand struct {
	File        string `arg:"" type:"existingfile" help:"The archive."`
	SkipRefused bool   `name:"leave-out-refused" help:"If this site refuses some files, import everything else, and list these files with the rows that show them. Without this flag the import fails if a file is refused."`
}

// Run verifies the whole archive before it opens the site. The exit code is exitIncomplete if files were left out.
func (c *importSiteCommand) Run(env *environment) (err error) {
	source, err := archive.Open(c.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	progress := env.reportProgress()
	if err := source.Verify(env.ctx, progress); err != nil {
		return err
	}
	return env.with(func(a *app.App) error {
		refused, err := a.Import(env.ctx, source, c.SkipRefused, progress)
		if env.ctx.Err() != nil {
			return errors.New("interrupted: nothing is shown yet; run the same command again to resume")
		}
		if err := env.printRefused(refused); err != nil {
			return err
		}
		if errors.Is(err, archive.ErrRefused) {
			return fmt.Errorf("%d files were refused, and nothing is shown yet; all other files are stored. Remove the cause, usually a setting such as ATELIE_MAX_UPLOAD, and run the same command again to resume. With --leave-out-refused everything except these files is imported", len(refused))
		}
		if err != nil {
			return err
		}
		m := source.Manifest
		env.say("Imported from %s: %d works, %d messages, %d files. The server makes the renditions of the pictures while it runs.\n", m.SiteURL, m.Rows["products"], m.Rows["contact_submissions"], m.Files-len(refused))
		if err := c.printOwners(env, a, m.Owners); err != nil || len(refused) == 0 {
			return err
		}
		env.say("Left out: %d files, listed above with the rows that show them: choose other files there in the admin area.\n", len(refused))
		return exitStatus(exitIncomplete)
	})
}

// printRefused prints the files that were refused, with the rows that show them.
func (e *environment) printRefused(refused []archive.RefusedFile) error {
	for _, f := range refused {
		shown := "no row shows it"
		if len(f.ShownBy) > 0 {
			shown = "shown by " + strings.Join(f.ShownBy, ", ")
		}
		if err := e.printf("Refused: %s (%s): %s; %s\n", f.Path, f.Object, f.Reason, shown); err != nil {
			return err
		}
	}
	return nil
}

// printOwners prints the owners of the exported site if this site has no owner, because the archive contains no accounts.
func (c *importSiteCommand) printOwners(env *environment, a *app.App, owners []string) error {
	hasOwner, err := a.Auth.HasOwner(env.ctx)
	if err != nil || hasOwner || len(owners) == 0 {
		return err
	}
	return env.printf("Its owners were %s. An archive has no accounts: create one with atelie owner add ADDRESS.\n", strings.Join(owners, ", "))
}
