// Package apikeys rotates and revokes the two API keys of the site: the anon key, which the public pages use, and the service key, which
// may do everything. API keys are JWTs that name a role. Each rotation creates a new key for the same role, its next generation. The
// earlier keys stay valid until they are revoked. The package stores which generations are valid. Package identity creates the keys and
// checks their signatures.
package apikeys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"atelie/internal/content"
	"atelie/internal/db"
	"atelie/internal/identity"
)

// Time limits of reads of the access_keys table.
const (
	readTimeout = 5 * time.Second // timeout of one read
	// staleLimit is how long an old snapshot is used while the database cannot be read. In that time this node (one of several servers of
	// the site) may accept a key that another node has revoked.
	staleLimit = 5 * time.Minute
)

// firstGeneration is the number of a role's first key. The claims (the content) of that key have no generation, and the key is valid
// without a row in access_keys.
const firstGeneration = 1

// Errors of Revoke.
var (
	ErrUnknown = errors.New("there is no such key: atelie keys list shows them")
	ErrRevoked = errors.New("this key is revoked already")
)

// Generation describes one key of a role. It does not contain the key itself, which package identity computes from the role and the number.
type Generation struct {
	Role    identity.Role // identity.Anon or identity.Service
	Number  int           // firstGeneration for the role's first key, one more for each later key
	Created *time.Time    // nil for the first generation: its creation is not recorded
	Revoked *time.Time    // nil while the key is valid
}

// Service decides which keys are valid. It keeps a snapshot of the access_keys table in memory. The content version is a number that
// every change of visible content or of access_keys raises. Service reads the table again when an edit (a change by a person) has raised
// the version, even if the edit has changed only content.
type Service struct {
	db          *db.DB
	version     *content.Version // reads the content version
	tokens      *identity.Tokens // creates the keys
	now         func() time.Time
	reading     sync.Mutex               // held while the table is read, so that only one request reads it
	snapshot    atomic.Pointer[snapshot] // the newest snapshot; nil before the first read
	confirmedAt atomic.Int64             // when the snapshot was last known to be up to date, in Unix nanoseconds
}

// snapshot is the content of access_keys at one time.
type snapshot struct {
	edited  int64        // version of the last edit before the table was read; the snapshot is up to date until that version rises
	keys    []Generation // the keys of all generations, revoked ones included
	anonKey string       // the newest valid anon key
}

// New returns a service that reads the access_keys table of d. version must be the content version of d; now is the clock.
func New(d *db.DB, version *content.Version, tokens *identity.Tokens, now func() time.Time) *Service {
	return &Service{db: d, version: version, tokens: tokens, now: now}
}

// Valid reports whether a generation of a role's keys exists and is not revoked. It is an identity.GenerationLookup. The result is at
// most one second out of date. While the database does not respond, it can be out of date by up to staleLimit.
func (s *Service) Valid(role identity.Role, number int) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	current, err := s.currentSnapshot(ctx)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(current.keys, func(g Generation) bool { return g.Role == role && g.Number == number && g.Revoked == nil }), nil
}

// AnonKey returns the newest valid anon key, which the site's own pages use.
func (s *Service) AnonKey(ctx context.Context) (string, error) {
	current, err := s.currentSnapshot(ctx)
	if err != nil {
		return "", err
	}
	return current.anonKey, nil
}

// currentSnapshot returns a snapshot that is up to date. If reading fails, it returns the old one, up to staleLimit after that
// was last known to be up to date.
func (s *Service) currentSnapshot(ctx context.Context) (*snapshot, error) {
	current, err := s.refresh(ctx)
	if err == nil {
		s.confirmedAt.Store(time.Now().UnixNano())
		return current, nil
	}
	if old := s.snapshot.Load(); old != nil && time.Since(time.Unix(0, s.confirmedAt.Load())) < staleLimit {
		return old, nil
	}
	return nil, fmt.Errorf("which keys are valid cannot be read: %w", err)
}

// refresh returns the snapshot in memory, or reads the table if there was an edit since that snapshot.
func (s *Service) refresh(ctx context.Context) (*snapshot, error) {
	at, err := s.version.Recent(ctx)
	if err != nil {
		return nil, err
	}
	if known := s.snapshot.Load(); known != nil && known.edited >= at.Edited {
		return known, nil
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	if known := s.snapshot.Load(); known != nil && known.edited >= at.Edited { // another request has read the table
		return known, nil
	}
	limited, cancel := context.WithTimeout(ctx, readTimeout) // the context of AnonKey may have no time limit
	defer cancel()
	keys, err := listGenerations(limited, s.db)
	if err != nil {
		return nil, err
	}
	fresh := &snapshot{edited: at.Edited, keys: keys}
	if fresh.anonKey, err = s.tokens.KeyOf(identity.Anon, newestValid(keys, identity.Anon)); err != nil {
		return nil, err
	}
	s.snapshot.Store(fresh)
	return fresh, nil
}

// newestValid returns the highest valid generation of a role. There always is one, because Revoke replaces the last valid key.
func newestValid(list []Generation, role identity.Role) (number int) {
	for _, g := range list {
		if g.Role == role && g.Revoked == nil {
			number = max(number, g.Number)
		}
	}
	return max(number, firstGeneration)
}

// List returns all generations, revoked ones included, ordered by role and number.
func (s *Service) List(ctx context.Context) ([]Generation, error) {
	return listGenerations(ctx, s.db)
}

// Newest returns the highest valid generation of a role. It is for commands that have no Service.
func Newest(ctx context.Context, d *db.DB, role identity.Role) (int, error) {
	list, err := listGenerations(ctx, d)
	return newestValid(list, role), err
}

// Rotate creates a new key of a role and returns its number. The older keys stay valid unless revokeOlder is set.
func (s *Service) Rotate(ctx context.Context, role identity.Role, revokeOlder bool) (number int, err error) {
	err = s.change(ctx, func(tx *db.Tx, list []Generation) error {
		if number, err = s.add(ctx, tx, list, role); err != nil || !revokeOlder {
			return err
		}
		for _, g := range list {
			if g.Role == role && g.Revoked == nil {
				if err := revokeGeneration(ctx, tx, role, g.Number, s.now()); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return number, err
}

// Revoke makes a key invalid. When it was the last valid key of its role, Revoke creates a new one and returns its number in
// added, because the site's own pages need an anon key; otherwise added is 0. Errors: ErrUnknown, ErrRevoked.
func (s *Service) Revoke(ctx context.Context, role identity.Role, number int) (added int, err error) {
	err = s.change(ctx, func(tx *db.Tx, list []Generation) error {
		i := slices.IndexFunc(list, func(g Generation) bool { return g.Role == role && g.Number == number })
		switch {
		case i < 0:
			return ErrUnknown
		case list[i].Revoked != nil:
			return ErrRevoked
		}
		if err := revokeGeneration(ctx, tx, role, number, s.now()); err != nil {
			return err
		}
		added = 0
		if slices.ContainsFunc(list, func(g Generation) bool { return g.Role == role && g.Number != number && g.Revoked == nil }) {
			return nil
		}
		added, err = s.add(ctx, tx, list, role)
		return err
	})
	return added, err
}

// change calls fn with all generations, in a transaction that locks the table.
func (s *Service) change(ctx context.Context, fn func(tx *db.Tx, list []Generation) error) error {
	defer s.snapshot.Store(nil) // also after an error: the change may have been stored
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := db.LockTable(ctx, tx, "access_keys"); err != nil {
			return err
		}
		list, err := listGenerations(ctx, tx)
		if err != nil {
			return err
		}
		return fn(tx, list)
	})
}
