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

// This file proves the backup each night: it restores the newest backup and compares it with the site.

// Intervals and limits of the proof. One part and one file are read at a time, and at a low priority, so that the site keeps the
// processors.
const (
	proofHour  = 4                // the hour of the night, in the server's time zone; the snapshot of PostgreSQL comes before it
	proofCheck = 2 * time.Second  // how often a node checks whether a proof is due
	firstProof = time.Minute      // least time from the start to a proof that nobody asked for
	proofRetry = time.Hour        // wait after a failure
	awayRetry  = 10 * time.Minute // wait if the place could not be reached

	proofTimeout  = 2 * time.Hour
	placeTimeout  = 5 * time.Minute
	proofFiles    = 50      // random files that are compared
	proofOldBytes = 1 << 30 // verified bytes of older parts, which only earlier moments need; random parts if there are more
	proofOldParts = 5000    // the largest number of these parts
	proofsKept    = 30
)

// proofRecord describes the live database at the moment that a proof restores. It is stored in the place.
type proofRecord struct {
	Time   time.Time          `json:"time"`
	TXID   string             `json:"txid,omitempty"` // of an SQLite database
	Tables []db.TableChecksum `json:"tables"`
}

// Proof is the result of the newest proof, and of the newest one that succeeded.
type Proof struct {
	ProofDetail
	Moment   time.Time // that the newest successful proof has restored
	Error    string    // what the newest proof that was done found, "" if it succeeded
	FailedAt time.Time // when a proof last failed
	Undone   string    // why the newest proof could not be done, "" if it was
	UndoneAt time.Time // when a proof last could not be done
	Copy     CopyDetail
}

// ReadProof reads the results.
func ReadProof(ctx context.Context, q db.Querier) (p Proof, err error) {
	states, err := ReadStates(ctx, q)
	if err != nil {
		return p, err
	}
	state := states[KindProof]
	p.Moment, p.Error, p.FailedAt = state.LastOK, state.Error, state.LastError
	p.Undone, p.UndoneAt = states[KindUndone].Error, states[KindUndone].LastError
	p.ProofDetail, err = proofDetail(state)
	return p, err
}

// RequestProof asks the process that keeps the backup for a proof, and waits for the result and for the copy in the second place. It
// returns an error if the proof or the copy fails.
func (s *Service) RequestProof(ctx context.Context, w Waiting) (p Proof, err error) {
	began := s.now().UTC().Truncate(time.Microsecond) // as it is stored
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
		if p.Undone != "" && !p.UndoneAt.Before(began) {
			return false, "", errors.New(p.Undone)
		}
		return !p.Ended.Before(began), "", nil
	})
	if err != nil || s.cfg.CopyTo == nil {
		return p, err
	}
	return p, w.until(ctx, func() (bool, string, error) {
		states, err := ReadStates(ctx, s.db)
		if err != nil {
			return false, "", err
		}
		second := states[KindCopy]
		if second.Error != "" && !second.LastError.Before(began) {
			return false, "", fmt.Errorf("the backup is proven, but its copy in the second place is not up to date: %s", second.Error)
		}
		if second.LastOK.IsZero() || second.Detail == "" {
			return false, "", nil
		}
		// The moment alone does not tell this copy from an earlier one: nothing may have been written between two proofs.
		err = json.Unmarshal([]byte(second.Detail), &p.Copy)
		return !p.Copy.Ended.Before(p.Ended), "", err
	})
}

// runProofs proves the backup each night, on one node, and at once if it was never proven or somebody asks for it.
func (s *Service) runProofs(ctx context.Context) {
	began := time.Now()
	interval.Every(ctx, proofCheck, func() {
		if err := s.proveIfDue(ctx, time.Since(began) >= firstProof); err != nil && ctx.Err() == nil {
			s.log.Warn("backup: the proof could not begin; it is tried again", "cause", err.Error())
		}
	})
}

