package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"atelie/internal/auth"
	"atelie/internal/certificates"
	"atelie/internal/config"
	"atelie/internal/datafolder"
	"atelie/internal/db"
	"atelie/internal/jobs"
	"atelie/internal/s3client"
	"atelie/internal/storage"
	"atelie/internal/storage/blob"
)

// This file opens the stored data of a site for the server and the commands.

// Site gives access to the stored data of a site. The data has three parts. By default all three are in the data folder (ATELIE_DATA_DIR).
// Each part has a setting with another location:
//   - the database: ATELIE_DATABASE_URL
//   - the files: ATELIE_STORAGE_URL
//   - the secret: ATELIE_JWT_SECRET (the secret itself)
//
// Wrong settings could combine the parts of two sites. So Open checks that the files and the database contain the same marker (an id of the
// site), and that the database contains the fingerprint (a hash) of the secret.
type Site struct {
	DB     *db.DB
	Files  blob.Store
	Marker string            // the marker of the database and of Files
	Secret string            // the current secret, from which the program derives its keys
	Space  *datafolder.Space // watches the disk of the data folder
}

// Close ends the database connections.
func (s *Site) Close() error { return s.DB.Close() }

// Open opens the database and the files of a site and migrates the database. For a new site it creates all three parts. It returns an error
// if the parts do not belong together. If only some parts exist, Open returns an error, because the missing parts may be lost. If cfg.New is
// true (the flag --new), Open creates a missing database or file store instead.
//
// Open sets the secret in cfg.Auth. After a change of the secret, it also sets the previous one, which is still accepted.
func Open(ctx context.Context, cfg *config.Config, log *slog.Logger, now func() time.Time) (_ *Site, err error) {
	dir := cfg.Server.DataDir
	if err := datafolder.Prepare(dir, log); err != nil {
		return nil, err
	}
	unlock, err := datafolder.LockStart(ctx, dir) // so that no other process creates the parts of a new site at the same time
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	o := &opening{cfg: cfg, log: log, now: now}
	if err := o.loadSecret(); err != nil {
		return nil, err
	}
	o.Space = datafolder.NewSpace(dir, int64(cfg.Server.DiskWarn), log)
	if o.DB, err = db.Open(ctx, cfg.DatabaseURL(), databaseHooks(o.Space, log, cfg)); err != nil {
		return nil, err
	}
	if err := o.openParts(ctx); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return &o.Site, nil
}

// databaseHooks returns hooks that log outages of the database, and that free the reserve (a file that only occupies space) when SQLite's
// disk is full. In a command, a hook also waits while another program has locked the SQLite database.
func databaseHooks(space *datafolder.Space, log *slog.Logger, cfg *config.Config) db.Hooks {
	h := db.Hooks{
		OutageBegan: func(cause error) {
			switch {
			case !db.IsLocked(cause):
				log.Error("the database cannot be reached: cached pages and responses are served for five minutes, everything else is answered 503; repair the database, this program needs no restart", "cause", cause.Error())
			case !cfg.BesideServer: // a command ends with this error
				log.Error("another program has locked the database: reading continues, writes are answered 503; end the program that has the lock, this program needs no restart", "cause", cause.Error())
			}
		},
		OutageEnded: func(lasted time.Duration, refused int64) {
			log.Info("the database can be reached again", "lasted", lasted.Round(time.Millisecond).String(), "statements refused", refused)
		},
		DiskFull: space.FreeReserve,
		Locked:   db.NoHooks.Locked,
		KeepsRemains: func() {
			log.Warn("the file of the database keeps remains of deleted messages, because it has 64 GB or more, or auto_vacuum is on: stop this program, copy the site to an empty data folder (atelie copy), start it there, and remove the previous folder", "file", strings.TrimPrefix(cfg.DatabaseURL(), "sqlite:"))
		},
	}
	if !strings.HasPrefix(cfg.DatabaseURL(), "sqlite:") { // PostgreSQL's disk is not the disk of the data folder, where the reserve is
		h.DiskFull = db.NoHooks.DiskFull
	}
	if cfg.BesideServer {
		h.Locked = waitForLock(log)
	}
	return h
}

// CommandHooks returns the hooks of a database that a command opens without Open, beside the server.
func CommandHooks(log *slog.Logger) db.Hooks {
	h := db.NoHooks
	h.Locked = waitForLock(log)
	return h
}

