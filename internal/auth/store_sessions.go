package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"atelie/internal/db"
	"atelie/internal/device"
	"atelie/internal/identity"
)

// This file reads and writes sessions, their refresh tokens, and the devices from which accounts have signed in.

// Authenticator assurance levels of a session.
const (
	aal1 = "aal1" // no second factor was used yet
	aal2 = "aal2" // a second factor was used
)

// session is a session as the handlers use it: a row of auth_sessions without IP address, User-Agent and the times of its use.
type session struct {
	id       string
	userID   string
	aal      string         // aal1 or aal2
	amr      []identity.AMR // methods by which the session was authenticated (amr claim), newest first
	notAfter *time.Time     // when the identity provider ends the session; nil: it sets no end
}

// SessionInfo is one session in the list that Sessions returns, with its times and the client that used it last.
type SessionInfo struct {
	ID          string        `json:"id"`
	CreatedAt   time.Time     `json:"created_at"`
	RefreshedAt time.Time     `json:"refreshed_at"`
	UserAgent   string        `json:"user_agent"`
	Device      device.Device `json:"device"` // the browser and system that UserAgent names
	IP          string        `json:"ip"`
	AAL         string        `json:"aal"`
	Current     bool          `json:"current"` // the session of the request itself
}

// sessionColumns are the columns of auth_sessions that sessionRow.scanDest reads.
const sessionColumns = "id, user_id, aal, amr, not_after"

// sessionRow receives the values of sessionColumns. toSession then parses amr.
type sessionRow struct {
	session session // amr is not set
	amr     string  // JSON
}

// scanDest returns the destinations for Scan, in the order of sessionColumns.
func (r *sessionRow) scanDest() []any {
	s := &r.session
	return []any{&s.id, &s.userID, &s.aal, &r.amr, &s.notAfter}
}

// toSession returns the session with its amr.
func (r *sessionRow) toSession() (session, error) {
	s := r.session
	err := json.Unmarshal([]byte(r.amr), &s.amr)
	return s, err
}

func scanSession(row db.Row) (session, error) {
	var r sessionRow
	if err := row.Scan(r.scanDest()...); err != nil {
		return session{}, err
	}
	return r.toSession()
}

func insertSession(ctx context.Context, q db.Querier, s session, c clientInfo, now time.Time) error {
	amr, _ := json.Marshal(s.amr) // cannot fail: it has only texts and numbers
	return db.Queue(ctx, q, `insert into auth_sessions (id, user_id, aal, amr, user_agent, ip, not_after, created_at, refreshed_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $8)`, s.id, s.userID, s.aal, string(amr), c.userAgent, c.ip, s.notAfter, now)
}

// touchSession records a use of the session, locks its row and returns it, or db.ErrNoRows if there is no such session.
func touchSession(ctx context.Context, tx *db.Tx, id string, c clientInfo, now time.Time) (session, error) {
	return scanSession(tx.QueryRow(ctx, "update auth_sessions set refreshed_at = $2, user_agent = $3, ip = $4 where id = $1 returning "+sessionColumns,
		id, now, c.userAgent, c.ip))
}

// recordSessionUse is touchSession for a session that was read and locked before.
func recordSessionUse(ctx context.Context, tx *db.Tx, id string, c clientInfo, now time.Time) error {
	return db.Queue(ctx, tx, "update auth_sessions set refreshed_at = $2, user_agent = $3, ip = $4 where id = $1", id, now, c.userAgent, c.ip)
}

// sessionByID returns the account's session with this id if the session is alive, otherwise db.ErrNoRows.
func sessionByID(ctx context.Context, q db.Querier, id, userID string, sessionAliveArgs []any) (session, error) {
	return scanSession(q.QueryRow(ctx, "select "+sessionColumns+" from auth_sessions s where id = $1 and user_id = $2 and "+sessionAlive(3), append([]any{id, userID}, sessionAliveArgs...)...))
}

