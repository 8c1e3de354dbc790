package auth

import (
	"context"
	"errors"
	"time"

	"atelie/internal/db"
)

// This file reads and writes one-time tokens (table auth_one_time_tokens). A one-time token is a link and a code that were sent together.

// tokenKind says what a one-time token is for, such as tokenRecovery.
type tokenKind string

// maxTokens is how many unused tokens of a kind an account can have. A further token replaces the oldest one. With a small number, anybody
// could request mails until a link that the account's holder has received is deleted. So maxTokens is far above the default mail quota (the
// number of mails to one address in a day).
const maxTokens = 60

// maxCodes is how many codes of a kind are accepted for an account: those of its newest tokens. For older tokens, only the links are
// accepted. A guess can match any of the codes, so a larger number would make a guess more likely to succeed.
const maxCodes = 5

// oneTimeToken is a row of auth_one_time_tokens. It contains hashes; issuedToken has the plain text.
type oneTimeToken struct {
	userID    string
	kind      tokenKind
	linkHash  string
	codeHash  string
	sentTo    string // e-mail address or phone number to which the token was sent; the use of the token confirms it
	flowID    string // the PKCE flow of the token; "" without PKCE
	createdAt time.Time
	expiresAt time.Time
}

// oneTimeTokenColumns are the columns of auth_one_time_tokens that scanOneTimeToken reads.
const oneTimeTokenColumns = "user_id, token_type, link_hash, code_hash, sent_to, coalesce(cast(flow_id as text), ''), created_at, expires_at"

func scanOneTimeToken(row db.Row) (t oneTimeToken, err error) {
	err = row.Scan(&t.userID, &t.kind, &t.linkHash, &t.codeHash, &t.sentTo, &t.flowID, &t.createdAt, &t.expiresAt)
	return t, err
}

// saveOneTimeToken inserts a token, and deletes the account's older tokens of its kind beyond maxTokens.
func saveOneTimeToken(ctx context.Context, tx *db.Tx, t oneTimeToken) error {
	err := db.Exec(ctx, tx, `insert into auth_one_time_tokens (user_id, token_type, link_hash, code_hash, sent_to, flow_id, created_at, expires_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8)`,
		t.userID, string(t.kind), t.linkHash, t.codeHash, t.sentTo, orNull(t.flowID), t.createdAt, t.expiresAt)
	// The query excludes the new token by its link, because created_at does not tell which of two tokens of the same time is newer.
	return errors.Join(err, db.Exec(ctx, tx, `delete from auth_one_time_tokens where user_id = $1 and token_type = $2 and link_hash <> $3 and link_hash not in
		(select link_hash from auth_one_time_tokens where user_id = $1 and token_type = $2 and link_hash <> $3 order by created_at desc, link_hash limit $4)`,
		t.userID, string(t.kind), t.linkHash, maxTokens-1))
}

// oneTimeTokenByLink returns the token of a link, even if it has expired, or db.ErrNoRows.
func oneTimeTokenByLink(ctx context.Context, q db.Querier, linkHash string) (oneTimeToken, error) {
	return scanOneTimeToken(q.QueryRow(ctx, "select "+oneTimeTokenColumns+" from auth_one_time_tokens where link_hash = $1", linkHash))
}

// countCodeTry counts an attempt against the newest maxCodes codes of a kind that have not expired and had fewer than maxTries attempts.
// It returns these codes.
func countCodeTry(ctx context.Context, d *db.DB, userID string, kind tokenKind, maxTries int, now time.Time) (valid []oneTimeToken, err error) {
	return inTx(ctx, d.WithShortTx, func(tx *db.Tx) ([]oneTimeToken, error) {
		return db.Collect(ctx, tx, scanOneTimeToken, `update auth_one_time_tokens set wrong_codes = wrong_codes + 1
			where user_id = $1 and token_type = $2 and wrong_codes < $3 and expires_at > $4 and link_hash in
				(select link_hash from auth_one_time_tokens where user_id = $1 and token_type = $2 order by created_at desc, link_hash limit $5)
			returning `+oneTimeTokenColumns, userID, string(kind), maxTries, now, maxCodes)
	})
}

// deleteOneTimeToken deletes a token. It returns errOTPExpired if the token does not exist any more.
func deleteOneTimeToken(ctx context.Context, tx *db.Tx, t oneTimeToken) error {
	return changeOr(ctx, tx, errOTPExpired.Becausef("used in the meantime"),
		"delete from auth_one_time_tokens where user_id = $1 and token_type = $2 and link_hash = $3", t.userID, string(t.kind), t.linkHash)
}

// deleteOneTimeTokens deletes an account's links and codes of the given kinds.
func deleteOneTimeTokens(ctx context.Context, q db.Querier, userID string, kinds ...tokenKind) (err error) {
	for _, kind := range kinds {
		err = errors.Join(err, db.Exec(ctx, q, "delete from auth_one_time_tokens where user_id = $1 and token_type = $2", userID, string(kind)))
	}
	return err
}
