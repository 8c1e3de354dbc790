package auth

import (
	"context"

	"atelie/internal/db"
)

// This file reads and deletes the sealed values of this package. They are encrypted with AES-GCM. The additional data (AAD) binds each
// value to its use and its row; package seal calls it the purpose.

// sealedSecret is a stored secret of one of the kinds below.
type sealedSecret struct {
	kind    string
	id      string // id of the row; "" for the SAML key
	userID  string // the account of a second factor; "" for the other kinds
	account string // e-mail address of a second factor's account, or else its phone number; "" for the other kinds
	sealed  string // the encrypted secret
}

// Kinds of stored secrets.
const (
	sealedFactor     = "factor"
	sealedSigningKey = "signing key"
	sealedSAMLKey    = "saml key"
)

// sealedColumn is a column of the database with sealed values.
type sealedColumn struct {
	table, column string
	// purposes returns the additional data with which the value of a row may have been encrypted. A column has several if it holds values
	// of different uses: provider_secrets holds flow secrets first and provider tokens later.
	purposes func(id string) []string
}

// listSealed returns the stored secrets of the three kinds. It leaves out the sealed values of flows and hash keys: after the site's
// secret is lost, deleteRowsOfLostSecret deletes all of those rows anyway.
func listSealed(ctx context.Context, q db.Querier) (all []sealedSecret, err error) {
	return db.Collect(ctx, q, func(row db.Row) (v sealedSecret, err error) {
		err = row.Scan(&v.kind, &v.id, &v.userID, &v.account, &v.sealed)
		return v, err
	}, `select '`+sealedFactor+`', cast(f.id as text), cast(f.user_id as text), coalesce(u.email, u.phone, ''), f.secret from auth_factors f join auth_users u on u.id = f.user_id where f.secret is not null
		union all select '`+sealedSigningKey+`', cast(id as text), '', '', private_key from auth_signing_keys
		union all select '`+sealedSAMLKey+`', '', '', '', sealed_key from auth_sso_keys`)
}

// deleteSealed deletes the row of a stored secret.
func deleteSealed(ctx context.Context, tx *db.Tx, v sealedSecret) error {
	switch v.kind {
	case sealedFactor:
		_, err := tx.Exec(ctx, "delete from auth_factors where id = $1", v.id)
		return err
	case sealedSigningKey:
		_, err := tx.Exec(ctx, "delete from auth_signing_keys where id = $1", v.id)
		return err
	}
	return deleteSSOKey(ctx, tx)
}

// deleteRowsOfLostSecret deletes the rows that cannot be used without the lost secret. With another secret, no token or code matches their
// keyed hashes, and their sealed values cannot be decrypted.
func deleteRowsOfLostSecret(ctx context.Context, tx *db.Tx) error {
	for _, query := range []string{
		"delete from auth_sessions", "delete from auth_recovery_codes", "delete from auth_hash_keys", "delete from auth_one_time_tokens", "delete from auth_flow_states", "delete from auth_factor_challenges",
	} {
		if _, err := tx.Exec(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

// sealedValue is the value of a sealedColumn in the row with an id.
type sealedValue struct{ id, sealed string }

// sealedValues returns all values of a column, ordered by the ids of their rows.
func sealedValues(ctx context.Context, q db.Querier, c sealedColumn) (list []sealedValue, err error) {
	return db.Collect(ctx, q, func(row db.Row) (v sealedValue, err error) {
		err = row.Scan(&v.id, &v.sealed)
		return v, err
	}, "select cast(id as text), "+c.column+" from "+c.table+" where "+c.column+" is not null order by id")
}

// replaceSealed replaces the sealed value v. It changes nothing when the stored value is no longer v.
func replaceSealed(ctx context.Context, q db.Querier, c sealedColumn, v sealedValue, resealed string) error {
	return db.Exec(ctx, q, "update "+c.table+" set "+c.column+" = $3 where cast(id as text) = $1 and "+c.column+" = $2", v.id, v.sealed, resealed)
}
