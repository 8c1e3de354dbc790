package backup

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/superfly/ltx"

	"atelie/internal/activity"
	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/interval"
)

// This file runs a restore test each night, and when `atelie backup verify` requests one. A restore test is a trial restore: it restores the
// latest restore point (the newest state that the backup has) into a temporary folder and compares the result with the site. Stored names,
// error codes and JSON call a restore test a proof.

// Intervals and limits of restore tests. A restore test reads one LTX file (see RangeClient) or one stored file at a time, and runs at a low
// priority, so that it does not slow the site down.
const (
	restoreTestHour         = 4                // hour of the day, in the server's time zone; after snapshotHour
	restoreTestPollInterval = 2 * time.Second  // how often a node (a server of the site) checks whether a restore test is due
	restoreTestStartDelay   = time.Minute      // after the start of the program, only requested restore tests begin within this time
	restoreTestRetryDelay   = time.Hour        // wait after a restore test that failed or was incomplete
	unreachableRetryDelay   = 10 * time.Minute // used instead if the destination was unreachable

	restoreTestTimeout     = 2 * time.Hour   // limit of one restore test
	destinationTimeout     = 5 * time.Minute // how long a restore test waits until the destination has the newest transaction
	restoreTestFiles       = 50              // how many random files are compared
	restoreTestRecordsKept = 30              // how many values of restoreTestRecord stay in the destination

	// A restore test also verifies a random sample of LTX files or snapshots, most of which only earlier restore points need.
	olderSampleBytes = 1 << 30 // limit of the sample in bytes
	olderSampleFiles = 5000    // limit of the sample in LTX files
)

// restoreTestRecord has the checksums of the site's database at the restore point of a restore test. The restore test compares the restored
// database with them. The record is stored in the destination.
type restoreTestRecord struct {
	Time   time.Time          `json:"time"`
	TXID   string             `json:"txid,omitempty"` // transaction id of an SQLite database (litestream); "" for PostgreSQL
	Tables []db.TableChecksum `json:"tables"`
}

// RestoreTest has the results of restore tests. RestoreTestDetail and RestorePoint are about the newest one that succeeded. A restore test
// fails if the backup is damaged or differs from the site. It is incomplete if it had to stop, for example because the destination was
// unreachable.
type RestoreTest struct {
	RestoreTestDetail
	RestorePoint time.Time  // the restore point of the newest successful restore test
	Error        string     // what the newest complete restore test found wrong; "" if it succeeded
	FailedAt     time.Time  // when a restore test last failed
	Incomplete   string     // why the newest restore test is incomplete; "" if it is complete
	IncompleteAt time.Time  // when a restore test was last incomplete
	Copy         CopyDetail // the copy to the secondary destination; set only by RequestRestoreTest
}

// ReadRestoreTest reads the stored results of restore tests.
func ReadRestoreTest(ctx context.Context, q db.Querier) (t RestoreTest, err error) {
	states, err := ReadStates(ctx, q)
	if err != nil {
		return t, err
	}
	complete, incomplete := states[KindRestoreTest], states[KindIncompleteRestoreTest]
	t.RestorePoint, t.Error, t.FailedAt = complete.LastOK, complete.Error, complete.LastError
	t.Incomplete, t.IncompleteAt = incomplete.Error, incomplete.LastError
	t.RestoreTestDetail, err = readDetail[RestoreTestDetail](complete)
	return t, err
}

