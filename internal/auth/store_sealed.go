package auth

import (
	"context"

	"atelie/internal/db"
)

// This file reads, replaces and deletes sealed values: secrets that are stored encrypted. Each value is sealed with a purpose, and can be
// decrypted only with this purpose. If the purpose contains the id of the value's row, the value is useless in another row.

// sealedColumn is a column of the database with sealed values.
type sealedColumn struct {
	table, column string
	// lasting decides which rows DeleteUnreadable deletes after the site's secret is lost. If lasting is true, it deletes the rows whose
	// values cannot be decrypted with the configured secret. If it is false, it deletes all rows of the table (deleteRowsOfLostSecret).
	lasting bool
	// purposes returns the purposes with which the value of a row may have been sealed. A column has several if it holds values of different
	// uses: provider_secrets holds flow secrets first and provider tokens later.
	purposes func(id string) []string
}

// accountOfFactor returns the account of a second factor: its id, and its e-mail address or else its phone number.
func accountOfFactor(ctx context.Context, q db.Querier, id string) (userID, account string, err error) {
	err = q.QueryRow(ctx, `select cast(u.id as text), coalesce(u.email, u.phone, '')
		from auth_factors f join auth_users u on u.id = f.user_id where f.id = $1`, id).Scan(&userID, &account)
	return userID, account, err
}

// deleteSealed deletes the row of a sealed value.
func deleteSealed(ctx context.Context, tx *db.Tx, c sealedColumn, v sealedValue) error {
	return db.Exec(ctx, tx, "delete from "+c.table+" where cast(id as text) = $1", v.id)
}

// deleteRowsOfLostSecret deletes the rows that cannot be used without the lost secret. With another secret, no token or code matches their
// keyed hashes, and their sealed values cannot be decrypted.
func deleteRowsOfLostSecret(ctx context.Context, tx *db.Tx) error {
	for _, query := range []string{
		"delete from auth_sessions", "delete from auth_recovery_codes", "delete from auth_hash_keys",
		"delete from auth_one_time_tokens", "delete from auth_flow_states", "delete from auth_factor_challenges",
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