// sessionsOf returns the account's sessions that are alive; the one that was used last comes first.
func sessionsOf(ctx context.Context, q db.Querier, userID string, sessionAliveArgs []any) (list []SessionInfo, err error) {
	return db.Collect(ctx, q, func(row db.Row) (i SessionInfo, err error) {
		err = row.Scan(&i.ID, &i.CreatedAt, &i.RefreshedAt, &i.UserAgent, &i.IP, &i.AAL)
		i.Device = device.Parse(i.UserAgent)
		return i, err
	}, `select id, created_at, refreshed_at, coalesce(user_agent, ''), coalesce(ip, ''), aal from auth_sessions s
		where user_id = $1 and `+sessionAlive(2)+` order by refreshed_at desc, id`, append([]any{userID}, sessionAliveArgs...)...)
}

// setAMR stores the authentication methods (amr) of the session. The caller must have locked the account before it read the session.
func setAMR(ctx context.Context, tx *db.Tx, s session) error {
	amr, _ := json.Marshal(s.amr) // cannot fail: it has only texts and numbers
	return db.Exec(ctx, tx, "update auth_sessions set amr = $2 where id = $1", s.id, string(amr))
}

// steppedUpSessions returns the account's sessions that the factor has raised to aal2, or with all every session at aal2.
func steppedUpSessions(ctx context.Context, tx *db.Tx, userID, factorID string, all bool) ([]session, error) {
	return db.Collect(ctx, tx, scanSession, "select "+sessionColumns+" from auth_sessions where user_id = $1 and aal = 'aal2' and (factor_id = $2 or $3 = 1) order by id",
		userID, factorID, sqlBool(all))
}

// setAssurance stores the level and the methods of the session, and the factor that has raised it ("" for none).
func setAssurance(ctx context.Context, tx *db.Tx, s session, factorID string) error {
	amr, _ := json.Marshal(s.amr) // cannot fail: it has only texts and numbers
	return db.Exec(ctx, tx, "update auth_sessions set aal = $2, amr = $3, factor_id = $4 where id = $1", s.id, s.aal, string(amr), orNull(factorID))
}

// deleteSession ends a session. The database deletes its refresh tokens with it.
func deleteSession(ctx context.Context, q db.Querier, id string) error {
	return db.Queue(ctx, q, "delete from auth_sessions where id = $1", id)
}

func deleteSessions(ctx context.Context, q db.Querier, userID string) error {
	return db.Exec(ctx, q, "delete from auth_sessions where user_id = $1", userID)
}

// deleteOtherSessions ends the account's sessions except keep, or all when keep is "".
func deleteOtherSessions(ctx context.Context, q db.Querier, userID, keep string) error {
	return db.Exec(ctx, q, "delete from auth_sessions where user_id = $1 and id is distinct from $2", userID, orNull(keep))
}

// deleteOwnSession ends a session of the account. It returns errNoSuchSession if there is none.
func deleteOwnSession(ctx context.Context, q db.Querier, userID, id string) error {
	return changeOr(ctx, q, errNoSuchSession, "delete from auth_sessions where id = $1 and user_id = $2", id, userID)
}

// deleteSessionsBelow ends the account's sessions at aal1, except keep.
func deleteSessionsBelow(ctx context.Context, tx *db.Tx, userID, keep string) error {
	return db.Exec(ctx, tx, "delete from auth_sessions where user_id = $1 and aal <> 'aal2' and id <> $2", userID, keep)
}

// deleteSSOSessions ends the sessions of an identity provider's users.
func deleteSSOSessions(ctx context.Context, tx *db.Tx, provider string) error {
	return db.Exec(ctx, tx, "delete from auth_sessions where user_id in (select user_id from auth_identities where provider = $1)", provider)
}

