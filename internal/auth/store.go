package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/identity"
)

const userColumns = `id, coalesce(email, ''), email_confirmed_at, invited_at, coalesce(phone, ''), phone_confirmed_at, confirmation_sent_at, recovery_sent_at,
	coalesce(email_change, ''), email_change_sent_at, coalesce(phone_change, ''), phone_change_sent_at, reauthentication_sent_at, last_sign_in_at,
	app_metadata, user_metadata, banned_until, created_at, updated_at, deleted_at, is_sso_user, coalesce(encrypted_password, ''), email_change_confirm_status`

func scanUser(row db.Row) (User, error) {
	u := User{Aud: "authenticated", Role: "authenticated"}
	var app, own string
	err := row.Scan(&u.ID, &u.Email, &u.EmailConfirmedAt, &u.InvitedAt, &u.Phone, &u.PhoneConfirmedAt, &u.ConfirmationSentAt, &u.RecoverySentAt,
		&u.NewEmail, &u.EmailChangeSentAt, &u.NewPhone, &u.PhoneChangeSentAt, &u.ReauthenticationSentAt, &u.LastSignInAt,
		&app, &own, &u.BannedUntil, &u.CreatedAt, &u.UpdatedAt, &u.DeletedAt, &u.isSSO, &u.hash, &u.emailChangeStatus)
	if err != nil {
		return User{}, err
	}
	u.ConfirmedAt = u.EmailConfirmedAt
	if u.PhoneConfirmedAt != nil && (u.ConfirmedAt == nil || u.PhoneConfirmedAt.Before(*u.ConfirmedAt)) {
		u.ConfirmedAt = u.PhoneConfirmedAt
	}
	return u, errors.Join(json.Unmarshal([]byte(app), &u.AppMetadata), json.Unmarshal([]byte(own), &u.UserMetadata))
}

// loadUser reads one account with its identities and factors; db.ErrNoRows when there is none, or it was deleted.
func loadUser(ctx context.Context, q db.Querier, where string, arg any) (User, error) {
	u, err := scanUser(q.QueryRow(ctx, "select "+userColumns+" from auth_users where deleted_at is null and "+where, arg))
	if err != nil {
		return User{}, err
	}
	return withTies(ctx, q, u)
}

// withTies adds identities and factors.
func withTies(ctx context.Context, q db.Querier, u User) (User, error) {
	var err error
	if u.Identities, err = identitiesOf(ctx, q, u.ID); err != nil {
		return User{}, err
	}
	u.Factors, err = factorsOf(ctx, q, u.ID)
	return u, err
}

// userByID returns db.ErrNoRows when there is no such account.
func userByID(ctx context.Context, q db.Querier, id string) (User, error) {
	return loadUser(ctx, q, "id = $1", id)
}

// userByEmail finds the account of an address that is not an identity provider's; db.ErrNoRows without one.
func userByEmail(ctx context.Context, q db.Querier, email string) (User, error) {
	return loadUser(ctx, q, "not is_sso_user and email = $1", email)
}

// userByPhone returns db.ErrNoRows when no account has the number.
func userByPhone(ctx context.Context, q db.Querier, phone string) (User, error) {
	return loadUser(ctx, q, "phone = $1", phone)
}

// credentials reads the account that a password is shown for, without its identities; db.ErrNoRows when there is none.
func credentials(ctx context.Context, q db.Querier, l login) (User, error) {
	where, arg := "not is_sso_user and email = $1", l.email
	if l.phone != "" {
		where, arg = "phone = $1", l.phone
	}
	return scanUser(q.QueryRow(ctx, "select "+userColumns+" from auth_users where deleted_at is null and "+where, arg))
}

// lockUser is userByID that holds the account's row until the transaction ends, on both engines.
func lockUser(ctx context.Context, tx *db.Tx, id string) (User, error) {
	if n, err := tx.Exec(ctx, "update auth_users set updated_at = updated_at where id = $1 and deleted_at is null", id); err != nil {
		return User{}, err
	} else if n == 0 {
		return User{}, db.ErrNoRows
	}
	return userByID(ctx, tx, id)
}

// newUser is an account to be made. Empty fields stay unset.
type newUser struct {
	ID                             string // made when empty
	Email, Phone, Hash             string
	EmailConfirmed, PhoneConfirmed bool
	Invited, SSO                   bool
	AppMetadata, UserMetadata      map[string]any
}