// lockWait is how long a command waits until it can write to an SQLite database. A server that writes without a pause on a busy machine
// can keep the lock from another process for longer than SQLite waits for it.
const lockWait = time.Minute

// waitForLock returns the hook Locked of a command. It logs once what the command waits for.
func waitForLock(log *slog.Logger) func(waited time.Duration) (again bool) {
	var once sync.Once
	return func(waited time.Duration) bool {
		once.Do(func() {
			log.Warn("waiting until the database is not locked: another program, usually the server, writes to it without a pause", "at most", lockWait.String())
		})
		return waited < lockWait
	}
}

// CheckDatabaseFile prepares the data folder for a command that needs no secret. It returns an error if the folder has a
// secret but the SQLite file is missing. Otherwise the command would create an empty database in place of the site's.
func CheckDatabaseFile(cfg *config.Config, log *slog.Logger) error {
	if err := datafolder.Prepare(cfg.Server.DataDir, log); err != nil {
		return err
	}
	return (&opening{cfg: cfg}).loadSecret()
}

// opening is the state of Open while it checks the parts of the site. The fields of Site are set one after the other; Secret is "" if there is
// none yet.
type opening struct {
	Site
	cfg *config.Config
	log *slog.Logger
	now func() time.Time

	dataState      db.DataState // state of the database before the migrations
	secretInFolder bool         // the secret was read from the data folder, not from the configuration
}

// loadSecret reads the secret. It returns an error if the SQLite file is missing although the data folder has a secret; it
// must be called before SQLite creates the file.
func (o *opening) loadSecret() (err error) {
	o.Secret = o.cfg.Auth.JWTSecret
	if o.Secret == "" {
		if o.Secret, err = datafolder.Secret(o.cfg.Server.DataDir); err != nil {
			return err
		}
		if o.cfg.Auth.JWTSecretPrevious, err = datafolder.PreviousSecret(o.cfg.Server.DataDir); err != nil {
			return err
		}
		o.secretInFolder = o.Secret != ""
	}
	file, isFile := strings.CutPrefix(o.cfg.DatabaseURL(), "sqlite:")
	if !isFile {
		return nil
	}
	if info, err := os.Stat(file); err == nil && info.Size() > 0 {
		return nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if o.secretInFolder {
		return o.refuseMissingDatabase("the data folder has a secret")
	}
	return nil
}

// refuseMissingDatabase returns the error for a database that is missing or empty although another part of the site exists. found says
// in the error which part. It returns nil if the operator wants a new site (serve --new).
func (o *opening) refuseMissingDatabase(found string) error {
	if o.cfg.New {
		return nil
	}
	name, err := db.Label(o.cfg.DatabaseURL())
	if err != nil {
		return err
	}
	return fmt.Errorf("database: %s is missing or empty, but %s: restore the database from a backup (or move it here with atelie copy); to begin an empty site here, start once with serve --new", name, found)
}

// openParts opens the files, migrates the database, and checks that database, files and secret belong together.
func (o *opening) openParts(ctx context.Context) (err error) {
	if o.dataState, err = o.DB.DataState(ctx); err != nil {
		return err
	}
	if o.dataState == db.NoTables && o.secretInFolder {
		if err := o.refuseMissingDatabase("the data folder has a secret"); err != nil {
			return err
		}
	}
	if err := o.openFiles(ctx); err != nil {
		return err
	}
	if err := o.DB.Migrate(ctx); err != nil {
		return err
	}
	if err := o.DB.CheckTables(ctx); err != nil {
		return err
	}
	if err := o.checkSecret(ctx); err != nil {
		return err
	}
	return o.checkFiles(ctx)
}

// openFiles opens the file store: the S3 bucket if one is configured, otherwise the folder.
func (o *opening) openFiles(ctx context.Context) error {
	bucket, err := o.cfg.Storage.Bucket()
	if err != nil {
		return err
	}
	if bucket != nil {
		o.Files, err = blob.NewS3(ctx, s3client.Config(*bucket))
		return err
	}
	folder := o.cfg.FilesDir()
	if o.dataState == db.HasData && !o.cfg.New {
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			if err := o.refuseMissingFiles(ctx, folder+" is missing"); err != nil {
				return err
			}
		}
	}
	if o.Files, err = blob.NewDisk(folder, func() error { return checkSpace(o.Space) }); err != nil {
		return fmt.Errorf("files: %w", err)
	}
	return nil
}