// sessionAlive returns the SQL condition that a row s of auth_sessions is alive. Its five arguments (sessionAliveArgs) have the
// placeholders from $first on. Every query for a session uses it, so that an ended session is unknown everywhere immediately.
func sessionAlive(first int) string {
	return fmt.Sprintf(`(s.not_after is null or s.not_after > $%[1]d) and case
		when exists (select 1 from user_roles owner where owner.user_id = s.user_id) then s.created_at > $%[2]d and s.refreshed_at > $%[3]d
		else s.created_at > $%[4]d and s.refreshed_at > $%[5]d end`, first, first+1, first+2, first+3, first+4)
}

// factorNotRequired returns the SQL condition that the account of a row r of user_roles needs no second factor. required is
// Config.RequireSecondFactor.
func factorNotRequired(required bool) string {
	if required {
		return "1 = 0"
	}
	return "not exists (select 1 from auth_factors f where f.user_id = r.user_id and f.status = 'verified')"
}

// activeAdmin begins a query for the administrator's role of account $1, unless the account is banned at the time $2. A
// further condition must follow.
const activeAdmin = `select 1 from user_roles r join auth_users u on u.id = r.user_id and (u.banned_until is null or u.banned_until <= $2)
	where r.user_id = $1 and r.role = 'admin' and `

// hasAdminRole reports whether a token without a session has an administrator's rights. It never has them if the account needs a
// second factor.
func hasAdminRole(ctx context.Context, q db.Querier, userID string, factorRequired bool, now time.Time) (found bool, err error) {
	return db.One[bool](ctx, q, "select exists ("+activeAdmin+factorNotRequired(factorRequired)+")", userID, now)
}

// hasAdminRoleInSession reports whether a token with a session has an administrator's rights. tokenAAL is the token's aal. If the
// account needs a second factor, the session's row must have aal2 too, because the session may have returned to aal1 since the
// token was issued.
func hasAdminRoleInSession(ctx context.Context, q db.Querier, userID, sessionID, tokenAAL string, factorRequired bool, now time.Time, sessionAliveArgs []any) (found bool, err error) {
	return db.One[bool](ctx, q, "select exists ("+activeAdmin+`exists (select 1 from auth_sessions s
		where s.user_id = r.user_id and s.id = $3 and (s.aal = 'aal2' and $4 = 'aal2' or `+factorNotRequired(factorRequired)+") and "+sessionAlive(5)+"))",
		append([]any{userID, now, sessionID, tokenAAL}, sessionAliveArgs...)...)
}

// statusQuery asks for one identity.SessionStatus. It is sent to the database as JSON. Ids have the form of canonicalUUID.
type statusQuery struct {
	Index   int     `json:"i"` // index in the list of results
	User    string  `json:"u"`
	Session *string `json:"s"` // nil for a token without a session
	AAL     string  `json:"l"`
}

// sessionStatuses reads the results of all queries with one SQL statement, and stores each in list at the query's Index. Its
// rules are those of hasAdminRoleInSession.
func sessionStatuses(ctx context.Context, d *db.DB, queries []statusQuery, factorRequired bool, sessionAliveArgs []any, list []identity.SessionStatus) (err error) {
	text, _ := json.Marshal(queries) // cannot fail: it has only texts and numbers
	from := "(select value ->> 'i' as i, value ->> 'u' as u, value ->> 's' as s, value ->> 'l' as l from json_each($1)) g"
	if d.Dialect == db.Postgres {
		from = "jsonb_to_recordset($1::text::jsonb) as g(i int, u uuid, s uuid, l text)"
	}
	const banned = "exists (select 1 from auth_users u where u.id = g.u and u.banned_until > $2)"
	type status struct {
		i            int
		alive, admin bool
	}
	found, err := db.Collect(ctx, d, func(row db.Row) (s status, err error) {
		err = row.Scan(&s.i, &s.alive, &s.admin)
		return s, err
	}, `select g.i, not `+banned+` and (g.s is null or exists (select 1 from auth_sessions s
			where s.id = g.s and s.user_id = g.u and `+sessionAlive(2)+`)) as alive,
		exists (select 1 from user_roles r where r.user_id = g.u and r.role = 'admin' and (`+factorNotRequired(factorRequired)+` or g.l = 'aal2'
			and exists (select 1 from auth_sessions s where s.id = g.s and s.aal = 'aal2'))) as admin
		from `+from, append([]any{string(text)}, sessionAliveArgs...)...)
	for _, s := range found {
		list[s.i] = identity.SessionStatus{Alive: s.alive, Admin: s.alive && s.admin}
	}
	return err
}

