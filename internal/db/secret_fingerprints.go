package db

import (
	"context"
	"time"
)

// SecretState says whether a node may use the database with its secret, from which the node derives the keys that encrypt and sign. The
// database stores a fingerprint (a value that is derived from the secret) of each secret that it accepts.
type SecretState int

// The values of SecretState.
const (
	NoSecretYet    SecretState = iota // no secret was accepted yet; the first node sets it
	SecretAccepted                    // the database has the secret's fingerprint
	SecretRefused                     // the database has only fingerprints of other secrets
)

// CheckSecret compares a secret's fingerprint with those that the database accepts.
func CheckSecret(ctx context.Context, q Querier, fingerprint string) (SecretState, error) {
	var total, matching int
	err := q.QueryRow(ctx, "select count(*), count(*) filter (where fingerprint = $1) from secret_fingerprints", fingerprint).Scan(&total, &matching)
	switch {
	case err != nil || total == 0:
		return NoSecretYet, err
	case matching > 0:
		return SecretAccepted, nil
	}
	return SecretRefused, nil
}

// AcceptFirstSecret makes the database accept the secret if it has no fingerprint yet, and returns the resulting state. If
// several nodes with different secrets start at the same time, only one of them gets SecretAccepted.
func (d *DB) AcceptFirstSecret(ctx context.Context, fingerprint string, now time.Time) (state SecretState, err error) {
	err = d.WithTx(ctx, func(tx *Tx) error {
		if err := LockTable(ctx, tx, "secret_fingerprints"); err != nil {
			return err
		}
		if state, err = CheckSecret(ctx, tx, fingerprint); err != nil || state != NoSecretYet {
			return err
		}
		state = SecretAccepted
		return acceptSecret(ctx, tx, fingerprint, now)
	})
	return state, err
}

// AcceptAnotherSecret makes a database that accepts the previous secret accept a new secret too, and returns SecretAccepted. previous and
// fingerprint are the fingerprints of the two secrets. If the database accepts neither of them, AcceptAnotherSecret changes nothing and
// returns the state of previous.
func (d *DB) AcceptAnotherSecret(ctx context.Context, previous, fingerprint string, now time.Time) (state SecretState, err error) {
	err = d.WithTx(ctx, func(tx *Tx) error {
		if err := LockTable(ctx, tx, "secret_fingerprints"); err != nil {
			return err
		}
		if state, err = CheckSecret(ctx, tx, fingerprint); err != nil || state == SecretAccepted {
			return err
		}
		if state, err = CheckSecret(ctx, tx, previous); err != nil || state != SecretAccepted {
			return err
		}
		return acceptSecret(ctx, tx, fingerprint, now)
	})
	return state, err
}

// AcceptOnlySecret makes a secret the only one that the database accepts.
func AcceptOnlySecret(ctx context.Context, tx *Tx, fingerprint string, now time.Time) error {
	if err := LockTable(ctx, tx, "secret_fingerprints"); err != nil {
		return err
	}
	// In this order, because triggers tell from the other rows whether a secret was changed or forgotten (migration 31).
	if err := acceptSecret(ctx, tx, fingerprint, now); err != nil {
		return err
	}
	return Exec(ctx, tx, "delete from secret_fingerprints where fingerprint <> $1", fingerprint)
}

func acceptSecret(ctx context.Context, tx *Tx, fingerprint string, now time.Time) error {
	return Exec(ctx, tx, "insert into secret_fingerprints (fingerprint, created_at) values ($1, $2) on conflict (fingerprint) do nothing", fingerprint, now)
}
