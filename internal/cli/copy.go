package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"atelie/internal/config"
	"atelie/internal/db"
	"atelie/internal/storage"
	"atelie/internal/storage/blob"
)

// copyCommand has the addresses as variables too: an address on the command line can be seen by everybody on the machine.
type copyCommand struct {
	From      string `required:"" env:"ATELIE_COPY_FROM" placeholder:"ADDRESS" help:"The site to copy: a data folder, sqlite:FILE or postgres://… . No server may run on it."`
	FromFiles string `env:"ATELIE_COPY_FROM_FILES" placeholder:"PLACE" help:"Where its files are: a folder or s3://… ; the folder files beside an SQLite database when not given."`
	To        string `required:"" env:"ATELIE_COPY_TO" placeholder:"ADDRESS" help:"Where it shall go: a data folder, sqlite:FILE or postgres://… ; new or empty, or the same copy that was interrupted."`
	ToFiles   string `env:"ATELIE_COPY_TO_FILES" placeholder:"PLACE" help:"Where its files shall go, as above."`
}

// Run copies rows, then files, then reads everything again and compares.
func (c *copyCommand) Run(env *environment) error {
	from, err := parseEnd("from", c.From, c.FromFiles)
	if err != nil {
		return err
	}
	to, err := parseEnd("to", c.To, c.ToFiles)
	if err != nil {
		return err
	}
	if from.label == to.label || from.filesLabel == to.filesLabel {
		return errors.New("source and target are the same place")
	}
	if err := env.printf("From: %s, files in %s\nTo:   %s, files in %s\n", from.label, from.filesLabel, to.label, to.filesLabel); err != nil {
		return err
	}
	secret, err := secretOf(from, to)
	if err != nil {
		return err
	}
	err = copySite(env, from, to, secret)
	if env.ctx.Err() != nil {
		return errors.New("stopped: the same command goes on where it was")
	}
	if err != nil {
		return err
	}
	return handOver(env, from, to, secret)
}

// site is one side of a copy. Home is its data folder, when it has one.
type site struct {
	flag, database, label string
	folder                string // of files, or
	bucket                *config.S3
	filesLabel            string
	home                  string
}

// parseEnd reads the addresses of one side. Errors do not repeat them: they may hold passwords.
func parseEnd(flag, address, files string) (site, error) {
	e := site{flag: flag}
	file, isFile := strings.CutPrefix(address, "sqlite:")
	switch {
	case strings.HasPrefix(address, "postgres://"), strings.HasPrefix(address, "postgresql://"):
		e.database = address
	case strings.Contains(strings.TrimPrefix(address, "sqlite://"), "://"), address == "", isFile && strings.TrimLeft(file, "/") == "":
		return e, fmt.Errorf("--%s: is neither a data folder nor sqlite:FILE nor postgres://…", flag)
	case isFile:
		e.database = "sqlite:" + strings.TrimPrefix(file, "//")
	default:
		e.database = "sqlite:" + filepath.Join(address, "atelie.db")
	}
	var err error
	if e.label, err = db.Label(e.database); err != nil {
		return e, fmt.Errorf("--%s: %w", flag, err)
	}
	if file, ok := strings.CutPrefix(e.label, "sqlite:"); ok {
		e.home = filepath.Dir(file)
		if files == "" {
			files = filepath.Join(e.home, "files")
		}
	}
	return e, e.parseFiles(files)
}

func (e *site) parseFiles(files string) (err error) {
	switch {
	case files == "":
		return fmt.Errorf("--%s-files: must say where the files are, a folder or s3://…", e.flag)
	case strings.HasPrefix(files, "s3://"):
		if e.bucket, err = (&config.Storage{URL: files}).S3(); err != nil {
			return errors.New(strings.ReplaceAll(err.Error(), "storage-url:", "--"+e.flag+"-files:"))
		}
		e.filesLabel = "s3 " + e.bucket.Endpoint + "/" + e.bucket.Bucket + "/" + e.bucket.Prefix
		return nil
	case strings.Contains(files, "://"):
		return fmt.Errorf("--%s-files: is neither a folder nor s3://…", e.flag)
	}
	if e.folder, err = filepath.Abs(files); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(e.folder); err == nil { // one that is to be made has no links
		e.folder = real
	}
	e.filesLabel = e.folder
	if e.home == "" && filepath.Base(e.folder) == "files" {
		e.home = filepath.Dir(e.folder)
	}
	return nil
}

// openFiles opens the store. Nothing is made or changed in a source.
func (e *site) openFiles(ctx context.Context, source bool) (blob.Store, error) {
	switch {
	case e.bucket != nil:
		cfg := blob.S3Config(*e.bucket)
		cfg.Create = cfg.Create && !source
		s, err := blob.NewS3(ctx, cfg)
		if err != nil {
			return nil, errors.New(strings.ReplaceAll(err.Error(), "storage-url:", "--"+e.flag+"-files:"))
		}
		return s, nil
	case source:
		return blob.OpenDisk(e.folder)
	}
	return blob.NewDisk(e.folder)
}

