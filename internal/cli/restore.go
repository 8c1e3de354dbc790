package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"atelie/internal/app"
	"atelie/internal/backup"
	"atelie/internal/config"
	"atelie/internal/datafolder"
	"atelie/internal/storage/blob"
)

// restoreCommand is the command atelie restore. It rebuilds a site in a new data folder (setting data-dir) from a backup. The URL of the
// backup can also be set by an environment variable, because it can contain a password that the command line would reveal.
type restoreCommand struct {
	From string `required:"" env:"ATELIE_RESTORE_FROM" placeholder:"FOLDER|S3-URL" help:"The backup: a folder, or s3://… as in backup-url."`
	At   string `placeholder:"TIME" help:"Restore the latest restore point that is not later than this time, such as 2026-11-22T10:00:00Z. Default: the latest of all."`
}

// Run restores database, files and secret into a new folder, and prints what the backup lacks.
func (c *restoreCommand) Run(env *environment) error {
	location, err := config.ParseLocation("--from", c.From)
	if err != nil {
		return err
	}
	var at time.Time
	if c.At != "" {
		if at, err = time.Parse(time.RFC3339, c.At); err != nil {
			return errors.New("--at: is not a time such as 2026-11-22T10:00:00Z")
		}
	}
	r := backup.Restore{
		From: app.OpenBackupDestination(location), At: at, Passphrase: env.cfg.Backup.Passphrase, Dir: env.cfg.Server.DataDir, Fingerprint: app.Fingerprint,
		OpenFiles: func(dir string) (backup.FileStore, error) {
			files, err := blob.NewDisk(filepath.Join(dir, datafolder.Files), blob.Unbounded)
			if err != nil {
				return nil, err
			}
			files.DelaySync() // folders are synced to disk once, at the end
			return restoredFiles{files}, nil
		},
		Report: func(line string) { _ = env.printf("%s\n", line) }, // a line that cannot be printed does not stop the restore
	}
	done, err := r.Run(env.ctx)
	if err != nil && env.ctx.Err() != nil {
		return errors.New("interrupted: nothing was restored; run the command again")
	}
	// With a damaged backup, the operator can try an earlier restore point.
	if _, isDamaged := errors.AsType[*backup.Damage](err); isDamaged && !done.RestorePoint.IsZero() {
		return fmt.Errorf("%w: the state of %s cannot be restored. An earlier one can be sound: atelie backup list --from=… shows the restore points, and atelie restore --at=TIME restores one", err, done.RestorePoint.Format(time.RFC3339))
	}
	if err != nil {
		return err
	}
	return c.print(env, done)
}

// print prints the time of the restored state, what is missing, and how to start the site. It returns an error if something is missing.
func (c *restoreCommand) print(env *environment, done backup.Restored) error {
	env.say("Restored: the site as it was at %s, with %d files (%s), in %s\n", done.RestorePoint.Format(time.RFC3339Nano), done.Files, megabytes(done.Bytes), env.cfg.Server.DataDir)
	c.printDeletions(env, done.Undone)
	if len(done.Missing) == 0 {
		env.say("Nothing is missing. ")
		return printStart(env)
	}
	for _, text := range done.Missing {
		env.say("Missing: %s\n", text)
	}
	if err := printStart(env); err != nil {
		return err
	}
	return fmt.Errorf("everything else is restored; the backup lacks what is listed above as missing (%d)", len(done.Missing))
}

// printStart prints how to start the restored site. The restored database and files are in the data folder. If settings name another database
// or file store, printStart says what to do: the server would use those, with the restored secret.
func printStart(env *environment) error {
	var others []string
	if env.cfg.Database.URL != "" {
		others = append(others, "database-url")
	}
	if env.cfg.Storage.URL != "" {
		others = append(others, "storage-url")
	}
	dir := env.cfg.Server.DataDir
	if len(others) > 0 {
		names := strings.Join(others, " and ")
		env.say("The restored site is only in this folder, with SQLite, but atelie serve uses what %s names. Either copy the site to an empty database and file store (atelie copy --from=%s --to=… --to-files=…), or unset %s.\n", names, dir, names)
	}
	return env.printf("Start it with atelie serve --data-dir=%s\n", dir)
}

// printDeletions prints what was deleted after the restored state: the restore has brought it back, and it has to be deleted again.
func (c *restoreCommand) printDeletions(env *environment, later backup.Deletions) {
	if later.Unknown != "" {
		env.say("Whether addresses were erased or messages deleted since then is not known: %s\nIf they were, erase and delete them again.\n", later.Unknown)
		return
	}
	if later.Messages > 0 {
		env.say("Deleted since then: %d messages. The restore has brought them back: delete them again.\n", later.Messages)
	}
	for _, at := range later.Erasures {
		env.say("Erased since then: everything about an address, at %s. The restore has brought it back: erase it again (Messages, Everything about an address).\n", at.UTC().Format(time.RFC3339))
	}
}

// restoredFiles is the file store of the restored site, with the methods of backup.FileStore.
type restoredFiles struct{ *blob.Disk }

// Sync implements backup.FileStore.
func (f restoredFiles) Sync() error { return f.SyncFolders() }

// Put implements backup.FileStore.
func (f restoredFiles) Put(ctx context.Context, id string, body io.Reader) (size int64, sha256 string, err error) {
	info, err := blob.Put(ctx, f.Disk, id, body)
	return info.Size, info.SHA256, err
}
