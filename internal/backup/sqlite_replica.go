package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/superfly/ltx"

	"atelie/internal/db"
	"atelie/internal/interval"
)

// This file backs up an SQLite database with litestream. In each second with writes, litestream reads the new pages in the write-ahead log
// and makes an LTX file from them. An LTX file (litestream's format) has the database pages that a range of transactions has changed.
// litestream writes the file into a local folder, and uploads it from there to the destination. While the replica is open, SQLite's automatic
// checkpoints (which move pages from the log into the database) are off, and litestream runs the checkpoints.

// localSuffix is appended to the path of the database's file. The result is the path of the folder with the local LTX files.
const localSuffix = "-backup"

// Intervals and limits.
const (
	// Reading the log and uploading.
	writesPollInterval = 250 * time.Millisecond // how often the replica checks whether this process has written
	syncInterval       = time.Second            // interval between two reads of the log, which has the writes of commands (other processes) too
	slowSyncInterval   = 10 * time.Second       // used instead while the destination is unreachable, to make fewer local LTX files
	failuresUntilError = 5                      // consecutive failures after which an error is reported; a few are normal, because of locks
	maxRetryDelay      = 30 * time.Second       // maximum wait before another attempt to open the replica or to copy files
	uploadTimeout      = time.Minute            // limit of one upload, plus one second for each 100 kB that waits
	lastUploadTimeout  = 10 * time.Second       // limit of the last upload, when the program ends
	recordInterval     = 5 * time.Minute        // how often the latest restore point is stored in backup_status, if anything was written

	// maxLocalBytes is the limit of the local LTX files, which accumulate while the destination is unreachable. When it is exceeded, they
	// are removed, and the backup starts again with a whole copy of the database. The removed files leave a gap without restore points.
	maxLocalBytes     = 256 << 20
	localSizeInterval = 10 * time.Second // interval at which the size of the local LTX files is measured
)

// replica uploads the changes of an SQLite database to the destination. The uploaded files together are the replica of the database. The
// value exists while litestream has the database open.
type replica struct {
	log       *slog.Logger
	lite      *litestream.DB
	client    RangeClient
	compactor *litestream.Compactor
	release   func(context.Context) error // gives the checkpoints back to package db

	// uploaded is the newest transaction that this replica has uploaded, or 0. An earlier replica may have uploaded a newer one.
	uploaded atomic.Uint64

	// checkpointMu is held during a checkpoint that another goroutine has requested, and while abandon closes litestream. A restore test
	// (a trial restore, restore_tests.go) holds it to prevent checkpoints.
	checkpointMu sync.Mutex
	abandoned    bool // litestream is closed; guarded by checkpointMu

	maintaining  sync.Mutex            // held while maintain runs; guards the fields below
	maintainAt   time.Time             // maintain does not run before this time; set after an error
	compactedAt  []time.Time           // by level: when its LTX files were last compacted
	newest       map[int]*ltx.FileInfo // by level: its newest LTX file; nil until it is known
	keep         ltx.TXID              // how many transactions keep their LTX files of level 0 in the destination (level0Kept), the newest ones
	trimAt       ltx.TXID              // trim does nothing until the destination has this transaction
	trimmedLocal time.Time             // when local LTX files were last removed
	snapshot     ltx.TXID              // the transaction of the newest snapshot; 0 for none
	snapshotAt   time.Time             // when the next snapshot is due
	overdueAt    time.Time             // errLogRestarted is reported only after this time, because another attempt usually succeeds
}

