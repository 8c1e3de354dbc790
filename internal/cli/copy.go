package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"atelie/internal/activity"
	"atelie/internal/app"
	"atelie/internal/backup"
	"atelie/internal/config"
	"atelie/internal/datafolder"
	"atelie/internal/db"
	"atelie/internal/s3client"
	"atelie/internal/storage"
	"atelie/internal/storage/blob"
)

// copyCommand is the command atelie copy. It copies a site to another database and file store. Each option can also be set by an environment
// variable, because a URL can contain a password, and every user of the machine can see the command line of a process.
type copyCommand struct {
	From      string `required:"" env:"ATELIE_COPY_FROM" placeholder:"SITE" help:"The source: a data folder, sqlite:FILE or postgres://… . Its servers may run."`
	FromFiles string `env:"ATELIE_COPY_FROM_FILES" placeholder:"FOLDER|S3-URL" help:"The source's files: a folder or s3://… . Default: the folder files next to the SQLite database."`
	To        string `required:"" env:"ATELIE_COPY_TO" placeholder:"SITE" help:"The target: a data folder, sqlite:FILE or postgres://… . It must be empty, or an interrupted copy of the same source."`
	ToFiles   string `env:"ATELIE_COPY_TO_FILES" placeholder:"FOLDER|S3-URL" help:"The target's files: a folder or s3://… . Default: the folder files next to the SQLite database."`
}

// Run copies the rows and then the files. Then it reads source and target again and compares them.
func (c *copyCommand) Run(env *environment) error {
	from, err := parseSite("from", c.From, c.FromFiles)
	if err != nil {
		return err
	}
	to, err := parseSite("to", c.To, c.ToFiles)
	if err != nil {
		return err
	}
	if from.label == to.label || from.files.Label() == to.files.Label() {
		return errors.New("source and target are the same")
	}
	env.say("From: %s, files in %s\nTo:   %s, files in %s\n", from.label, from.files.Label(), to.label, to.files.Label())
	secrets, err := sourceSecrets(from, to)
	if err != nil {
		return err
	}
	err = copySite(env, from, to, secrets)
	if env.ctx.Err() != nil {
		return errors.New("interrupted: run the same command again to resume")
	}
	if err != nil {
		return err
	}
	if err := recordCopy(env, from, to); err != nil {
		// Only a warning: the copy is complete, and a source on a read-only disk is allowed although recording fails there.
		if err := env.printf("The activity log of the source does not list this copy: %v\n", err); err != nil {
			return err
		}
	}
	return printNextStep(env, from, to, secrets)
}

// recordCopy adds the copy to the activity log of the source. The log of the target lacks this entry, because its rows were copied before.
func recordCopy(env *environment, from, to site) error {
	d, err := db.Open(env.ctx, from.database, app.CommandHooks(env.log))
	if err != nil {
		return err
	}
	err = activity.RecordSite(env.ctx, d, activity.SiteCopy, to.label, env.now())
	return errors.Join(err, d.Close())
}

// site is the source or the target of a copy.
type site struct {
	flag     string           // "from" or "to": the flag that errors name
	database string           // URL of the database
	label    string           // URL of the database for texts, without the password
	files    *config.Location // location of the files
	dataDir  string           // the data folder, where the secret is; "" if there is none
}

// parseSite parses the flags of the source or the target: database (a data folder, sqlite:FILE or postgres://…) and files (a folder or
// s3://…, or ""). The errors do not repeat the values of the flags, because the values can contain passwords.
func parseSite(flag, database, files string) (site, error) {
	s := site{flag: flag}
	file, isFile := strings.CutPrefix(database, "sqlite:")
	switch {
	case strings.HasPrefix(database, "postgres://"), strings.HasPrefix(database, "postgresql://"):
		s.database = database
	case strings.Contains(strings.TrimPrefix(database, "sqlite://"), "://"), database == "", isFile && strings.TrimLeft(file, "/") == "":
		return s, fmt.Errorf("--%s: is neither a data folder nor sqlite:FILE nor postgres://…", flag)
	case isFile:
		s.database = "sqlite:" + strings.TrimPrefix(file, "//")
	default:
		s.database = "sqlite:" + filepath.Join(database, "atelie.db")
	}
	var err error
	if s.label, err = db.Label(s.database); err != nil {
		return s, fmt.Errorf("--%s: %w", flag, err)
	}
	if file, ok := strings.CutPrefix(s.label, "sqlite:"); ok {
		s.dataDir = filepath.Dir(file)
		if files == "" {
			files = filepath.Join(s.dataDir, "files")
		}
	}
	return s, s.parseFiles(files)
}

