package storage

import (
	"context"
	"time"

	"atelie/internal/db"
)

// This file contains the queries on storage_used_tokens, which lists the tokens of signed upload URLs that were used. Such a URL allows one
// upload without a key.

// recordTokenUse records that the token with an id was used. It returns false if a use is recorded already.
func recordTokenUse(ctx context.Context, tx *db.Tx, id string, expires time.Time) (bool, error) {
	return db.Changed(ctx, tx, "insert into storage_used_tokens (id, expires_at) values ($1, $2) on conflict (id) do nothing", id, expires)
}

// tokenIsUsed reports whether a use of the token is recorded.
func tokenIsUsed(ctx context.Context, q db.Querier, id string) (bool, error) {
	return db.One[bool](ctx, q, "select exists (select 1 from storage_used_tokens where id = $1)", id)
}

// purgeTokens deletes the records of tokens that expired before the given time. Expired tokens are rejected without a record.
func purgeTokens(ctx context.Context, q db.Querier, before time.Time) error {
	return db.Exec(ctx, q, "delete from storage_used_tokens where expires_at < $1", before)
}