// RequestRestoreTest requests a restore test from the process that keeps the backup, and waits for the result and for the copy to the
// secondary destination. It returns an error if the restore test or the copy fails.
func (s *Service) RequestRestoreTest(ctx context.Context, w Waiting) (t RestoreTest, err error) {
	began := s.now().UTC().Truncate(time.Microsecond) // truncated to the precision with which the database stores times
	if err := RecordSuccess(ctx, s.db, kindRestoreTestRequest, began, "{}"); err != nil {
		return t, err
	}
	err = w.until(ctx, func() (bool, string, error) {
		if t, err = ReadRestoreTest(ctx, s.db); err != nil {
			return false, "", err
		}
		if t.Error != "" && !t.FailedAt.Before(began) {
			return false, "", errors.New(t.Error)
		}
		if t.Incomplete != "" && !t.IncompleteAt.Before(began) {
			return false, "", errors.New(t.Incomplete)
		}
		return !t.Ended.Before(began), "", nil
	})
	if err != nil || s.cfg.Secondary == nil {
		return t, err
	}
	return t, w.until(ctx, func() (bool, string, error) {
		states, err := ReadStates(ctx, s.db)
		if err != nil {
			return false, "", err
		}
		secondary := states[KindCopy]
		if secondary.Error != "" && !secondary.LastError.Before(began) {
			return false, "", fmt.Errorf("the restore test succeeded, but the copy of the backup in the secondary destination is not up to date: %s", secondary.Error)
		}
		if secondary.LastOK.IsZero() || secondary.Detail == "" {
			return false, "", nil
		}
		// The restore point alone does not distinguish this copy from an earlier one: nothing may have been written between two restore
		// tests.
		err = json.Unmarshal([]byte(secondary.Detail), &t.Copy)
		return !t.Copy.Ended.Before(t.Ended), "", err
	})
}

// runRestoreTests runs a restore test each night on one node. If none has succeeded yet, or if one is requested, it runs one immediately.
func (s *Service) runRestoreTests(ctx context.Context) {
	began := time.Now()
	interval.Every(ctx, restoreTestPollInterval, func() {
		if err := s.testRestoreIfDue(ctx, time.Since(began) >= restoreTestStartDelay); err != nil && ctx.Err() == nil {
			s.log.Warn("backup: the restore test could not begin; it is tried again", "cause", err.Error())
		}
	})
}

func (s *Service) testRestoreIfDue(ctx context.Context, regular bool) error {
	if due, err := s.isRestoreTestDue(ctx, regular); err != nil || !due {
		return err
	}
	return s.withLease(ctx, KindRestoreTest, func(ctx context.Context) error {
		// Another node may have tested the backup just before this node acquired the lease.
		if due, err := s.isRestoreTestDue(ctx, regular); err != nil || !due {
			return err
		}
		return s.testRestore(ctx)
	})
}

// isRestoreTestDue reports whether a restore test is due: for a reason of isDueByStates, or because the newest successful one left out files
// that are in the destination now. If regular is false, only a request makes a restore test due.
func (s *Service) isRestoreTestDue(ctx context.Context, regular bool) (bool, error) {
	states, err := ReadStates(ctx, s.db)
	if err != nil {
		return false, err
	}
	now := s.now()
	if s.isDueByStates(states, now, regular) {
		return true, nil
	}
	success, err := readDetail[RestoreTestDetail](states[KindRestoreTest])
	if err != nil || !regular || success.Waiting == 0 || now.Sub(lastAttempt(states, success)) < restoreTestRetryDelay {
		return false, err
	}
	waiting, err := countWaiting(ctx, s.db)
	return waiting == 0, err
}

// lastAttempt returns when the newest restore test ended: with success, as failed or as incomplete. success is the newest success.
func lastAttempt(states map[Kind]State, success RestoreTestDetail) time.Time {
	ends := []time.Time{success.Ended, states[KindRestoreTest].LastError, states[KindIncompleteRestoreTest].LastError}
	return slices.MaxFunc(ends, time.Time.Compare)
}

// isDueByStates reports whether a restore test is due according to the stored states: the newest attempt was before last night or before the
// newest request, or it failed long enough ago. If regular is false, only a request makes a restore test due. Without a snapshot of a
// PostgreSQL database, none is due.
func (s *Service) isDueByStates(states map[Kind]State, now time.Time, regular bool) bool {
	if s.db.Dialect == db.Postgres && states[KindSnapshot].LastOK.IsZero() {
		return false
	}
	complete, incomplete := states[KindRestoreTest], states[KindIncompleteRestoreTest]
	success, err := readDetail[RestoreTestDetail](complete)
	reason, reasonErr := readDetail[incompleteDetail](incomplete)
	if err != nil || reasonErr != nil {
		return true
	}
	attempt := lastAttempt(states, success)
	if attempt.Before(states[kindRestoreTestRequest].LastOK) {
		return true
	}
	retry := restoreTestRetryDelay
	if incomplete.Error != "" && reason.Code == errUnreachable.Code {
		retry = unreachableRetryDelay
	}
	return regular && (attempt.Before(lastNight(now, restoreTestHour)) || (complete.Error != "" || incomplete.Error != "") && now.Sub(attempt) >= retry)
}