func deleteEndedSessions(ctx context.Context, q db.Querier, sessionAliveArgs []any) error {
	return db.Exec(ctx, q, "delete from auth_sessions as s where not ("+sessionAlive(1)+")", sessionAliveArgs...)
}

// storedRefreshToken is a row of auth_refresh_tokens with its session and account. Each refresh replaces the session's current token by
// one of the next generation.
type storedRefreshToken struct {
	generation        int
	usedAt            *time.Time // nil: this is the current token
	currentGeneration int        // generation of the current token of the same session
	session           session
	isSessionAlive    bool
	user              User
}

func insertRefreshToken(ctx context.Context, q db.Querier, sessionID, hash string, generation int, now time.Time) error {
	return db.Queue(ctx, q, "insert into auth_refresh_tokens (token_hash, session_id, generation, created_at) values ($1, $2, $3, $4)",
		hash, sessionID, generation, now)
}

// replaceRefreshToken marks a session's current token as used and inserts its successor as the current one.
func replaceRefreshToken(ctx context.Context, tx *db.Tx, sessionID, hash, successorHash string, generation int, now time.Time) error {
	return errors.Join(
		db.Queue(ctx, tx, "update auth_refresh_tokens set used_at = $2 where token_hash = $1", hash, now),
		insertRefreshToken(ctx, tx, sessionID, successorHash, generation, now),
	)
}

// lockRefreshToken returns the refresh token with a hash, with all that decides about its use, or db.ErrNoRows. It locks the session, so
// that concurrent refreshes wait for each other: only then it reads which token is current.
func lockRefreshToken(ctx context.Context, tx *db.Tx, hash string, sessionAliveArgs []any) (t storedRefreshToken, err error) {
	if tx.Dialect == db.Postgres {
		if err := db.Queue(ctx, tx, "select 1 from auth_sessions where id = (select session_id from auth_refresh_tokens where token_hash = $1) for update", hash); err != nil {
			return t, err
		}
	}
	var s sessionRow
	t.user, err = readAccount(ctx, tx, append(s.scanDest(), &t.generation, &t.usedAt, &t.currentGeneration, &t.isSessionAlive), "select "+accountColumns+`,
			s.id, s.user_id, s.aal, s.amr, s.not_after, t.generation, t.used_at, c.generation, `+sessionAlive(2)+`
		from auth_refresh_tokens t
		join auth_refresh_tokens c on c.session_id = t.session_id and c.used_at is null
			and c.generation = (select max(generation) from auth_refresh_tokens where session_id = t.session_id)
		join auth_sessions s on s.id = t.session_id
		join auth_users u on u.id = s.user_id`+accountRelations+"where t.token_hash = $1 and u.deleted_at is null"+accountOrder, append([]any{hash}, sessionAliveArgs...)...)
	if err == nil {
		t.session, err = s.toSession()
	}
	return t, err
}

