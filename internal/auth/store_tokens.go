package auth

import (
	"context"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
)

func saveOneTimeToken(ctx context.Context, tx *db.Tx, t oneTimeToken) error {
	_, err := tx.Exec(ctx, `insert into auth_one_time_tokens (user_id, token_type, link_hash, code_hash, sent_to, flow_id, created_at, expires_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8)
		on conflict (user_id, token_type) do update set link_hash = excluded.link_hash, code_hash = excluded.code_hash, wrong_codes = 0,
			sent_to = excluded.sent_to, flow_id = excluded.flow_id, created_at = excluded.created_at, expires_at = excluded.expires_at`,
		t.userID, string(t.kind), t.linkHash, t.codeHash, t.sentTo, orNull(t.flowID), t.createdAt, t.expiresAt)
	return err
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

const oneTimeColumns = "user_id, token_type, link_hash, code_hash, sent_to, flow_id, created_at, expires_at"

func scanOneTimeToken(row db.Row) (t oneTimeToken, err error) {
	var flow *string
	err = row.Scan(&t.userID, &t.kind, &t.linkHash, &t.codeHash, &t.sentTo, &flow, &t.createdAt, &t.expiresAt)
	if flow != nil {
		t.flowID = *flow
	}
	return t, err
}

func oneTimeTokenByLink(ctx context.Context, q db.Querier, linkHash string) (oneTimeToken, error) {
	return scanOneTimeToken(q.QueryRow(ctx, "select "+oneTimeColumns+" from auth_one_time_tokens where link_hash = $1", linkHash))
}

// countCodeTry counts a try at a code that is in time and has tries left; db.ErrNoRows when there is none.
func countCodeTry(ctx context.Context, d *db.DB, userID string, kind tokenType, most int, now time.Time) (t oneTimeToken, err error) {
	err = d.WithTx(ctx, func(tx *db.Tx) error {
		t, err = scanOneTimeToken(tx.QueryRow(ctx, `update auth_one_time_tokens set wrong_codes = wrong_codes + 1
			where user_id = $1 and token_type = $2 and wrong_codes < $3 and expires_at > $4 returning `+oneTimeColumns, userID, string(kind), most, now))
		return err
	})
	return t, err
}

func deleteOneTimeToken(ctx context.Context, tx *db.Tx, t oneTimeToken) (bool, error) {
	n, err := tx.Exec(ctx, "delete from auth_one_time_tokens where user_id = $1 and token_type = $2 and link_hash = $3", t.userID, string(t.kind), t.linkHash)
	return n == 1, err
}

// deleteOneTimeTokens takes away what was sent for an account, of the given kinds.
func deleteOneTimeTokens(ctx context.Context, q db.Querier, userID string, kinds ...tokenType) error {
	for _, kind := range kinds {
		if _, err := q.Exec(ctx, "delete from auth_one_time_tokens where user_id = $1 and token_type = $2", userID, string(kind)); err != nil {
			return err
		}
	}
	return nil
}

const flowColumns = `id, coalesce(code_challenge, ''), coalesce(code_challenge_method, ''), authentication_method, coalesce(provider, ''),
	coalesce(provider_secrets, ''), user_id, linking_user_id, coalesce(redirect_to, ''), session_not_after, auth_code_issued_at, created_at`

func scanFlow(row db.Row) (f flowState, err error) {
	var user, linking *string
	err = row.Scan(&f.id, &f.codeChallenge, &f.challengeMethod, &f.authMethod, &f.provider, &f.providerSecrets, &user, &linking, &f.redirectTo,
		&f.notAfter, &f.codeIssuedAt, &f.createdAt)
	if user != nil {
		f.userID = *user
	}
	if linking != nil {
		f.linkingUserID = *linking
	}
	return f, err
}

func insertFlow(ctx context.Context, q db.Querier, f flowState, stateHash string) error {
	_, err := q.Exec(ctx, `insert into auth_flow_states (id, code_challenge, code_challenge_method, authentication_method, provider, provider_state_hash,
			provider_secrets, user_id, linking_user_id, redirect_to, created_at)
		values ($1, nullif($2, ''), nullif($3, ''), $4, nullif($5, ''), nullif($6, ''), nullif($7, ''), $8, $9, nullif($10, ''), $11)`,
		f.id, f.codeChallenge, f.challengeMethod, f.authMethod, f.provider, stateHash, f.providerSecrets, orNull(f.userID), orNull(f.linkingUserID), f.redirectTo, f.createdAt)
	return err
}

func flowByCode(ctx context.Context, q db.Querier, codeHash string) (flowState, error) {
	return scanFlow(q.QueryRow(ctx, "select "+flowColumns+" from auth_flow_states where auth_code_hash = $1", codeHash))
}

// takeFlowByState finds the flow that an identity provider answers and strikes its state out: it works once.
func takeFlowByState(ctx context.Context, tx *db.Tx, stateHash string) (flowState, error) {
	return scanFlow(tx.QueryRow(ctx, "update auth_flow_states set provider_state_hash = null where provider_state_hash = $1 returning "+flowColumns, stateHash))
}

func setAuthCode(ctx context.Context, tx *db.Tx, flowID, userID, codeHash, secrets string, now time.Time) error {
	n, err := tx.Exec(ctx, `update auth_flow_states set user_id = $2, auth_code_hash = $3, provider_secrets = nullif($4, ''), auth_code_issued_at = $5
		where id = $1`, flowID, userID, codeHash, secrets, now)
	if err == nil && n == 0 {
		err = db.ErrNoRows
	}
	return err
}

func deleteFlow(ctx context.Context, tx *db.Tx, id string) (bool, error) {
	n, err := tx.Exec(ctx, "delete from auth_flow_states where id = $1", id)
	return n == 1, err
}

// deleteFlowsOf ends flows whose code was issued for the account, or that are to add an identity to it.
func deleteFlowsOf(ctx context.Context, q db.Querier, userID string) error {
	_, err := q.Exec(ctx, "delete from auth_flow_states where user_id = $1 or linking_user_id = $1", userID)
	return err
}

func insertAudit(ctx context.Context, q db.Querier, action auditAction, userID, detail string, c client, now time.Time) error {
	_, err := q.Exec(ctx, "insert into auth_audit_log (id, user_id, action, detail, ip, user_agent, created_at) values ($1, $2, $3, $4, $5, $6, $7)",
		uuid.NewString(), orNull(userID), string(action), detail, c.ip, c.userAgent, now)
	return err
}

// meetDevice notes that an account signs in from a device and tells whether it is known, and how many were before.
func meetDevice(ctx context.Context, tx *db.Tx, userID, device string, now time.Time) (known bool, before int, err error) {
	if err = tx.QueryRow(ctx, "select count(*) from auth_known_devices where user_id = $1", userID).Scan(&before); err != nil {
		return false, 0, err
	}
	n, err := tx.Exec(ctx, "update auth_known_devices set last_seen_at = $3 where user_id = $1 and device_hash = $2", userID, device, now)
	if err != nil || n == 1 {
		return true, before, err
	}
	_, err = tx.Exec(ctx, `insert into auth_known_devices (user_id, device_hash, last_seen_at) values ($1, $2, $3) on conflict (user_id, device_hash) do nothing`, userID, device, now)
	return false, before, err
}

// forget drops what has outlived its time: links, codes and sign-ins that nobody finished, devices not seen for two
// years, audit entries after one, of refused sign-ins, which anybody can cause, after 90 days. A refresh token that was
// replaced twice is a month later as unknown as any other.
func forget(ctx context.Context, q db.Querier, now time.Time) error {
	for query, before := range map[string]time.Time{
		"delete from auth_one_time_tokens where expires_at <= $1":                                             now,
		"delete from auth_flow_states where created_at <= $1":                                                 now.Add(-2 * confirmLife),
		"delete from auth_known_devices where last_seen_at <= $1":                                             now.AddDate(-2, 0, 0),
		"delete from auth_audit_log where created_at <= $1":                                                   now.AddDate(-1, 0, 0),
		"delete from auth_audit_log where action = '" + string(auditSignInRefused) + "' and created_at <= $1": now.AddDate(0, 0, -90),
		`delete from auth_refresh_tokens where used_at <= $1 and exists (select 1 from auth_refresh_tokens n
			where n.session_id = auth_refresh_tokens.session_id and n.generation = auth_refresh_tokens.generation + 2)`: now.AddDate(0, -1, 0),
		"delete from auth_sessions where not_after <= $1":           now,
		"delete from auth_factor_challenges where expires_at <= $1": now.Add(-time.Hour),
		"delete from auth_signing_keys where verify_until <= $1":    now,
		"delete from auth_last_sent where sent_at <= $1":            now.AddDate(0, 0, -7),
	} {
		if _, err := q.Exec(ctx, query, before); err != nil {
			return err
		}
	}
	return nil
}
