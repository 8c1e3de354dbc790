package auth

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
)

// credentials are what a sign-in is checked against.
type credentials struct {
	userID    string
	hash      string // "" when the account has no password
	confirmed bool
}

// credentialsByEmail is one query whether the account exists or not (db.ErrNoRows), so that both take the same time.
func credentialsByEmail(ctx context.Context, q db.Querier, email string) (c credentials, err error) {
	err = q.QueryRow(ctx, "select id, coalesce(encrypted_password, ''), email_confirmed_at is not null from auth_users where email = $1", email).
		Scan(&c.userID, &c.hash, &c.confirmed)
	return c, err
}

// userByID returns db.ErrNoRows when there is no such account.
func userByID(ctx context.Context, q db.Querier, id string) (User, error) {
	u := User{Aud: "authenticated", Role: "authenticated"}
	var app, own string
	err := q.QueryRow(ctx, `select id, coalesce(email, ''), email_confirmed_at, last_sign_in_at, app_metadata, user_metadata, created_at, updated_at
		from auth_users where id = $1`, id).
		Scan(&u.ID, &u.Email, &u.EmailConfirmedAt, &u.LastSignInAt, &app, &own, &u.CreatedAt, &u.UpdatedAt)
	if err != nil {
		return User{}, err
	}
	if err := errors.Join(json.Unmarshal([]byte(app), &u.AppMetadata), json.Unmarshal([]byte(own), &u.UserMetadata)); err != nil {
		return User{}, err
	}
	u.ConfirmedAt = u.EmailConfirmedAt
	u.Identities, err = identitiesOf(ctx, q, u.ID)
	return u, err
}

func identitiesOf(ctx context.Context, q db.Querier, userID string) (list []Identity, err error) {
	rows, err := q.Query(ctx, `select id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at
		from auth_identities where user_id = $1 order by created_at, id`, userID)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	list = []Identity{}
	for rows.Next() {
		var (
			i    Identity
			data string
		)
		if err := rows.Scan(&i.IdentityID, &i.ID, &i.UserID, &data, &i.Provider, &i.LastSignInAt, &i.CreatedAt, &i.UpdatedAt); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(data), &i.IdentityData); err != nil {
			return nil, err
		}
		i.Email, _ = i.IdentityData["email"].(string)
		list = append(list, i)
	}
	return list, rows.Err()
}

// swapPassword stores a new hash if the old one is still in place, and tells whether it was.
func swapPassword(ctx context.Context, q db.Querier, userID, before, after string) (bool, error) {
	n, err := q.Exec(ctx, "update auth_users set encrypted_password = $3 where id = $1 and encrypted_password = $2", userID, before, after)
	return n == 1, err
}

// setPassword returns the account's id, or db.ErrNoRows.
func setPassword(ctx context.Context, q db.Querier, email, hash string, now time.Time) (userID string, err error) {
	err = q.QueryRow(ctx, "update auth_users set encrypted_password = $2, updated_at = $3 where email = $1 returning id", email, hash, now).Scan(&userID)
	return userID, err
}

// saveConfirmedUser creates the account of an address or updates it; an empty hash leaves the password.
func saveConfirmedUser(ctx context.Context, q db.Querier, email, hash string, now time.Time) (userID string, err error) {
	err = q.QueryRow(ctx, `insert into auth_users (id, email, encrypted_password, email_confirmed_at, app_metadata, user_metadata, created_at, updated_at)
		values ($1, $2, nullif($3, ''), $4, '{"provider":"email","providers":["email"]}', '{"email_verified":true}', $4, $4)
		on conflict (email) do update set
			encrypted_password = coalesce(excluded.encrypted_password, auth_users.encrypted_password),
			email_confirmed_at = coalesce(auth_users.email_confirmed_at, excluded.email_confirmed_at),
			updated_at = excluded.updated_at
		returning id`, uuid.NewString(), email, hash, now).Scan(&userID)
	return userID, err
}