func (s *Service) proveIfDue(ctx context.Context, regular bool) (err error) {
	if due, err := s.isProofDue(ctx, regular); err != nil || !due {
		return err
	}
	holder, now := uuid.NewString(), s.now()
	mine, err := Lease(ctx, s.db, KindProof, holder, now, now.Add(snapshotLease))
	if err != nil || !mine {
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

// isProofDue reports whether a proof is due: see proofDue; or the newest one has left out files that have come into the place since. Only
// a request counts unless regular.
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

// lastAttempt returns when the newest proof ended, or could not be done.
func lastAttempt(states map[Kind]State, proven ProofDetail) time.Time {
	attempt := proven.Ended
	for _, failed := range []time.Time{states[KindProof].LastError, states[KindUndone].LastError} {
		if failed.After(attempt) {
			attempt = failed
		}
	}
	return attempt
}

// proofDue reports whether a proof is due: there is something to prove, and the newest attempt was before the last night, before the
// newest request, or has failed a while ago. If regular is false, only a request makes a proof due.
func (s *Service) proofDue(states map[Kind]State, now time.Time, regular bool) bool {
	if s.db.Dialect == db.Postgres && states[KindSnapshot].LastOK.IsZero() {
		return false
	}
	proof := states[KindProof]
	proven, err := proofDetail(proof)
	if err != nil {
		return true
	}
	undone := states[KindUndone]
	attempt := lastAttempt(states, proven)
	night := time.Date(now.Year(), now.Month(), now.Day(), proofHour, 0, 0, 0, now.Location())
	if night.After(now) {
		night = night.AddDate(0, 0, -1)
	}
	if attempt.Before(states[kindProofRequest].LastOK) {
		return true
	}
	retry := proofRetry
	if undone.Error != "" {
		code, err := undoneCode(undone)
		if err != nil {
			return true
		}
		if code == errAway.Code {
			retry = awayRetry
		}
	}
	return regular && (attempt.Before(night) || (proof.Error != "" || undone.Error != "") && now.Sub(attempt) >= retry)
}

// prove proves the backup and stores the result. After a success the second place gets the backup.
func (s *Service) prove(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, s.proofTimeout)
	defer cancel()
	var (
		moment time.Time
		detail ProofDetail
	)
	err := atLowPriority(func() (err error) {
		moment, detail, err = s.compare(limited)
		return err
	})
	if ctx.Err() != nil {
		return nil // the program ends, or another node has the lease: the next one proves
	}
	if errors.Is(err, errNotOpen) {
		return nil // runDatabase has recorded why
	}
	record := context.WithoutCancel(ctx)
	if reason := undone(limited, err); reason != nil {
		return s.recordUndone(record, reason)
	}
	if err := RecordSuccess(record, s.db, KindUndone, s.now(), "{}"); err != nil {
		return err
	}
	if err != nil {
		s.log.Error("backup: the newest backup was restored to prove it, and it failed: until that is mended, do not rely on this backup", "place", s.cfg.Place.Label(), "cause", err.Error())
		return RecordFailure(record, s.db, KindProof, s.now(), proofText(err))
	}
	detail.Ended = s.now().UTC()
	text, err := json.Marshal(detail)
	if err != nil {
		return err
	}
	if err := RecordSuccess(record, s.db, KindProof, moment, string(text)); err != nil {
		return err
	}
	s.log.Info("backup: the newest backup was restored and is what the site has", "moment", moment.Format(time.RFC3339), "tables", detail.Tables, "rows", detail.Rows, "files", detail.Files)
	if s.cfg.CopyTo == nil {
		return nil
	}
	var copied CopyDetail
	if err := atLowPriority(func() (err error) { copied, err = s.copyBackup(ctx); return err }); err != nil {
		s.failed(ctx, KindCopy, err)
		if ctx.Err() != nil {
			return nil
		}
		return RecordFailure(record, s.db, KindCopy, s.now(), safeText(err)) // failed records a text once in a row, but RequestProof waits for a new record
	}
	copied.Place, copied.Ended = s.cfg.CopyTo.Label(), s.now().UTC()
	if text, err = json.Marshal(copied); err != nil {
		return err
	}
	if err := s.recordSecondPlace(record); err != nil {
		return err
	}
	s.succeededWith(ctx, KindCopy, moment, string(text))
	return nil
}

// recordSecondPlace adds the second place to the activity if no copy was made there before.
func (s *Service) recordSecondPlace(ctx context.Context) error {
	states, err := ReadStates(ctx, s.db)
	if err != nil {
		return err
	}
	before, err := s.copyDetail(states)
	if err != nil || before.Place != "" {
		return err
	}
	return activity.RecordSite(ctx, s.db, activity.BackupPlace, s.cfg.CopyTo.Label(), s.now())
}

// Errors of proofs that could not be done: they have found nothing wrong with the backup, and have not proven it either.
var (
	errAway    = apperr.New(http.StatusServiceUnavailable, "backup_place_unreachable", "The proof could not be done: the place of the backup cannot be reached.")
	errNoRoom  = apperr.New(http.StatusInsufficientStorage, "backup_proof_no_room", "The proof could not be done: there is no room to restore the backup.")
	errTooSlow = apperr.New(http.StatusServiceUnavailable, "backup_proof_timeout", "The proof could not be done: it took longer than two hours.")
	errNotDone = apperr.New(http.StatusInternalServerError, "backup_proof_not_done", "The proof could not be done; the log says why.")
)

// undone returns why a proof could not be done, or nil if it was done. An error of unknown cause counts as a failed proof, because only
// what was restored may be called a backup.
func undone(ctx context.Context, err error) *apperr.Error {
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
	case isPlaceError(err):
		return errAway.Because(err)
	case apperr.IsDiskFull(err):
		return errNoRoom.Because(err)
	}
	return nil
}