// openReplica opens the database in litestream and continues the replica in the destination. The destination must be reachable.
func (s *Service) openReplica(ctx context.Context) (_ *replica, err error) {
	file := s.db.File()
	r := &replica{
		log:  s.log,
		lite: litestream.NewDB(file), client: s.cfg.Destination.RangeClient(),
		compactedAt: make([]time.Time, len(levels)), newest: map[int]*ltx.FileInfo{}, keep: level0Kept,
	}
	live := liveClient{r.client, r.lite}
	quiet := slog.New(slog.DiscardHandler) // litestream also returns its errors, and this package logs them
	if err := r.client.Init(ctx); err != nil {
		return nil, err
	}
	r.lite.SetMetaPath(file + localSuffix)
	r.lite.MonitorInterval, r.lite.ShutdownSyncTimeout = 0, 0
	r.lite.TruncatePageN = math.MaxInt32 // no TRUNCATE checkpoints (restartLog)
	r.lite.Replica = litestream.NewReplicaWithClient(r.lite, live)
	r.lite.Replica.MonitorEnabled = false
	r.lite.SetLogger(quiet)
	r.client.SetLogger(s.log) // after lite's, which litestream also sets for its client
	r.compactor = litestream.NewCompactor(live, quiet)
	r.compactor.LocalFileOpener = func(level int, first, last ltx.TXID) (io.ReadCloser, error) {
		return os.Open(r.lite.LTXPath(level, first, last))
	}
	r.compactor.CacheGetter = func(level int) (*ltx.FileInfo, bool) { info, ok := r.newest[level]; return info, ok }
	r.compactor.CacheSetter = func(level int, info *ltx.FileInfo) { r.newest[level] = info }
	if err := r.lite.Open(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.abandon(ctx)
		}
		if errors.Is(err, errLogRestarted) || errors.Is(err, errLTXConflict) {
			err = errors.Join(err, s.removeLocalFiles())
		}
	}()
	if r.release, err = s.db.DelegateCheckpoints(ctx, r.restartLog); err != nil {
		return nil, err
	}
	if err := r.continueLog(ctx, s.db); err != nil {
		return nil, err
	}
	now := s.now()
	for i := range r.compactedAt {
		r.compactedAt[i] = now
	}
	return r, r.scheduleSnapshot(ctx, now)
}

// scheduleSnapshot sets when the next snapshot is due, which depends on the newest one in the destination.
func (r *replica) scheduleSnapshot(ctx context.Context, now time.Time) error {
	list, err := r.client.LTXFilesBetween(ctx, litestream.SnapshotLevel, 0, 0)
	if err != nil {
		return err
	}
	r.snapshotAt, r.overdueAt = now.Add(snapshotStartDelay), now.Add(snapshotGrace)
	if n := len(list); n > 0 {
		r.snapshot = list[n-1].MaxTXID
		due := list[n-1].CreatedAt.Add(snapshotInterval)
		if due.After(r.snapshotAt) {
			r.snapshotAt = due
		}
		r.overdueAt = due.Add(snapshotGrace) // the same after a restart
		return nil
	}
	complete, err := r.beginsAtFirst(ctx)
	if err == nil && !complete {
		r.snapshotAt = now
	}
	return err
}

// beginsAtFirst reports whether the destination has the first transaction, which contains the whole database, or no transaction yet. A
// destination that was emptied while the program ran has only later transactions, from which nothing can be restored.
func (r *replica) beginsAtFirst(ctx context.Context) (bool, error) {
	some := false
	for level := range len(levels) + 1 {
		list, err := r.client.LTXFilesBetween(ctx, level, 0, 0)
		if err != nil {
			return false, err
		}
		if len(list) > 0 && list[0].MinTXID == 1 {
			return true, nil
		}
		some = some || len(list) > 0
	}
	return !some, nil
}

// How often restartLog tries to restart the log, and the wait between two attempts.
const (
	restartAttempts = 10
	restartPause    = 25 * time.Millisecond
)

// restartLog has litestream move the whole write-ahead log into the database and begin it again (db.Scrub). litestream reads the log and
// runs the checkpoint while it holds the lock of writers, so every transaction is in an LTX file. The other mode of litestream, TRUNCATE,
// also shortens the file. It is not used: it reads the log without the lock, so it has to copy the whole database while writes wait, and
// after an error, such as a lock that is held too long, litestream continues without the transactions of the meantime.
func (r *replica) restartLog(ctx context.Context) error {
	before, err := readLogSalts(r.lite.WALPath())
	if err != nil {
		return err
	}
	for range restartAttempts {
		if err = r.checkpoint(ctx); errors.Is(err, errNotOpen) {
			return err
		}
		if err == nil { // otherwise the restore test of the backup or another writer holds the lock
			after, readErr := readLogSalts(r.lite.WALPath())
			if readErr != nil || after != before {
				return readErr
			}
			err = db.ErrLogInUse // a reader needs the log, or a snapshot does
		}
		if err := interval.Sleep(ctx, restartPause); err != nil {
			return err
		}
	}
	return err
}

