package auth

import (
	"context"
	"time"

	"atelie/internal/db"
)

// This file reads and writes the key pairs that sign access tokens, and the issuers (iss claims) of access tokens.

// signingKey is a row of auth_signing_keys: an identity.SigningKey whose private key is sealed (encrypted).
type signingKey struct {
	id            string
	sealedPrivate string
	signFrom      time.Time  // when the key begins to sign tokens
	verifyUntil   *time.Time // when tokens of the key are no longer accepted; nil: no end is set
}

// listSigningKeys returns all rows, ordered by signFrom.
func listSigningKeys(ctx context.Context, q db.Querier) (list []signingKey, err error) {
	return db.Collect(ctx, q, func(row db.Row) (k signingKey, err error) {
		err = row.Scan(&k.id, &k.sealedPrivate, &k.signFrom, &k.verifyUntil)
		return k, err
	}, "select id, private_key, sign_from, verify_until from auth_signing_keys order by sign_from, id")
}

// lockSigningKeys makes other transactions that change signing keys wait until tx ends.
func lockSigningKeys(ctx context.Context, tx *db.Tx) error {
	return db.LockTable(ctx, tx, "auth_signing_keys")
}

func insertSigningKey(ctx context.Context, tx *db.Tx, k signingKey, now time.Time) error {
	return db.Exec(ctx, tx, "insert into auth_signing_keys (id, private_key, sign_from, created_at) values ($1, $2, $3, $4)", k.id, k.sealedPrivate, k.signFrom, now)
}

// retireSigningKeys sets the time after which tokens of a key are no longer accepted, in all keys that have no such time yet.
func retireSigningKeys(ctx context.Context, tx *db.Tx, until time.Time) error {
	return db.Exec(ctx, tx, "update auth_signing_keys set verify_until = $1 where verify_until is null", until)
}

// saveIssuer records an issuer (the iss claim of access tokens) and the time at which the site uses it.
func saveIssuer(ctx context.Context, q db.Querier, issuer string, now time.Time) error {
	return db.Exec(ctx, q, `insert into auth_issuers (issuer, used_at) values ($1, $2) on conflict (issuer) do update set used_at = excluded.used_at`, issuer, now)
}

// issuersSince returns the issuers that the site has used after the given time.
func issuersSince(ctx context.Context, q db.Querier, since time.Time) (list []string, err error) {
	return db.Collect(ctx, q, db.ScanOne[string], "select issuer from auth_issuers where used_at > $1 order by issuer", since)
}