// rotateAtOnce does in one statement, and so in one round trip to PostgreSQL, what a refresh usually does: it replaces the session's
// current token, which has the given hash, records the use of the session and adds the audit entry. It returns the session and its
// account. If the token is not the current one of a session that is alive and whose account is not banned, it replaces nothing and
// returns db.ErrNoRows.
//
// Of two concurrent refreshes the second one waits for the row of the session, and then finds that the token has been used.
func rotateAtOnce(ctx context.Context, tx *db.Tx, hash, successorHash string, c clientInfo, now time.Time, sessionAliveArgs []any) (result func() (session, User, error), err error) {
	auditID, err := newAuditID()
	if err != nil {
		return nil, err
	}
	var s sessionRow
	r := accountReader{extraDest: s.scanDest()}
	err = tx.QueueRows(ctx, r.scan, `with s as (
			update auth_sessions s set refreshed_at = $3, user_agent = $4, ip = $5 from auth_refresh_tokens t, auth_users u
			where t.token_hash = $1 and t.used_at is null and s.id = t.session_id and u.id = s.user_id and u.deleted_at is null
				and (u.banned_until is null or u.banned_until <= $3) and `+sessionAlive(8)+`
			returning s.id, s.user_id, s.aal, s.amr, s.not_after, t.generation),
		used as (update auth_refresh_tokens t set used_at = $3 from s where t.token_hash = $1 and t.used_at is null returning t.session_id),
		rotated as (select s.* from s join used on used.session_id = s.id),
		inserted as (insert into auth_refresh_tokens (token_hash, session_id, generation, created_at) select $2, id, generation + 1, $3 from rotated),
		logged as (insert into auth_audit_log (id, user_id, action, detail, ip, user_agent, created_at)
			select $6, user_id, $7, jsonb_build_object('session_id', id), $5, $4, $3 from rotated)
		select `+accountColumns+`, s.id, s.user_id, s.aal, s.amr, s.not_after
		from rotated s join auth_users u on u.id = s.user_id`+accountRelations+accountOrder,
		append([]any{hash, successorHash, now, c.userAgent, c.ip, auditID, string(auditTokenRefreshed)}, sessionAliveArgs...)...)
	return func() (session, User, error) {
		user, err := r.account()
		if err != nil {
			return session{}, User{}, err
		}
		current, err := s.toSession()
		return current, user, err
	}, err
}

// restartRefreshTokens replaces all refresh tokens of the session by one. The caller must have locked the session's row.
func restartRefreshTokens(ctx context.Context, tx *db.Tx, sessionID, hash string, now time.Time) error {
	generation, err := db.One[int](ctx, tx, "select coalesce(max(generation), 0) from auth_refresh_tokens where session_id = $1", sessionID)
	return errors.Join(
		err,
		db.Exec(ctx, tx, "delete from auth_refresh_tokens where session_id = $1", sessionID),
		insertRefreshToken(ctx, tx, sessionID, hash, generation+1, now),
	)
}

// refreshHashesAfter returns the hashes of a session's tokens of later generations than the given one, in their order.
func refreshHashesAfter(ctx context.Context, q db.Querier, sessionID string, generation int) (list []string, err error) {
	return db.Collect(ctx, q, db.ScanOne[string], "select token_hash from auth_refresh_tokens where session_id = $1 and generation > $2 order by generation", sessionID, generation)
}

// deleteReplacedRefreshTokens deletes tokens that were used at limit or earlier and are at least two generations older than the
// current token. A later use of a deleted token gets the response for an unknown token.
func deleteReplacedRefreshTokens(ctx context.Context, q db.Querier, limit time.Time) error {
	return db.Exec(ctx, q, `delete from auth_refresh_tokens where used_at <= $1 and exists (select 1 from auth_refresh_tokens n
		where n.session_id = auth_refresh_tokens.session_id and n.generation = auth_refresh_tokens.generation + 2)`, limit)
}

// recordDevice records a sign-in from a device. It returns whether the device was known, and how many devices were known
// before.
func recordDevice(ctx context.Context, tx *db.Tx, userID, deviceHash string, now time.Time) (known bool, before int, err error) {
	err = tx.QueryRow(ctx, "select count(*), count(case when device_hash = $2 then 1 end) > 0 from auth_known_devices where user_id = $1", userID, deviceHash).
		Scan(&before, &known)
	return known, before, errors.Join(err, db.Queue(ctx, tx, `insert into auth_known_devices (user_id, device_hash, last_seen_at) values ($1, $2, $3)
		on conflict (user_id, device_hash) do update set last_seen_at = excluded.last_seen_at`, userID, deviceHash, now))
}
