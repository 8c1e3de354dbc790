package auth

import (
	"context"
	"time"

	"atelie/internal/db"
)

// This file reads and writes flows (table auth_flow_states). A flow is a sign-in that needs more than one request. Adding an identity (a
// way to sign in) to an account is a flow too. The later requests of a flow are the callback of an OAuth provider and, in a PKCE flow (RFC
// 7636), the exchange of a code for the session. An implicit flow is a flow without PKCE.

// flowState is a row of auth_flow_states.
type flowState struct {
	id              string
	codeChallenge   string     // PKCE challenge, against which the client's verifier is checked; "" for an implicit flow
	challengeMethod string     // s256 or plain; "" for an implicit flow
	authMethod      string     // method in the amr claim: otp, magiclink, oauth, sso/saml, …
	provider        string     // provider of the identity that signs in
	providerSecrets string     // sealed (encrypted) flowSecrets, and after the callback sealed providerTokens; "" for none
	userID          string     // the account to sign in; set when the code is issued
	linkingUserID   string     // the account to which the provider's identity will be added; "" for a sign-in
	redirectTo      string     // URL to which the browser returns after the sign-in
	notAfter        *time.Time // when the identity provider ends the session that the code will open; nil: it sets no end
	codeIssuedAt    *time.Time // nil: the code is not issued yet
	createdAt       time.Time
}

// flowColumns are the columns of auth_flow_states that scanFlow reads.
const flowColumns = `id, coalesce(code_challenge, ''), coalesce(code_challenge_method, ''), authentication_method, coalesce(provider, ''),
	coalesce(provider_secrets, ''), coalesce(cast(user_id as text), ''), coalesce(cast(linking_user_id as text), ''), coalesce(redirect_to, ''),
	session_not_after, auth_code_issued_at, created_at`

func scanFlow(row db.Row) (f flowState, err error) {
	err = row.Scan(&f.id, &f.codeChallenge, &f.challengeMethod, &f.authMethod, &f.provider, &f.providerSecrets, &f.userID, &f.linkingUserID, &f.redirectTo,
		&f.notAfter, &f.codeIssuedAt, &f.createdAt)
	return f, err
}

// insertFlow stores a flow. stateHash is the hash of the flow's state (the secret that the provider sends back), or "" without a provider.
func insertFlow(ctx context.Context, q db.Querier, f flowState, stateHash string) error {
	return db.Exec(ctx, q, `insert into auth_flow_states (id, code_challenge, code_challenge_method, authentication_method, provider, provider_state_hash,
			provider_secrets, user_id, linking_user_id, redirect_to, created_at)
		values ($1, nullif($2, ''), nullif($3, ''), $4, nullif($5, ''), nullif($6, ''), nullif($7, ''), $8, $9, nullif($10, ''), $11)`,
		f.id, f.codeChallenge, f.challengeMethod, f.authMethod, f.provider, stateHash,
		f.providerSecrets, orNull(f.userID), orNull(f.linkingUserID), f.redirectTo, f.createdAt)
}

// flowByCode returns the flow of a code, even if the code has expired, or db.ErrNoRows.
func flowByCode(ctx context.Context, q db.Querier, codeHash string) (flowState, error) {
	return scanFlow(q.QueryRow(ctx, "select "+flowColumns+" from auth_flow_states where auth_code_hash = $1", codeHash))
}

// consumeFlowState returns the flow of a state (the secret that the provider sends back), and clears the state so that it works
// only once. It returns db.ErrNoRows for an unknown or used state.
func consumeFlowState(ctx context.Context, tx *db.Tx, stateHash string) (flowState, error) {
	return scanFlow(tx.QueryRow(ctx, "update auth_flow_states set provider_state_hash = null where provider_state_hash = $1 returning "+flowColumns, stateHash))
}

// setAuthCode stores the hash of a flow's code and the account that the code signs in. It returns errFlowNotFound if there is no
// such flow.
func setAuthCode(ctx context.Context, tx *db.Tx, flowID, userID, codeHash, secrets string, now time.Time) error {
	return changeOr(ctx, tx, errFlowNotFound, `update auth_flow_states set user_id = $2, auth_code_hash = $3, provider_secrets = nullif($4, ''),
		auth_code_issued_at = $5 where id = $1`, flowID, userID, codeHash, secrets, now)
}

// setFlowEnd stores when the session that the flow's code will open must end; nil for no end.
func setFlowEnd(ctx context.Context, tx *db.Tx, flowID string, end *time.Time) error {
	return db.Exec(ctx, tx, "update auth_flow_states set session_not_after = $2 where id = $1", flowID, end)
}

// deleteFlow deletes a flow. It returns ifMissing if there is no such flow.
func deleteFlow(ctx context.Context, tx *db.Tx, id string, ifMissing error) error {
	return changeOr(ctx, tx, ifMissing, "delete from auth_flow_states where id = $1", id)
}

// deleteFlowsOf deletes the flows whose code was issued for the account, and those that would add an identity to it.
func deleteFlowsOf(ctx context.Context, q db.Querier, userID string) error {
	return db.Exec(ctx, q, "delete from auth_flow_states where user_id = $1 or linking_user_id = $1", userID)
}
