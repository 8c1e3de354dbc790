package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/superfly/ltx"
	"golang.org/x/sync/errgroup"

	"atelie/internal/activity"
	"atelie/internal/datafolder"
	"atelie/internal/db"
)

// Restore rebuilds a data folder from a backup. `atelie restore` runs it.
type Restore struct {
	From       Destination // the backup
	At         time.Time   // the newest state that is not later than At is restored; the zero time selects the newest state of all
	Passphrase string      // decrypts the site's secrets, if the backup has them encrypted
	Dir        string      // the data folder; it must be new or empty
	// Fingerprint returns the hash by which a database recognizes a secret.
	Fingerprint func(secret string) string
	// OpenFiles opens the store for files in the data folder.
	OpenFiles func(dir string) (FileStore, error)
	// Report is called with lines of progress.
	Report func(line string)
}

// FileStore stores the files of a restored site.
type FileStore interface {
	// Put stores a file under a blob id and returns the size and the SHA-256 of what it has stored. A power cut before the next call of Sync
	// can remove the file.
	Put(ctx context.Context, id string, body io.Reader) (size int64, sha256 string, err error)
	// Delete removes a file.
	Delete(ctx context.Context, id string) error
	// Sync makes sure that all stored files survive a power cut.
	Sync() error
	// Mark stores the site's marker, an id that the database has too. It shows that the files and the database belong together.
	Mark(ctx context.Context, marker string) error
}

// Restored is the result of a restore.
type Restored struct {
	RestorePoint time.Time // the time of the restored state of the database
	Files        int64     // number of restored files
	Bytes        int64     // size of the restored files
	Missing      []string  // a text for each thing that is missing or damaged in the backup, such as a file or an LTX file
	Undone       Deletions // the deletions after RestorePoint, which the restore has undone; empty unless Restore.At is set
}

// Deletions are deletions of personal data. A restore of an earlier state brings the data back, so the operator has to repeat the deletions.
// The site does not record which addresses were erased, because such a record would itself be personal data.
type Deletions struct {
	Erasures []time.Time // when everything about an address was erased
	Messages int64       // number of deleted messages
	Unknown  string      // why the deletions are not known: the error of reading the newest state; "" if they are known
}

// readConcurrency is the number of files that a restore reads concurrently.
const readConcurrency = 4

// unfinishedDatabase is the name of the database file until the restore is complete. Until then no server starts on the data folder,
// because a server refuses a folder that has a secret or files but no database file with the usual name.
const unfinishedDatabase = "restoring.db"

// Advice to the operator if the secrets in the backup are missing or damaged (missing), or newer than the restored state (earlier).
const (
	missingSecretAdvice = "the site starts with the one in ATELIE_JWT_SECRET; if it is lost, see atelie secret reset"
	earlierSecretAdvice = "write it into the file jwt-secret.previous of the new data folder, or, if ATELIE_JWT_SECRET is set, into ATELIE_JWT_SECRET_PREVIOUS; if it is lost, see atelie secret reset"
)

// Run rebuilds the data folder. If Run fails, it removes what it has written, and also the folder if Run has created it. A missing or damaged
// file is not an error; Restored.Missing lists it.
func (r *Restore) Run(ctx context.Context) (done Restored, err error) {
	created, err := emptyFolder(r.Dir)
	if err != nil {
		return done, err
	}
	defer func() {
		if err == nil {
			return
		}
		err = errors.Join(err, removeEntries(r.Dir))
		if created {
			err = errors.Join(err, os.Remove(r.Dir))
		}
	}()
	format, err := ReadFormat(ctx, r.From)
	if err != nil {
		return done, missingAs(err, fmt.Errorf("there is no backup in %s", r.From.Label()))
	}
	secrets, err := ReadSecrets(ctx, r.From, r.Passphrase)
	var broken *Damage
	switch {
	case errors.Is(err, fs.ErrNotExist):
		done.Missing = append(done.Missing, "the secret: "+missingSecretAdvice)
	case errors.As(err, &broken):
		done.Missing = append(done.Missing, broken.Error()+": "+missingSecretAdvice)
	case errors.Is(err, ErrWrongPassphrase):
		return done, fmt.Errorf("%w; if you are sure of it, the secret is damaged: rename %s in the destination, and the rest can be restored", err, sealedSecretName)
	case err != nil:
		return done, err
	}
	point, err := findRestorePoint(ctx, r.From, format.Engine, r.At)
	if err != nil {
		return done, err
	}
	done.RestorePoint = point.time
	if point.gap != "" {
		done.Missing = append(done.Missing, point.gap)
	}
	if err := r.restoreDatabase(ctx, point, secrets, &done); err != nil {
		return done, err
	}
	if secrets.Current != "" {
		if err := datafolder.WriteSecrets(r.Dir, secrets.Current, secrets.Previous); err != nil {
			return done, err
		}
	}
	if err := os.Rename(filepath.Join(r.Dir, unfinishedDatabase), filepath.Join(r.Dir, datafolder.Database)); err != nil {
		return done, err
	}
	if !r.At.IsZero() {
		done.Undone = r.laterDeletions(ctx, format.Engine, done.RestorePoint)
	}
	return done, datafolder.SyncFolder(r.Dir)
}

