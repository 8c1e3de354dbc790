package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"atelie/internal/db"
)

// storedFactor is a factor with its sealed secret ("" for phones).
type storedFactor struct {
	Factor
	userID string
	secret string
}

func insertFactor(ctx context.Context, tx *db.Tx, f storedFactor) error {
	_, err := tx.Exec(ctx, `insert into auth_factors (id, user_id, friendly_name, factor_type, status, secret, phone, created_at, updated_at)
		values ($1, $2, nullif($3, ''), $4, $5, nullif($6, ''), nullif($7, ''), $8, $8)`,
		f.ID, f.userID, f.FriendlyName, f.FactorType, f.Status, f.secret, f.Phone, f.CreatedAt)
	return err
}

// factorByID returns db.ErrNoRows when the account has no such factor.
func factorByID(ctx context.Context, q db.Querier, userID, id string) (f storedFactor, err error) {
	err = q.QueryRow(ctx, `select id, user_id, coalesce(friendly_name, ''), factor_type, status, coalesce(secret, ''), coalesce(phone, ''), last_challenged_at, created_at, updated_at
		from auth_factors where id = $1 and user_id = $2`, id, userID).
		Scan(&f.ID, &f.userID, &f.FriendlyName, &f.FactorType, &f.Status, &f.secret, &f.Phone, &f.LastChallengedAt, &f.CreatedAt, &f.UpdatedAt)
	return f, err
}

func deleteFactor(ctx context.Context, q db.Querier, userID, id string) error {
	_, err := q.Exec(ctx, "delete from auth_factors where user_id = $1 and id = $2", userID, id)
	return err
}

// deleteUnverifiedFactors drops what an enrolment left behind, of one type.
func deleteUnverifiedFactors(ctx context.Context, q db.Querier, userID, factorType string) error {
	_, err := q.Exec(ctx, "delete from auth_factors where user_id = $1 and factor_type = $2 and status = 'unverified'", userID, factorType)
	return err
}

func setFactorVerified(ctx context.Context, q db.Querier, id string, now time.Time) error {
	_, err := q.Exec(ctx, "update auth_factors set status = 'verified', updated_at = $2 where id = $1", id, now)
	return err
}

// useStep marks a TOTP step as used and tells whether it was newer than all used before.
func useStep(ctx context.Context, tx *db.Tx, factorID string, step int64) (bool, error) {
	n, err := tx.Exec(ctx, "update auth_factors set last_step = $2 where id = $1 and last_step < $2", factorID, step)
	return n == 1, err
}

// markChallenged notes the time of a challenge, unless there was one after since, and tells whether it did.
func markChallenged(ctx context.Context, tx *db.Tx, factorID string, since, now time.Time) (bool, error) {
	n, err := tx.Exec(ctx, "update auth_factors set last_challenged_at = $3 where id = $1 and (last_challenged_at is null or last_challenged_at <= $2)", factorID, since, now)
	return n == 1, err
}

// factorChallenge is a row of auth_factor_challenges.
type factorChallenge struct {
	id, factorID string
	codeHash     string // "" for TOTP
	network      string
	verifiedAt   *time.Time
	expiresAt    time.Time
}

func insertChallenge(ctx context.Context, tx *db.Tx, c factorChallenge, now time.Time) error {
	_, err := tx.Exec(ctx, `insert into auth_factor_challenges (id, factor_id, code_hash, ip, created_at, expires_at) values ($1, $2, nullif($3, ''), $4, $5, $6)`,
		c.id, c.factorID, c.codeHash, c.network, now, c.expiresAt)
	return err
}

// challengeByID returns db.ErrNoRows when the factor has no such challenge.
func challengeByID(ctx context.Context, q db.Querier, factorID, id string) (c factorChallenge, err error) {
	err = q.QueryRow(ctx, "select id, factor_id, coalesce(code_hash, ''), ip, verified_at, expires_at from auth_factor_challenges where id = $1 and factor_id = $2", id, factorID).
		Scan(&c.id, &c.factorID, &c.codeHash, &c.network, &c.verifiedAt, &c.expiresAt)
	return c, err
}

// useChallenge strikes a challenge out and tells whether it was open until then.
func useChallenge(ctx context.Context, tx *db.Tx, id string, now time.Time) (bool, error) {
	n, err := tx.Exec(ctx, "update auth_factor_challenges set verified_at = $2 where id = $1 and verified_at is null", id, now)
	return n == 1, err
}

// errWaiting refuses a try that comes too early.
type errWaiting struct{ until time.Time }

func (e errWaiting) Error() string {
	return fmt.Sprintf("no code is looked at before %s", e.until.Format(time.RFC3339))
}

// countFactorTry counts a try at a factor's code, for the network and, when that never got one right, for all such
// networks together. It is counted before the code is looked at, so that many at once are no way around the limit.
// errWaiting when it comes too early; then nothing is counted.
func countFactorTry(ctx context.Context, d *db.DB, factorID, network string, now time.Time) error {
	return d.WithTx(ctx, func(tx *db.Tx) error {
		verified, err := countTry(ctx, tx, factorID, network, triesPerNetwork, now)
		if err != nil || verified {
			return err
		}
		_, err = countTry(ctx, tx, factorID, "", triesOfStrangers, now)
		return err
	})
}

