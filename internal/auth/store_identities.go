package auth

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
)

// This file reads and writes identities, the ways in which accounts sign in (table auth_identities).

// identityColumns are the columns of auth_identities i that identityRow.scanDest reads. The API has other names for two of them:
// identity_id (Identity.IdentityID) for the column id, and id (Identity.ID) for provider_id, the provider's id for the user.
const identityColumns = "i.id, i.provider_id, i.user_id, i.identity_data, i.provider, i.last_sign_in_at, i.created_at, i.updated_at"

// identityRow receives the values of identityColumns. All fields are pointers, because all columns are null if an outer join has found no
// identity.
type identityRow struct {
	id, providerID, userID, data, provider *string
	lastSignInAt, createdAt, updatedAt     *time.Time
}

// scanDest returns the destinations for Scan, in the order of identityColumns.
func (r *identityRow) scanDest() []any {
	return []any{&r.id, &r.providerID, &r.userID, &r.data, &r.provider, &r.lastSignInAt, &r.createdAt, &r.updatedAt}
}

// toIdentity returns the identity of the row. The row must have an identity (id must not be nil).
func (r *identityRow) toIdentity() (Identity, error) {
	i := Identity{
		IdentityID: *r.id, ID: *r.providerID, UserID: *r.userID, Provider: *r.provider,
		LastSignInAt: r.lastSignInAt, CreatedAt: *r.createdAt, UpdatedAt: *r.updatedAt,
	}
	err := json.Unmarshal([]byte(*r.data), &i.IdentityData)
	i.Email, _ = i.IdentityData["email"].(string)
	return i, err
}

// identitiesOf returns the identities of one or more accounts, oldest first.
func identitiesOf(ctx context.Context, q db.Querier, userIDs ...string) ([]Identity, error) {
	where, args := userIDIn(userIDs)
	return db.Collect(ctx, q, func(row db.Row) (Identity, error) {
		var r identityRow
		if err := row.Scan(r.scanDest()...); err != nil {
			return Identity{}, err
		}
		return r.toIdentity()
	}, "select "+identityColumns+" from auth_identities i where "+where+" order by created_at, id", args...)
}

// saveAddressIdentity adds or updates the account's identity for its e-mail address or its phone number. kind is "email" or "phone"; verified
// reports whether the account's holder has confirmed the address or number.
func saveAddressIdentity(ctx context.Context, q db.Querier, userID, kind, address string, verified bool, now time.Time) error {
	data := map[string]any{"sub": userID, kind: address, "email_verified": kind == "email" && verified, "phone_verified": kind == "phone" && verified}
	// The providers email and phone have no ids of their own, so the account's id takes the place of the provider's id.
	return saveIdentity(ctx, q, userID, kind, userID, data, now)
}

// saveIdentity adds an identity to an account, or updates its data. providerID is the provider's id for the user. If another
// account has the identity, it writes nothing and returns errIdentityExists.
func saveIdentity(ctx context.Context, q db.Querier, userID, provider, providerID string, data map[string]any, now time.Time) error {
	text, err := encodeMetadata(data)
	if err != nil {
		return err
	}
	return changeOr(ctx, q, errIdentityExists, `insert into auth_identities (id, user_id, provider, provider_id, identity_data, created_at, updated_at)
		values ($1, $2, $3, $4, $5, $6, $6)
		on conflict (provider, provider_id) do update set identity_data = excluded.identity_data, updated_at = excluded.updated_at
			where auth_identities.user_id = excluded.user_id`,
		uuid.NewString(), userID, provider, providerID, text, now)
}

// identityOwner returns the account that has an identity, or db.ErrNoRows.
func identityOwner(ctx context.Context, q db.Querier, provider, providerID string) (userID string, err error) {
	return db.One[string](ctx, q, "select user_id from auth_identities where provider = $1 and provider_id = $2", provider, providerID)
}

// setIdentityData replaces the data of an identity.
func setIdentityData(ctx context.Context, tx *db.Tx, identityID string, data map[string]any, now time.Time) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return db.Exec(ctx, tx, "update auth_identities set identity_data = $2, updated_at = $3 where id = $1", identityID, string(text), now)
}

// recordSignIn stores the time of a sign-in in the account, and in the identity of the provider that was used.
func recordSignIn(ctx context.Context, q db.Querier, userID, provider string, now time.Time) error {
	return errors.Join(
		db.Queue(ctx, q, "update auth_users set last_sign_in_at = $2, updated_at = $2 where id = $1", userID, now),
		db.Queue(ctx, q, "update auth_identities set last_sign_in_at = $2, updated_at = $2 where user_id = $1 and provider = $3", userID, now, provider),
	)
}

// usersByVerifiedEmail returns the accounts that have an identity with this e-mail address, verified by its provider. It leaves
// out accounts of SAML single sign-on, and Facebook identities of accounts with a role: Facebook does not say whether it has
// verified an e-mail address.
func usersByVerifiedEmail(ctx context.Context, q db.Querier, email string) ([]string, error) {
	// JSON's true becomes the text "true" in PostgreSQL and 1 in SQLite.
	return db.Collect(ctx, q, db.ScanOne[string], `select distinct u.id from auth_identities i join auth_users u on u.id = i.user_id
		where lower(i.identity_data ->> 'email') = $1 and cast(i.identity_data ->> 'email_verified' as text) in ('true', '1')
			and i.provider <> 'phone' and not u.is_sso_user and u.deleted_at is null
			and (i.provider <> 'facebook' or not exists (select 1 from user_roles r where r.user_id = u.id)) order by u.id`, email)
}

// deleteOtherIdentities deletes all identities of an account except one.
func deleteOtherIdentities(ctx context.Context, q db.Querier, userID, provider, providerID string) error {
	return db.Exec(ctx, q, "delete from auth_identities where user_id = $1 and not (provider = $2 and provider_id = $3)", userID, provider, providerID)
}

// deleteProviderIdentities deletes all identities of an account except email and phone.
func deleteProviderIdentities(ctx context.Context, q db.Querier, userID string) error {
	return db.Exec(ctx, q, "delete from auth_identities where user_id = $1 and provider not in ('email', 'phone')", userID)
}

// deleteUnverifiedIdentities deletes the account's provider identities that have this e-mail address without a verification by
// their provider. It returns whether there were any.
func deleteUnverifiedIdentities(ctx context.Context, q db.Querier, userID, email string) (bool, error) {
	return db.Changed(ctx, q, `delete from auth_identities where user_id = $1 and provider not in ('email', 'phone')
		and lower(identity_data ->> 'email') = $2 and coalesce(cast(identity_data ->> 'email_verified' as text), '') not in ('true', '1')`, userID, email)
}

func deleteIdentity(ctx context.Context, q db.Querier, id, userID string) error {
	return db.Exec(ctx, q, "delete from auth_identities where id = $1 and user_id = $2", id, userID)
}

// anonymizeIdentity deletes the data of an identity and replaces the provider's user id by a hash.
func anonymizeIdentity(ctx context.Context, tx *db.Tx, id string, hash any) error {
	return db.Exec(ctx, tx, "update auth_identities set identity_data = '{}', provider_id = $2 where id = $1", id, hash)
}