// testRestore runs a restore test and stores the result. After a success it copies the backup to the secondary destination.
func (s *Service) testRestore(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, s.restoreTestTimeout)
	defer cancel()
	var (
		restoredTo time.Time
		detail     RestoreTestDetail
	)
	err := atLowPriority(func() (err error) {
		restoredTo, detail, err = s.compare(limited)
		return err
	})
	if ctx.Err() != nil {
		return nil // the program ends, or another node has the lease and runs the restore test
	}
	if errors.Is(err, errNotOpen) {
		return nil // runDatabase has recorded why
	}
	record := context.WithoutCancel(ctx)
	if reason := incompleteReason(limited, err); reason != nil {
		return s.recordIncomplete(record, reason)
	}
	if err := RecordSuccess(record, s.db, KindIncompleteRestoreTest, s.now(), "{}"); err != nil {
		return err
	}
	if err != nil {
		s.log.Error("backup: the restore test of the newest backup has failed: do not rely on this backup until the cause is repaired", "destination", s.cfg.Destination.Label(), "cause", err.Error())
		return RecordFailure(record, s.db, KindRestoreTest, s.now(), restoreTestErrorText(err))
	}
	detail.Ended = s.now().UTC()
	text, _ := json.Marshal(detail) // cannot fail: it has only numbers and a time
	if err := RecordSuccess(record, s.db, KindRestoreTest, restoredTo, string(text)); err != nil {
		return err
	}
	s.log.Info("backup: the newest backup was restored and is what the site has", "restore_point", restoredTo.Format(time.RFC3339), "tables", detail.Tables, "rows", detail.Rows, "files", detail.Files)
	if s.cfg.Secondary == nil {
		return nil
	}
	var copied CopyDetail
	if err := atLowPriority(func() (err error) { copied, err = s.copyBackup(ctx); return err }); err != nil {
		s.failed(ctx, KindCopy, err)
		if ctx.Err() != nil {
			return nil
		}
		return RecordFailure(record, s.db, KindCopy, s.now(), safeText(err)) // s.failed does not record the same text again, but RequestRestoreTest waits for a new record
	}
	copied.Destination, copied.Ended = s.cfg.Secondary.Label(), s.now().UTC()
	text, _ = json.Marshal(copied) // cannot fail: it has only a text, numbers and a time
	if err := s.recordSecondary(record); err != nil {
		return err
	}
	return s.storeSuccess(ctx, KindCopy, restoredTo, string(text))
}

// recordSecondary adds an entry about the secondary destination to the activity log, unless a copy was made there before.
func (s *Service) recordSecondary(ctx context.Context) error {
	states, err := ReadStates(ctx, s.db)
	if err != nil {
		return err
	}
	before, err := s.copyDetail(states)
	if err != nil || before.Destination != "" {
		return err
	}
	return activity.RecordSite(ctx, s.db, activity.BackupDestination, s.cfg.Secondary.Label(), s.now())
}

// Errors of incomplete restore tests. They do not mean that something is wrong with the backup.
var (
	errUnreachable = apperr.New(http.StatusServiceUnavailable, "backup_place_unreachable", "The restore test could not be done: the backup destination cannot be reached.")
	errNoRoom      = apperr.New(http.StatusInsufficientStorage, "backup_proof_no_room", "The restore test could not be done: there is no room to restore the backup.")
	errTooSlow     = apperr.New(http.StatusServiceUnavailable, "backup_proof_timeout", "The restore test could not be done: it took longer than two hours.")
	errNotDone     = apperr.New(http.StatusInternalServerError, "backup_proof_not_done", "The restore test could not be done; the log says why.")
)

// incompleteReason returns why a restore test is incomplete, or nil if it is complete. An error of unknown cause counts as a failed restore
// test, because a backup is trusted only after it was restored.
func incompleteReason(ctx context.Context, err error) *apperr.Error {
	_, isDamage := errors.AsType[*Damage](err)
	_, isFailure := errors.AsType[restoreTestFailure](err)
	reason, hasReason := errors.AsType[*apperr.Error](err)
	switch {
	case err == nil, isDamage, isFailure:
		return nil
	case ctx.Err() != nil:
		return errTooSlow.Because(err)
	case hasReason:
		return reason
	case isDestinationError(err):
		return errUnreachable.Because(err)
	case apperr.IsDiskFull(err):
		return errNoRoom.Because(err)
	}
	return nil
}