// laterDeletions returns what was deleted after a time. For this it restores the newest state of the backup into a temporary database. It
// returns no error, because the restore is complete without it.
func (r *Restore) laterDeletions(ctx context.Context, engine string, since time.Time) (found Deletions) {
	r.Report("Deletions: reading from the newest state of the backup what was deleted since then")
	const unknown = "the newest state of the backup cannot be read: "
	newest, err := findRestorePoint(ctx, r.From, engine, time.Time{})
	if err != nil {
		return Deletions{Unknown: unknown + err.Error()}
	}
	if !newest.time.After(since) {
		return found
	}
	file := filepath.Join(r.Dir, unfinishedDatabase)
	defer func() {
		for _, name := range []string{file, file + "-wal", file + "-shm"} {
			if err := datafolder.RemoveFile(name); err != nil {
				found.Unknown = err.Error()
			}
		}
	}()
	if err := newest.restore(ctx, file); err != nil {
		return Deletions{Unknown: unknown + err.Error()}
	}
	d, err := openRestored(ctx, file)
	if err != nil {
		return Deletions{Unknown: unknown + err.Error()}
	}
	found, err = listDeletions(ctx, d, since)
	if err := errors.Join(err, d.Close()); err != nil {
		return Deletions{Unknown: unknown + err.Error()}
	}
	return found
}

// emptyFolder creates a folder if it is not there, and reports whether it did. It returns an error if the folder is not empty.
func emptyFolder(dir string) (created bool, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, os.MkdirAll(dir, 0o700)
	}
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty: restore into a new folder", dir)
	}
	return false, err
}

