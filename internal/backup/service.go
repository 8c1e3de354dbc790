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

// Config configures New.
type Config struct {
	Place      Place
	SameDisk   bool          // the place is on the disk of the data folder
	Split      bool          // each node has a place of its own, though all share the database and the files
	Retention  time.Duration // every moment of this time can be restored
	Site       string        // marker of the site; a place with the backup of another site is refused
	Secrets    Secrets
	Passphrase string // seals the secrets; "" leaves them readable
	// OpenBlob opens a blob of the site. The error is fs.ErrNotExist if there is none.
	OpenBlob func(ctx context.Context, id string) (io.ReadSeekCloser, error)
	// Full reports that the disk of the data folder is full: the backup of an SQLite database writes there too.
	Full func() bool
	// Free returns the free room on the disk of Scratch in bytes.
	Free func() int64
	// CopyTo is the second place, which gets the backup after each proof; nil for none.
	CopyTo Place
	// CopyElsewhere reports that CopyTo is not on the disk of the data folder.
	CopyElsewhere bool
	// Scratch is a folder for temporary files.
	Scratch string
	Log     *slog.Logger
}

// Service keeps the backup of a running site.
type Service struct {
	db   *db.DB
	cfg  Config
	log  *slog.Logger
	now  func() time.Time
	wake chan struct{} // signals that a blob waits

	proofTimeout time.Duration
	replicaCalls chan func(*replica) // runDatabase calls these functions, with nil while no replica is open

	claimed struct {
		sync.Mutex
		done bool // claim has succeeded since the start
	}
	snapshot struct {
		sync.Mutex           // held while snapshotSince takes a snapshot
		moment     time.Time // of the newest one that it has taken
	}
	last struct {
		sync.Mutex
		moment   time.Time       // newest moment of an SQLite database that is in the place
		recorded time.Time       // the newest moment that was stored in the database
		writes   int64           // writes of the database when that moment was stored
		failed   map[Kind]bool   // parts whose newest attempt failed, also before the start
		texts    map[Kind]string // texts of the newest failures that this process has recorded
		replica  *replica        // open replica after the end of Run, for Close
	}
}

// New returns a Service; Run starts it.
func New(d *db.DB, cfg Config, now func() time.Time) *Service {
	s := &Service{db: d, cfg: cfg, log: cfg.Log, now: now, wake: make(chan struct{}, 1), proofTimeout: proofTimeout, replicaCalls: make(chan func(*replica))}
	s.last.failed, s.last.texts = map[Kind]bool{}, map[Kind]string{}
	return s
}

// Run keeps the backup until ctx ends. While the place cannot be reached, only the backup waits, and not the site.
func (s *Service) Run(ctx context.Context) {
	s.loadFailures(ctx)
	if s.cfg.Split {
		s.log.Warn("backup: "+errSplit.Error(), "place", s.cfg.Place.Label())
	}
	var loops sync.WaitGroup
	if s.db.Dialect == db.SQLite {
		loops.Go(func() { s.runDatabase(ctx) })
	} else {
		loops.Go(func() { s.runSnapshots(ctx) })
	}
	loops.Go(func() { s.runBlobs(ctx) })
	loops.Go(func() { s.runProofs(ctx) })
	loops.Wait()
}

// loadFailures notes what failed last before the start, so that a success is recorded.
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

// Close stores the last writes of an SQLite database. It must be called after Run has returned and the database is closed.
func (s *Service) Close() error { return s.closeReplica(context.Background()) }

// Status returns how the backup is.
func (s *Service) Status(ctx context.Context) (Status, error) {
	states, err := ReadStates(ctx, s.db)
	if err != nil {
		return Status{Place: s.cfg.Place.Label()}, err
	}
	status, err := s.statusOf(ctx, states)
	s.last.Lock()
	defer s.last.Unlock()
	if s.last.moment.After(status.LastBackup) {
		status.LastBackup = s.last.moment
	}
	return status, err
}

// begin claims the place and opens the database in litestream.
func (s *Service) begin(ctx context.Context) (*replica, error) {
	limited, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	if err := s.claim(limited); err != nil {
		return nil, err
	}
	return s.openReplica(limited)
}

// errNotOpen is the error of withReplica while the database is not backed up, for example because the place cannot be reached.
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

// placeDetail is the detail of KindSecret: which place has which secrets.
type placeDetail struct {
	Place string `json:"place"`
	Sum   string `json:"sum"` // of the secrets and the passphrase, keyed with the secret
}

// placeDetail describes the configured place and secrets.
func (s *Service) placeDetail() placeDetail {
	mac := hmac.New(sha256.New, []byte(s.cfg.Secrets.Current))
	mac.Write([]byte("with a checksum\n" + s.cfg.Secrets.Previous + "\n" + s.cfg.Passphrase)) // the prefix has secrets without one stored again
	return placeDetail{Place: s.cfg.Place.Label(), Sum: hex.EncodeToString(mac.Sum(nil))}
}

