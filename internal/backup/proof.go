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

	"github.com/google/uuid"
	"github.com/superfly/ltx"

	"atelie/internal/activity"
	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/interval"
)

// This file proves the backup each night, and when `atelie backup verify` requests it. A proof is a trial restore: it restores the latest
// restore point (the newest state that the backup has) into a temporary folder and compares it with the site.

// Intervals and limits of the proof. A proof reads one part of the database (an LTX file) or one stored file at a time, and runs at a
// low priority, so that it does not slow the site down.
const (
	proofHour         = 4                // the hour of the night, in the server's time zone; after snapshotHour
	proofPollInterval = 2 * time.Second  // how often a node (a server of the site) checks whether a proof is due
	proofStartDelay   = time.Minute      // after the start of the program, only requested proofs begin within this time
	proofRetry        = time.Hour        // wait after a failure
	unreachableRetry  = 10 * time.Minute // wait if the destination could not be reached

	proofTimeout       = 2 * time.Hour   // limit of one proof
	destinationTimeout = 5 * time.Minute // how long a proof waits until the destination has the newest transaction
	proofFiles         = 50              // random files that are compared
	proofRecordsKept   = 30              // how many records of proofs stay in the destination

	// A proof also verifies a random sample of the parts that only earlier restore points need. These are the limits of the sample.
	proofOldBytes = 1 << 30
	proofOldParts = 5000
)

// proofRecord has the checksums of the site's own database at the restore point of a proof. The proof compares the restored database with
// them. The record is stored in the destination.
type proofRecord struct {
	Time   time.Time          `json:"time"`
	TXID   string             `json:"txid,omitempty"` // transaction id of an SQLite database (litestream); "" for PostgreSQL
	Tables []db.TableChecksum `json:"tables"`
}

// Proof is the result of the newest proof. ProofDetail and RestorePoint describe the newest proof that succeeded.
type Proof struct {
	ProofDetail
	RestorePoint time.Time  // the restore point of the newest successful proof
	Error        string     // the failure that the newest complete proof has found; "" if it succeeded
	FailedAt     time.Time  // when a proof last failed
	Incomplete   string     // why the newest proof could not be completed; "" if it was completed
	IncompleteAt time.Time  // when a proof last could not be completed
	Copy         CopyDetail // set by RequestProof
}

// ReadProof reads the stored results of the proofs.
func ReadProof(ctx context.Context, q db.Querier) (p Proof, err error) {
	states, err := ReadStates(ctx, q)
	if err != nil {
		return p, err
	}
	state := states[KindProof]
	p.RestorePoint, p.Error, p.FailedAt = state.LastOK, state.Error, state.LastError
	p.Incomplete, p.IncompleteAt = states[KindIncompleteProof].Error, states[KindIncompleteProof].LastError
	p.ProofDetail, err = proofDetail(state)
	return p, err
}

// RequestProof requests a proof from the process that keeps the backup, and waits for the result and for the copy to the secondary
// destination. It returns an error if the proof or the copy fails.
func (s *Service) RequestProof(ctx context.Context, w Waiting) (p Proof, err error) {
	began := s.now().UTC().Truncate(time.Microsecond) // truncated to the precision with which the database stores times
	if err := RecordSuccess(ctx, s.db, kindProofRequest, began, "{}"); err != nil {
		return p, err
	}
	err = w.until(ctx, func() (bool, string, error) {
		if p, err = ReadProof(ctx, s.db); err != nil {
			return false, "", err
		}
		if p.Error != "" && !p.FailedAt.Before(began) {
			return false, "", errors.New(p.Error)
		}
		if p.Incomplete != "" && !p.IncompleteAt.Before(began) {
			return false, "", errors.New(p.Incomplete)
		}
		return !p.Ended.Before(began), "", nil
	})
	if err != nil || s.cfg.Secondary == nil {
		return p, err
	}
	return p, w.until(ctx, func() (bool, string, error) {
		states, err := ReadStates(ctx, s.db)
		if err != nil {
			return false, "", err
		}
		secondary := states[KindCopy]
		if secondary.Error != "" && !secondary.LastError.Before(began) {
			return false, "", fmt.Errorf("the backup is proven, but its copy in the secondary destination is not up to date: %s", secondary.Error)
		}
		if secondary.LastOK.IsZero() || secondary.Detail == "" {
			return false, "", nil
		}
		// The restore point alone does not distinguish this copy from an earlier one: nothing may have been written between two proofs.
		err = json.Unmarshal([]byte(secondary.Detail), &p.Copy)
		return !p.Copy.Ended.Before(p.Ended), "", err
	})
}

