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
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"

	"atelie/internal/db"
	"atelie/internal/seal"
)

// This file stores the values of the certmagic library in the table certificates. Their names look like file paths.

// storage stores the values and locks of the certmagic library in the database. So all nodes (servers of the site) share one account at the
// certificate authority and one certificate for each domain. The values are encrypted: certificates, their keys, and the account's key.
type storage struct {
	db     *db.DB
	sealer seal.Sealer
	keyID  string // id of the encryption key (keyIDOf); storage reads only values that were encrypted with this key
	log    *slog.Logger
	now    func() time.Time

	mu   sync.Mutex
	held map[string]*heldLock // locks that this node holds, by name; guarded by mu
}

var (
	_ certmagic.Storage   = (*storage)(nil)
	_ certmagic.TryLocker = (*storage)(nil)
)

// keyIDOf returns the id of an encryption key. Each stored value has the id of the key that decrypts it. The key cannot be derived from the
// id.
func keyIDOf(key []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("key id"))
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

func newStorage(d *db.DB, key []byte, log *slog.Logger, now func() time.Time) *storage {
	return &storage{db: d, sealer: seal.New(key), keyID: keyIDOf(key), log: log, now: now, held: map[string]*heldLock{}}
}

// Reseal decrypts each value that was encrypted with the previous key, and encrypts it with key, the current key. It returns the number of
// these values. If write is false, Reseal only counts them. An existing value of the same name for the current key stays unchanged.
// Call Reseal before New, because a Manager reads only values of the current key.
func Reseal(ctx context.Context, d *db.DB, key, previous []byte, write bool) (count int, err error) {
	previousID := keyIDOf(previous)
	names, err := listNames(ctx, d, previousID, "")
	if err != nil || !write {
		return len(names), err
	}
	sealer := seal.New(key).WithPrevious(previous)
	for _, name := range names {
		value, updated, err := readValue(ctx, d, previousID, name)
		if errors.Is(err, db.ErrNoRows) {
			continue // another node has resealed it
		}
		if err != nil {
			return len(names), err
		}
		resealed, ok := sealer.Reseal(value, name)
		err = d.WithTx(ctx, func(tx *db.Tx) error {
			if ok {
				if err := db.Exec(ctx, tx, "insert into certificates (key_id, name, value, updated_at) values ($1, $2, $3, $4) on conflict (key_id, name) do nothing",
					keyIDOf(key), name, resealed, updated); err != nil {
					return err
				}
			}
			return db.Exec(ctx, tx, "delete from certificates where key_id = $1 and name = $2", previousID, name)
		})
		if err != nil {
			return len(names), err
		}
	}
	return len(names), nil
}

// CountSealed returns how many values are encrypted with the key (readable), and how many with other keys (unreadable).
func CountSealed(ctx context.Context, q db.Querier, sealKey []byte) (readable, unreadable int, err error) {
	err = q.QueryRow(ctx, "select count(*) filter (where key_id = $1), count(*) filter (where key_id <> $1) from certificates", keyIDOf(sealKey)).Scan(&readable, &unreadable)
	return readable, unreadable, err
}

// Store implements certmagic.Storage.
func (s *storage) Store(ctx context.Context, name string, value []byte) error {
	return saveValue(ctx, s.db, s.keyID, name, s.sealer.Seal(value, name), s.now())
}

// Load implements certmagic.Storage. The error is fs.ErrNotExist if there is no such value.
func (s *storage) Load(ctx context.Context, name string) ([]byte, error) {
	value, _, err := s.read(ctx, name)
	return value, err
}

func (s *storage) read(ctx context.Context, name string) (value []byte, updated time.Time, err error) {
	sealed, updated, err := readValue(ctx, s.db, s.keyID, name)
	if errors.Is(err, db.ErrNoRows) {
		err = fs.ErrNotExist
	}
	if err == nil {
		value, err = s.sealer.Open(sealed, name)
	}
	if err != nil {
		return nil, updated, fmt.Errorf("%s: %w", name, err)
	}
	return value, updated, nil
}

// Delete implements certmagic.Storage. It deletes a folder with everything in it; a missing name is no error.
func (s *storage) Delete(ctx context.Context, name string) error {
	from, to := nameRange(name)
	return db.Exec(ctx, s.db, "delete from certificates where key_id = $1 and (name = $2 or (name >= $3 and name < $4))", s.keyID, name, from, to)
}

// Exists implements certmagic.Storage. After an error it returns false; the read that follows returns the error.
func (s *storage) Exists(ctx context.Context, name string) bool {
	_, err := s.Stat(ctx, name)
	return err == nil
}

// List implements certmagic.Storage. It returns the names of all values below a folder or, if recursive is false, the direct
// entries of the folder, including folders. The error is fs.ErrNotExist if there are none.
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
	from, _ := nameRange(folder)
	var direct []string
	for _, name := range all {
		first, _, _ := strings.Cut(name[len(from):], "/")
		direct = append(direct, from+first)
	}
	return slices.Compact(direct), nil // sorted, so equal ones are neighbours
}

// Stat implements certmagic.Storage.
func (s *storage) Stat(ctx context.Context, name string) (certmagic.KeyInfo, error) {
	value, updated, err := s.read(ctx, name)
	if err == nil {
		return certmagic.KeyInfo{Key: name, Modified: updated, Size: int64(len(value)), IsTerminal: true}, nil
	}
	if errors.Is(err, fs.ErrNotExist) { // unless it is a folder
		if _, err = s.List(ctx, name, true); err == nil {
			return certmagic.KeyInfo{Key: name}, nil
		}
	}
	return certmagic.KeyInfo{}, err
}

// String names the storage in certmagic's log lines.
func (s *storage) String() string { return "the database" }

// nameRange returns the range of the names in a folder: all names n with from <= n < to. For "a" the range is "a/" to "a0", because 0
// follows / in byte order. The folder "" contains all names.
func nameRange(folder string) (from, to string) {
	if folder == "" {
		return "", "\U0010FFFF" // the largest code point, with which no name begins
	}
	return folder + "/", folder + "0"
}

// saveValue stores an encrypted value under a name and the id of its encryption key. It overwrites an existing value.
func saveValue(ctx context.Context, q db.Querier, keyID, name string, value []byte, now time.Time) error {
	return db.Exec(ctx, q, `insert into certificates (key_id, name, value, updated_at) values ($1, $2, $3, $4)
		on conflict (key_id, name) do update set value = excluded.value, updated_at = excluded.updated_at`, keyID, name, value, now)
}

func readValue(ctx context.Context, q db.Querier, keyID, name string) (value []byte, updated time.Time, err error) {
	err = q.QueryRow(ctx, "select value, updated_at from certificates where key_id = $1 and name = $2", keyID, name).Scan(&value, &updated)
	return value, updated, err
}

// listNames returns the names of all values in a folder, sorted.
func listNames(ctx context.Context, q db.Querier, keyID, folder string) ([]string, error) {
	from, to := nameRange(folder)
	return db.Collect(ctx, q, db.ScanOne[string], "select name from certificates where key_id = $1 and name >= $2 and name < $3 order by name", keyID, from, to)
}

// deleteValuesOfOtherKeys deletes the values that were encrypted with another key than keyID's and were last written before the given time.
func deleteValuesOfOtherKeys(ctx context.Context, q db.Querier, keyID string, before time.Time) error {
	return db.Exec(ctx, q, "delete from certificates where key_id <> $1 and updated_at < $2", keyID, before)
}