// checkpoint runs a checkpoint of litestream unless the replica was abandoned: litestream would open the database again. ctx does not
// interrupt it, because litestream would continue without the lock that prevents checkpoints of other programs.
func (r *replica) checkpoint(ctx context.Context) error {
	r.checkpointMu.Lock()
	defer r.checkpointMu.Unlock()
	if r.abandoned {
		return errNotOpen
	}
	return r.lite.Checkpoint(context.WithoutCancel(ctx), litestream.CheckpointModePassive)
}

// syncOnly reads the log for a caller who has the lock of the database. A checkpoint, which litestream may do after it, would wait for that
// lock for a second, and all writes with it.
func (r *replica) syncOnly(ctx context.Context) error {
	lite := r.lite
	passive, truncate, every := lite.MinCheckpointPageN, lite.TruncatePageN, lite.CheckpointInterval
	defer func() {
		lite.MinCheckpointPageN, lite.TruncatePageN, lite.CheckpointInterval = passive, truncate, every
	}()
	lite.MinCheckpointPageN, lite.TruncatePageN, lite.CheckpointInterval = math.MaxInt32, math.MaxInt32, 0
	return lite.Sync(ctx)
}

// abandon closes litestream without a last upload, and makes package db run checkpoints again.
func (r *replica) abandon(ctx context.Context) {
	if r.release != nil {
		if err := r.release(ctx); err != nil && ctx.Err() == nil {
			r.log.WarnContext(ctx, "backup: checkpoints are not done automatically until the next start", "cause", err.Error())
		}
	}
	r.checkpointMu.Lock()
	defer r.checkpointMu.Unlock()
	r.abandoned = true
	ended, cancel := context.WithCancel(context.WithoutCancel(ctx))
	cancel()
	_ = r.lite.Close(ended) // reports the cancelled upload
}

// removeLocalFiles removes the local LTX files. The backup then continues with a whole copy of the database.
func (s *Service) removeLocalFiles() error { return os.RemoveAll(s.db.File() + localSuffix) }

// waitingBytes returns the size of the LTX files beside the database that are newer than a transaction.
func (r *replica) waitingBytes(uploaded ltx.TXID) (total int64, err error) {
	entries, err := os.ReadDir(r.lite.LTXLevelDir(0))
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if _, last, err := ltx.ParseFilename(e.Name()); err != nil || last <= uploaded {
			continue // a temporary file, or one that the destination has
		}
		info, err := e.Info()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		if err == nil {
			total += max(info.Size(), 4096) // a file takes up a block at least
		}
	}
	return total, nil
}

// errDiskFull and errTooLong are the reasons why a backup starts again with a whole copy of the database.
var (
	errDiskFull = errors.New("the disk of the data folder is full: the backup stops until there is space, and continues with a whole copy of the database")
	errTooLong  = fmt.Errorf("the backup destination was unreachable until %d MB waited for it: when it is reachable again, the backup continues with a whole copy of the database; the outage has no restore points", maxLocalBytes>>20)
)

// databaseLoop is the state of runDatabase.
type databaseLoop struct {
	s         *Service
	r         *replica // nil while the database is not open in litestream
	tryAt     time.Time
	wait      time.Duration
	conflicts ltxConflicts
	sizeAt    time.Time
	failures  int // consecutive failures of opening the replica, or of reading the log

	syncedAt    time.Time // when the log was last read
	newDataAt   time.Time // when the log last had something new
	writes      int64     // number of writes of this process before syncedAt
	syncedUntil time.Time // the local files have everything that was written until then
	unsent      bool      // no upload has started since syncedUntil changed

	open       context.Context // ends when r is closed; what runs in the background uses it
	close      context.CancelFunc
	background sync.WaitGroup
	uploaded   chan error    // result of the running upload; nil if none runs
	uploadOf   time.Time     // the syncedAt of what the running upload stores
	took       time.Duration // from the beginning of a sync to the end of its upload; of the latest upload that succeeded
	position   ltx.TXID      // newest transaction that is in the destination
	waiting    int64         // bytes that are not in the destination, when they were last counted
}

// runDatabase backs up an SQLite database until ctx ends. The replica stays open for Close, which stores the last writes.
func (s *Service) runDatabase(ctx context.Context) {
	l := &databaseLoop{s: s}
	tick := time.NewTicker(writesPollInterval)
	defer tick.Stop()
	for {
		l.step(ctx)
		select {
		case <-ctx.Done():
			l.background.Wait()
			s.last.Lock()
			s.last.replica = l.r
			s.last.Unlock()
			return
		case call := <-s.replicaCalls:
			call(l.r)
		case err := <-l.uploaded: // the next upload begins immediately
			l.uploaded = nil
			l.finishUpload(ctx, err)
		case <-tick.C:
		}
	}
}

