package auth

import (
	"context"

	"atelie/internal/db"
)

// usersByProvenEmail lists the accounts that have an identity with this address, which its provider has checked.
// Accounts of an organisation's own provider (SSO) do not count.
func usersByProvenEmail(ctx context.Context, q db.Querier, email string) ([]string, error) {
	// The text of true differs: PostgreSQL gives "true" out of JSON, SQLite 1.
	return userIDs(ctx, q, `select distinct u.id from auth_identities i join auth_users u on u.id = i.user_id
		where lower(i.identity_data ->> 'email') = $1 and cast(i.identity_data ->> 'email_verified' as text) in ('true', '1')
			and i.provider <> 'phone' and not u.is_sso_user and u.deleted_at is null order by u.id`, email)
}

// deleteOtherIdentities leaves an account the one identity.
func deleteOtherIdentities(ctx context.Context, q db.Querier, userID, provider, providerID string) error {
	_, err := q.Exec(ctx, "delete from auth_identities where user_id = $1 and not (provider = $2 and provider_id = $3)", userID, provider, providerID)
	return err
}

// deleteProviderIdentities leaves an account its own address and number.
func deleteProviderIdentities(ctx context.Context, q db.Querier, userID string) error {
	_, err := q.Exec(ctx, "delete from auth_identities where user_id = $1 and provider not in ('email', 'phone')", userID)
	return err
}

// deleteIdentity tells whether the account had it.
func deleteIdentity(ctx context.Context, q db.Querier, id, userID string) (bool, error) {
	n, err := q.Exec(ctx, "delete from auth_identities where id = $1 and user_id = $2", id, userID)
	return n == 1, err
}