func (s *site) parseFiles(files string) (err error) {
	if files == "" {
		return fmt.Errorf("--%s-files: must be set to the folder or s3://… of the files", s.flag)
	}
	if s.files, err = config.ParseLocation("--"+s.flag+"-files", files); err != nil || s.files.Bucket != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(s.files.Folder); err == nil { // a folder that does not exist yet has no links
		s.files.Folder = real
	}
	if s.dataDir == "" && filepath.Base(s.files.Folder) == "files" {
		s.dataDir = filepath.Dir(s.files.Folder)
	}
	return nil
}

// openFiles opens the file store. It creates the folder or bucket of a target, but changes nothing in a source.
func (s *site) openFiles(ctx context.Context, source bool) (blob.Store, error) {
	switch {
	case s.files.Bucket != nil:
		cfg := s3client.Config(*s.files.Bucket)
		cfg.Create = cfg.Create && !source
		store, err := blob.NewS3(ctx, cfg)
		if err != nil {
			return nil, errors.New(strings.ReplaceAll(err.Error(), "storage-url:", "--"+s.flag+"-files:"))
		}
		return store, nil
	case source:
		return blob.OpenDisk(s.files.Folder)
	}
	return blob.NewDisk(s.files.Folder, blob.Unbounded)
}

// maxSnapshots limits how many snapshots of the source's database a copy takes. It takes another one if files to which the previous one
// refers were removed from the source meanwhile.
const maxSnapshots = 10

// copySite opens both sites, locks the target, and copies a snapshot of the source. It also copies the secrets, if both have a data
// folder.
func copySite(env *environment, from, to site, secrets backup.Secrets) (err error) {
	source, err := db.OpenSource(env.ctx, from.database)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	sourceFiles, err := from.openFiles(env.ctx, true)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	release, err := to.lock()
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	defer func() { err = errors.Join(err, release()) }()
	target, err := db.OpenExclusive(env.ctx, to.database, false)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	targetFiles, err := to.openFiles(env.ctx, false)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	t := &transfer{env: env, from: sourceFiles, to: targetFiles, wasRemoved: from.wasRemoved}
	for range maxSnapshots {
		err = source.Snapshot(env.ctx, func(q db.Querier) error {
			origin := strings.Join([]string{from.label, from.files.Label(), to.files.Label()}, "\n")
			var err error
			if t.rows, err = db.BeginCopy(env.ctx, q, source.Dialect, target, origin, t.filesAreEmpty, t.reportRows); err != nil {
				return err
			}
			t.source = q
			if err := t.run(); err != nil {
				return err
			}
			if secrets.Current != "" && to.dataDir != "" {
				if err := datafolder.WriteSecrets(to.dataDir, secrets.Current, secrets.Previous); err != nil {
					return fmt.Errorf("target: secret: %w", err)
				}
			}
			// The program will expect the marker of the copied database in the target's file store.
			marker, err := db.ReadMarker(env.ctx, q)
			if err == nil && marker != "" {
				err = targetFiles.Mark(env.ctx, marker)
			}
			if err != nil {
				return fmt.Errorf("target: %w", err)
			}
			return t.rows.Finish(env.ctx)
		})
		if !errors.Is(err, storage.ErrRemoved) {
			return err
		}
		t.again = true
	}
	return fmt.Errorf("%w, repeatedly: run the same command again to resume", err)
}

// wasRemoved reports whether the database no longer refers to a blob. The snapshot cannot tell, so wasRemoved opens another connection.
func (s *site) wasRemoved(ctx context.Context, blobID string) (bool, error) {
	d, err := db.OpenSource(ctx, s.database)
	if err != nil {
		return false, err
	}
	stored, err := storage.IsStored(ctx, d, blobID)
	return !stored, errors.Join(err, d.Close())
}