// refuseMissingFiles returns an error if the database has rows of files. missing says in the error text what is missing.
func (o *opening) refuseMissingFiles(ctx context.Context, missing string) error {
	n, err := storage.CountObjects(ctx, o.DB)
	if err != nil || n == 0 {
		return err
	}
	return fmt.Errorf("files: the database has rows of %d files, and %s: mount or restore the file store; to continue without the files, start once with serve --new", n, missing)
}

// checkSecret returns an error unless the database accepts the secret. A database that has no fingerprint accepts the first
// secret; firstSecret creates one if needed.
func (o *opening) checkSecret(ctx context.Context) error {
	state, err := db.CheckSecret(ctx, o.DB, Fingerprint(o.Secret))
	if err != nil {
		return err
	}
	if previous := o.cfg.Auth.JWTSecretPrevious; state == db.SecretRefused && previous != "" && o.Secret != "" {
		state, err = o.DB.AcceptAnotherSecret(ctx, Fingerprint(previous), Fingerprint(o.Secret), o.now())
	}
	if err != nil {
		return err
	}
	if state == db.NoSecretYet {
		state, err = o.firstSecret(ctx)
	}
	if err != nil {
		return err
	}
	if state == db.SecretAccepted {
		o.cfg.Auth.JWTSecret = o.Secret
		return nil
	}
	found := "this is not the secret of this database"
	if o.Secret == "" {
		found = "the secret of this site is missing"
	}
	return errors.New("jwt-secret: " + found + ": all nodes need the same secret. Restore the file jwt-secret in the data folder from a backup, or set ATELIE_JWT_SECRET to the content of that file. If the secret is lost permanently, see atelie secret reset")
}

// firstSecret makes a database without a fingerprint accept the secret, which it creates for a new site. The database may be
// of an earlier version that stored no fingerprint; then it is refused if the secret decrypts none of its sealed values.
func (o *opening) firstSecret(ctx context.Context) (db.SecretState, error) {
	readable, unreadable, err := countSealed(ctx, o.DB, o.Secret)
	if err != nil {
		return db.SecretRefused, err
	}
	if readable == 0 && unreadable > 0 {
		return db.SecretRefused, nil
	}
	if unreadable > 0 {
		o.log.Warn("some sealed values in the database were sealed with another secret and cannot be read", "readable", readable, "unreadable", unreadable)
	}
	if o.dataState != db.HasData {
		if state, err := o.refuseForeignFiles(ctx); err != nil || state != db.NoSecretYet {
			return state, err
		}
	}
	made := o.Secret == ""
	if made {
		if o.dataState == db.HasData { // a site with data has a secret, which is missing here
			return db.SecretRefused, nil
		}
		if o.Secret, err = datafolder.MakeSecret(o.cfg.Server.DataDir); err != nil {
			return db.SecretRefused, err
		}
	}
	state, err := o.DB.AcceptFirstSecret(ctx, Fingerprint(o.Secret), o.now())
	if made && err == nil && state != db.SecretAccepted { // another node has stored its own secret first
		err = os.Remove(datafolder.SecretFile(o.cfg.Server.DataDir))
		o.Secret = ""
	}
	return state, err
}

// refuseForeignFiles returns an error if the database is unused but the file store has files. Another node may have begun
// the site meanwhile; then it returns what the database now says about the secret.
func (o *opening) refuseForeignFiles(ctx context.Context) (db.SecretState, error) {
	empty, err := o.Files.Empty(ctx)
	if err != nil || empty {
		return db.NoSecretYet, err
	}
	state, err := db.CheckSecret(ctx, o.DB, Fingerprint(o.Secret))
	if err != nil || state != db.NoSecretYet {
		return state, err
	}
	return state, o.refuseMissingDatabase("the file store is not empty")
}

// checkFiles returns an error unless the file store has the same marker as the database. It marks a new file store.
func (o *opening) checkFiles(ctx context.Context) error {
	found, err := o.Files.Marker(ctx)
	if err != nil {
		return fmt.Errorf("files: %w", err)
	}
	known, err := db.ReadMarker(ctx, o.DB)
	if err != nil {
		return err
	}
	switch {
	case known == "": // a new database, or one of an earlier version
		if found == "" && !o.cfg.New {
			if err := o.checkSampleFiles(ctx); err != nil {
				return err
			}
		}
		if known, err = o.DB.EnsureMarker(ctx, found, o.now()); err != nil {
			return err
		}
	case found == "" && !o.cfg.New:
		if err := o.refuseMissingFiles(ctx, "the file store has no marker (.atelie)"); err != nil {
			return err
		}
	}
	switch found {
	case known:
	case "":
		if err := o.Files.Mark(ctx, known); err != nil {
			return fmt.Errorf("files: %w", err)
		}
	default:
		return fmt.Errorf("files: the file store belongs to another site: its marker (.atelie) is %s, the database's is %s; set the right data-dir or storage-url, or restore the files that belong to this database", found, known)
	}
	o.Marker = known
	return nil
}