// step opens the replica if it is not open, and starts the sync and the upload that are due. It records errors; a later step tries again.
func (l *databaseLoop) step(ctx context.Context) {
	s, now := l.s, time.Now() // real time: these are waits, not rules
	if s.cfg.DiskFull() {
		if l.r != nil {
			l.stop(ctx, errDiskFull, true)
		}
		return
	}
	if l.r == nil {
		if now.Before(l.tryAt) {
			return
		}
		r, err := s.startReplica(ctx)
		if err != nil {
			l.wait = min(max(2*l.wait, syncInterval), maxRetryDelay)
			now = time.Now()
			pause, err := l.conflicts.add(err, now)
			l.tryAt = now.Add(max(l.wait, pause))
			if l.failures++; l.failures >= failuresUntilError || !errors.Is(err, db.ErrLogInUse) {
				s.failed(ctx, KindDatabase, err)
			}
			return
		}
		l.r, l.wait, l.failures, l.sizeAt, l.position, l.waiting = r, 0, 0, now, 0, 0
		l.open, l.close = context.WithCancel(ctx)
	}
	if l.isSyncDue(now) && !l.sync(ctx, now) {
		return
	}
	if l.uploaded == nil && l.unsent {
		l.unsent = false
		l.startUpload(l.syncedUntil)
	}
}

// isSyncDue reports whether the log must be read now: once in each syncInterval, and soon after a write, because a commit must be in the
// destination within two seconds. Two LTX files are still about syncInterval apart, because each costs a request. If syncs and uploads take
// long, LTX files are up to half of syncInterval closer, because a commit waits for the next sync and then for its upload.
func (l *databaseLoop) isSyncDue(now time.Time) bool {
	const wait = syncInterval - writesPollInterval/2 // the tick is not exact
	if l.s.hasFailed(KindDatabase) {
		return now.Sub(l.syncedAt) >= slowSyncInterval-syncInterval/2
	}
	writes, _ := l.s.db.Writes()
	return now.Sub(l.syncedAt) >= wait || writes != l.writes && now.Sub(l.newDataAt) >= wait-min(l.took, syncInterval/2)
}

// sync reads the log. It returns false after an error.
func (l *databaseLoop) sync(ctx context.Context, now time.Time) bool {
	s := l.s
	l.syncedAt = now
	before, err := l.r.lite.Pos()
	writes, _ := s.db.Writes()
	until := s.now()
	if err == nil {
		err = l.r.lite.Sync(ctx)
	}
	if err != nil {
		if ctx.Err() != nil {
			return false
		}
		if l.failures++; l.failures >= failuresUntilError || damaged(err) { // a locked database ends by itself
			l.stop(ctx, err, damaged(err))
		}
		return false
	}
	l.failures = 0
	l.writes, l.syncedUntil, l.unsent = writes, until, true
	if after, err := l.r.lite.Pos(); err != nil || after.TXID != before.TXID {
		l.newDataAt = now
	}
	if now.Sub(l.sizeAt) > localSizeInterval {
		l.sizeAt = now
		if l.waiting, err = l.r.waitingBytes(l.position); err != nil {
			s.log.Warn("backup: the size of the local files cannot be read", "cause", err.Error())
		} else if l.waiting > maxLocalBytes && s.hasFailed(KindDatabase) {
			l.stop(ctx, errTooLong, true)
			return false
		}
	}
	return true
}

// damaged reports whether an error of litestream means that local files, or files in the destination, are missing or damaged, or that they do
// not belong together.
func damaged(err error) bool {
	var broken *litestream.LTXError
	return errors.Is(err, errLTXConflict) || errors.As(err, &broken) && broken.IsAutoRecoverable()
}

// startUpload starts an upload in the background, so that the log is read even while the destination is slow. After a successful upload the
// destination has everything up to until.
func (l *databaseLoop) startUpload(until time.Time) {
	ctx, r, s, done := l.open, l.r, l.s, make(chan error, 1)
	limit := uploadTimeout + time.Duration(l.waiting/100_000)*time.Second
	l.uploaded, l.uploadOf = done, l.syncedAt
	l.background.Go(func() {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		err := r.upload(limited)
		if err == nil {
			s.recordUpload(ctx, until)
			s.startMaintenance(ctx, &l.background, r)
		}
		done <- err
	})
}

