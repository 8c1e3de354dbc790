package backup

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"atelie/internal/activity"
	"atelie/internal/db"
)

// Config configures a Service.
type Config struct {
	Destination Destination   // the primary destination
	OnDataDisk  bool          // Destination is on the disk of the data folder
	SplitByNode bool          // each node (server of the site) has a Destination of its own; Status reports that none has the whole backup
	Retention   time.Duration // how far back the site can be restored
	SiteID      string        // id of the site, stored in the destination; a backup with another id is never overwritten
	Secrets     Secrets
	Passphrase  string // the secrets are encrypted with it; if it is "", they are stored unencrypted
	// Secondary is the secondary destination, or nil. It is updated from Destination after each successful restore test (a nightly trial
	// restore).
	Secondary           Destination
	SecondaryOnDataDisk bool // Secondary is on the disk of the data folder
	// OpenBlob opens a blob of the site. The error is fs.ErrNotExist if there is none.
	OpenBlob func(ctx context.Context, id string) (io.ReadSeekCloser, error)
	// DiskFull reports whether the disk of the data folder is full. If it is, the backup of an SQLite database stops, because it writes local
	// files into the data folder.
	DiskFull   func() bool
	ScratchDir string       // folder for temporary files
	FreeSpace  func() int64 // returns the free space on the disk of ScratchDir in bytes
	Log        *slog.Logger
}

// Service keeps the backup of a running site.
type Service struct {
	db   *db.DB
	cfg  Config
	log  *slog.Logger
	now  func() time.Time
	wake chan struct{} // receives a value when blobs (the bytes of stored files) wait to be copied

	restoreTestTimeout time.Duration // the constant of this name except in tests
	// replicaCalls passes functions to runDatabase, which calls them with the open replica of the SQLite database, or with nil if none is
	// open.
	replicaCalls chan func(*replica)

	claimState struct {
		sync.Mutex
		claimed bool // claim has succeeded since the start of the program: format.json in the destination has this site's id
	}
	snapshot struct {
		sync.Mutex           // held while snapshotSince takes a snapshot
		time       time.Time // time of the newest snapshot that this process has taken
	}
	last struct { // the newest results
		sync.Mutex
		uploadedUntil time.Time // latest restore point of an SQLite database in the destination
		recorded      time.Time // the restore point that recordUpload has last stored in backup_status
		writes        int64     // number of writes to the database when recordUpload stored it
		// failed has the kinds whose newest attempt failed, possibly before the start of the program. A kind stays in it until its next
		// success is stored in backup_status.
		failed  map[Kind]bool
		texts   map[Kind]string // texts of the newest failures that this process has logged
		stored  map[Kind]bool   // kinds whose newest logged failure is in backup_status
		replica *replica        // the replica that Run has left open, for Close
	}
}

// New returns a Service; Run starts it.
func New(d *db.DB, cfg Config, now func() time.Time) *Service {
	s := &Service{
		db: d, cfg: cfg, log: cfg.Log, now: now,
		wake: make(chan struct{}, 1), replicaCalls: make(chan func(*replica)), restoreTestTimeout: restoreTestTimeout,
	}
	s.last.failed, s.last.texts, s.last.stored = map[Kind]bool{}, map[Kind]string{}, map[Kind]bool{}
	return s
}

// Run keeps the backup until ctx ends. While the destination is unreachable, only the backup waits; the site works as usual.
func (s *Service) Run(ctx context.Context) {
	s.loadFailures(ctx)
	if s.cfg.SplitByNode {
		s.log.Warn("backup: "+errSplit.Error(), "destination", s.cfg.Destination.Label())
	}
	var loops sync.WaitGroup
	if s.db.Dialect == db.SQLite {
		loops.Go(func() { s.runDatabase(ctx) })
	} else {
		loops.Go(func() { s.runSnapshots(ctx) })
	}
	loops.Go(func() { s.runBlobs(ctx) })
	loops.Go(func() { s.runRestoreTests(ctx) })
	loops.Wait()
}

// loadFailures reads which kinds failed before the start, so that their next success is recorded.
func (s *Service) loadFailures(ctx context.Context) {
	states, err := ReadStates(ctx, s.db)
	if err != nil {
		s.log.Warn("backup: the stored states cannot be read", "cause", err.Error())
	}
	s.last.Lock()
	defer s.last.Unlock()
	for kind, state := range states {
		s.last.failed[kind] = state.Error != ""
	}
}

