package backup

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"atelie/internal/db"
)

// Status is the state of the backup as owners, the operator and the metrics see it. The texts contain no secrets, so they are safe to show. A
// restore test is a nightly trial restore (restore_tests.go).
type Status struct {
	Destination        string    // label of the destination; "" if backups are off
	SameDisk           bool      // every copy of the backup is on the disk of the data folder, and would be lost with this disk
	LastBackup         time.Time // time of the latest state that can be restored (restore point); zero if there is none
	BackupError        string    // text of the current failure; "" if there is none
	ErrorSince         time.Time // when the current failure began
	LastRestoreTest    time.Time // when the newest successful restore test ended; zero if there is none
	TestedRestorePoint time.Time // the restore point of the newest successful restore test
	RestoreTestError   string    // what the newest complete restore test found wrong with the backup; "" if it succeeded
	WaitingFiles       int64     // blobs (the bytes of stored files) that are not in the destination yet

	RestoreTestIncomplete      string    // why the newest restore test is incomplete (had to stop); "" if it is complete
	RestoreTestIncompleteCode  string    // code of RestoreTestIncomplete
	RestoreTestIncompleteSince time.Time // when the first of the consecutive incomplete restore tests ended
	DestinationUnreachable     bool      // the restore test is incomplete because the destination was unreachable

	UntestedFiles int // number of files that the newest successful restore test left out, because they were not in the destination yet
}

// Kind is the key of a row of backup_status. Each row records the newest success and the newest failure of one task of the backup.
type Kind string

// The kinds, except those of the commands `atelie backup now` and `atelie backup verify`.
const (
	KindDatabase              Kind = "database"     // the replica of an SQLite database
	KindBlobs                 Kind = "blobs"        // the copies of stored files
	KindSnapshot              Kind = "snapshot"     // the nightly snapshot of a PostgreSQL database
	KindSecret                Kind = "secret"       // the site's secrets
	KindRestoreTest           Kind = "proof"        // restore tests that succeeded or failed; this value and the next are stored, so they stay
	KindIncompleteRestoreTest Kind = "proof undone" // restore tests that are incomplete
	KindCopy                  Kind = "copy"         // the copy in the secondary destination
	kindListed                Kind = "listed"       // when the blobs of the destination were last listed
)

// State is the stored state of a kind, a row of backup_status. For most kinds, LastOK is the time up to which the destination has
// everything. For KindRestoreTest it is the restore point of the newest successful restore test.
type State struct {
	Kind       Kind
	LastOK     time.Time // zero if it never succeeded
	LastError  time.Time // zero if it never failed
	ErrorSince time.Time // zero if the newest attempt succeeded
	Error      string    // text of the newest failure, safe to show; "" if the newest attempt succeeded
	Detail     string    // JSON object with more data; its keys depend on the kind
}

// copyStaleAfter is how old the newest copy in the secondary destination may be. An older one is reported as a failure of the backup.
const copyStaleAfter = 3 * 24 * time.Hour

// Failures that are found when the status is read. They are not failures of one task.
var (
	errSplit     = errors.New("each node keeps its backup in a folder of its own, so no destination has the whole backup: set ATELIE_BACKUP_URL to a bucket, or to a folder that all nodes share")
	errCopyStale = errors.New("the secondary backup destination has not been updated for three days: the backup is copied there after each restore test")
)

// statusOf returns the status according to the stored states. Its LastBackup can be some minutes older than the latest restore point in the
// destination, because a server stores that time only every few minutes (recordInterval).
func (s *Service) statusOf(ctx context.Context, states map[Kind]State) (status Status, err error) {
	status = Status{Destination: s.cfg.Destination.Label()}
	secondary, err := s.copyDetail(states)
	if err != nil {
		return status, err
	}
	status.SameDisk = s.cfg.OnDataDisk && (secondary.Ended.IsZero() || s.cfg.SecondaryOnDataDisk)
	if s.cfg.Secondary == nil {
		delete(states, KindCopy) // failures of a destination that is no longer configured
	}
	if s.db.Dialect == db.Postgres {
		delete(states, KindDatabase) // of the SQLite database from which the site was copied
	}
	status.LastBackup = slices.MaxFunc([]time.Time{states[KindDatabase].LastOK, states[KindSnapshot].LastOK}, time.Time.Compare)
	for _, kind := range []Kind{KindDatabase, KindSnapshot, KindBlobs, KindSecret, KindCopy} {
		if state := states[kind]; state.Error != "" && (status.ErrorSince.IsZero() || state.ErrorSince.Before(status.ErrorSince)) {
			status.BackupError, status.ErrorSince = state.Error, state.ErrorSince
		}
	}
	switch {
	case status.BackupError != "":
	case s.cfg.SplitByNode:
		status.BackupError, status.ErrorSince = errSplit.Error(), states[KindSecret].LastOK // when the backup began in this destination
	case !secondary.Ended.IsZero() && s.now().Sub(secondary.Ended) > copyStaleAfter:
		status.BackupError, status.ErrorSince = errCopyStale.Error(), secondary.Ended
	}
	complete := states[KindRestoreTest]
	status.TestedRestorePoint, status.RestoreTestError = complete.LastOK, complete.Error
	success, err := readDetail[RestoreTestDetail](complete)
	if err != nil {
		return status, err
	}
	status.LastRestoreTest, status.UntestedFiles = success.Ended, success.Waiting
	if incomplete := states[KindIncompleteRestoreTest]; incomplete.Error != "" {
		status.RestoreTestIncomplete, status.RestoreTestIncompleteSince = incomplete.Error, incomplete.ErrorSince
		detail, err := readDetail[incompleteDetail](incomplete)
		if err != nil {
			return status, err
		}
		status.RestoreTestIncompleteCode = detail.Code
		status.DestinationUnreachable = status.RestoreTestIncompleteCode == errUnreachable.Code
	}
	status.WaitingFiles, err = countWaiting(ctx, s.db)
	return status, err
}

// copyDetail returns the detail of the newest copy in the secondary destination; the zero value if no copy was made there.
func (s *Service) copyDetail(states map[Kind]State) (d CopyDetail, err error) {
	if s.cfg.Secondary == nil {
		return d, nil
	}
	if d, err = readDetail[CopyDetail](states[KindCopy]); err != nil || d.Destination != s.cfg.Secondary.Label() {
		return CopyDetail{}, err
	}
	return d, nil
}

// RestoreTestDetail is the detail of KindRestoreTest, about the newest successful restore test: when it ended, and what it has compared.
type RestoreTestDetail struct {
	Ended  time.Time `json:"ended"`
	Tables int       `json:"tables"`
	Rows   int64     `json:"rows"`
	Files  int       `json:"files"`
	// Waiting is how many files the restore test left out because they were not in the destination yet.
	Waiting int `json:"waiting"`
}

// readDetail decodes the detail of a state. It returns the zero value if there is none.
func readDetail[T any](s State) (d T, err error) {
	if s.Detail != "" {
		err = json.Unmarshal([]byte(s.Detail), &d)
	}
	return d, err
}