// insertUser makes an account without identities. It returns errEmailExists or errPhoneExists for an address that is
// taken; on PostgreSQL the transaction is then over.
func insertUser(ctx context.Context, tx *db.Tx, n newUser, now time.Time) (userID string, err error) {
	app, err := metadata(n.AppMetadata)
	if err != nil {
		return "", err
	}
	own, err := metadata(n.UserMetadata)
	if err != nil {
		return "", err
	}
	if n.ID == "" {
		n.ID = uuid.NewString()
	}
	stamp := func(set bool) *time.Time {
		if !set {
			return nil
		}
		return &now
	}
	_, err = tx.Exec(ctx, `insert into auth_users (id, email, phone, encrypted_password, email_confirmed_at, phone_confirmed_at, invited_at, is_sso_user,
			app_metadata, user_metadata, created_at, updated_at)
		values ($1, nullif($2, ''), nullif($3, ''), nullif($4, ''), $5, $6, $7, $8, $9, $10, $11, $11)`,
		n.ID, n.Email, n.Phone, n.Hash, stamp(n.EmailConfirmed), stamp(n.PhoneConfirmed), stamp(n.Invited), n.SSO, app, own, now)
	return n.ID, taken(err)
}

// taken says which address of an account exists already.
func taken(err error) error {
	if !db.IsConstraint(err, db.UniqueViolation) {
		return err
	}
	switch text := err.Error(); {
	case strings.Contains(text, "phone"):
		return errPhoneExists.Because(err)
	case strings.Contains(text, "email"):
		return errEmailExists.Because(err)
	}
	return errUserAlreadyExists.Because(err) // an id that was brought along
}

// change is a new value for one column of auth_users. nil empties the column.
type change struct {
	column userColumn
	value  any
}

type userColumn string

// The columns that setUser writes.
const (
	colEmail             userColumn = "email"
	colPhone             userColumn = "phone"
	colPassword          userColumn = "encrypted_password"
	colEmailConfirmed    userColumn = "email_confirmed_at"
	colPhoneConfirmed    userColumn = "phone_confirmed_at"
	colInvited           userColumn = "invited_at"
	colConfirmationSent  userColumn = "confirmation_sent_at"
	colRecoverySent      userColumn = "recovery_sent_at"
	colReauthSent        userColumn = "reauthentication_sent_at"
	colEmailChange       userColumn = "email_change"
	colEmailChangeSent   userColumn = "email_change_sent_at"
	colEmailChangeStatus userColumn = "email_change_confirm_status"
	colPhoneChange       userColumn = "phone_change"
	colPhoneChangeSent   userColumn = "phone_change_sent_at"
	colAppMetadata       userColumn = "app_metadata"
	colUserMetadata      userColumn = "user_metadata"
	colBannedUntil       userColumn = "banned_until"
	colDeleted           userColumn = "deleted_at"
)

// setUser writes columns of an account; maps are stored as JSON. Errors as insertUser.
func setUser(ctx context.Context, q db.Querier, id string, now time.Time, changes ...change) error {
	set, args := "updated_at = $2", []any{id, now}
	for _, c := range changes {
		value := c.value
		if m, ok := value.(map[string]any); ok {
			text, err := metadata(m)
			if err != nil {
				return err
			}
			value = text
		}
		args = append(args, value)
		set += fmt.Sprintf(", %s = $%d", c.column, len(args))
	}
	_, err := q.Exec(ctx, "update auth_users set "+set+" where id = $1", args...)
	return taken(err)
}