// checkSampleFiles checks a file store without a marker, which may have been filled by an earlier version. It returns an error
// unless at least one of the newest files of the database exists there.
func (o *opening) checkSampleFiles(ctx context.Context) error {
	ids, err := storage.NewestBlobs(ctx, o.DB, 20)
	if err != nil || len(ids) == 0 {
		return err
	}
	for _, id := range ids {
		f, err := o.Files.Open(ctx, id)
		if err == nil {
			return f.Close()
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("files: %w", err)
		}
	}
	return o.refuseMissingFiles(ctx, "none of the files that were checked exists")
}

// Fingerprint returns a hash by which the database recognizes a secret. It reveals nothing about the secret.
func Fingerprint(secret string) string {
	mac := hmac.New(sha256.New, deriveKey(secret, "fingerprint"))
	mac.Write([]byte("the secret of this site"))
	return hex.EncodeToString(mac.Sum(nil))
}

// countSealed counts the sealed values in the database that a secret can open, and those that it cannot.
func countSealed(ctx context.Context, d *db.DB, secret string) (readable, unreadable int, err error) {
	for purpose, count := range map[string]func(context.Context, db.Querier, []byte) (int, int, error){
		"sealed secrets": auth.CountSealed, "jobs": jobs.CountSealed, "certificates": certificates.CountSealed,
	} {
		opened, closed, err := count(ctx, d, deriveKey(secret, purpose))
		if err != nil {
			return 0, 0, err
		}
		readable, unreadable = readable+opened, unreadable+closed
	}
	return readable, unreadable, nil
}

// Reset is what ResetSecret has removed.
type Reset struct {
	Factors []string // accounts that lost a second factor
	Jobs    int
}

// ResetSecret makes a database whose secret is lost accept another one: the configured one, or that of the data folder,
// which it creates if needed. It removes what only the lost secret could open. No server may run meanwhile.
func ResetSecret(ctx context.Context, cfg *config.Config, log *slog.Logger, now func() time.Time) (r Reset, err error) {
	dir := cfg.Server.DataDir
	if err := datafolder.Prepare(dir, log); err != nil {
		return r, err
	}
	release, err := datafolder.Lock(dir)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if file, isFile := strings.CutPrefix(cfg.DatabaseURL(), "sqlite:"); isFile {
		if _, err := os.Stat(file); err != nil {
			return r, fmt.Errorf("database: %w", err)
		}
	}
	d, err := db.Open(ctx, cfg.DatabaseURL(), CommandHooks(log))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.Migrate(ctx); err != nil {
		return r, err
	}
	secret := cfg.Auth.JWTSecret
	if secret == "" {
		if secret, err = datafolder.Secret(dir); err == nil && secret == "" {
			secret, err = datafolder.MakeSecret(dir)
		}
		if err != nil {
			return r, err
		}
	}
	free, err := d.Claim(ctx, claimKeys(secret, ""), func(error) {})
	if err != nil {
		return r, fmt.Errorf("a server of this site runs with another secret: stop all of them first (%w)", err)
	}
	defer free()
	if state, err := db.CheckSecret(ctx, d, Fingerprint(secret)); err != nil {
		return r, err
	} else if state == db.SecretAccepted {
		return r, errors.New("this is the secret that the database is used with: nothing is to be done")
	}
	err = d.WithTx(ctx, func(tx *db.Tx) (err error) {
		if r.Factors, err = auth.DeleteUnreadable(ctx, tx, deriveKey(secret, "sealed secrets"), now()); err != nil {
			return err
		}
		if r.Jobs, err = jobs.DeleteUnreadable(ctx, tx, deriveKey(secret, "jobs")); err != nil {
			return err
		}
		return db.AcceptOnlySecret(ctx, tx, Fingerprint(secret), now())
	})
	return r, err
}
