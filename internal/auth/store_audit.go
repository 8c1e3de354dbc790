package auth

import (
	"context"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
)

// This file reads and writes the audit log of accounts (table auth_audit_log).

// auditAction is the name of an event in the audit log. Its constants are in audit.go and signing_keys.go.
type auditAction string

// newAuditID returns the id of an entry. The ids grow with time (UUIDv7), so new entries are all at the end of the index. With random ids,
// each entry would change another page of the index, and each changed page makes the write-ahead log and the backup larger.
func newAuditID() (string, error) {
	id, err := uuid.NewV7()
	return id.String(), err
}

// insertAudit adds an entry. userID is the account that the entry is about, or ""; detail is JSON.
func insertAudit(ctx context.Context, q db.Querier, action auditAction, userID, detail string, c clientInfo, now time.Time) error {
	id, err := newAuditID()
	if err != nil {
		return err
	}
	return db.Queue(ctx, q, "insert into auth_audit_log (id, user_id, action, detail, ip, user_agent, created_at) values ($1, $2, $3, $4, $5, $6, $7)",
		id, orNull(userID), string(action), detail, c.ip, c.userAgent, now)
}

// auditEntry is a row of auth_audit_log.
type auditEntry struct {
	id, action, detail string // detail is JSON
	userID             *string
	ip, userAgent      string
	name               string // the account's current e-mail address, or else its phone number; "" if it has neither or does not exist
	isSSO              *bool  // nil when the account does not exist
	createdAt          time.Time
}

// auditColumns are the columns that scanAudit reads, of auth_audit_log l and the account a.
const auditColumns = `l.id, l.action, l.detail, l.user_id, coalesce(l.ip, ''), coalesce(l.user_agent, ''),
	coalesce(nullif(a.email, ''), a.phone, ''), a.is_sso_user, l.created_at`

func scanAudit(row db.Row) (e auditEntry, err error) {
	err = row.Scan(&e.id, &e.action, &e.detail, &e.userID, &e.ip, &e.userAgent, &e.name, &e.isSSO, &e.createdAt)
	return e, err
}

// auditPage returns a page of the log, newest entries first, and the number of entries on all pages. action and userID select
// entries; "" selects all.
func auditPage(ctx context.Context, q db.Querier, action, userID string, limit, offset int) (list []auditEntry, total int, err error) {
	const fromWhere = " from auth_audit_log l left join auth_users a on a.id = l.user_id where ($1 = '' or l.action = $1) and ($2 = 1 or l.user_id = $3)"
	isAnyUser := sqlBool(userID == "")
	if err := q.QueryRow(ctx, "select count(*)"+fromWhere, action, isAnyUser, orNull(userID)).Scan(&total); err != nil {
		return nil, 0, err
	}
	list, err = db.Collect(ctx, q, scanAudit, "select "+auditColumns+fromWhere+
		" order by l.created_at desc, l.id limit $4 offset $5", action, isAnyUser, orNull(userID), limit, offset)
	return list, total, err
}

// olderAuditEntries returns entries of some actions, newest first, that come after the entry with the time at and the given id in this
// order. It leaves out two kinds of entries: an auditFactorVerified that has added no factor, because it is only a step of a sign-in, and
// an auditUserModified without detail, because a change of the password, address or number has an entry of its own.
func olderAuditEntries(ctx context.Context, q db.Querier, actions []auditAction, at time.Time, id string, limit int) ([]auditEntry, error) {
	list, args := db.AppendList([]any{at, id, limit, string(auditFactorVerified), string(auditUserModified)}, actions)
	return db.Collect(ctx, q, scanAudit, "select "+auditColumns+" from auth_audit_log l left join auth_users a on a.id = l.user_id where l.action in ("+list+`)
		and (l.action <> $4 or cast(l.detail ->> 'first' as text) in ('true', '1')) and (l.action <> $5 or cast(l.detail as text) <> '{}')
		and (l.created_at < $1 or l.created_at = $1 and l.id > $2)
		order by l.created_at desc, l.id limit $3`, args...)
}

// keepNewestAudit deletes the entries of an action except the newest count entries.
func keepNewestAudit(ctx context.Context, q db.Querier, action auditAction, count int) error {
	return db.Exec(ctx, q, `delete from auth_audit_log where action = $1 and created_at <= (
		select created_at from auth_audit_log where action = $1 order by created_at desc limit 1 offset $2)`, string(action), count)
}

// deleteAuditOlderThan deletes the entries of an action that were written at limit or before.
func deleteAuditOlderThan(ctx context.Context, q db.Querier, action auditAction, limit time.Time) error {
	return db.Exec(ctx, q, "delete from auth_audit_log where action = $1 and created_at <= $2", string(action), limit)
}