// undoneDetail is the detail of KindUndone.
type undoneDetail struct {
	Code string `json:"code"`
}

// recordUndone stores why a proof could not be done, and logs the reason unless the proof before could not be done for the same reason.
// The result of the newest proof that was done stays as it is.
func (s *Service) recordUndone(ctx context.Context, reason *apperr.Error) error {
	before, err := ReadStates(ctx, s.db)
	if err != nil {
		return err
	}
	if before[KindUndone].Error != reason.Message {
		cause := reason.Message
		if reason.Cause != nil {
			cause = reason.Cause.Error()
		}
		s.log.Warn("backup: the newest backup could not be restored to prove it; that says nothing about it, and it is tried again", "code", reason.Code, "place", s.cfg.Place.Label(), "cause", cause)
	}
	detail, err := json.Marshal(undoneDetail{reason.Code})
	if err != nil {
		return err
	}
	return recordFailure(ctx, s.db, KindUndone, s.now(), reason.Message, string(detail))
}

// unproven is an error of a proof whose text is safe to show. It names what is wrong with the backup.
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

// compare restores the newest backup and compares it with the site. The moment is the one that it has restored.
func (s *Service) compare(ctx context.Context) (moment time.Time, detail ProofDetail, err error) {
	if err := s.checkSecrets(ctx); err != nil {
		return moment, detail, err
	}
	point, want, err := s.newestState(ctx)
	if err != nil {
		return moment, detail, err
	}
	work, err := os.MkdirTemp(s.cfg.Scratch, "proof-*")
	if err != nil {
		return moment, detail, errNotDone.Because(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if err := s.checkRoom(ctx, point); err != nil {
		return moment, detail, err
	}
	file := filepath.Join(work, "restored.db")
	if err := point.restore(ctx, file); err != nil {
		return moment, detail, err
	}
	restored, err := openRestored(ctx, file)
	if err != nil {
		return moment, detail, unproven{"the restored database is damaged", err}
	}
	defer func() { err = errors.Join(err, restored.Close()) }()
	got, err := db.Checksums(ctx, restored, db.SQLite)
	if err != nil {
		return moment, detail, err
	}
	for i, table := range want {
		if i >= len(got) || got[i].Table != table.Table || got[i].Rows != table.Rows || got[i].SHA256 != table.SHA256 {
			return moment, detail, unproven{fmt.Sprintf("table %s of the restored database is not what the site had", table.Table), nil}
		}
		detail.Rows += table.Rows
	}
	detail.Tables = len(want)
	if detail.Files, detail.Waiting, err = s.compareFiles(ctx, restored); err != nil {
		return moment, detail, err
	}
	if point.parts != nil {
		err = s.checkOlderParts(ctx)
	} else {
		err = s.checkOlderSnapshots(ctx, point, work)
	}
	return point.moment, detail, err
}

// newestState returns the state to restore, and the checksums that the site's tables had at that moment.
func (s *Service) newestState(ctx context.Context) (*point, []db.TableChecksum, error) {
	if s.db.Dialect == db.Postgres {
		point, err := findPoint(ctx, s.cfg.Place, string(db.Postgres), time.Time{})
		if err != nil {
			return nil, nil, err
		}
		return point, point.snapshot.Tables, nil
	}
	txid, sums, err := s.noteState(ctx)
	if errors.Is(err, errNotOpen) {
		return nil, nil, err
	}
	if err != nil { // of the site's own database
		return nil, nil, errNotDone.Because(err)
	}
	if err := s.waitForTransaction(ctx, txid); err != nil {
		return nil, nil, err
	}
	point, err := findTransaction(ctx, s.cfg.Place, txid)
	if err != nil {
		return nil, nil, err
	}
	return point, sums, s.storeRecord(ctx, proofRecord{Time: point.moment, TXID: txid.String(), Tables: sums})
}

// noteState returns a transaction of the replica and the checksums of the tables after it. Writes wait for milliseconds, while the
// replica gets the last one and the snapshot is opened.
func (s *Service) noteState(ctx context.Context) (txid ltx.TXID, sums []db.TableChecksum, err error) {
	errDone := errors.New("rolled back: nothing was written")
	err = s.db.Snapshot(ctx, func(q db.Querier) error {
		if err := s.withReplica(ctx, func(r *replica) error {
			if err := r.lite.Sync(ctx); err != nil { // most of it, before writes wait
				return err
			}
			return s.db.WithTx(ctx, func(*db.Tx) error {
				if err := r.syncOnly(ctx); err != nil {
					return err
				}
				pos, err := r.lite.Pos()
				if err != nil {
					return err
				}
				txid = pos.TXID
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
	return txid, sums, err
}

func (s *Service) waitForTransaction(ctx context.Context, txid ltx.TXID) error {
	ctx, cancel := context.WithTimeout(ctx, placeTimeout)
	defer cancel()
	for {
		parts, err := openParts(ctx, s.cfg.Place)
		if err != nil {
			return err
		}
		there, err := parts.LTXFilesBetween(ctx, 0, txid, 0) // the newest part of level 0 is never removed
		if len(there) > 0 {
			return nil
		}
		if ended := interval.Sleep(ctx, pollEvery); ended != nil {
			return errAway.Becausef("the place does not have the newest transaction after %s: %w", placeTimeout, cmp.Or(err, ended))
		}
	}
}

// storeRecord stores what the proof compares with, and removes old records.
func (s *Service) storeRecord(ctx context.Context, r proofRecord) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := s.cfg.Place.Write(ctx, path.Join(ProofsDir, r.Time.UTC().Format(snapshotTime)+".json"), bytes.NewReader(append(text, '\n'))); err != nil {
		return toPlaceError(err)
	}
	var all []string
	if err := s.cfg.Place.List(ctx, ProofsDir+"/", func(o Object) error { all = append(all, o.Name); return nil }); err != nil {
		return err
	}
	slices.Sort(all)
	for len(all) > proofsKept {
		if err := s.cfg.Place.Delete(ctx, all[0]); err != nil {
			return toPlaceError(err)
		}
		all = all[1:]
	}
	return nil
}

// checkRoom verifies what makes the state, and returns an error if the disk has no room for the restored database twice.
func (s *Service) checkRoom(ctx context.Context, point *point) error {
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

// compareFiles compares random files of the backup with their rows in the restored database. waiting is the number of those files that
// are not in the place yet.
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
		err := checkFile(ctx, s.cfg.Place, f)
		if errors.Is(err, fs.ErrNotExist) {
			copied, lookErr := blobCopiedAlready(ctx, s.db, f.BlobID)
			if lookErr != nil {
				return compared, waiting, errNotDone.Because(lookErr)
			}
			if !copied {
				waiting++ // or it was removed before its turn
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

// checkOlderParts verifies parts of the database that only earlier moments need.
func (s *Service) checkOlderParts(ctx context.Context) error {
	parts, err := openParts(ctx, s.cfg.Place)
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
func (s *Service) checkOlderSnapshots(ctx context.Context, newest *point, work string) error {
	all, err := listSnapshots(ctx, s.cfg.Place)
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
		older := point{place: s.cfg.Place, snapshot: &snapshot}
		file := filepath.Join(work, "older.db")
		if err := errors.Join(older.restore(ctx, file), os.Remove(file)); err != nil {
			return err
		}
	}
	return nil
}