func removeEntries(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

// restoreDatabase restores the database, migrates it, compares it with the secrets of the backup, restores the files to which its rows
// refer, and adds an entry to its activity log.
func (r *Restore) restoreDatabase(ctx context.Context, point *restorePoint, secrets Secrets, done *Restored) error {
	r.Report("Database: the state of " + point.time.Format(time.RFC3339Nano))
	last := time.Time{}
	if _, err := point.verify(ctx, func(checked, all int) {
		if time.Since(last) >= reportEvery || checked == all {
			last = time.Now()
			r.Report(fmt.Sprintf("Database: %d of %d parts checked", checked, all))
		}
	}); err != nil {
		return err
	}
	file := filepath.Join(r.Dir, unfinishedDatabase)
	if err := point.restore(ctx, file); err != nil {
		return err
	}
	d, err := openRestored(ctx, file)
	if err != nil {
		return err
	}
	r.Report("Database: restored, and its integrity is checked")
	err = d.Migrate(ctx)
	if err == nil {
		err = r.compareSecrets(ctx, d, secrets, done)
	}
	if err == nil {
		err = r.restoreFiles(ctx, d, done)
	}
	if err == nil {
		err = activity.RecordSite(ctx, d, activity.SiteRestore, point.time.Format(time.RFC3339Nano), time.Now())
	}
	if err != nil {
		return errors.Join(err, d.Close())
	}
	return closeRestored(d, file)
}

// compareSecrets lists the secret as missing if the restored database accepts none of the secrets: a backup has only the newest ones, and
// the restored state can be from before they were set.
func (r *Restore) compareSecrets(ctx context.Context, d *db.DB, secrets Secrets, done *Restored) error {
	if secrets.Current == "" {
		return nil // it is listed already
	}
	for _, secret := range []string{secrets.Current, secrets.Previous} {
		if secret == "" {
			continue
		}
		if state, err := db.CheckSecret(ctx, d, r.Fingerprint(secret)); err != nil || state != db.SecretRefused {
			return err
		}
	}
	done.Missing = append(done.Missing, "the secret of that time, which was changed since then: "+earlierSecretAdvice)
	return nil
}

// reportEvery is the minimum time between two lines of progress.
const reportEvery = 2 * time.Second

// restoreFiles restores the files to which rows refer, and compares each with the SHA-256 in its row.
func (r *Restore) restoreFiles(ctx context.Context, d *db.DB, done *Restored) error {
	files, err := listFiles(ctx, d)
	if err != nil {
		return err
	}
	store, err := r.OpenFiles(r.Dir)
	if err != nil {
		return err
	}
	var (
		mu   sync.Mutex
		last time.Time
		all  int64
	)
	for _, f := range files {
		all += f.Size
	}
	missing := map[string]string{}
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(readConcurrency)
	for _, f := range files {
		group.Go(func() error {
			problem, err := r.restoreFile(working, store, f)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if problem != "" {
				missing[f.BlobID] = f.Name + " (" + BlobName(f.BlobID) + "): " + problem
				return nil
			}
			done.Files++
			done.Bytes += f.Size
			if time.Since(last) >= reportEvery || done.Files == int64(len(files)) {
				last = time.Now()
				r.Report(fmt.Sprintf("Files: %d of %d, %.1f of %.1f MB", done.Files, len(files), float64(done.Bytes)/1e6, float64(all)/1e6))
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := store.Sync(); err != nil {
		return err
	}
	for _, f := range files {
		if text, ok := missing[f.BlobID]; ok {
			done.Missing = append(done.Missing, text)
		}
	}
	marker, err := db.ReadMarker(ctx, d)
	if err == nil && marker != "" {
		err = store.Mark(ctx, marker)
	}
	return err
}

// restoreFile restores a file. problem is the reason why the backup cannot provide the file, or "".
func (r *Restore) restoreFile(ctx context.Context, store FileStore, f storedFile) (problem string, err error) {
	body, err := r.From.Open(ctx, BlobName(f.BlobID))
	if errors.Is(err, fs.ErrNotExist) {
		return "not in the backup", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	size, sum, err := store.Put(ctx, f.BlobID, body)
	if err != nil {
		return "", fmt.Errorf("%s: %w", f.Name, err)
	}
	if size != f.Size || sum != f.SHA256 {
		return "damaged in the backup", store.Delete(ctx, f.BlobID)
	}
	return "", nil
}

// checkFile reads a file of the backup and compares it with its row. The error is fs.ErrNotExist or a *Damage.
func checkFile(ctx context.Context, dest Destination, f storedFile) error {
	sum, size, err := sumOf(ctx, dest, BlobName(f.BlobID))
	if err == nil && (size != f.Size || sum != f.SHA256) {
		err = damage(BlobName(f.BlobID)+" ("+f.Name+")", nil)
	}
	return err
}

// Day is a day (UTC) with restore points. First and Last are the times of its first and last one.
type Day struct {
	First, Last   time.Time
	RestorePoints int
}

// ListRestorePoints returns the days that have restore points, the oldest first.
func ListRestorePoints(ctx context.Context, dest Destination) (days []Day, err error) {
	format, err := ReadFormat(ctx, dest)
	if err != nil {
		return nil, missingAs(err, fmt.Errorf("there is no backup in %s", dest.Label()))
	}
	if format.Engine == string(db.Postgres) {
		list, err := listSnapshots(ctx, dest)
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			days = addDay(days, Day{s.Time.UTC(), s.Time.UTC(), 1})
		}
		return days, nil
	}
	replica, err := newReplicaReader(ctx, dest)
	if err != nil {
		return nil, err
	}
	states, err := replica.states(ctx)
	if err != nil || len(states) == 0 {
		return nil, err
	}
	first, err := replica.timeOf(ctx, states[0])
	if err != nil {
		return nil, err
	}
	last, err := replica.timeOf(ctx, states[len(states)-1])
	if err != nil {
		return nil, err
	}
	return replica.days(ctx, states, first, last)
}

// addDay appends a day to the days before it. If next is the same day as the last of them, addDay merges the two.
func addDay(days []Day, next Day) []Day {
	if n := len(days) - 1; n >= 0 && sameDay(days[n].First, next.First) {
		days[n].Last = next.Last
		days[n].RestorePoints += next.RestorePoints
		return days
	}
	return append(days, next)
}

func sameDay(a, b time.Time) bool { return a.Format(time.DateOnly) == b.Format(time.DateOnly) }

// states returns, for each state that can be restored, the LTX file that completes it, in the order of the transactions.
func (r *replicaReader) states(ctx context.Context) (states []*ltx.FileInfo, err error) {
	all, err := r.all(ctx)
	if err != nil {
		return nil, err
	}
	// Of LTX files that complete the same state, that of the lowest level has the most exact time.
	slices.SortFunc(all, func(a, b *ltx.FileInfo) int {
		return cmp.Or(cmp.Compare(a.MaxTXID, b.MaxTXID), cmp.Compare(a.Level, b.Level))
	})
	var newest ltx.TXID
	for _, info := range all {
		// An LTX file continues any state that it overlaps or follows.
		if info.MaxTXID > newest && info.MinTXID <= newest+1 {
			states = append(states, info)
			newest = info.MaxTXID
		}
	}
	return states, nil
}

// days groups states by day. first and last are the times of the first and the last state. As later states have later times, a binary
// search reads the times of few.
func (r *replicaReader) days(ctx context.Context, states []*ltx.FileInfo, first, last time.Time) ([]Day, error) {
	if sameDay(first, last) {
		return []Day{{first, last, len(states)}}, nil
	}
	middle := len(states) / 2
	var before, after []Day
	group, reading := errgroup.WithContext(ctx)
	group.Go(func() error {
		end, err := r.timeOf(reading, states[middle-1])
		if err == nil {
			before, err = r.days(reading, states[:middle], first, end)
		}
		return err
	})
	group.Go(func() error {
		begin, err := r.timeOf(reading, states[middle])
		if err == nil {
			after, err = r.days(reading, states[middle:], begin, last)
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, d := range after {
		before = addDay(before, d)
	}
	return before, nil
}