// runProofs proves the backup each night on one node. If the backup was never proven, or a proof is requested, it does so immediately.
func (s *Service) runProofs(ctx context.Context) {
	began := time.Now()
	interval.Every(ctx, proofPollInterval, func() {
		if err := s.proveIfDue(ctx, time.Since(began) >= proofStartDelay); err != nil && ctx.Err() == nil {
			s.log.Warn("backup: the proof could not begin; it is tried again", "cause", err.Error())
		}
	})
}

func (s *Service) proveIfDue(ctx context.Context, regular bool) (err error) {
	if due, err := s.isProofDue(ctx, regular); err != nil || !due {
		return err
	}
	holder, now := uuid.NewString(), s.now()
	acquired, err := Lease(ctx, s.db, KindProof, holder, now, now.Add(snapshotLease))
	if err != nil || !acquired {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go s.renewLease(ctx, cancel, KindProof, holder)
	defer func() { err = errors.Join(err, EndLease(context.WithoutCancel(ctx), s.db, KindProof, holder)) }()
	// Another node may have proven the backup just before this one got the lease.
	if due, err := s.isProofDue(ctx, regular); err != nil || !due {
		return err
	}
	return s.prove(ctx)
}

// isProofDue reports whether a proof is due: for a reason of proofDue, or because the newest proof left out files that are in the
// destination now. If regular is false, only a request makes a proof due.
func (s *Service) isProofDue(ctx context.Context, regular bool) (bool, error) {
	states, err := ReadStates(ctx, s.db)
	if err != nil {
		return false, err
	}
	now := s.now()
	if s.proofDue(states, now, regular) {
		return true, nil
	}
	proven, err := proofDetail(states[KindProof])
	if err != nil || !regular || proven.Waiting == 0 || now.Sub(lastAttempt(states, proven)) < proofRetry {
		return false, err
	}
	waiting, err := countWaiting(ctx, s.db)
	return waiting == 0, err
}

// lastAttempt returns when the newest proof ended or was given up.
func lastAttempt(states map[Kind]State, proven ProofDetail) time.Time {
	attempt := proven.Ended
	for _, failed := range []time.Time{states[KindProof].LastError, states[KindIncompleteProof].LastError} {
		if failed.After(attempt) {
			attempt = failed
		}
	}
	return attempt
}

// proofDue reports whether there is something to prove and the newest attempt was before last night or before the newest request, or failed
// long enough ago. If regular is false, only a request makes a proof due.
func (s *Service) proofDue(states map[Kind]State, now time.Time, regular bool) bool {
	if s.db.Dialect == db.Postgres && states[KindSnapshot].LastOK.IsZero() {
		return false
	}
	proof := states[KindProof]
	proven, err := proofDetail(proof)
	if err != nil {
		return true
	}
	incomplete := states[KindIncompleteProof]
	attempt := lastAttempt(states, proven)
	night := time.Date(now.Year(), now.Month(), now.Day(), proofHour, 0, 0, 0, now.Location())
	if night.After(now) {
		night = night.AddDate(0, 0, -1)
	}
	if attempt.Before(states[kindProofRequest].LastOK) {
		return true
	}
	retry := proofRetry
	if incomplete.Error != "" {
		code, err := incompleteCode(incomplete)
		if err != nil {
			return true
		}
		if code == errUnreachable.Code {
			retry = unreachableRetry
		}
	}
	return regular && (attempt.Before(night) || (proof.Error != "" || incomplete.Error != "") && now.Sub(attempt) >= retry)
}

// prove proves the backup and stores the result. After a success it copies the backup to the secondary destination.
func (s *Service) prove(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, s.proofTimeout)
	defer cancel()
	var (
		restoredTo time.Time
		detail     ProofDetail
	)
	err := atLowPriority(func() (err error) {
		restoredTo, detail, err = s.compare(limited)
		return err
	})
	if ctx.Err() != nil {
		return nil // the program ends, or another node has the lease: the next one proves
	}
	if errors.Is(err, errNotOpen) {
		return nil // runDatabase has recorded why
	}
	record := context.WithoutCancel(ctx)
	if reason := incompleteReason(limited, err); reason != nil {
		return s.recordIncomplete(record, reason)
	}
	if err := RecordSuccess(record, s.db, KindIncompleteProof, s.now(), "{}"); err != nil {
		return err
	}
	if err != nil {
		s.log.Error("backup: the proof of the newest backup has failed: do not rely on this backup until the cause is repaired", "destination", s.cfg.Destination.Label(), "cause", err.Error())
		return RecordFailure(record, s.db, KindProof, s.now(), proofText(err))
	}
	detail.Ended = s.now().UTC()
	text, err := json.Marshal(detail)
	if err != nil {
		return err
	}
	if err := RecordSuccess(record, s.db, KindProof, restoredTo, string(text)); err != nil {
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
		return RecordFailure(record, s.db, KindCopy, s.now(), safeText(err)) // s.failed does not record the same text again, but RequestProof waits for a new record
	}
	copied.Destination, copied.Ended = s.cfg.Secondary.Label(), s.now().UTC()
	if text, err = json.Marshal(copied); err != nil {
		return err
	}
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

// Errors of proofs that could not be completed. They neither prove the backup nor mean that something is wrong with it.
var (
	errUnreachable = apperr.New(http.StatusServiceUnavailable, "backup_place_unreachable", "The proof could not be done: the backup destination cannot be reached.")
	errNoRoom      = apperr.New(http.StatusInsufficientStorage, "backup_proof_no_room", "The proof could not be done: there is no room to restore the backup.")
	errTooSlow     = apperr.New(http.StatusServiceUnavailable, "backup_proof_timeout", "The proof could not be done: it took longer than two hours.")
	errNotDone     = apperr.New(http.StatusInternalServerError, "backup_proof_not_done", "The proof could not be done; the log says why.")
)

// incompleteReason returns why a proof could not be completed, or nil if it was completed. An error of unknown cause counts as a failed proof,
// because a backup is trusted only after it was restored.
func incompleteReason(ctx context.Context, err error) *apperr.Error {
	var (
		damage *Damage
		found  unproven
		reason *apperr.Error
	)
	switch {
	case err == nil, errors.As(err, &damage), errors.As(err, &found):
		return nil
	case ctx.Err() != nil:
		return errTooSlow.Because(err)
	case errors.As(err, &reason):
		return reason
	case isDestinationError(err):
		return errUnreachable.Because(err)
	case apperr.IsDiskFull(err):
		return errNoRoom.Because(err)
	}
	return nil
}

// incompleteDetail is the detail of KindIncompleteProof.
type incompleteDetail struct {
	Code string `json:"code"`
}

// recordIncomplete stores why a proof could not be completed. It logs the reason unless the previous proof had the same one. The stored result
// of the newest complete proof stays as it is.
func (s *Service) recordIncomplete(ctx context.Context, reason *apperr.Error) error {
	before, err := ReadStates(ctx, s.db)
	if err != nil {
		return err
	}
	if before[KindIncompleteProof].Error != reason.Message {
		cause := reason.Message
		if reason.Cause != nil {
			cause = reason.Cause.Error()
		}
		s.log.Warn("backup: the proof of the newest backup could not be completed; the backup itself may be good, and the proof is tried again", "code", reason.Code, "destination", s.cfg.Destination.Label(), "cause", cause)
	}
	detail, err := json.Marshal(incompleteDetail{reason.Code})
	if err != nil {
		return err
	}
	return recordFailure(ctx, s.db, KindIncompleteProof, s.now(), reason.Message, string(detail))
}

// unproven is the error of a proof that has found something wrong with the backup. Its text is safe to show.
type unproven struct {
	text  string
	cause error // nil for none
}

func (u unproven) Error() string {
	if u.cause != nil {
		return u.text + ": " + u.cause.Error()
	}
	return u.text
}

func (u unproven) Unwrap() error { return u.cause }

func proofText(err error) string {
	var (
		damage *Damage
		known  unproven
	)
	switch {
	case errors.As(err, &damage):
		return damage.Error()
	case errors.As(err, &known):
		return known.text
	}
	return "The newest backup could not be restored; the log says why."
}

// compare restores the latest restore point and compares it with the site. restoredTo is the time of that restore point.
func (s *Service) compare(ctx context.Context) (restoredTo time.Time, detail ProofDetail, err error) {
	if err := s.checkSecrets(ctx); err != nil {
		return restoredTo, detail, err
	}
	point, want, err := s.newestState(ctx)
	if err != nil {
		return restoredTo, detail, err
	}
	dir, err := os.MkdirTemp(s.cfg.Scratch, "proof-*")
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
		return restoredTo, detail, unproven{"the restored database is damaged", err}
	}
	defer func() { err = errors.Join(err, restored.Close()) }()
	got, err := db.Checksums(ctx, restored, db.SQLite)
	if err != nil {
		return restoredTo, detail, err
	}
	for i, table := range want {
		if i >= len(got) || got[i].Table != table.Table || got[i].Rows != table.Rows || got[i].SHA256 != table.SHA256 {
			return restoredTo, detail, unproven{fmt.Sprintf("table %s of the restored database is not what the site had", table.Table), nil}
		}
		detail.Rows += table.Rows
	}
	detail.Tables = len(want)
	if detail.Files, detail.Waiting, err = s.compareFiles(ctx, restored); err != nil {
		return restoredTo, detail, err
	}
	if point.parts != nil {
		err = s.checkOlderParts(ctx)
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
	return point, sums, s.storeRecord(ctx, proofRecord{Time: point.time, TXID: txid.String(), Tables: sums})
}

// newestSnapshot returns the newest snapshot of PostgreSQL. It takes another one if that is of an earlier version of the program, because
// the proof reads the tables and columns of this version.
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
			parts, err := openParts(ctx, s.cfg.Destination)
			if err != nil {
				return err
			}
			var found []*ltx.FileInfo
			found, lastErr = parts.LTXFilesBetween(ctx, 0, txid, 0) // the newest part of level 0 is never removed
			if len(found) > 0 {
				return nil
			}
		}
		if ended := interval.Sleep(ctx, pollEvery); ended != nil {
			return errUnreachable.Becausef("the destination does not have the newest transaction after %s: %w", destinationTimeout, cmp.Or(lastErr, ended))
		}
	}
}

