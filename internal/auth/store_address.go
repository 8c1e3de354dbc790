package auth

import (
	"context"
	"encoding/json"
	"strings"

	"atelie/internal/db"
)

// This file finds and deletes what the database stores about an e-mail address. The address must be in lower case.

// ownsAddress is an SQL condition on auth_users u: the account has the address $1 as its own, or in an identity.
const ownsAddress = `(lower(u.email) = $1 or exists (select 1 from auth_identities i where i.user_id = u.id and lower(i.identity_data ->> 'email') = $1))`

// addressOwner is an account that has an address, or a pending change to the address.
type addressOwner struct {
	id      string
	pending bool // the account has only a pending change to the address
}

// accountsWithAddress returns the accounts that have an address or a pending change to it, oldest first.
func accountsWithAddress(ctx context.Context, q db.Querier, address string) ([]addressOwner, error) {
	return db.Collect(ctx, q, func(row db.Row) (o addressOwner, err error) {
		err = row.Scan(&o.id, &o.pending)
		return o, err
	}, "select u.id, not "+ownsAddress+" from auth_users u where "+ownsAddress+" or lower(u.email_change) = $1 order by u.created_at, u.id", address)
}

// addressHasRole reports whether an account that has the address, or a pending change to it, has a role.
func addressHasRole(ctx context.Context, q db.Querier, address string) (found bool, err error) {
	return db.One[bool](ctx, q, "select exists (select 1 from user_roles r join auth_users u on u.id = r.user_id where "+ownsAddress+" or lower(u.email_change) = $1)", address)
}

// deleteLastSent deletes the stored times of the last messages to a subject. The subject is the hash of an address or of an account's id.
func deleteLastSent(ctx context.Context, q db.Querier, subject string) error {
	return db.Exec(ctx, q, "delete from auth_last_sent where subject = $1", subject)
}

// aboutAddress is an SQL condition on auth_audit_log l: the entry belongs to an account that has the address $1, or its detail
// (JSON) contains the address as a string. $2 is the result of addressPattern.
const aboutAddress = `(exists (select 1 from auth_users u where u.id = l.user_id and ` + ownsAddress + `) or lower(cast(l.detail as text)) like $2 escape '\')`

// addressPattern returns a LIKE pattern that finds the address as a string in JSON in lower case.
func addressPattern(address string) string {
	text, _ := json.Marshal(address) // cannot fail for a string
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(string(text)) + "%"
}

// auditEntriesAbout returns the audit entries that match aboutAddress, oldest first.
func auditEntriesAbout(ctx context.Context, q db.Querier, address string) ([]auditEntry, error) {
	return db.Collect(ctx, q, scanAudit, "select "+auditColumns+" from auth_audit_log l left join auth_users a on a.id = l.user_id where "+aboutAddress+
		" order by l.created_at, l.id", address, addressPattern(address))
}

// deleteAuditEntriesAbout deletes the audit entries that match aboutAddress.
func deleteAuditEntriesAbout(ctx context.Context, tx *db.Tx, address string) error {
	return db.Exec(ctx, tx, "delete from auth_audit_log as l where "+aboutAddress, address, addressPattern(address))
}
