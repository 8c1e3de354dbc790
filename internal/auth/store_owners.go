package auth

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"atelie/internal/db"
)

// This file reads and writes the roles of accounts (table user_roles), and the set-up links (URLs with which a user becomes the first
// owner).

// Owner is an account with the role admin. Notices are sent to owners by e-mail.
type Owner struct {
	ID           string
	Email        string // "" when the account has none
	Language     string // en or pt, from the account's metadata
	CreatedAt    time.Time
	LastSignInAt *time.Time // nil: never

	metadata map[string]any // the account's user metadata; Language is read from it
}

// lockOwners makes other transactions that change owners wait until tx ends.
func lockOwners(ctx context.Context, tx *db.Tx) error {
	return db.LockTable(ctx, tx, "user_roles")
}

// listOwners returns the owners, ordered by e-mail address. It leaves Language empty; the caller sets it from metadata.
func listOwners(ctx context.Context, q db.Querier) ([]Owner, error) {
	return db.Collect(ctx, q, func(row db.Row) (o Owner, err error) {
		var metadata string
		if err := row.Scan(&o.ID, &o.Email, &metadata, &o.CreatedAt, &o.LastSignInAt); err != nil {
			return Owner{}, err
		}
		if err := json.Unmarshal([]byte(metadata), &o.metadata); err != nil {
			return Owner{}, fmt.Errorf("user metadata of %s: %w", o.ID, err)
		}
		return o, nil
	}, `select u.id, coalesce(u.email, ''), u.user_metadata, u.created_at, u.last_sign_in_at from user_roles r
		join auth_users u on u.id = r.user_id where r.role = 'admin' order by u.email, u.id`)
}

func countOwners(ctx context.Context, q db.Querier) (n int, err error) {
	return db.One[int](ctx, q, "select count(*) from user_roles where role = 'admin'")
}

func hasOwnerRole(ctx context.Context, q db.Querier, userID string) (found bool, err error) {
	return db.One[bool](ctx, q, "select exists (select 1 from user_roles where user_id = $1 and role = 'admin')", userID)
}

// saveOwnerRole gives an account the role admin, in place of any other role.
func saveOwnerRole(ctx context.Context, q db.Querier, userID string) error {
	return db.Exec(ctx, q, "insert into user_roles (user_id, role) values ($1, 'admin') on conflict (user_id) do update set role = excluded.role", userID)
}

// deleteOwnerRole removes the role of the owner with an e-mail address. It returns errNotOwner if no owner has the address.
func deleteOwnerRole(ctx context.Context, q db.Querier, email string) error {
	return changeOr(ctx, q, errNotOwner, "delete from user_roles where role = 'admin' and user_id in (select id from auth_users where email = $1)", email)
}

// isSetupLinkUsable reports whether a set-up link exists and has not expired, and there is no owner yet.
func isSetupLinkUsable(ctx context.Context, q db.Querier, linkHash string, now time.Time) (isUsable bool, err error) {
	return db.One[bool](ctx, q, `select exists (select 1 from auth_setup_links where token_hash = $1 and expires_at > $2)
		and not exists (select 1 from user_roles where role = 'admin')`, linkHash, now)
}

func insertSetupLink(ctx context.Context, q db.Querier, linkHash string, expires, now time.Time) error {
	return db.Exec(ctx, q, "insert into auth_setup_links (token_hash, expires_at, created_at) values ($1, $2, $3)", linkHash, expires, now)
}

func deleteAllSetupLinks(ctx context.Context, q db.Querier) error {
	return db.Exec(ctx, q, "delete from auth_setup_links")
}
