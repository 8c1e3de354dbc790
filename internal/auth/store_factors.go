package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"atelie/internal/db"
)

// This file reads and writes second factors, their challenges, the attempts at their codes, and recovery codes.

// storedFactor is a row of auth_factors.
type storedFactor struct {
	Factor
	secret string // the TOTP secret, sealed (encrypted); "" for a phone factor
}

// factorColumns are the columns of auth_factors f that factorRow.scanDest reads.
const factorColumns = `coalesce(cast(f.id as text), ''), coalesce(cast(f.user_id as text), ''), coalesce(f.friendly_name, ''), coalesce(f.factor_type, ''),
	coalesce(f.status, ''), coalesce(f.secret, ''), coalesce(f.phone, ''), f.last_challenged_at, f.created_at, f.updated_at`

// factorRow receives the values of factorColumns. If an outer join has found no factor, the id is "" and the times are nil.
type factorRow struct {
	factor               storedFactor // CreatedAt and UpdatedAt are not set
	createdAt, updatedAt *time.Time
}

// scanDest returns the destinations for Scan, in the order of factorColumns.
func (r *factorRow) scanDest() []any {
	f := &r.factor
	return []any{&f.ID, &f.userID, &f.FriendlyName, &f.FactorType, &f.Status, &f.secret, &f.Phone, &f.LastChallengedAt, &r.createdAt, &r.updatedAt}
}

// toFactor returns the factor of the row. The row must have a factor.
func (r *factorRow) toFactor() storedFactor {
	f := r.factor
	f.CreatedAt, f.UpdatedAt = *r.createdAt, *r.updatedAt
	return f
}

func scanFactor(row db.Row) (storedFactor, error) {
	var r factorRow
	if err := row.Scan(r.scanDest()...); err != nil {
		return storedFactor{}, err
	}
	return r.toFactor(), nil
}

// factorsOf returns the second factors of one or more accounts, oldest first.
func factorsOf(ctx context.Context, q db.Querier, userIDs ...string) (list []Factor, err error) {
	where, args := userIDIn(userIDs)
	return db.Collect(ctx, q, func(row db.Row) (Factor, error) {
		f, err := scanFactor(row)
		return f.Factor, err
	}, "select "+factorColumns+" from auth_factors f where "+where+" order by created_at, id", args...)
}

func insertFactor(ctx context.Context, tx *db.Tx, f storedFactor) error {
	return db.Exec(ctx, tx, `insert into auth_factors (id, user_id, friendly_name, factor_type, status, secret, phone, created_at, updated_at)
		values ($1, $2, nullif($3, ''), $4, $5, nullif($6, ''), nullif($7, ''), $8, $8)`,
		f.ID, f.userID, f.FriendlyName, f.FactorType, f.Status, f.secret, f.Phone, f.CreatedAt)
}

// factorByID returns a factor of an account, or db.ErrNoRows.
func factorByID(ctx context.Context, q db.Querier, userID, id string) (storedFactor, error) {
	return scanFactor(q.QueryRow(ctx, "select "+factorColumns+" from auth_factors f where id = $1 and user_id = $2", id, userID))
}

func updateFactor(ctx context.Context, tx *db.Tx, f Factor) error {
	return db.Exec(ctx, tx, "update auth_factors set friendly_name = nullif($2, ''), phone = nullif($3, ''), updated_at = $4 where id = $1",
		f.ID, f.FriendlyName, f.Phone, f.UpdatedAt)
}

func setFactorVerified(ctx context.Context, q db.Querier, id string, now time.Time) error {
	return db.Exec(ctx, q, "update auth_factors set status = 'verified', updated_at = $2 where id = $1", id, now)
}

// markStepUsed marks a TOTP step (the period of time that a code belongs to) as used, because a code must not work twice. It
// returns errTOTPWrong if this step or a later one was used before. It ignores a stored step after latest, which a node with a wrong
// clock has written.
func markStepUsed(ctx context.Context, tx *db.Tx, factorID string, step, latest int64) error {
	return changeOr(ctx, tx, errTOTPWrong.Becausef("step %d was used before", step),
		"update auth_factors set last_step = $2 where id = $1 and (last_step < $2 or last_step > $3)", factorID, step, latest)
}

