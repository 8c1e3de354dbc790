package certificates

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"

	"atelie/internal/db"
	"atelie/internal/seal"
)

// storage is certmagic's idea of files and locks, kept in the database: so all nodes share one account and one
// certificate for each name.
type storage struct {
	db     *db.DB
	sealer seal.Sealer
	// keyID tells values of another key apart; it says nothing about the key.
	keyID string
	log   *slog.Logger
	now   func() time.Time

	mu   sync.Mutex
	held map[string]*heldLock
}

var (
	_ certmagic.Storage   = (*storage)(nil)
	_ certmagic.TryLocker = (*storage)(nil)
)

func newStorage(d *db.DB, key []byte, log *slog.Logger, now func() time.Time) *storage {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("key id"))
	return &storage{db: d, sealer: seal.New(key), keyID: hex.EncodeToString(mac.Sum(nil)[:8]), log: log, now: now, held: map[string]*heldLock{}}
}

// Store is certmagic's.
func (s *storage) Store(ctx context.Context, name string, value []byte) error {
	return saveValue(ctx, s.db, s.keyID, name, s.sealer.Seal(value, name), s.now())
}

// Load is certmagic's: fs.ErrNotExist for what is not there.
func (s *storage) Load(ctx context.Context, name string) ([]byte, error) {
	sealed, _, err := readValue(ctx, s.db, s.keyID, name)
	if err != nil {
		return nil, notExist(name, err)
	}
	value, err := s.sealer.Open(sealed, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return value, nil
}

func notExist(name string, err error) error {
	if errors.Is(err, db.ErrNoRows) {
		return fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return err
}

// Delete is certmagic's: a folder goes with all that is in it, and what is not there is no error.
func (s *storage) Delete(ctx context.Context, name string) error {
	return deleteValues(ctx, s.db, s.keyID, name)
}

// Exists is certmagic's. What cannot be looked up counts as missing; the read that follows says why.
func (s *storage) Exists(ctx context.Context, name string) bool {
	_, err := s.Stat(ctx, name)
	return err == nil
}

// List is certmagic's: the names below a folder; without recursive only those directly in it, folders among them.
func (s *storage) List(ctx context.Context, folder string, recursive bool) ([]string, error) {
	folder = strings.TrimSuffix(folder, "/")
	all, err := listNames(ctx, s.db, s.keyID, folder)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: %w", folder, fs.ErrNotExist)
	}
	if recursive {
		return all, nil
	}
	from, _ := under(folder)
	var direct []string
	for _, name := range all {
		first, _, _ := strings.Cut(name[len(from):], "/")
		if n := len(direct); n == 0 || direct[n-1] != from+first { // sorted, so equal ones are neighbours
			direct = append(direct, from+first)
		}
	}
	return direct, nil
}

// Stat is certmagic's.
func (s *storage) Stat(ctx context.Context, name string) (certmagic.KeyInfo, error) {
	sealed, updated, err := readValue(ctx, s.db, s.keyID, name)
	if err == nil {
		value, err := s.sealer.Open(sealed, name)
		if err != nil {
			return certmagic.KeyInfo{}, fmt.Errorf("%s: %w", name, err)
		}
		return certmagic.KeyInfo{Key: name, Modified: updated, Size: int64(len(value)), IsTerminal: true}, nil
	}
	if !errors.Is(err, db.ErrNoRows) {
		return certmagic.KeyInfo{}, err
	}
	inside, err := listNames(ctx, s.db, s.keyID, name)
	if err != nil {
		return certmagic.KeyInfo{}, err
	}
	if len(inside) == 0 {
		return certmagic.KeyInfo{}, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return certmagic.KeyInfo{Key: name}, nil
}

// String is what logs call it.
func (s *storage) String() string { return "the database" }