// Status returns the status of the backup.
func (s *Service) Status(ctx context.Context) (Status, error) {
	states, err := ReadStates(ctx, s.db)
	if err != nil {
		return Status{Destination: s.cfg.Destination.Label()}, err
	}
	status, err := s.statusOf(ctx, states)
	s.last.Lock()
	defer s.last.Unlock()
	if s.last.uploadedUntil.After(status.LastBackup) {
		status.LastBackup = s.last.uploadedUntil
	}
	return status, err
}

// startReplica claims the destination and opens the database in litestream.
func (s *Service) startReplica(ctx context.Context) (*replica, error) {
	limited, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	if err := s.claim(limited); err != nil {
		return nil, err
	}
	r, err := s.openReplica(limited)
	if errors.Is(err, errLogRestarted) { // the local files are removed now
		r, err = s.openReplica(limited)
	}
	return r, err
}

// errNotOpen is the error of withReplica while the database is not backed up, for example because the destination cannot be reached.
var errNotOpen = errors.New("the database is not backed up at the moment")

// withReplica calls fn in the loop of runDatabase, which does nothing else meanwhile.
func (s *Service) withReplica(ctx context.Context, fn func(*replica) error) error {
	done := make(chan error, 1)
	call := func(r *replica) {
		if r == nil {
			done <- errNotOpen
			return
		}
		done <- fn(r)
	}
	select {
	case s.replicaCalls <- call:
		return <-done
	case <-ctx.Done():
		return ctx.Err()
	}
}

// secretDetail is the detail of KindSecret: the destination, and a checksum of the secrets in it. Earlier versions have stored it, so
// its names in JSON stay.
type secretDetail struct {
	Destination string `json:"place"`
	Sum         string `json:"sum"` // HMAC of the previous secret and the passphrase, with the current secret as key
}

// secretDetail returns the detail for the configured destination and secrets.
func (s *Service) secretDetail() secretDetail {
	mac := hmac.New(sha256.New, []byte(s.cfg.Secrets.Current))
	mac.Write([]byte("with a checksum\n" + s.cfg.Secrets.Previous + "\n" + s.cfg.Passphrase)) // the prefix differs from that of earlier versions, so secrets that were stored without a checksum are stored again
	return secretDetail{Destination: s.cfg.Destination.Label(), Sum: hex.EncodeToString(mac.Sum(nil))}
}

// storedSecretDetail returns the stored secretDetail; the zero value before the first claim.
func (s *Service) storedSecretDetail(ctx context.Context) (secretDetail, error) {
	states, err := ReadStates(ctx, s.db)
	if err != nil {
		return secretDetail{}, err
	}
	return readDetail[secretDetail](states[KindSecret])
}

// claim records in the destination that it has this site's backup, once for each start of the program. It stores the secrets there if they
// are missing or have changed. If the destination is empty or another one than before, claim puts all blobs into the queue again. Results
// of another destination, or of the site's previous database engine, are forgotten: they say nothing about this backup.
func (s *Service) claim(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	s.claimState.Lock()
	defer s.claimState.Unlock()
	if s.claimState.claimed {
		return nil
	}
	known, err := s.storedSecretDetail(ctx)
	if err != nil {
		return err
	}
	if err := s.forgetOtherEngine(ctx); err != nil {
		return err
	}
	before, err := Claim(ctx, s.cfg.Destination, s.cfg.SiteID, string(s.db.Dialect))
	if err != nil {
		return err
	}
	want := s.secretDetail()
	isNew := before == Format{} || known.Destination != want.Destination
	if isNew {
		if err := s.db.WithTx(ctx, func(tx *db.Tx) error {
			return errors.Join(forgetResults(ctx, tx), forgetCopies(ctx, tx), s.recordDestination(ctx, tx, known))
		}); err != nil {
			return err
		}
		if s.cfg.Passphrase == "" {
			s.log.Info("backup: begins in a new destination; the site's secret is not encrypted there: set ATELIE_BACKUP_PASSPHRASE to encrypt it", "destination", want.Destination)
		} else {
			s.log.Info("backup: begins in a new destination", "destination", want.Destination)
		}
	}
	stored, err := hasSecrets(ctx, s.cfg.Destination)
	if err != nil {
		return err
	}
	if !stored || known != want {
		if err := WriteSecrets(ctx, s.cfg.Destination, s.cfg.Secrets, s.cfg.Passphrase); err != nil {
			return err
		}
		detail, _ := json.Marshal(want) // cannot fail: it has only texts
		if err := RecordSuccess(ctx, s.db, KindSecret, s.now(), string(detail)); err != nil {
			return err
		}
	}
	s.claimState.claimed = true
	s.Wake()
	return nil
}

