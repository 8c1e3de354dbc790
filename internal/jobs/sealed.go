package jobs

import (
	"context"
	"crypto/sha256"

	"atelie/internal/db"
	"atelie/internal/seal"
)

// This file seals (encrypts) the payloads of jobs. It also finds the payloads that a key cannot open (decrypt). Package app uses this to
// check whether the configured secret belongs to the database, and to delete these jobs after the secret was lost.

// newSealer returns a sealer for a sealKey of any length.
func newSealer(sealKey []byte) seal.Sealer { return seal.New(deriveKey(sealKey)) }

// additionalData returns the additional authenticated data (AAD) for the encryption of a job's payload. It ties the payload to its job: the
// payload cannot be decrypted as the payload of another job.
func additionalData(id, kind string) string { return id + kind }

// deriveKey returns a key of seal.KeySize bytes, derived from a sealKey of any length.
func deriveKey(sealKey []byte) []byte {
	key := sha256.Sum256(sealKey)
	return key[:]
}

// CountSealed returns how many payloads of jobs the key can open (readable) and how many it cannot open (unreadable). It leaves out jobs
// that have failed.
func CountSealed(ctx context.Context, q db.Querier, sealKey []byte) (readable, unreadable int, err error) {
	readable, ids, err := openAll(ctx, q, sealKey)
	return readable, len(ids), err
}

// DeleteUnreadable deletes the jobs whose payload the key cannot open, and returns their number. These jobs can never run, because the
// secret from which their key was derived is lost.
func DeleteUnreadable(ctx context.Context, tx *db.Tx, sealKey []byte) (removed int, err error) {
	_, unreadable, err := openAll(ctx, tx, sealKey)
	for _, id := range unreadable {
		if err := Remove(ctx, tx, id); err != nil {
			return 0, err
		}
	}
	return len(unreadable), err
}
