package health

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"atelie/internal/db"
)

// This file checks once a day whether there is a newer release of the program, which the overview of the admin area then shows.

// ReleaseFile gives access to the file that names the newest release of the program. The operator (who runs the server) sets its location.
type ReleaseFile struct {
	Location string // a path or a URL; a URL can contain a password
	// Read reads the file. It has its own time limit, so CheckRelease needs none.
	Read func(ctx context.Context) (Release, error)
	// IsNewer reports whether a version is newer than this program.
	IsNewer func(version string) bool
}

// Release is the newest release as the overview shows it.
type Release struct {
	Version string `json:"version"`
	Date    string `json:"date"`  // YYYY-MM-DD
	Notes   string `json:"notes"` // URL with https; "" if there is none
}

// releaseState is what is known from the release file. A newer release is not a Problem, because nothing is wrong with the site.
type releaseState struct {
	Newer        *Release   `json:"newer"`         // null: no newer release is known
	ReadAt       *time.Time `json:"read_at"`       // when the file was last read
	FailingSince *time.Time `json:"failing_since"` // time of the first of consecutive failures to read the file; null if it can be read
}

// CheckRelease reads the release file and stores its content for all nodes (servers of the site). It does nothing if any node has tried to
// read the file within the last day. Of consecutive failures to read the file, it logs only the first.
func (s *Service) CheckRelease(ctx context.Context) error {
	releaseFile := s.cfg.ReleaseFile
	if releaseFile == nil {
		return nil
	}
	now := s.now()
	sourceHash := fingerprint(releaseFile.Location) // stored instead of the location, which can contain a password
	mustRead, err := claimRelease(ctx, s.db, sourceHash, now)
	if err != nil || !mustRead {
		return err
	}
	found, err := releaseFile.Read(ctx)
	if ended := ctx.Err(); ended != nil { // the program ends
		return ended
	}
	if err != nil {
		isFirst, recordErr := noteFailing(ctx, s.db, sourceHash, now)
		if isFirst {
			s.log.Warn("the release file cannot be read, so newer releases are not noticed; it is read again tomorrow", "cause", err.Error())
		}
		return recordErr
	}
	text, err := json.Marshal(storedRelease{sourceHash, found})
	if err != nil {
		return err
	}
	wasFailing := false
	err = s.db.WithTx(ctx, func(tx *db.Tx) (err error) {
		wasFailing, err = endFailing(ctx, tx)
		return errors.Join(err, saveRelease(ctx, tx, now, string(text)))
	})
	if wasFailing && err == nil {
		s.log.Info("the release file can be read again", "newest", found.Version)
	}
	return err
}

// storedRelease is the JSON in the column cause of the row recordRelease. Fingerprint is that of the location from which the release was
// read. Earlier versions have stored this JSON, so its names must not change.
type storedRelease struct {
	Fingerprint string `json:"place"`
	Release
}

// fingerprint returns a hash that identifies a location and does not reveal the password in it.
func fingerprint(location string) string {
	sum := sha256.Sum256([]byte(location))
	return hex.EncodeToString(sum[:])
}

// release returns what the records tell of the release file, nil if the operator has set none.
func (s *Service) release(records map[string]record) (*releaseState, error) {
	releaseFile := s.cfg.ReleaseFile
	if releaseFile == nil {
		return nil, nil
	}
	state, source := &releaseState{}, fingerprint(releaseFile.Location)
	if failing, ok := records[recordReleaseFailing]; ok && failing.cause == source {
		state.FailingSince = utc(failing.at)
	}
	read, ok := records[recordRelease]
	if !ok {
		return state, nil
	}
	var stored storedRelease
	if err := json.Unmarshal([]byte(read.cause), &stored); err != nil {
		return nil, err
	}
	if stored.Fingerprint != source { // read from a file that the operator had set before
		return state, nil
	}
	state.ReadAt = utc(read.at)
	if releaseFile.IsNewer(stored.Version) {
		state.Newer = &stored.Release
	}
	return state, nil
}
