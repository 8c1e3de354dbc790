package auth

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"atelie/internal/db"
)

// insertImportedUser inserts the row of an imported account, whose CreatedAt and UpdatedAt must be set. Errors: those of
// addressConflict.
func insertImportedUser(ctx context.Context, tx *db.Tx, a ImportedAccount) error {
	appMetadata, err := encodeMetadata(a.AppMetadata)
	if err != nil {
		return err
	}
	userMetadata, err := encodeMetadata(a.UserMetadata)
	if err != nil {
		return err
	}
	return addressConflict(db.Exec(ctx, tx, `insert into auth_users (id, email, phone, encrypted_password, email_confirmed_at, phone_confirmed_at, invited_at, last_sign_in_at,
			banned_until, app_metadata, user_metadata, created_at, updated_at)
		values ($1, nullif($2, ''), nullif($3, ''), nullif($4, ''), $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		a.ID, a.Email, a.Phone, a.PasswordHash, a.EmailConfirmedAt, a.PhoneConfirmedAt, a.InvitedAt, a.LastSignInAt,
		a.BannedUntil, appMetadata, userMetadata, a.CreatedAt, a.UpdatedAt))
}

// insertImportedIdentity inserts an identity of an imported account. Errors: those of addressConflict.
func insertImportedIdentity(ctx context.Context, tx *db.Tx, a ImportedAccount, i ImportedIdentity) error {
	data, err := encodeMetadata(i.Data)
	if err != nil {
		return err
	}
	id, ok := canonicalUUID(i.ID)
	if !ok || id == a.ID { // older versions of Supabase Auth store the provider's id for the user here
		id = uuid.NewString()
	}
	created := cmp.Or(i.CreatedAt, a.CreatedAt)
	return addressConflict(db.Exec(ctx, tx, `insert into auth_identities (id, user_id, provider, provider_id, identity_data, last_sign_in_at, created_at, updated_at)
		values ($1, $2, $3, $4, $5, $6, $7, $7)`, id, a.ID, i.Provider, i.ProviderID, data, i.LastSignInAt, created))
}