// lock locks the data folder of a target's SQLite database against servers. Its error names the process that has locked it.
func (s *site) lock() (release func() error, err error) {
	file, isFile := strings.CutPrefix(s.database, "sqlite:")
	if !isFile {
		return func() error { return nil }, nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	return datafolder.Lock(filepath.Dir(file))
}

// transfer is the state of a running copy.
type transfer struct {
	env        *environment
	source     db.Querier // a snapshot of the source's database
	rows       *db.CopyJob
	from, to   blob.Store
	wasRemoved func(ctx context.Context, blobID string) (bool, error) // reads the source as it is now
	again      bool                                                   // this is not the first snapshot
	reportedAt time.Time                                              // time of the last line of progress

	files, bytes       int64  // copied or compared so far
	allFiles, allBytes int64  // totals of the source
	action             string // "copied" or "compared", for lines of progress
}

func (t *transfer) filesAreEmpty(ctx context.Context) error {
	empty, err := t.to.Empty(ctx)
	if err == nil && !empty {
		return errors.New("the file store is not empty")
	}
	return err
}

// reportInterval is the minimum time between two lines of progress.
const reportInterval = 2 * time.Second

// reportDue reports whether the next line of progress is due.
func (t *transfer) reportDue() bool {
	if now := t.env.now(); now.Sub(t.reportedAt) >= reportInterval {
		t.reportedAt = now
		return true
	}
	return false
}

func (t *transfer) reportRows(table string, rows int64) {
	if t.reportDue() {
		_ = t.env.printf("Rows: %s, %d\n", table, rows) // a line of progress that cannot be printed does not stop the copy
	}
}

func (t *transfer) run() error {
	ctx := t.env.ctx
	if err := t.resume(ctx); err != nil {
		return err
	}
	if err := t.rows.CopyRows(ctx, t.source); err != nil {
		return err
	}
	if err := t.copyFiles(ctx); err != nil {
		return err
	}
	t.env.say("Everything is copied. Reading it again to compare…\n")
	sums, err := t.rows.Verify(ctx, t.source)
	if err != nil {
		return err
	}
	t.action, t.files, t.bytes = "compared", 0, 0
	check := storage.Transfer{Rows: t.source, To: t.to, SaveProgress: t.reportFiles}
	if err := check.Check(ctx); err != nil {
		return err
	}
	return t.report(sums)
}

// resume prepares the target of an earlier run. If the source has changed since then, the rows are copied again. Files never change,
// so those to which rows still refer stay.
func (t *transfer) resume(ctx context.Context) error {
	if !t.rows.Resumed {
		return nil
	}
	text := "Resuming the copy.\n"
	if t.again {
		text = "Files were removed from the source during the copy: continuing with its current state.\n"
	}
	t.env.say("%s", text)
	outdated, err := t.rows.Outdated(ctx, t.source)
	if err != nil || !outdated {
		return err
	}
	if !t.again {
		t.env.say("The source has changed since then: its rows are copied again.\n")
	}
	old := storage.Transfer{Rows: t.source, To: t.to}
	if err := old.Prune(ctx, t.rows.Target()); err != nil {
		return err
	}
	if err := t.rows.SetProgress(ctx, "files", ""); err != nil {
		return err
	}
	return t.rows.Restart(ctx)
}

func (t *transfer) copyFiles(ctx context.Context) error {
	var at struct { // the position up to which the files are copied, as the target's database stores it
		After string `json:"after"` // id of the last copied file
	}
	stored, err := t.rows.Progress(ctx, "files")
	if err != nil {
		return err
	}
	t.files, t.bytes = 0, 0
	if stored != "" {
		if err := json.Unmarshal([]byte(stored), &at); err != nil {
			return err
		}
		if t.files, t.bytes, err = storage.CountStored(ctx, t.source, at.After); err != nil {
			return err
		}
	}
	if t.allFiles, t.allBytes, err = storage.CountStored(ctx, t.source, ""); err != nil {
		return err
	}
	t.action = "copied"
	files := storage.Transfer{Rows: t.source, From: t.from, To: t.to, After: at.After, SkipPresent: t.rows.Resumed, Removed: t.wasRemoved, SaveProgress: func(ctx context.Context, after string, n, bytes int64) error {
		at.After = after
		state, err := json.Marshal(at)
		if err != nil {
			return err
		}
		if err := t.rows.SetProgress(ctx, "files", string(state)); err != nil {
			return err
		}
		return t.reportFiles(ctx, after, n, bytes)
	}}
	return files.Copy(ctx)
}

func (t *transfer) reportFiles(_ context.Context, _ string, files, bytes int64) error {
	t.files, t.bytes = t.files+files, t.bytes+bytes
	if !t.reportDue() && t.files != t.allFiles {
		return nil
	}
	return t.env.printf("Files: %d of %d %s, %s of %s\n", t.files, t.allFiles, t.action, megabytes(t.bytes), megabytes(t.allBytes))
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// report prints the compared tables, the rows that were left out, and the totals.
func (t *transfer) report(sums []db.TableChecksum) error {
	w := tabwriter.NewWriter(t.env.out, 0, 4, 2, ' ', 0)
	var rows int64
	for _, s := range sums {
		rows += s.Rows
		if _, err := fmt.Fprintf(w, "%s\t%d rows\tSHA-256 %.16s…\n", s.Table, s.Rows, s.SHA256); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, s := range sums {
		if s.LeftOut == 0 {
			continue
		}
		t.env.say("Left out of %s: %d rows, for %s.\n", s.Table, s.LeftOut, s.Why)
	}
	return t.env.printf("Copied and the same: %d tables with %d rows, %d files with %s.\n", len(sums), rows, t.allFiles, megabytes(t.allBytes))
}

// sourceSecrets returns the secrets in the source's data folder; the zero value if there are none. Until the source has started with a new
// secret, its database accepts only the previous one. sourceSecrets returns an error if the target has a different secret, because with that
// it could not read what the source has encrypted or signed.
func sourceSecrets(from, to site) (s backup.Secrets, err error) {
	if from.dataDir == "" {
		return s, nil
	}
	if s.Current, err = datafolder.Secret(from.dataDir); err != nil || s.Current == "" {
		return s, err
	}
	if s.Previous, err = datafolder.PreviousSecret(from.dataDir); err != nil || to.dataDir == "" {
		return s, err
	}
	other, err := datafolder.Secret(to.dataDir)
	if err == nil && other != "" && other != s.Current {
		err = fmt.Errorf("target: %s contains another secret, with which the values encrypted in the source cannot be read: move that file away", datafolder.SecretFile(to.dataDir))
	}
	return s, err
}

// start returns how the program is started with the site, or "" if it expects the database or the files in another place. The URLs are left
// out, because they can contain passwords.
func (s *site) start() string {
	text := "atelie serve --data-dir=" + s.dataDir
	if strings.HasPrefix(s.database, "sqlite:") {
		if s.label != "sqlite:"+filepath.Join(s.dataDir, "atelie.db") {
			return ""
		}
	} else {
		text += ", with ATELIE_DATABASE_URL as in --" + s.flag
	}
	switch {
	case s.files.Bucket != nil:
		text += ", with ATELIE_STORAGE_URL as in --" + s.flag + "-files"
	case s.files.Folder != filepath.Join(s.dataDir, datafolder.Files):
		return ""
	}
	return text
}

// printNextStep prints how to start the target, and what the operator must do so that it has the source's secret.
func printNextStep(env *environment, from, to site, secrets backup.Secrets) error {
	switch {
	case secrets.Current != "" && to.dataDir != "":
		env.say("The secret is copied too: %s\n", datafolder.SecretFile(to.dataDir))
		if start := to.start(); start != "" {
			env.say("Start it with %s\n", start)
		}
		return nil
	case secrets.Current != "":
		text := fmt.Sprintf("Start the program there with the same secret: set ATELIE_JWT_SECRET to the content of %s\n", datafolder.SecretFile(from.dataDir))
		if secrets.Previous != "" {
			text += fmt.Sprintf("Set ATELIE_JWT_SECRET_PREVIOUS to the content of %s\n", datafolder.PreviousSecretFile(from.dataDir))
		}
		return env.printf("%s", text)
	}
	return env.printf("Start the program there with the same ATELIE_JWT_SECRET as before.\n")
}