func countTry(ctx context.Context, tx *db.Tx, factorID, network string, free int, now time.Time) (verified bool, err error) {
	var (
		tries int
		at    *time.Time
		until time.Time
	)
	err = tx.QueryRow(ctx, `insert into auth_factor_tries (factor_id, network, tries, next_try_at) values ($1, $2, 1, $3)
		on conflict (factor_id, network) do update set tries = auth_factor_tries.tries + 1 where auth_factor_tries.next_try_at <= excluded.next_try_at
		returning tries, verified_at`, factorID, network, now).Scan(&tries, &at)
	if errors.Is(err, db.ErrNoRows) {
		if err := tx.QueryRow(ctx, "select next_try_at from auth_factor_tries where factor_id = $1 and network = $2", factorID, network).Scan(&until); err != nil {
			return false, err
		}
		return false, errWaiting{until}
	}
	if err != nil {
		return false, err
	}
	_, err = tx.Exec(ctx, "update auth_factor_tries set next_try_at = $3 where factor_id = $1 and network = $2", factorID, network, now.Add(tryDelay(tries-free)))
	return at != nil, err
}

// forgetTries clears a network that got a code right, and takes its try off the count of strangers if it was one. The
// rows are written in the order of countFactorTry, so that the two do not wait for each other.
func forgetTries(ctx context.Context, tx *db.Tx, factorID, network string, now time.Time) error {
	var before *time.Time
	err := tx.QueryRow(ctx, "select verified_at from auth_factor_tries where factor_id = $1 and network = $2", factorID, network).Scan(&before)
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		return err
	}
	if _, err := tx.Exec(ctx, "update auth_factor_tries set tries = 0, next_try_at = $3, verified_at = $3 where factor_id = $1 and network = $2", factorID, network, now); err != nil || before != nil {
		return err
	}
	_, err = tx.Exec(ctx, "update auth_factor_tries set tries = tries - 1 where factor_id = $1 and network = '' and tries > 0", factorID)
	return err
}

const sessionColumns = "id, user_id, aal, amr, not_after"

func scanSession(row db.Row) (s session, err error) {
	var amr string
	if err := row.Scan(&s.id, &s.userID, &s.aal, &amr, &s.notAfter); err != nil {
		return session{}, err
	}
	return s, json.Unmarshal([]byte(amr), &s.amr)
}

// sessionByID returns db.ErrNoRows when the account has no such session.
func sessionByID(ctx context.Context, q db.Querier, id, userID string) (session, error) {
	return scanSession(q.QueryRow(ctx, "select "+sessionColumns+" from auth_sessions where id = $1 and user_id = $2", id, userID))
}

// raisedSessions are the account's sessions that the factor raised to aal2, or all at aal2.
func raisedSessions(ctx context.Context, tx *db.Tx, userID, factorID string, all bool) (list []session, err error) {
	rows, err := tx.Query(ctx, "select "+sessionColumns+" from auth_sessions where user_id = $1 and aal = 'aal2' and (factor_id = $2 or $3 = 1) order by id",
		userID, factorID, oneIf(all))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		s, err := scanSession(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, rows.Err()
}

// oneIf is a condition that both engines take as a parameter.
func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// setAssurance writes level, methods and the factor that raised the session ("" for none).
func setAssurance(ctx context.Context, tx *db.Tx, s session, factorID string) error {
	amr, err := json.Marshal(s.amr)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "update auth_sessions set aal = $2, amr = $3, factor_id = $4 where id = $1", s.id, s.aal, string(amr), orNull(factorID))
	return err
}

// deleteSessionsBelow ends the account's other sessions that have not shown a second factor.
func deleteSessionsBelow(ctx context.Context, tx *db.Tx, userID, keep string) error {
	_, err := tx.Exec(ctx, "delete from auth_sessions where user_id = $1 and aal <> 'aal2' and id <> $2", userID, keep)
	return err
}

// restartRefreshTokens strikes out the session's refresh tokens and puts one in their place. The session's row must be
// held.
func restartRefreshTokens(ctx context.Context, tx *db.Tx, sessionID, hash string, now time.Time) error {
	var generation int
	if err := tx.QueryRow(ctx, "select coalesce(max(generation), 0) from auth_refresh_tokens where session_id = $1", sessionID).Scan(&generation); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "delete from auth_refresh_tokens where session_id = $1", sessionID); err != nil {
		return err
	}
	return insertRefreshToken(ctx, tx, sessionID, hash, generation+1, now)
}

func insertRecoveryCode(ctx context.Context, tx *db.Tx, userID, hash string, now time.Time) error {
	_, err := tx.Exec(ctx, "insert into auth_recovery_codes (code_hash, user_id, created_at) values ($1, $2, $3)", hash, userID, now)
	return err
}

