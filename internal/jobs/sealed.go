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

// CountSealed returns how many payloads of jobs the key opens (open), and how many it does not (shut). It leaves out jobs that
// have failed.
func CountSealed(ctx context.Context, q db.Querier, sealKey []byte) (open, shut int, err error) {
	open, ids, err := trySealed(ctx, q, sealKey)
	return open, len(ids), err
}

// ForgetSealed deletes the jobs whose payload the key does not open, and returns their number. It is for a site whose secret
// is lost, because those jobs can never run.
func ForgetSealed(ctx context.Context, tx *db.Tx, sealKey []byte) (removed int, err error) {
	_, shut, err := trySealed(ctx, tx, sealKey)
	for _, id := range shut {
		if err := deleteJobWithID(ctx, tx, id); err != nil {
			return 0, err
		}
	}
	return len(shut), err
}

// trySealed tries the key on every job that has not failed. It returns how many payloads the key opens, and the ids of the
// other jobs.
func trySealed(ctx context.Context, q db.Querier, sealKey []byte) (open int, shut []string, err error) {
	all, err := listPayloads(ctx, q)
	s := sealerOf(sealKey)
	for _, j := range all {
		if _, err := s.Open(j.payload, j.id+j.kind); err == nil {
			open++
		} else {
			shut = append(shut, j.id)
		}
	}
	return open, shut, err
}