// markChallenged records the time of a challenge (the start of an attempt at the factor). It returns false, and records nothing,
// when there was a challenge after since or the factor does not exist.
func markChallenged(ctx context.Context, tx *db.Tx, factorID string, since, now time.Time) (bool, error) {
	return db.Changed(ctx, tx, `update auth_factors set last_challenged_at = $3
		where id = $1 and (last_challenged_at is null or last_challenged_at <= $2 or last_challenged_at > $4)`, factorID, since, now, db.LatestPlausible(now, 0))
}

func deleteFactor(ctx context.Context, q db.Querier, userID, id string) error {
	return db.Exec(ctx, q, "delete from auth_factors where user_id = $1 and id = $2", userID, id)
}

// deleteFactors deletes all second factors of an account and its recovery codes.
func deleteFactors(ctx context.Context, q db.Querier, userID string) error {
	return deleteRows(ctx, q, userID, "auth_factors", "auth_recovery_codes")
}

// deleteUnverifiedFactors deletes the account's factors of one type whose enrolment was not finished.
func deleteUnverifiedFactors(ctx context.Context, q db.Querier, userID, factorType string) error {
	return db.Exec(ctx, q, "delete from auth_factors where user_id = $1 and factor_type = $2 and status = 'unverified'", userID, factorType)
}

// factorChallenge is a row of auth_factor_challenges.
type factorChallenge struct {
	id, factorID string
	codeHash     string // hash of the code that was sent by SMS; "" for TOTP
	limitSubject string // httpx.LimitSubject of the request that created the challenge
	verifiedAt   *time.Time
	expiresAt    time.Time
}

func insertChallenge(ctx context.Context, tx *db.Tx, c factorChallenge, now time.Time) error {
	return db.Exec(ctx, tx, `insert into auth_factor_challenges (id, factor_id, code_hash, ip, created_at, expires_at) values ($1, $2, nullif($3, ''), $4, $5, $6)`,
		c.id, c.factorID, c.codeHash, c.limitSubject, now, c.expiresAt)
}

// challengeByID returns a challenge of a factor, or db.ErrNoRows.
func challengeByID(ctx context.Context, q db.Querier, factorID, id string) (c factorChallenge, err error) {
	err = q.QueryRow(ctx, "select id, factor_id, coalesce(code_hash, ''), ip, verified_at, expires_at from auth_factor_challenges where id = $1 and factor_id = $2", id, factorID).
		Scan(&c.id, &c.factorID, &c.codeHash, &c.limitSubject, &c.verifiedAt, &c.expiresAt)
	return c, err
}

// useChallenge marks a challenge as used. It returns errChallengeIPMismatch when it was used before.
func useChallenge(ctx context.Context, tx *db.Tx, id string, now time.Time) error {
	return changeOr(ctx, tx, errChallengeIPMismatch.Becausef("answered in the meantime"),
		"update auth_factor_challenges set verified_at = $2 where id = $1 and verified_at is null", id, now)
}

// Limits of attempts at a factor's codes. After the free attempts, the wait before each further one is twice as long, up to
// maxTryDelay. Somebody who has only stolen the password can thus try 24 of a million codes a day, and the owner is never locked
// out completely. An IP address from which a code was verified before is not delayed by attempts from other IP addresses. An IP address
// means an httpx.LimitSubject here, which the column network stores.
const (
	triesPerIP     = 5   // free attempts from one IP address
	triesPerFactor = 100 // free attempts from all IP addresses together that have not verified a code
	firstTryDelay  = 15 * time.Second
	maxTryDelay    = time.Hour
)

// tryDelay returns the wait after an attempt. excess is the number of attempts beyond the free ones.
func tryDelay(excess int) time.Duration {
	switch {
	case excess < 0:
		return 0
	case excess > 8: // a larger shift could overflow
		return maxTryDelay
	}
	return min(firstTryDelay<<excess, maxTryDelay)
}

// tryDelayed is the error of an attempt before its wait has ended.
type tryDelayed struct{ until time.Time }

func (e tryDelayed) Error() string {
	return fmt.Sprintf("no code is accepted before %s", e.until.Format(time.RFC3339))
}

// countFactorTry counts an attempt at a factor's code for its IP address. If no code was ever verified from there, it also counts the
// attempt for all such IP addresses together. It must be called before the code is compared, so that concurrent attempts
// cannot exceed the limit. Before the wait has ended, it counts nothing and returns tryDelayed.
func countFactorTry(ctx context.Context, d *db.DB, factorID, limitSubject string, now time.Time) error {
	return d.WithTx(ctx, func(tx *db.Tx) error {
		verified, err := countTry(ctx, tx, factorID, limitSubject, triesPerIP, now)
		if err != nil || verified {
			return err
		}
		_, err = countTry(ctx, tx, factorID, "", triesPerFactor, now)
		return err
	})
}