func deleteRecoveryCodes(ctx context.Context, q db.Querier, userID string) error {
	_, err := q.Exec(ctx, "delete from auth_recovery_codes where user_id = $1", userID)
	return err
}

func countRecoveryCodes(ctx context.Context, q db.Querier, userID string) (total, left int, err error) {
	err = q.QueryRow(ctx, "select count(*), count(*) - count(used_at) from auth_recovery_codes where user_id = $1", userID).Scan(&total, &left)
	return total, left, err
}

// useRecoveryCode strikes a code out and tells whether it was one of the account's unused ones.
func useRecoveryCode(ctx context.Context, tx *db.Tx, userID, hash string, now time.Time) (bool, error) {
	n, err := tx.Exec(ctx, "update auth_recovery_codes set used_at = $3 where user_id = $1 and code_hash = $2 and used_at is null", userID, hash, now)
	return n == 1, err
}

// signingKey is a row of auth_signing_keys; its private key is sealed.
type signingKey struct {
	id          string
	private     string
	signFrom    time.Time
	verifyUntil *time.Time
}

func signingKeys(ctx context.Context, q db.Querier) (list []signingKey, err error) {
	rows, err := q.Query(ctx, "select id, private_key, sign_from, verify_until from auth_signing_keys order by sign_from, id")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var k signingKey
		if err := rows.Scan(&k.id, &k.private, &k.signFrom, &k.verifyUntil); err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	return list, rows.Err()
}

// lockSigningKeys lets one transaction at a time decide which keys there are. SQLite has one writer anyway.
func lockSigningKeys(ctx context.Context, tx *db.Tx) error {
	if tx.Dialect != db.Postgres {
		return nil
	}
	_, err := tx.Exec(ctx, "lock table auth_signing_keys in share row exclusive mode")
	return err
}

func insertSigningKey(ctx context.Context, tx *db.Tx, k signingKey, now time.Time) error {
	_, err := tx.Exec(ctx, "insert into auth_signing_keys (id, private_key, sign_from, created_at) values ($1, $2, $3, $4)", k.id, k.private, k.signFrom, now)
	return err
}

// retireSigningKeys ends all keys that nothing has ended yet.
func retireSigningKeys(ctx context.Context, tx *db.Tx, until time.Time) error {
	_, err := tx.Exec(ctx, "update auth_signing_keys set verify_until = $1 where verify_until is null", until)
	return err
}

// auditEntry is a row of auth_audit_log.
type auditEntry struct {
	id, action, detail string
	userID, ip, agent  *string
	email, phone       *string // of the account as it is now
	isSSO              *bool
	createdAt          time.Time
}

// auditPage gives one page of the log, the newest first, and how many entries there are in all. action "" is any.
func auditPage(ctx context.Context, q db.Querier, action, userID string, limit, offset int) (list []auditEntry, total int, err error) {
	const where = " from auth_audit_log l left join auth_users u on u.id = l.user_id where ($1 = '' or l.action = $1) and ($2 = 1 or l.user_id = $3)"
	anyone := oneIf(userID == "")
	if err := q.QueryRow(ctx, "select count(*)"+where, action, anyone, orNull(userID)).Scan(&total); err != nil {
		return nil, 0, err
	}
	rows, err := q.Query(ctx, "select l.id, l.action, l.detail, l.user_id, l.ip, l.user_agent, u.email, u.phone, u.is_sso_user, l.created_at"+where+
		" order by l.created_at desc, l.id limit $4 offset $5", action, anyone, orNull(userID), limit, offset)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var e auditEntry
		if err := rows.Scan(&e.id, &e.action, &e.detail, &e.userID, &e.ip, &e.agent, &e.email, &e.phone, &e.isSSO, &e.createdAt); err != nil {
			return nil, 0, err
		}
		list = append(list, e)
	}
	return list, total, rows.Err()
}

// sessionsOf lists an account's sessions, the one used last first.
func sessionsOf(ctx context.Context, q db.Querier, userID string, now time.Time) (list []SessionInfo, err error) {
	rows, err := q.Query(ctx, `select id, created_at, refreshed_at, coalesce(user_agent, ''), coalesce(ip, ''), aal from auth_sessions
		where user_id = $1 and (not_after is null or not_after > $2) order by refreshed_at desc, id`, userID, now)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	list = []SessionInfo{}
	for rows.Next() {
		var i SessionInfo
		if err := rows.Scan(&i.ID, &i.CreatedAt, &i.RefreshedAt, &i.UserAgent, &i.IP, &i.AAL); err != nil {
			return nil, err
		}
		list = append(list, i)
	}
	return list, rows.Err()
}

// deleteOwnSession ends a session of the account and tells whether there was one.
func deleteOwnSession(ctx context.Context, q db.Querier, userID, id string) (bool, error) {
	n, err := q.Exec(ctx, "delete from auth_sessions where id = $1 and user_id = $2", id, userID)
	return n == 1, err
}