// readPlaceDetail returns what is stored about the place, the zero value before the first claim.
func readPlaceDetail(states map[Kind]State) (d placeDetail, err error) {
	if text := states[KindSecret].Detail; text != "" {
		err = json.Unmarshal([]byte(text), &d)
	}
	return d, err
}

// claim records in the place that it holds this site's backup, once for each start, and stores the secrets there if they have changed or
// are not there. If the place is new, or another one than before, all blobs wait for their copy again.
func (s *Service) claim(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	s.claimed.Lock()
	defer s.claimed.Unlock()
	if s.claimed.done {
		return nil
	}
	states, err := ReadStates(ctx, s.db)
	if err != nil {
		return err
	}
	known, err := readPlaceDetail(states)
	if err != nil {
		return err
	}
	created, err := Claim(ctx, s.cfg.Place, s.cfg.Site, string(s.db.Dialect))
	if err != nil {
		return err
	}
	want := s.placeDetail()
	if created || known.Place != want.Place {
		if err := s.db.WithTx(ctx, func(tx *db.Tx) error { return errors.Join(forgetCopies(ctx, tx), s.recordPlace(ctx, tx, known)) }); err != nil {
			return err
		}
		if s.cfg.Passphrase == "" {
			s.log.Info("backup: begins in a new place; the site's secret is readable in it: set ATELIE_BACKUP_PASSPHRASE to seal it", "place", want.Place)
		} else {
			s.log.Info("backup: begins in a new place", "place", want.Place)
		}
	}
	stored, err := hasSecrets(ctx, s.cfg.Place)
	if err != nil {
		return err
	}
	if !stored || known != want {
		if err := WriteSecrets(ctx, s.cfg.Place, s.cfg.Secrets, s.cfg.Passphrase); err != nil {
			return err
		}
		detail, err := json.Marshal(want)
		if err != nil {
			return err
		}
		if err := RecordSuccess(ctx, s.db, KindSecret, s.now(), string(detail)); err != nil {
			return err
		}
	}
	s.claimed.done = true
	s.Wake()
	return nil
}

// recordPlace adds the place to the activity, unless it is the known one. The first place is not listed if it is on the disk of the data
// folder, as the default is: nothing leaves that disk.
func (s *Service) recordPlace(ctx context.Context, q db.Querier, known placeDetail) error {
	label := s.cfg.Place.Label()
	if label == known.Place || known.Place == "" && s.cfg.SameDisk {
		return nil
	}
	return activity.RecordSite(ctx, q, activity.BackupPlace, label, s.now())
}

// Wake makes the service look for waiting blobs.
func (s *Service) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// hasFailed reports whether the newest attempt of a part failed.
func (s *Service) hasFailed(kind Kind) bool {
	s.last.Lock()
	defer s.last.Unlock()
	return s.last.failed[kind]
}

// failed logs and records a failure, once for each text in a row.
func (s *Service) failed(ctx context.Context, kind Kind, cause error) {
	if ctx.Err() != nil {
		return
	}
	text := safeText(cause)
	s.last.Lock()
	known := s.last.failed[kind] && s.last.texts[kind] == text
	s.last.failed[kind], s.last.texts[kind] = true, text
	s.last.Unlock()
	if known {
		return
	}
	s.log.Error("backup: what is written now is not in the place of the backup; it is tried again, and nothing needs to be restarted", "part", string(kind), "place", s.cfg.Place.Label(), "cause", cause.Error())
	if err := RecordFailure(ctx, s.db, kind, s.now(), text); err != nil && ctx.Err() == nil {
		s.log.Warn("backup: the failure could not be stored", "cause", err.Error())
	}
}

// succeeded records that a part is in the place up to moment.
func (s *Service) succeeded(ctx context.Context, kind Kind, moment time.Time) {
	s.succeededWith(ctx, kind, moment, "{}")
}

// succeededWith is succeeded with a detail, a JSON object.
func (s *Service) succeededWith(ctx context.Context, kind Kind, moment time.Time, detail string) {
	s.last.Lock()
	again := s.last.failed[kind]
	s.last.failed[kind] = false
	s.last.Unlock()
	if again {
		s.log.Info("backup: the place of the backup has everything again", "part", string(kind), "place", s.cfg.Place.Label())
	}
	if err := RecordSuccess(ctx, s.db, kind, moment, detail); err != nil && ctx.Err() == nil {
		s.log.Warn("backup: the success could not be stored", "cause", err.Error())
	}
}

// safeText returns what the owner reads about a failure. The causes of this package are written for people; others can contain
// addresses and stay in the log.
func safeText(cause error) string {
	for _, known := range []error{ErrOtherSite, errDiskFull, errTooLong, errBlobMissing, errUnmended} {
		if errors.Is(cause, known) {
			return cause.Error()
		}
	}
	return "The place of the backup cannot be reached or written; the log says why."
}