// countTry counts an attempt for one IP address, or for all together when limitSubject is "". verified reports whether a code was
// verified from that IP address before.
func countTry(ctx context.Context, tx *db.Tx, factorID, limitSubject string, free int, now time.Time) (verified bool, err error) {
	var (
		tries int
		at    *time.Time
	)
	err = tx.QueryRow(ctx, `insert into auth_factor_tries (factor_id, network, tries, next_try_at) values ($1, $2, 1, $3)
		on conflict (factor_id, network) do update set tries = auth_factor_tries.tries + 1 where auth_factor_tries.next_try_at <= excluded.next_try_at
			or auth_factor_tries.next_try_at > $4
		returning tries, verified_at`, factorID, limitSubject, now, db.LatestPlausible(now, maxTryDelay)).Scan(&tries, &at)
	if errors.Is(err, db.ErrNoRows) {
		until, err := db.One[time.Time](ctx, tx, "select next_try_at from auth_factor_tries where factor_id = $1 and network = $2", factorID, limitSubject)
		if err == nil {
			err = tryDelayed{until}
		}
		return false, err
	}
	if err != nil {
		return false, err
	}
	return at != nil, db.Exec(ctx, tx, "update auth_factor_tries set next_try_at = $3 where factor_id = $1 and network = $2",
		factorID, limitSubject, now.Add(tryDelay(tries-free)))
}

// resetTries clears the attempts of an IP address after a correct code, and removes that attempt from the count of all of them. It
// writes the rows in the same order as countFactorTry, so that the two cannot deadlock.
func resetTries(ctx context.Context, tx *db.Tx, factorID, limitSubject string, now time.Time) error {
	before, err := db.One[*time.Time](ctx, tx, "select verified_at from auth_factor_tries where factor_id = $1 and network = $2", factorID, limitSubject)
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		return err
	}
	err = db.Exec(ctx, tx, "update auth_factor_tries set tries = 0, next_try_at = $3, verified_at = $3 where factor_id = $1 and network = $2",
		factorID, limitSubject, now)
	if err != nil || before != nil {
		return err
	}
	return db.Exec(ctx, tx, "update auth_factor_tries set tries = tries - 1 where factor_id = $1 and network = '' and tries > 0", factorID)
}

func insertRecoveryCode(ctx context.Context, tx *db.Tx, userID, hash string, now time.Time) error {
	return db.Exec(ctx, tx, "insert into auth_recovery_codes (code_hash, user_id, created_at) values ($1, $2, $3)", hash, userID, now)
}

func countRecoveryCodes(ctx context.Context, q db.Querier, userID string) (total, left int, err error) {
	err = q.QueryRow(ctx, "select count(*), count(*) - count(used_at) from auth_recovery_codes where user_id = $1", userID).Scan(&total, &left)
	return total, left, err
}

// useRecoveryCode marks a recovery code as used. It returns false when the account has no such unused code.
func useRecoveryCode(ctx context.Context, tx *db.Tx, userID, hash string, now time.Time) (bool, error) {
	return db.Changed(ctx, tx, "update auth_recovery_codes set used_at = $3 where user_id = $1 and code_hash = $2 and used_at is null", userID, hash, now)
}

func hasRecoveryCodes(ctx context.Context, q db.Querier) (found bool, err error) {
	return db.One[bool](ctx, q, "select exists (select 1 from auth_recovery_codes where used_at is null)")
}

func insertHashKey(ctx context.Context, q db.Querier, id, sealed string, now time.Time) error {
	return db.Exec(ctx, q, "insert into auth_hash_keys (id, sealed_key, created_at) values ($1, $2, $3)", id, sealed, now)
}

// deleteUnneededHashKeys deletes each key of a former secret if no unused recovery code was created before the key was stored.
func deleteUnneededHashKeys(ctx context.Context, q db.Querier) error {
	return db.Exec(ctx, q, `delete from auth_hash_keys where not exists (select 1 from auth_recovery_codes c
		where c.used_at is null and c.created_at <= auth_hash_keys.created_at)`)
}