// storeRecord stores the record with which the proof compares, and removes old records.
func (s *Service) storeRecord(ctx context.Context, r proofRecord) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := s.cfg.Destination.Write(ctx, path.Join(ProofsDir, r.Time.UTC().Format(snapshotTimeLayout)+".json"), bytes.NewReader(append(text, '\n'))); err != nil {
		return toDestinationError(err)
	}
	var all []string
	if err := s.cfg.Destination.List(ctx, ProofsDir+"/", func(o Object) error { all = append(all, o.Name); return nil }); err != nil {
		return err
	}
	slices.Sort(all)
	for len(all) > proofRecordsKept {
		if err := s.cfg.Destination.Delete(ctx, all[0]); err != nil {
			return toDestinationError(err)
		}
		all = all[1:]
	}
	return nil
}

// checkRoom verifies the parts of the restore point, and returns an error if the disk has no space for the restored database twice.
func (s *Service) checkRoom(ctx context.Context, point *restorePoint) error {
	size, err := point.verify(ctx, func(int, int) {})
	if err != nil {
		return err
	}
	if point.snapshot != nil {
		size = 10 * point.snapshot.Size // compressed
	}
	if free := s.cfg.Free(); free < 2*size {
		not := *errNoRoom
		not.Message = fmt.Sprintf("The proof could not be done: there is no room to restore the backup: %d MB are free on the disk of the data folder, %d MB are needed.", free>>20, 2*size>>20)
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
		if compared == proofFiles {
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
			return compared, waiting, unproven{fmt.Sprintf("%s (%s) is missing in the backup", BlobName(f.BlobID), f.Name), nil}
		}
		if err != nil {
			return compared, waiting, err
		}
		compared++
	}
	return compared, waiting, nil
}

// checkOlderParts verifies a random sample of the parts, most of which only earlier restore points need.
func (s *Service) checkOlderParts(ctx context.Context) error {
	parts, err := openParts(ctx, s.cfg.Destination)
	if err != nil {
		return err
	}
	all, err := parts.all(ctx)
	if err != nil {
		return err
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var total int64
	for _, info := range all[:min(len(all), proofOldParts)] {
		if total += info.Size; total > proofOldBytes {
			return nil
		}
		if _, _, err := parts.verify(ctx, info); err != nil && !errors.Is(err, fs.ErrNotExist) { // merged meanwhile
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
		if total += snapshot.Size; total > proofOldBytes {
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
