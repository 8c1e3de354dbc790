package backup

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Status is the state of the backup as owners, the operator and the metrics see it.
type Status struct {
	Place        string    // label of the place, without secrets; "" if backups are off
	SameDisk     bool      // all places that have the backup are on the disk of the data folder, with which they are lost
	LastBackup   time.Time // newest moment that is in the place; zero if there is none
	BackupError  string    // safe text of the current failure, "" if there is none
	ErrorSince   time.Time // when that failure began
	LastProof    time.Time // when the newest successful proof ended; zero if there is none
	ProvenMoment time.Time // the moment that proof has restored
	ProofError   string    // what the newest proof found damaged, by name; "" if it succeeded
	WaitingFiles int64     // blobs that are not in the place yet

	ProofUndone      string    // safe text: why the newest proof could not be done; "" if it was
	ProofUndoneCode  string    // its code
	ProofUndoneSince time.Time // since when none could be done
	PlaceAway        bool      // the newest proof could not be done because the place could not be reached

	UnprovenFiles int // see ProofDetail.Waiting
}

// Kind is a part of the backup that has its own row of state.
type Kind string

// The parts of the backup.
const (
	KindDatabase Kind = "database" // the replica of an SQLite database
	KindBlobs    Kind = "blobs"
	KindSnapshot Kind = "snapshot" // the nightly snapshot of a PostgreSQL database
	KindSecret   Kind = "secret"
	KindProof    Kind = "proof"
	KindUndone   Kind = "proof undone" // proofs that could not be done; it says nothing about the backup
	KindCopy     Kind = "copy"         // the second place
	kindListed   Kind = "listed"       // when the blobs of the place were last listed
)

// State is the stored state of a part. LastOK is the newest moment up to which the part is in its place; for a proof the moment it
// has proven.
type State struct {
	Kind       Kind
	LastOK     time.Time // zero if it never succeeded
	LastError  time.Time // zero if it never failed
	ErrorSince time.Time // zero if the newest attempt succeeded
	Error      string    // safe text of the newest failure, "" if the newest attempt succeeded
	Detail     string    // JSON object, by kind
}

// copyStaleAfter is the age of the second place from which it is a failure that nothing has brought it up to date.
const copyStaleAfter = 3 * 24 * time.Hour

// Failures of which no attempt tells.
var (
	errSplit     = errors.New("each node keeps its backup in a folder of its own, so that no place has all of it: set ATELIE_BACKUP_URL to a bucket, or to a folder that all nodes share")
	errCopyStale = errors.New("the second place of the backup has not been brought up to date for three days: it gets the backup after a proof")
)

// statusOf returns the status that is stored in states. While the server runs, LastBackup can be some minutes older than the newest moment
// in the place.
func (s *Service) statusOf(ctx context.Context, states map[Kind]State) (status Status, err error) {
	status = Status{Place: s.cfg.Place.Label()}
	second, err := s.copyDetail(states)
	if err != nil {
		return status, err
	}
	status.SameDisk = s.cfg.SameDisk && (second.Ended.IsZero() || !s.cfg.CopyElsewhere)
	if s.cfg.CopyTo == nil {
		delete(states, KindCopy) // its failures are of a place that is not used any more
	}
	for _, kind := range []Kind{KindDatabase, KindSnapshot} {
		if at := states[kind].LastOK; at.After(status.LastBackup) {
			status.LastBackup = at
		}
	}
	for _, kind := range []Kind{KindDatabase, KindSnapshot, KindBlobs, KindSecret, KindCopy} {
		if state := states[kind]; state.Error != "" && (status.ErrorSince.IsZero() || state.ErrorSince.Before(status.ErrorSince)) {
			status.BackupError, status.ErrorSince = state.Error, state.ErrorSince
		}
	}
	switch {
	case status.BackupError != "":
	case s.cfg.Split:
		status.BackupError, status.ErrorSince = errSplit.Error(), states[KindSecret].LastOK // since the backup began in this place
	case !second.Ended.IsZero() && s.now().Sub(second.Ended) > copyStaleAfter:
		status.BackupError, status.ErrorSince = errCopyStale.Error(), second.Ended
	}
	proof := states[KindProof]
	status.ProvenMoment, status.ProofError = proof.LastOK, proof.Error
	proven, err := proofDetail(proof)
	if err != nil {
		return status, err
	}
	status.LastProof, status.UnprovenFiles = proven.Ended, proven.Waiting
	if undone := states[KindUndone]; undone.Error != "" {
		status.ProofUndone, status.ProofUndoneSince = undone.Error, undone.ErrorSince
		if status.ProofUndoneCode, err = undoneCode(undone); err != nil {
			return status, err
		}
		status.PlaceAway = status.ProofUndoneCode == errAway.Code
	}
	status.WaitingFiles, err = countWaiting(ctx, s.db)
	return status, err
}

// copyDetail returns the detail of the newest copy in the second place, the zero value if none was made there.
func (s *Service) copyDetail(states map[Kind]State) (d CopyDetail, err error) {
	text := states[KindCopy].Detail
	if s.cfg.CopyTo == nil || text == "" {
		return d, nil
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil || d.Place != s.cfg.CopyTo.Label() {
		return CopyDetail{}, err
	}
	return d, nil
}

// undoneCode returns the code of the reason why the newest proof could not be done.
func undoneCode(s State) (string, error) {
	var d undoneDetail
	err := json.Unmarshal([]byte(s.Detail), &d)
	return d.Code, err
}

// ProofDetail is the detail of KindProof, about the newest successful proof: when it ended, and what it has compared.
type ProofDetail struct {
	Ended  time.Time `json:"ended"`
	Tables int       `json:"tables"`
	Rows   int64     `json:"rows"`
	Files  int       `json:"files"`
	// Waiting is how many files the proof left out because they were not in the place yet.
	Waiting int `json:"waiting"`
}

// proofDetail returns the detail of KindProof, the zero value if no proof has succeeded yet.
func proofDetail(s State) (d ProofDetail, err error) {
	if s.Detail != "" {
		err = json.Unmarshal([]byte(s.Detail), &d)
	}
	return d, err
}