// incompleteDetail is the detail of KindIncompleteRestoreTest.
type incompleteDetail struct {
	Code string `json:"code"`
}

// recordIncomplete stores why a restore test is incomplete. It logs the reason unless the previous restore test had the same one. The stored
// result of the newest complete restore test stays as it is.
func (s *Service) recordIncomplete(ctx context.Context, reason *apperr.Error) error {
	before, err := ReadStates(ctx, s.db)
	if err != nil {
		return err
	}
	if before[KindIncompleteRestoreTest].Error != reason.Message {
		cause := reason.Message
		if reason.Cause != nil {
			cause = reason.Cause.Error()
		}
		s.log.Warn("backup: the restore test of the newest backup could not be completed; the backup itself may be good, and the restore test is tried again", "code", reason.Code, "destination", s.cfg.Destination.Label(), "cause", cause)
	}
	detail, _ := json.Marshal(incompleteDetail{reason.Code}) // cannot fail for a text
	return recordFailure(ctx, s.db, KindIncompleteRestoreTest, s.now(), reason.Message, string(detail))
}

// restoreTestFailure is the error of a restore test that has found something wrong with the backup. Its text is safe to show.
type restoreTestFailure struct {
	text  string
	cause error // nil for none
}

func (f restoreTestFailure) Error() string {
	if f.cause != nil {
		return f.text + ": " + f.cause.Error()
	}
	return f.text
}

func (f restoreTestFailure) Unwrap() error { return f.cause }

func restoreTestErrorText(err error) string {
	if damage, ok := errors.AsType[*Damage](err); ok {
		return damage.Error()
	}
	if known, ok := errors.AsType[restoreTestFailure](err); ok {
		return known.text
	}
	return "The newest backup could not be restored; the log says why."
}