// copySite holds both sides open while it copies; the secret goes along when both have a data folder.
func copySite(env *environment, from, to site, secret []byte) (err error) {
	source, err := db.OpenAlone(env.ctx, from.database, true)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	sourceFiles, err := from.openFiles(env.ctx, true)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	if file, ok := strings.CutPrefix(to.database, "sqlite:"); ok {
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			return fmt.Errorf("target: %w", err)
		}
	}
	target, err := db.OpenAlone(env.ctx, to.database, false)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	targetFiles, err := to.openFiles(env.ctx, false)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	return source.Snapshot(env.ctx, func(q db.Querier) error {
		t := &transfer{env: env, source: q, from: sourceFiles, to: targetFiles}
		origin := strings.Join([]string{from.label, from.filesLabel, to.filesLabel}, "\n")
		var err error
		if t.rows, err = db.BeginCopy(env.ctx, q, source.Dialect, target, origin, t.filesAreEmpty, t.tellRows); err != nil {
			return err
		}
		if err := t.run(); err != nil {
			return err
		}
		if secret != nil && to.home != "" {
			if err := writeSecret(filepath.Join(to.home, secretFile), secret); err != nil {
				return fmt.Errorf("target: secret: %w", err)
			}
		}
		return t.rows.End(env.ctx)
	})
}

// transfer is a copy that runs.
type transfer struct {
	env      *environment
	source   db.Querier
	rows     *db.Copying
	from, to blob.Store
	told     time.Time

	files, bytes       int64 // done
	allFiles, allBytes int64
	action             string
}

func (t *transfer) filesAreEmpty(ctx context.Context) error {
	empty, err := t.to.Empty(ctx)
	if err == nil && !empty {
		return errors.New("the place for files is not empty")
	}
	return err
}

// tellPause is how often a person hears where the copy is.
const tellPause = 2 * time.Second

// due tells whether it is time to say something again.
func (t *transfer) due() bool {
	if now := t.env.now(); now.Sub(t.told) >= tellPause {
		t.told = now
		return true
	}
	return false
}

func (t *transfer) tellRows(table string, rows int64) {
	if t.due() {
		_ = t.env.printf("Rows: %s, %d\n", table, rows) // who does not listen misses nothing that counts
	}
}

func (t *transfer) run() error {
	ctx := t.env.ctx
	if t.rows.Resumed {
		if err := t.env.printf("Going on with the copy that was begun before.\n"); err != nil {
			return err
		}
	}
	if err := t.rows.Rows(ctx, t.source); err != nil {
		return err
	}
	if err := t.copyFiles(ctx); err != nil {
		return err
	}
	if err := t.env.printf("Everything is copied. Reading it again to compare…\n"); err != nil {
		return err
	}
	sums, err := t.rows.Verify(ctx, t.source)
	if err != nil {
		return err
	}
	t.action, t.files, t.bytes = "compared", 0, 0
	check := storage.Transfer{Rows: t.source, To: t.to, Note: t.tellFiles}
	if err := check.Check(ctx); err != nil {
		return err
	}
	return t.report(sums)
}

// place is how far the files are, as it is noted in the target.
type place struct {
	After string `json:"after"`
}

func (t *transfer) copyFiles(ctx context.Context) error {
	var at place
	noted, err := t.rows.Noted(ctx, "files")
	if err != nil {
		return err
	}
	if noted != "" {
		if err := json.Unmarshal([]byte(noted), &at); err != nil {
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
	files := storage.Transfer{Rows: t.source, From: t.from, To: t.to, After: at.After, Note: func(ctx context.Context, after string, n, bytes int64) error {
		state, err := json.Marshal(place{after})
		if err != nil {
			return err
		}
		if err := t.rows.Note(ctx, "files", string(state)); err != nil {
			return err
		}
		return t.tellFiles(ctx, after, n, bytes)
	}}
	return files.Copy(ctx)
}

func (t *transfer) tellFiles(_ context.Context, _ string, files, bytes int64) error {
	t.files, t.bytes = t.files+files, t.bytes+bytes
	if !t.due() && t.files != t.allFiles {
		return nil
	}
	return t.env.printf("Files: %d of %d %s, %s of %s\n", t.files, t.allFiles, t.action, megabytes(t.bytes), megabytes(t.allBytes))
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// report lists what was compared, and what stayed behind.
func (t *transfer) report(sums []db.TableSum) error {
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
		if err := t.env.printf("Left out of %s: %d rows, for %s.\n", s.Table, s.LeftOut, s.Why); err != nil {
			return err
		}
	}
	return t.env.printf("Copied and the same: %d tables with %d rows, %d files with %s.\n", len(sums), rows, t.allFiles, megabytes(t.allBytes))
}

const secretFile = "jwt-secret"

// secretOf reads the secret in the source's data folder, and refuses a target that has another one: nothing that was
// sealed or signed before could be read there.
func secretOf(from, to site) ([]byte, error) {
	if from.home == "" {
		return nil, nil
	}
	secret, err := os.ReadFile(filepath.Join(from.home, secretFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || to.home == "" {
		return secret, err
	}
	other, err := os.ReadFile(filepath.Join(to.home, secretFile))
	if errors.Is(err, fs.ErrNotExist) {
		return secret, nil
	}
	if err == nil && !bytes.Equal(bytes.TrimSpace(secret), bytes.TrimSpace(other)) {
		err = fmt.Errorf("target: %s holds another secret, with which nothing of the source could be read: move that file away", filepath.Join(to.home, secretFile))
	}
	return secret, err
}

// handOver says what the host must do so that the target can read what was sealed.
func handOver(env *environment, from, to site, secret []byte) error {
	switch {
	case secret != nil && to.home != "":
		return env.printf("The secret is copied too: %s\n", filepath.Join(to.home, secretFile))
	case secret != nil:
		return env.printf("Start the program there with the same secret: set ATELIE_JWT_SECRET to what stands in %s\n", filepath.Join(from.home, secretFile))
	}
	return env.printf("Start the program there with the same ATELIE_JWT_SECRET as before.\n")
}

// writeSecret leaves a whole file or none; one that is there already is the same.
func writeSecret(file string, secret []byte) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(file), ".jwt-secret-*") // made with mode 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(tmp.Name())) }()
	_, err = tmp.Write(secret)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), file); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