func saveEmailIdentity(ctx context.Context, q db.Querier, userID, email string, now time.Time) error {
	data, err := json.Marshal(map[string]any{"sub": userID, "email": email, "email_verified": true, "phone_verified": false})
	if err != nil {
		return err
	}
	_, err = q.Exec(ctx, `insert into auth_identities (id, user_id, provider, provider_id, identity_data, created_at, updated_at)
		values ($1, $2, 'email', $3, $4, $5, $5)
		on conflict (provider, provider_id) do update set identity_data = excluded.identity_data, updated_at = excluded.updated_at`,
		uuid.NewString(), userID, userID, string(data), now) // twice: PostgreSQL gives a parameter one type, uuid or text
	return err
}

func recordSignIn(ctx context.Context, q db.Querier, userID string, now time.Time) error {
	if _, err := q.Exec(ctx, "update auth_users set last_sign_in_at = $2, updated_at = $2 where id = $1", userID, now); err != nil {
		return err
	}
	_, err := q.Exec(ctx, "update auth_identities set last_sign_in_at = $2, updated_at = $2 where user_id = $1 and provider = 'email'", userID, now)
	return err
}

func insertSession(ctx context.Context, q db.Querier, s session, c client, now time.Time) error {
	amr, err := json.Marshal(s.amr)
	if err != nil {
		return err
	}
	_, err = q.Exec(ctx, `insert into auth_sessions (id, user_id, aal, amr, user_agent, ip, created_at, refreshed_at)
		values ($1, $2, $3, $4, $5, $6, $7, $7)`, s.id, s.userID, s.aal, string(amr), c.userAgent, c.ip, now)
	return err
}

// touchSession notes a use of the session and holds its row until the transaction ends; db.ErrNoRows when it is gone.
func touchSession(ctx context.Context, tx *db.Tx, id string, c client, now time.Time) (session, error) {
	var (
		s   session
		amr string
	)
	err := tx.QueryRow(ctx, `update auth_sessions set refreshed_at = $2, user_agent = $3, ip = $4 where id = $1
		returning id, user_id, aal, amr`, id, now, c.userAgent, c.ip).Scan(&s.id, &s.userID, &s.aal, &amr)
	if err != nil {
		return session{}, err
	}
	return s, json.Unmarshal([]byte(amr), &s.amr)
}

func sessionExists(ctx context.Context, q db.Querier, id, userID string) (found bool, err error) {
	err = q.QueryRow(ctx, "select exists (select 1 from auth_sessions where id = $1 and user_id = $2)", id, userID).Scan(&found)
	return found, err
}

// The refresh tokens of a session go with it.
func deleteSession(ctx context.Context, q db.Querier, id string) error {
	_, err := q.Exec(ctx, "delete from auth_sessions where id = $1", id)
	return err
}

func deleteSessions(ctx context.Context, q db.Querier, userID string) error {
	_, err := q.Exec(ctx, "delete from auth_sessions where user_id = $1", userID)
	return err
}

func deleteOtherSessions(ctx context.Context, q db.Querier, userID, keep string) error {
	_, err := q.Exec(ctx, "delete from auth_sessions where user_id = $1 and id <> $2", userID, keep)
	return err
}

func insertRefreshToken(ctx context.Context, q db.Querier, sessionID, hash string, generation int, now time.Time) error {
	_, err := q.Exec(ctx, "insert into auth_refresh_tokens (token_hash, session_id, generation, created_at) values ($1, $2, $3, $4)",
		hash, sessionID, generation, now)
	return err
}

// replaceRefreshToken marks a session's current token as used and puts its successor in its place.
func replaceRefreshToken(ctx context.Context, tx *db.Tx, sessionID, hash, successorHash string, generation int, now time.Time) error {
	if _, err := tx.Exec(ctx, "update auth_refresh_tokens set used_at = $2 where token_hash = $1", hash, now); err != nil {
		return err
	}
	return insertRefreshToken(ctx, tx, sessionID, successorHash, generation, now)
}

func sessionOfRefreshToken(ctx context.Context, q db.Querier, hash string) (sessionID string, err error) {
	err = q.QueryRow(ctx, "select session_id from auth_refresh_tokens where token_hash = $1", hash).Scan(&sessionID)
	return sessionID, err
}

