package cli

import (
	"errors"
	"os"
	"strings"

	"atelie/internal/app"
	"atelie/internal/interval"
	"atelie/internal/supabase"
)

// importSupabaseCommand is the command atelie import supabase. The service key (the project's API key with full rights) can also be set by
// an environment variable or a file, because every user of the machine can see the command line of a process.
type importSupabaseCommand struct {
	ProjectURL     string `name:"project-url" env:"ATELIE_IMPORT_PROJECT_URL" placeholder:"URL" help:"The project, like https://abcdefgh.supabase.co. With --dump and without a key it only tells which URLs in rows belong to the project."`
	ServiceKey     string `name:"service-key" env:"ATELIE_IMPORT_SERVICE_KEY" placeholder:"KEY" help:"The project's service key. Set the environment variable, or use --service-key-file: every user of the machine can see the command line."`
	ServiceKeyFile string `name:"service-key-file" placeholder:"FILE" help:"A file that contains only the service key."`
	Dump           string `placeholder:"FILE" help:"Read accounts and rows from this dump (pg_dump --format=plain), with passwords and second factors."`
	Files          string `placeholder:"FOLDER" help:"Read files from this folder, laid out as BUCKET/PATH. Without it, and with a key, they come from the project."`
	DryRun         bool   `name:"dry-run" help:"Change nothing; print what would be imported and what cannot be imported."`
}

// Run opens the sources of accounts, rows and files, and imports them into the site.
func (c *importSupabaseCommand) Run(env *environment) (err error) {
	i := &supabase.Import{Write: !c.DryRun, Print: func(line string) error { return env.printf("%s\n", line) }}
	key, err := c.key()
	if err != nil {
		return err
	}
	if c.ProjectURL != "" {
		origin, err := supabase.Origin(c.ProjectURL)
		if err != nil {
			return err
		}
		i.Origins = []string{origin}
	}
	var folder *supabase.Folder
	if c.Files != "" {
		if folder, err = supabase.NewFolder(c.Files); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, folder.Close()) }()
		i.Files = folder
	}
	if c.Dump != "" {
		if i.Data, err = supabase.NewDump(c.Dump, supabase.DumpFiles{Folder: folder, Project: key != ""}); err != nil {
			return err
		}
	}
	if key == "" && i.Data == nil {
		return errors.New("give the project with --project-url and its service key (ATELIE_IMPORT_SERVICE_KEY or --service-key-file), or a dump with --dump")
	}
	if key != "" {
		project, err := supabase.NewProject(c.ProjectURL, key, interval.Sleep)
		if err != nil {
			return err
		}
		defer project.Close()
		if i.Data == nil {
			i.Data = project
		}
		if i.Files == nil {
			i.Files = project
		}
	}
	return c.run(env, i)
}

// run imports from opened sources. The exit code is exitIncomplete if some part of the project could not be imported.
func (c *importSupabaseCommand) run(env *environment, i *supabase.Import) error {
	err := env.with(func(a *app.App) error { return a.ImportSupabase(env.ctx, i) })
	if env.ctx.Err() != nil {
		return errors.New("interrupted: run the same command again to resume")
	}
	if err != nil {
		return err
	}
	verb := "Imported"
	if c.DryRun {
		verb = "Dry run, nothing is changed. To be imported"
	}
	env.say("%s: %d. Here already and unchanged: %d. Left out: %d.\n", verb, i.Added, i.Unchanged, i.Problems)
	if i.Problems > 0 {
		return exitStatus(exitIncomplete)
	}
	return nil
}

// key returns the service key, or "" if none is given.
func (c *importSupabaseCommand) key() (string, error) {
	if c.ServiceKeyFile == "" {
		return strings.TrimSpace(c.ServiceKey), nil
	}
	text, err := os.ReadFile(c.ServiceKeyFile)
	return strings.TrimSpace(string(text)), err
}