// compare restores the latest restore point and compares it with the site. restoredTo is the time of that restore point.
func (s *Service) compare(ctx context.Context) (restoredTo time.Time, detail RestoreTestDetail, err error) {
	if err := s.checkSecrets(ctx); err != nil {
		return restoredTo, detail, err
	}
	point, want, err := s.newestState(ctx)
	if err != nil {
		return restoredTo, detail, err
	}
	dir, err := os.MkdirTemp(s.cfg.ScratchDir, "proof-*")
	if err != nil {
		return restoredTo, detail, errNotDone.Because(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := s.checkRoom(ctx, point); err != nil {
		return restoredTo, detail, err
	}
	file := filepath.Join(dir, "restored.db")
	if err := point.restore(ctx, file); err != nil {
		return restoredTo, detail, err
	}
	restored, err := openRestored(ctx, file)
	if err != nil {
		return restoredTo, detail, restoreTestFailure{"the restored database is damaged", err}
	}
	defer func() { err = errors.Join(err, restored.Close()) }()
	got, err := db.Checksums(ctx, restored, db.SQLite)
	if err != nil {
		return restoredTo, detail, err
	}
	for i, table := range want {
		if i >= len(got) || got[i].Table != table.Table || got[i].Rows != table.Rows || got[i].SHA256 != table.SHA256 {
			return restoredTo, detail, restoreTestFailure{fmt.Sprintf("table %s of the restored database is not what the site had", table.Table), nil}
		}
		detail.Rows += table.Rows
	}
	detail.Tables = len(want)
	if detail.Files, detail.Waiting, err = s.compareFiles(ctx, restored); err != nil {
		return restoredTo, detail, err
	}
	if point.replica != nil {
		err = s.checkOlderLTXFiles(ctx)
	} else {
		err = s.checkOlderSnapshots(ctx, point, dir)
	}
	return point.time, detail, err
}

// newestState returns the latest restore point, and the checksums that the site's tables had then.
func (s *Service) newestState(ctx context.Context) (*restorePoint, []db.TableChecksum, error) {
	if s.db.Dialect == db.Postgres {
		point, err := s.newestSnapshot(ctx)
		if err != nil {
			return nil, nil, err
		}
		return point, point.snapshot.Tables, nil
	}
	r, txid, sums, err := s.checksumNewestState(ctx)
	if errors.Is(err, errNotOpen) {
		return nil, nil, err
	}
	if err != nil { // the error is one of the site's own database
		return nil, nil, errNotDone.Because(err)
	}
	if err := s.waitForTransaction(ctx, r, txid); err != nil {
		return nil, nil, err
	}
	point, err := findTransaction(ctx, s.cfg.Destination, txid)
	if err != nil {
		return nil, nil, err
	}
	return point, sums, s.storeRecord(ctx, restoreTestRecord{Time: point.time, TXID: txid.String(), Tables: sums})
}

// newestSnapshot returns the newest snapshot of a PostgreSQL database. If an earlier version of the program took it, newestSnapshot takes
// another one, because the restore test reads the tables and columns of this version.
func (s *Service) newestSnapshot(ctx context.Context) (*restorePoint, error) {
	newest := func() (*restorePoint, error) {
		return findRestorePoint(ctx, s.cfg.Destination, string(db.Postgres), time.Time{})
	}
	schema, err := db.SchemaVersion()
	if err != nil {
		return nil, errNotDone.Because(err)
	}
	point, err := newest()
	if err != nil || point.snapshot.Schema == schema {
		return point, err
	}
	if err := s.snapshotSince(ctx, s.now()); err != nil {
		return nil, cmp.Or(incompleteReason(ctx, err), errNotDone.Because(err))
	}
	return newest()
}

// checksumNewestState returns the replica, its newest transaction, and the checksums of the tables after it. Other writes wait for some
// milliseconds, while the replica reads the last one and the snapshot of the database is opened.
func (s *Service) checksumNewestState(ctx context.Context) (from *replica, txid ltx.TXID, sums []db.TableChecksum, err error) {
	errDone := errors.New("rolled back: nothing was written")
	err = s.db.Snapshot(ctx, func(q db.Querier) error {
		if err := s.withReplica(ctx, func(r *replica) error {
			if err := r.lite.Sync(ctx); err != nil { // most of it, before writes wait
				return err
			}
			r.checkpointMu.Lock() // a checkpoint of a scrub would wait for the lock of writers, and hold litestream's own
			defer r.checkpointMu.Unlock()
			return s.db.WithTx(ctx, func(*db.Tx) error {
				if err := r.syncOnly(ctx); err != nil {
					return err
				}
				pos, err := r.lite.Pos()
				if err != nil {
					return err
				}
				from, txid = r, pos.TXID
				if _, err := countWaiting(ctx, q); err != nil { // any first read: the snapshot begins with it
					return err
				}
				return errDone
			})
		}); !errors.Is(err, errDone) {
			return err
		}
		var err error
		sums, err = db.Checksums(ctx, q, db.SQLite)
		return err
	})
	return from, txid, sums, err
}

// waitForTransaction waits until r has uploaded a transaction and the destination lists it. The error is errNotOpen if r was closed: the
// backup may continue with other transactions of the same numbers.
func (s *Service) waitForTransaction(ctx context.Context, r *replica, txid ltx.TXID) error {
	ctx, cancel := context.WithTimeout(ctx, destinationTimeout)
	defer cancel()
	var lastErr error // of a listing
	for {
		uploaded := false
		err := s.withReplica(ctx, func(current *replica) error {
			if current != r {
				return errNotOpen
			}
			uploaded = ltx.TXID(r.uploaded.Load()) >= txid
			return nil
		})
		if errors.Is(err, errNotOpen) {
			return err
		}
		if uploaded {
			stored, err := newReplicaReader(ctx, s.cfg.Destination)
			if err != nil {
				return err
			}
			var found []*ltx.FileInfo
			found, lastErr = stored.LTXFilesBetween(ctx, 0, txid, 0) // the newest LTX file of level 0 is never removed
			if len(found) > 0 {
				return nil
			}
		}
		if ended := interval.Sleep(ctx, pollInterval); ended != nil {
			return errUnreachable.Becausef("the destination does not have the newest transaction after %s: %w", destinationTimeout, cmp.Or(lastErr, ended))
		}
	}
}

// storeRecord stores the record with which the restore test compares, and removes old records.
func (s *Service) storeRecord(ctx context.Context, r restoreTestRecord) error {
	text, _ := json.MarshalIndent(r, "", "  ") // cannot fail: it has only texts, numbers and a time
	if err := s.cfg.Destination.Write(ctx, path.Join(RestoreTestsDir, r.Time.UTC().Format(snapshotTimeLayout)+".json"), bytes.NewReader(append(text, '\n'))); err != nil {
		return toDestinationError(err)
	}
	var all []string
	if err := s.cfg.Destination.List(ctx, RestoreTestsDir+"/", func(o Object) error { all = append(all, o.Name); return nil }); err != nil {
		return err
	}
	slices.Sort(all)
	for len(all) > restoreTestRecordsKept {
		if err := s.cfg.Destination.Delete(ctx, all[0]); err != nil {
			return toDestinationError(err)
		}
		all = all[1:]
	}
	return nil
}

// checkRoom verifies the LTX files of the restore point, and returns an error if the disk has no space for the restored database twice.
func (s *Service) checkRoom(ctx context.Context, point *restorePoint) error {
	size, err := point.verify(ctx, func(int, int) {})
	if err != nil {
		return err
	}
	if point.snapshot != nil {
		size = 10 * point.snapshot.Size // compressed
	}
	if free := s.cfg.FreeSpace(); free < 2*size {
		not := *errNoRoom
		not.Message = fmt.Sprintf("The restore test could not be done: there is no room to restore the backup: %d MB are free on the disk of the data folder, %d MB are needed.", free>>20, 2*size>>20)
		return &not
	}
	return nil
}

// compareFiles compares a random sample of files in the backup with their rows in the restored database. waiting is the number of those
// files that are not in the destination yet.
func (s *Service) compareFiles(ctx context.Context, restored *db.DB) (compared, waiting int, err error) {
	files, err := listFiles(ctx, restored)
	if err != nil {
		return 0, 0, err
	}
	rand.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	for _, f := range files {
		if compared == restoreTestFiles {
			break
		}
		err := checkFile(ctx, s.cfg.Destination, f)
		if errors.Is(err, fs.ErrNotExist) {
			copied, lookErr := blobCopiedAlready(ctx, s.db, f.BlobID)
			if lookErr != nil {
				return compared, waiting, errNotDone.Because(lookErr)
			}
			if !copied {
				waiting++ // or it was removed before it was copied
				continue
			}
			return compared, waiting, restoreTestFailure{fmt.Sprintf("%s (%s) is missing in the backup", BlobName(f.BlobID), f.Name), nil}
		}
		if err != nil {
			return compared, waiting, err
		}
		compared++
	}
	return compared, waiting, nil
}

// checkOlderLTXFiles verifies a random sample of the LTX files, most of which only earlier restore points need.
func (s *Service) checkOlderLTXFiles(ctx context.Context) error {
	replica, err := newReplicaReader(ctx, s.cfg.Destination)
	if err != nil {
		return err
	}
	all, err := replica.all(ctx)
	if err != nil {
		return err
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var total int64
	for _, info := range all[:min(len(all), olderSampleFiles)] {
		if total += info.Size; total > olderSampleBytes {
			return nil
		}
		if _, _, err := replica.verify(ctx, info); err != nil && !errors.Is(err, fs.ErrNotExist) { // compacted meanwhile
			return err
		}
	}
	return nil
}

// checkOlderSnapshots restores older snapshots of PostgreSQL, one after the other, to verify them.
func (s *Service) checkOlderSnapshots(ctx context.Context, newest *restorePoint, dir string) error {
	all, err := listSnapshots(ctx, s.cfg.Destination)
	if err != nil {
		return err
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var total int64
	for _, snapshot := range all {
		if snapshot.Name == newest.snapshot.Name {
			continue
		}
		if total += snapshot.Size; total > olderSampleBytes {
			return nil
		}
		older := restorePoint{destination: s.cfg.Destination, snapshot: &snapshot}
		file := filepath.Join(dir, "older.db")
		if err := errors.Join(older.restore(ctx, file), os.Remove(file)); err != nil {
			return err
		}
	}
	return nil
}