// upload uploads the local LTX files that the destination does not have. The error is errLTXConflict if the destination has a newer LTX
// file than the local ones: litestream would upload nothing until the local LTX files have reached its number.
func (r *replica) upload(ctx context.Context) error {
	if err := r.lite.Replica.Sync(ctx); err != nil {
		return err
	}
	return r.checkPosition()
}

func (r *replica) checkPosition() error {
	uploaded := r.lite.Replica.Pos().TXID // before the local one, which can grow
	local, err := r.lite.Pos()
	if err == nil && uploaded > local.TXID {
		err = errLTXConflict
	}
	if err == nil && uploaded > 0 { // 0 if a snapshot's upload has failed meanwhile
		r.uploaded.Store(uint64(uploaded))
	}
	return err
}

// startMaintenance runs maintain in the background, unless it runs already or has failed within maintainRetryDelay.
func (s *Service) startMaintenance(ctx context.Context, background *sync.WaitGroup, r *replica) {
	if !r.maintaining.TryLock() {
		return
	}
	background.Go(func() {
		defer r.maintaining.Unlock()
		if time.Now().Before(r.maintainAt) {
			return
		}
		limited, cancel := context.WithTimeout(ctx, maintainTimeout)
		defer cancel()
		now := s.now()
		if err := r.maintain(limited, now, s.cfg.Retention); err != nil {
			r.maintainAt = time.Now().Add(maintainRetryDelay)
			if !errors.Is(err, errLogRestarted) || now.After(r.overdueAt) {
				s.failed(ctx, KindSnapshot, err)
			}
		} else if s.hasFailed(KindSnapshot) {
			s.succeeded(ctx, KindSnapshot, now)
		}
	})
}

// finishUpload handles the result of an upload.
func (l *databaseLoop) finishUpload(ctx context.Context, err error) {
	switch {
	case err == nil:
		l.took = time.Since(l.uploadOf)
		l.position = max(l.position, l.r.lite.Replica.Pos().TXID) // 0 if a snapshot's upload has failed meanwhile
	case ctx.Err() != nil:
	case damaged(err):
		l.stop(ctx, err, true)
	default:
		l.s.failed(ctx, KindDatabase, err)
	}
}

// stop closes the replica after an error. If forget is true, it also removes the local files.
func (l *databaseLoop) stop(ctx context.Context, cause error, forget bool) {
	l.close()
	l.background.Wait()
	l.uploaded, l.unsent = nil, false
	l.r.abandon(ctx)
	now := time.Now()
	pause, cause := l.conflicts.add(cause, now)
	l.r, l.tryAt = nil, now.Add(max(pause, 5*syncInterval))
	if forget {
		if err := l.s.removeLocalFiles(); err != nil {
			cause = errors.Join(cause, err)
		}
	}
	l.s.failed(ctx, KindDatabase, cause)
}

// recordUpload records that the destination has everything up to until: in memory, and once in each recordInterval in the database.
func (s *Service) recordUpload(ctx context.Context, until time.Time) {
	tried, _ := s.db.Writes()
	s.last.Lock()
	s.last.uploadedUntil = until
	due := s.last.failed[KindDatabase] || tried != s.last.writes && until.Sub(s.last.recorded) >= recordInterval
	s.last.Unlock()
	if !due {
		return
	}
	s.succeeded(ctx, KindDatabase, until)
	tried, _ = s.db.Writes()
	s.last.Lock()
	s.last.recorded, s.last.writes = until, tried // excluding the write that stored this
	s.last.Unlock()
}

// Close uploads the last writes of an SQLite database, if the destination can be reached, and closes litestream. It must be called after Run
// has returned and the program's own connections to the database are closed: then this upload has all writes, and the next start continues
// the log.
func (s *Service) Close() error {
	s.last.Lock()
	r := s.last.replica
	s.last.replica = nil
	s.last.Unlock()
	if r == nil {
		return nil
	}
	limited, cancel := context.WithTimeout(context.Background(), lastUploadTimeout)
	defer cancel()
	err := r.lite.Close(limited)
	if err == nil {
		err = r.checkPosition()
	}
	if err != nil {
		s.log.Warn("backup: the last writes are not in the backup destination; the next start uploads them", "destination", s.cfg.Destination.Label(), "cause", err.Error())
	}
	return nil
}
