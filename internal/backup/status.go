package backup

import (
	"context"
	"encoding/json"
	"time"

	"atelie/internal/db"
)

// Status is the state of the backup as owners, the operator and the metrics see it.
type Status struct {
	Place        string    // label of the place, without secrets; "" if backups are off
	SameDisk     bool      // all places of the backup are inside the data folder, so that the backup is lost with its disk
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

// ReadStatus reads the stored status. place is the label of the place, "" if backups are off; sameDisk is Status.SameDisk. While the
// server runs, LastBackup can be some minutes older than the newest moment in the place.
func ReadStatus(ctx context.Context, q db.Querier, place string, sameDisk bool) (s Status, err error) {
	if place == "" {
		return s, nil
	}
	s = Status{Place: place, SameDisk: sameDisk}
	states, err := ReadStates(ctx, q)
	if err != nil {
		return s, err
	}
	for _, kind := range []Kind{KindDatabase, KindSnapshot} {
		if at := states[kind].LastOK; at.After(s.LastBackup) {
			s.LastBackup = at
		}
	}
	for _, kind := range []Kind{KindDatabase, KindSnapshot, KindBlobs, KindSecret, KindCopy} {
		if state := states[kind]; state.Error != "" && (s.ErrorSince.IsZero() || state.ErrorSince.Before(s.ErrorSince)) {
			s.BackupError, s.ErrorSince = state.Error, state.ErrorSince
		}
	}
	proof := states[KindProof]
	s.ProvenMoment, s.ProofError = proof.LastOK, proof.Error
	proven, err := proofDetail(proof)
	if err != nil {
		return s, err
	}
	s.LastProof, s.UnprovenFiles = proven.Ended, proven.Waiting
	if undone := states[KindUndone]; undone.Error != "" {
		s.ProofUndone, s.ProofUndoneSince = undone.Error, undone.ErrorSince
		if s.ProofUndoneCode, err = undoneCode(undone); err != nil {
			return s, err
		}
		s.PlaceAway = s.ProofUndoneCode == errAway.Code
	}
	s.WaitingFiles, err = countWaiting(ctx, q)
	return s, err
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
