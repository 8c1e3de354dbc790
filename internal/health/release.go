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

// Releases reads the release file of the operator.
type Releases struct {
	Place string // a path or a URL, which can contain a password
	// Read reads the file. It ends by itself.
	Read func(ctx context.Context) (Release, error)
	// IsNewer reports whether a version is newer than this program.
	IsNewer func(version string) bool
}

// Release is a release as the overview tells of it.
type Release struct {
	Version string `json:"version"`
	Date    string `json:"date"`  // YYYY-MM-DD
	Notes   string `json:"notes"` // URL with https; "" if there is none
}

// releaseState tells of the release file. That there is a newer release is no trouble: nothing is wrong with the site.
type releaseState struct {
	Newer        *Release   `json:"newer"`         // null: no newer one is known
	ReadAt       *time.Time `json:"read_at"`       // when the file was last read
	FailingSince *time.Time `json:"failing_since"` // since when it cannot be read; null if it can
}

// CheckRelease reads the release file, unless any node has tried within a day, and stores its content for all nodes. If the file
// cannot be read, this is logged once, until it can be read again.
func (s *Service) CheckRelease(ctx context.Context) error {
	from := s.cfg.Releases
	if from == nil {
		return nil
	}
	now, place := s.now(), fingerprint(from.Place)
	mine, err := claimRelease(ctx, s.db, place, now)
	if err != nil || !mine {
		return err
	}
	found, err := from.Read(ctx)
	if ended := ctx.Err(); ended != nil { // the program ends
		return ended
	}
	if err != nil {
		begins, recordErr := noteFailing(ctx, s.db, place, now)
		if begins {
			s.log.Warn("the release file cannot be read, so nobody is told of a newer release; it is read again tomorrow", "cause", err.Error())
		}
		return recordErr
	}
	text, err := json.Marshal(storedRelease{place, found})
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

// storedRelease is the cause of recordRelease, in JSON. Place is the fingerprint of the file that the release was read from.
type storedRelease struct {
	Place string `json:"place"`
	Release
}

// fingerprint identifies a place without telling it.
func fingerprint(place string) string {
	sum := sha256.Sum256([]byte(place))
	return hex.EncodeToString(sum[:])
}

// release returns what the records tell of the release file, nil if the operator has set none.
func (s *Service) release(records map[string]record) (*releaseState, error) {
	from := s.cfg.Releases
	if from == nil {
		return nil, nil
	}
	state, place := &releaseState{}, fingerprint(from.Place)
	if failing, ok := records[recordReleaseFailing]; ok && failing.cause == place {
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
	if stored.Place != place { // read from a file that the operator had set before
		return state, nil
	}
	state.ReadAt = utc(read.at)
	if from.IsNewer(stored.Version) {
		state.Newer = &stored.Release
	}
	return state, nil
}
