package jobs

import (
	"context"
	"crypto/sha256"

	"atelie/internal/db"
	"atelie/internal/seal"
)

// sealerOf returns a sealer for a sealKey of any length.
func sealerOf(sealKey []byte) seal.Sealer { return seal.New(keyOf(sealKey)) }

// keyOf returns a key of seal.KeySize bytes for a sealKey of any length.
func keyOf(sealKey []byte) []byte {
	key := sha256.Sum256(sealKey)
	return key[:]
}

// CountSealed returns how many sealed (encrypted) payloads of jobs the key can open (readable) and how many it cannot
// (unreadable). It leaves out jobs that have failed.
func CountSealed(ctx context.Context, q db.Querier, sealKey []byte) (readable, unreadable int, err error) {
	readable, ids, err := trySealed(ctx, q, sealKey)
	return readable, len(ids), err
}

// DeleteUnreadable deletes the jobs whose payload the key cannot open, and returns their number. It is for a site whose secret is
// lost: those jobs can never run.
func DeleteUnreadable(ctx context.Context, tx *db.Tx, sealKey []byte) (removed int, err error) {
	_, unreadable, err := trySealed(ctx, tx, sealKey)
	for _, id := range unreadable {
		if err := deleteJobWithID(ctx, tx, id); err != nil {
			return 0, err
		}
	}
	return len(unreadable), err
}

// trySealed tries to open the payload of every job that has not failed. It returns how many the key can open (readable), and
// the ids of the other jobs (unreadable).
func trySealed(ctx context.Context, q db.Querier, sealKey []byte) (readable int, unreadable []string, err error) {
	all, err := listPayloads(ctx, q)
	s := sealerOf(sealKey)
	for _, j := range all {
		if _, err := s.Open(j.payload, j.id+j.kind); err == nil {
			readable++
		} else {
			unreadable = append(unreadable, j.id)
		}
	}
	return readable, unreadable, err
}