// forgetOtherEngine forgets the results of the site's previous database engine, if the destination has its backup. It must be called before
// Claim, which replaces the engine in the destination: after an error of a later call, nothing would show that the engine has changed.
func (s *Service) forgetOtherEngine(ctx context.Context) error {
	before, err := ReadFormat(ctx, s.cfg.Destination)
	switch {
	case err != nil:
		return missingAs(err, nil)
	case before.Site != s.cfg.SiteID || before.Engine == string(s.db.Dialect): // Claim refuses the backup of another site
		return nil
	}
	return s.db.WithTx(ctx, func(tx *db.Tx) error { return forgetResults(ctx, tx) })
}

// recordDestination adds an entry about the destination to the activity log, unless it is the same as before. A site's first destination
// has no entry if it is on the disk of the data folder, like the default one, because then no data leaves that disk.
func (s *Service) recordDestination(ctx context.Context, q db.Querier, known secretDetail) error {
	label := s.cfg.Destination.Label()
	if label == known.Destination || known.Destination == "" && s.cfg.OnDataDisk {
		return nil
	}
	return activity.RecordSite(ctx, q, activity.BackupDestination, label, s.now())
}

// Wake makes the service copy waiting blobs now.
func (s *Service) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// hasFailed reports whether the newest attempt of a kind failed.
func (s *Service) hasFailed(kind Kind) bool {
	s.last.Lock()
	defer s.last.Unlock()
	return s.last.failed[kind]
}

// failed logs and records a failure, unless the previous failure of this kind had the same text. A failure that could not be stored, for
// example because the database was unreachable too, is stored when it occurs again.
func (s *Service) failed(ctx context.Context, kind Kind, cause error) {
	if ctx.Err() != nil {
		return
	}
	text := safeText(cause)
	s.last.Lock()
	logged := s.last.failed[kind] && s.last.texts[kind] == text
	stored := logged && s.last.stored[kind]
	s.last.failed[kind], s.last.texts[kind] = true, text
	s.last.Unlock()
	if stored {
		return
	}
	if !logged {
		s.log.Error("backup: new data is not in the backup destination; the backup tries again, and nothing needs to be restarted", "kind", string(kind), "destination", s.cfg.Destination.Label(), "cause", cause.Error())
	}
	err := RecordFailure(ctx, s.db, kind, s.now(), text)
	s.last.Lock()
	s.last.stored[kind] = err == nil
	s.last.Unlock()
	if err != nil && !logged && ctx.Err() == nil {
		s.log.Warn("backup: the failure could not be stored", "cause", err.Error())
	}
}

// succeeded is storeSuccess without a detail. It logs an error. hasFailed stays true then, so that the caller stores its next success.
func (s *Service) succeeded(ctx context.Context, kind Kind, until time.Time) {
	if err := s.storeSuccess(ctx, kind, until, "{}"); err != nil && ctx.Err() == nil {
		s.log.Warn("backup: the success could not be stored", "cause", err.Error())
	}
}

// storeSuccess records that the destination has everything of a kind up to until, with a detail, a JSON object. Owners see a failure of the
// kind until the success is stored.
func (s *Service) storeSuccess(ctx context.Context, kind Kind, until time.Time, detail string) error {
	if err := RecordSuccess(ctx, s.db, kind, until, detail); err != nil {
		return err
	}
	s.last.Lock()
	again := s.last.failed[kind]
	s.last.failed[kind] = false
	s.last.Unlock()
	if again {
		s.log.Info("backup: the backup destination has everything again", "kind", string(kind), "destination", s.cfg.Destination.Label())
	}
	return nil
}

// safeText returns the text about a failure that owners see. The texts of this package's own errors are safe to show. Those of other errors
// can contain addresses, so they appear only in the log.
func safeText(cause error) string {
	for _, known := range []error{errSharedDestination, errLTXConflict, errTooLong, errDiskFull} { // may wrap an error of a server
		if errors.Is(cause, known) {
			return known.Error()
		}
	}
	for _, known := range []error{ErrOtherSite, errBlobMissing, errStillDamaged} {
		if errors.Is(cause, known) {
			return cause.Error()
		}
	}
	return "The backup destination cannot be reached or written; the log says why."
}