func refreshTokenByHash(ctx context.Context, q db.Querier, hash string) (t refreshToken, err error) {
	err = q.QueryRow(ctx, `select t.generation, t.used_at, c.generation, c.token_hash from auth_refresh_tokens t
		join auth_refresh_tokens c on c.session_id = t.session_id and c.used_at is null
		where t.token_hash = $1`, hash).Scan(&t.generation, &t.usedAt, &t.currentGeneration, &t.currentHash)
	return t, err
}

func deleteFactors(ctx context.Context, q db.Querier, userID string) error {
	_, err := q.Exec(ctx, "delete from auth_factors where user_id = $1", userID)
	return err
}

func hasAdminRole(ctx context.Context, q db.Querier, userID string) (found bool, err error) {
	err = q.QueryRow(ctx, "select exists (select 1 from user_roles where user_id = $1 and role = 'admin')", userID).Scan(&found)
	return found, err
}

func hasAdminRoleThrough(ctx context.Context, q db.Querier, userID, sessionID string) (found bool, err error) {
	err = q.QueryRow(ctx, `select exists (select 1 from user_roles r join auth_sessions s on s.user_id = r.user_id
		where r.user_id = $1 and r.role = 'admin' and s.id = $2)`, userID, sessionID).Scan(&found)
	return found, err
}

// lockOwners lets one transaction at a time decide who is an owner. SQLite has one writer anyway.
func lockOwners(ctx context.Context, tx *db.Tx) error {
	if tx.Dialect != db.Postgres {
		return nil
	}
	_, err := tx.Exec(ctx, "lock table user_roles in share row exclusive mode")
	return err
}

func owners(ctx context.Context, q db.Querier) (list []Owner, err error) {
	rows, err := q.Query(ctx, `select u.id, coalesce(u.email, ''), u.created_at, u.last_sign_in_at from user_roles r
		join auth_users u on u.id = r.user_id where r.role = 'admin' order by u.email, u.id`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var o Owner
		if err := rows.Scan(&o.ID, &o.Email, &o.CreatedAt, &o.LastSignInAt); err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, rows.Err()
}

func countOwners(ctx context.Context, q db.Querier) (n int, err error) {
	err = q.QueryRow(ctx, "select count(*) from user_roles where role = 'admin'").Scan(&n)
	return n, err
}

func saveAdminRole(ctx context.Context, q db.Querier, userID string) error {
	_, err := q.Exec(ctx, "insert into user_roles (user_id, role) values ($1, 'admin') on conflict (user_id) do update set role = excluded.role", userID)
	return err
}

func deleteOwnerRole(ctx context.Context, q db.Querier, email string) (bool, error) {
	n, err := q.Exec(ctx, "delete from user_roles where role = 'admin' and user_id in (select id from auth_users where email = $1)", email)
	return n == 1, err
}

// setupLinkUsable is true for a link that is known, in time, and not overtaken by an owner.
func setupLinkUsable(ctx context.Context, q db.Querier, hash string, now time.Time) (usable bool, err error) {
	err = q.QueryRow(ctx, `select exists (select 1 from auth_setup_links where token_hash = $1 and expires_at > $2)
		and not exists (select 1 from user_roles where role = 'admin')`, hash, now).Scan(&usable)
	return usable, err
}

func insertSetupLink(ctx context.Context, q db.Querier, hash string, expires, now time.Time) error {
	_, err := q.Exec(ctx, "insert into auth_setup_links (token_hash, expires_at, created_at) values ($1, $2, $3)", hash, expires, now)
	return err
}

func deleteExpiredSetupLinks(ctx context.Context, q db.Querier, expiredAt time.Time) error {
	_, err := q.Exec(ctx, "delete from auth_setup_links where expires_at <= $1", expiredAt)
	return err
}

func deleteAllSetupLinks(ctx context.Context, q db.Querier) error {
	_, err := q.Exec(ctx, "delete from auth_setup_links")
	return err
}