// factorsOf gives the second factors of one account or more, oldest first.
func factorsOf(ctx context.Context, q db.Querier, userIDs ...string) (list []Factor, err error) {
	where, args := oneOf(userIDs)
	rows, err := q.Query(ctx, `select id, user_id, coalesce(friendly_name, ''), factor_type, status, coalesce(phone, ''), last_challenged_at, created_at, updated_at
		from auth_factors where `+where+` order by created_at, id`, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var f Factor
		if err := rows.Scan(&f.ID, &f.userID, &f.FriendlyName, &f.FactorType, &f.Status, &f.Phone, &f.LastChallengedAt, &f.CreatedAt, &f.UpdatedAt); err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, rows.Err()
}

// identitiesOf gives the identities of one account or more, oldest first.
func identitiesOf(ctx context.Context, q db.Querier, userIDs ...string) (list []Identity, err error) {
	where, args := oneOf(userIDs)
	rows, err := q.Query(ctx, `select id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at
		from auth_identities where `+where+` order by created_at, id`, args...)
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
	err = q.QueryRow(ctx, "update auth_users set encrypted_password = $2, updated_at = $3 where email = $1 and not is_sso_user returning id", email, hash, now).Scan(&userID)
	return userID, err
}

// saveConfirmedUser creates the account of an address or updates it; an empty hash leaves the password.
func saveConfirmedUser(ctx context.Context, q db.Querier, email, hash string, now time.Time) (userID string, err error) {
	err = q.QueryRow(ctx, `insert into auth_users (id, email, encrypted_password, email_confirmed_at, app_metadata, user_metadata, created_at, updated_at)
		values ($1, $2, nullif($3, ''), $4, '{"provider":"email","providers":["email"]}', '{"email_verified":true}', $4, $4)
		on conflict (email) where not is_sso_user do update set
			encrypted_password = coalesce(excluded.encrypted_password, auth_users.encrypted_password),
			email_confirmed_at = coalesce(auth_users.email_confirmed_at, excluded.email_confirmed_at),
			updated_at = excluded.updated_at
		returning id`, uuid.NewString(), email, hash, now).Scan(&userID)
	return userID, err
}

func saveEmailIdentity(ctx context.Context, q db.Querier, userID, email string, now time.Time) error {
	return saveIdentity(ctx, q, userID, "email", userID, map[string]any{"sub": userID, "email": email, "email_verified": true, "phone_verified": false}, now)
}

// saveIdentity ties an account to the name that a provider has for it, or renews what the provider says. An identity
// never moves from one account to another: then nothing is written and errIdentityExists returned.
func saveIdentity(ctx context.Context, q db.Querier, userID, provider, providerID string, data map[string]any, now time.Time) error {
	text, err := metadata(data)
	if err != nil {
		return err
	}
	n, err := q.Exec(ctx, `insert into auth_identities (id, user_id, provider, provider_id, identity_data, created_at, updated_at)
		values ($1, $2, $3, $4, $5, $6, $6)
		on conflict (provider, provider_id) do update set identity_data = excluded.identity_data, updated_at = excluded.updated_at
			where auth_identities.user_id = excluded.user_id`,
		uuid.NewString(), userID, provider, providerID, text, now)
	if err == nil && n == 0 {
		err = errIdentityExists
	}
	return err
}

// identityOwner returns db.ErrNoRows when nobody signs in under this name of the provider's.
func identityOwner(ctx context.Context, q db.Querier, provider, providerID string) (userID string, err error) {
	err = q.QueryRow(ctx, "select user_id from auth_identities where provider = $1 and provider_id = $2", provider, providerID).Scan(&userID)
	return userID, err
}

// recordSignIn notes the time, also at the identity that was used.
func recordSignIn(ctx context.Context, q db.Querier, userID, provider string, now time.Time) error {
	if _, err := q.Exec(ctx, "update auth_users set last_sign_in_at = $2, updated_at = $2 where id = $1", userID, now); err != nil {
		return err
	}
	_, err := q.Exec(ctx, "update auth_identities set last_sign_in_at = $2, updated_at = $2 where user_id = $1 and provider = $3", userID, now, provider)
	return err
}

func insertSession(ctx context.Context, q db.Querier, s session, c client, now time.Time) error {
	amr, err := json.Marshal(s.amr)
	if err != nil {
		return err
	}
	_, err = q.Exec(ctx, `insert into auth_sessions (id, user_id, aal, amr, user_agent, ip, not_after, created_at, refreshed_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $8)`, s.id, s.userID, s.aal, string(amr), c.userAgent, c.ip, s.notAfter, now)
	return err
}

// touchSession notes a use of the session and holds its row until the transaction ends; db.ErrNoRows when it is gone.
func touchSession(ctx context.Context, tx *db.Tx, id string, c client, now time.Time) (session, error) {
	var (
		s   session
		amr string
	)
	err := tx.QueryRow(ctx, `update auth_sessions set refreshed_at = $2, user_agent = $3, ip = $4 where id = $1
		returning id, user_id, aal, amr, not_after`, id, now, c.userAgent, c.ip).Scan(&s.id, &s.userID, &s.aal, &amr, &s.notAfter)
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

// deleteFactors takes the recovery codes along.
func deleteFactors(ctx context.Context, q db.Querier, userID string) error {
	if _, err := q.Exec(ctx, "delete from auth_factors where user_id = $1", userID); err != nil {
		return err
	}
	return deleteRecoveryCodes(ctx, q, userID)
}

const hasNoFactor = "not exists (select 1 from auth_factors f where f.user_id = r.user_id and f.status = 'verified')"

// ableAdmin picks the role of account $1 when it is an administrator's that is not banned at $2.
const ableAdmin = `select 1 from user_roles r join auth_users u on u.id = r.user_id and (u.banned_until is null or u.banned_until <= $2)
	where r.user_id = $1 and r.role = 'admin' and `

// hasAdminRole is for tokens without a session: with a second factor they are not enough.
func hasAdminRole(ctx context.Context, q db.Querier, userID string, now time.Time) (found bool, err error) {
	err = q.QueryRow(ctx, "select exists ("+ableAdmin+hasNoFactor+")", userID, now).Scan(&found)
	return found, err
}

// hasAdminRoleThrough asks the session's row for the level besides what the token claims: that may be old.
func hasAdminRoleThrough(ctx context.Context, q db.Querier, userID, sessionID, claimed string, now time.Time) (found bool, err error) {
	err = q.QueryRow(ctx, "select exists ("+ableAdmin+`exists (select 1 from auth_sessions s
		where s.user_id = r.user_id and s.id = $3 and (s.aal = 'aal2' and $4 = 'aal2' or `+hasNoFactor+")))", userID, now, sessionID, claimed).Scan(&found)
	return found, err
}

// standingQuestion asks for one identity.Standing; ids are in their canonical spelling.
type standingQuestion struct {
	Index   int     `json:"i"`
	User    string  `json:"u"`
	Session *string `json:"s"`
	AAL     string  `json:"l"`
}

// standings fills in the answers at the index of each question. The rules are those of hasAdminRoleThrough.
func standings(ctx context.Context, d *db.DB, asked []standingQuestion, now time.Time, list []identity.Standing) (err error) {
	text, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	given := "(select value ->> 'i' as i, value ->> 'u' as u, value ->> 's' as s, value ->> 'l' as l from json_each($1)) g"
	if d.Dialect == db.Postgres {
		given = "jsonb_to_recordset($1::text::jsonb) as g(i int, u uuid, s uuid, l text)"
	}
	const banned = "exists (select 1 from auth_users u where u.id = g.u and u.banned_until > $2)"
	rows, err := d.Query(ctx, `select g.i, not `+banned+` and (g.s is null or exists (select 1 from auth_sessions s
			where s.id = g.s and s.user_id = g.u and (s.not_after is null or s.not_after > $2))) as alive,
		exists (select 1 from user_roles r where r.user_id = g.u and r.role = 'admin' and (`+hasNoFactor+` or g.l = 'aal2'
			and exists (select 1 from auth_sessions s where s.id = g.s and s.aal = 'aal2'))) as admin
		from `+given, string(text), now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var (
			i            int
			alive, admin bool
		)
		if err := rows.Scan(&i, &alive, &admin); err != nil {
			return err
		}
		list[i] = identity.Standing{Alive: alive, Admin: alive && admin}
	}
	return rows.Err()
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
	rows, err := q.Query(ctx, `select u.id, coalesce(u.email, ''), u.user_metadata, u.created_at, u.last_sign_in_at from user_roles r
		join auth_users u on u.id = r.user_id where r.role = 'admin' order by u.email, u.id`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var (
			o        Owner
			metadata string
			u        User
		)
		if err := rows.Scan(&o.ID, &o.Email, &metadata, &o.CreatedAt, &o.LastSignInAt); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(metadata), &u.UserMetadata); err != nil {
			return nil, fmt.Errorf("user metadata of %s: %w", o.ID, err)
		}
		o.Language = baseLanguage(u.locale())
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
