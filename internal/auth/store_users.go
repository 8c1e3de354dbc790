package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/imported"
)

// This file reads and writes accounts (table auth_users).

// userColumns are the columns of auth_users u that userRow.scanDest reads.
const userColumns = `u.id, coalesce(u.email, ''), u.email_confirmed_at, u.invited_at, coalesce(u.phone, ''), u.phone_confirmed_at, u.confirmation_sent_at,
	u.recovery_sent_at, coalesce(u.email_change, ''), u.email_change_sent_at, coalesce(u.phone_change, ''), u.phone_change_sent_at, u.reauthentication_sent_at,
	u.last_sign_in_at, u.app_metadata, u.user_metadata, u.banned_until, u.created_at, u.updated_at, u.deleted_at, u.is_sso_user,
	coalesce(u.encrypted_password, ''), u.email_change_confirm_status`

// userRow receives the values of userColumns. toUser then parses the metadata.
type userRow struct {
	user                      User   // both metadata fields are not set
	appMetadata, userMetadata string // JSON
}

// scanDest returns the destinations for Scan: one for each column of userColumns, in the same order and with the same line breaks.
func (r *userRow) scanDest() []any {
	u := &r.user
	return []any{
		&u.ID, &u.Email, &u.EmailConfirmedAt, &u.InvitedAt, &u.Phone, &u.PhoneConfirmedAt, &u.ConfirmationSentAt,
		&u.RecoverySentAt, &u.NewEmail, &u.EmailChangeSentAt, &u.NewPhone, &u.PhoneChangeSentAt, &u.ReauthenticationSentAt,
		&u.LastSignInAt, &r.appMetadata, &r.userMetadata, &u.BannedUntil, &u.CreatedAt, &u.UpdatedAt, &u.DeletedAt, &u.isSSO,
		&u.passwordHash, &u.emailChangeStatus,
	}
}

// toUser returns the account, without identities and factors.
func (r *userRow) toUser() (User, error) {
	u := r.user
	u.Aud, u.Role = "authenticated", "authenticated" // as in every access token; owners have their role in the table user_roles
	// ConfirmedAt is the earlier of the two times, or the only time if one of them is nil.
	u.ConfirmedAt = u.EmailConfirmedAt
	if u.PhoneConfirmedAt != nil && (u.ConfirmedAt == nil || u.PhoneConfirmedAt.Before(*u.ConfirmedAt)) {
		u.ConfirmedAt = u.PhoneConfirmedAt
	}
	err := errors.Join(json.Unmarshal([]byte(r.appMetadata), &u.AppMetadata), json.Unmarshal([]byte(r.userMetadata), &u.UserMetadata))
	return u, err
}

func scanUser(row db.Row) (User, error) {
	var r userRow
	if err := row.Scan(r.scanDest()...); err != nil {
		return User{}, err
	}
	return r.toUser()
}

// accountColumns, accountRelations and accountOrder are parts of a query that reads an account u with its identities i and factors f. The
// query returns a row for each pair of an identity and a factor, usually a single row.
const (
	accountColumns   = userColumns + ", " + identityColumns + ", " + factorColumns
	accountRelations = " left join auth_identities i on i.user_id = u.id left join auth_factors f on f.user_id = u.id "
	accountOrder     = " order by i.created_at, i.id, f.created_at, f.id"
)

// accountReader reads the rows of one account: accountColumns in accountOrder, and then further columns of the query.
type accountReader struct {
	extraDest []any // destinations of the further columns; nil for none
	user      User
	found     bool // a row was read
}

func (r *accountReader) scan(row db.Row) error {
	var (
		account  userRow
		identity identityRow
		factor   factorRow
	)
	err := row.Scan(slices.Concat(account.scanDest(), identity.scanDest(), factor.scanDest(), r.extraDest)...)
	if err != nil {
		return err
	}
	u := &r.user
	if !r.found {
		if *u, err = account.toUser(); err != nil {
			return err
		}
		u.Identities, r.found = []Identity{}, true
	}
	if n := len(u.Identities); identity.id != nil && (n == 0 || u.Identities[n-1].IdentityID != *identity.id) {
		i, err := identity.toIdentity()
		if err != nil {
			return err
		}
		u.Identities = append(u.Identities, i)
	}
	if len(u.Identities) <= 1 && factor.factor.ID != "" { // the rows of the first identity name all factors
		u.Factors = append(u.Factors, factor.toFactor().Factor)
	}
	return nil
}

// account returns the account with its identities and factors, or db.ErrNoRows if there were no rows.
func (r *accountReader) account() (User, error) {
	if !r.found {
		return User{}, db.ErrNoRows
	}
	return r.user, nil
}

// readAccount runs a query for one account. extraDest are the destinations of the columns after accountColumns.
func readAccount(ctx context.Context, q db.Querier, extraDest []any, query string, args ...any) (User, error) {
	r := accountReader{extraDest: extraDest}
	_, err := db.Collect(ctx, q, func(row db.Row) (struct{}, error) { return struct{}{}, r.scan(row) }, query, args...)
	if err != nil {
		return User{}, err
	}
	return r.account()
}

// loadUser returns one account with its identities and factors, or db.ErrNoRows. where is an SQL condition in which $1 is arg.
func loadUser(ctx context.Context, q db.Querier, where string, arg any) (User, error) {
	return readAccount(ctx, q, nil, "select "+accountColumns+" from auth_users u"+accountRelations+"where "+where+accountOrder, arg)
}

// userAndSession returns an account that is not deleted, with its identities and factors, and whether it has the session and that is
// alive. sessionID may be "" for none. sessionAliveArgs are the arguments of sessionAlive.
func userAndSession(ctx context.Context, q db.Querier, userID, sessionID string, sessionAliveArgs []any) (u User, alive bool, err error) {
	u, err = readAccount(ctx, q, []any{&alive}, "select "+accountColumns+", exists (select 1 from auth_sessions s where s.id = $2 and s.user_id = u.id and "+sessionAlive(3)+
		") from auth_users u"+accountRelations+"where u.deleted_at is null and u.id = $1"+accountOrder, append([]any{userID, orNull(sessionID)}, sessionAliveArgs...)...)
	return u, alive, err
}

// userByID returns an account that is not deleted, or db.ErrNoRows.
func userByID(ctx context.Context, q db.Querier, id string) (User, error) {
	return loadUser(ctx, q, "u.deleted_at is null and u.id = $1", id)
}

// anyUserByID is userByID, but also returns deleted accounts.
func anyUserByID(ctx context.Context, q db.Querier, id string) (User, error) {
	return loadUser(ctx, q, "u.id = $1", id)
}

// userByEmail returns the account of an e-mail address, or db.ErrNoRows. It leaves out accounts of SAML single sign-on, which
// may have the same address.
func userByEmail(ctx context.Context, q db.Querier, email string) (User, error) {
	return loadUser(ctx, q, "u.deleted_at is null and not u.is_sso_user and u.email = $1", email)
}

// userByPhone returns the account of a phone number, or db.ErrNoRows.
func userByPhone(ctx context.Context, q db.Querier, phone string) (User, error) {
	return loadUser(ctx, q, "u.deleted_at is null and u.phone = $1", phone)
}

// userByLogin returns the account of a login without its identities and factors, or db.ErrNoRows.
func userByLogin(ctx context.Context, q db.Querier, l login) (User, error) {
	where, arg := "not is_sso_user and email = $1", l.email
	if l.phone != "" {
		where, arg = "phone = $1", l.phone
	}
	return scanUser(q.QueryRow(ctx, "select "+userColumns+" from auth_users u where deleted_at is null and "+where, arg))
}

// lockUser is userByID, and locks the account's row until the transaction ends, on both databases.
func lockUser(ctx context.Context, tx *db.Tx, id string) (User, error) {
	if err := db.Exec(ctx, tx, "update auth_users set updated_at = updated_at where id = $1 and deleted_at is null", id); err != nil {
		return User{}, err
	}
	return userByID(ctx, tx, id)
}

// insertUserParams describes the account that insertUser inserts. An empty string becomes NULL. EmailConfirmed, PhoneConfirmed and Invited
// become the current time if they are true.
type insertUserParams struct {
	ID                             string // "": insertUser creates one
	Email, Phone, PasswordHash     string
	EmailConfirmed, PhoneConfirmed bool
	Invited, SSO                   bool
	AppMetadata, UserMetadata      map[string]any
}

// insertUser inserts an account without identities and returns its id. It returns errEmailExists, errPhoneExists or
// errUserAlreadyExists for an address, a number or an id that is taken. On PostgreSQL such an error ends the transaction.
func insertUser(ctx context.Context, tx *db.Tx, n insertUserParams, now time.Time) (userID string, err error) {
	appMetadata, appErr := encodeMetadata(n.AppMetadata)
	userMetadata, userErr := encodeMetadata(n.UserMetadata)
	if err := errors.Join(appErr, userErr); err != nil {
		return "", err
	}
	n.ID = cmp.Or(n.ID, uuid.NewString())
	stamp := func(set bool) *time.Time {
		if !set {
			return nil
		}
		return &now
	}
	_, err = tx.Exec(ctx, `insert into auth_users (id, email, phone, encrypted_password, email_confirmed_at, phone_confirmed_at, invited_at, is_sso_user,
			app_metadata, user_metadata, created_at, updated_at)
		values ($1, nullif($2, ''), nullif($3, ''), nullif($4, ''), $5, $6, $7, $8, $9, $10, $11, $11)`,
		n.ID, n.Email, n.Phone, n.PasswordHash, stamp(n.EmailConfirmed), stamp(n.PhoneConfirmed), stamp(n.Invited), n.SSO, appMetadata, userMetadata, now)
	return n.ID, addressConflict(err)
}

// addressConflict returns the error for an address, number or id that is taken. Other errors stay unchanged.
func addressConflict(err error) error {
	if !db.IsConstraint(err, db.UniqueViolation) {
		return err
	}
	switch text := err.Error(); {
	case strings.Contains(text, "phone"):
		return errPhoneExists.Because(err)
	case strings.Contains(text, "email"):
		return errEmailExists.Because(err)
	}
	return errUserAlreadyExists.Because(err) // the request named the id
}

// columnChange is a new value for one column of auth_users.
type columnChange struct {
	column userColumn
	value  any // nil means NULL
}

// userColumn is the name of a column of auth_users.
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

// setUser updates columns of an account. It stores maps as JSON. Errors: those of metadata and addressConflict.
func setUser(ctx context.Context, q db.Querier, id string, now time.Time, changes ...columnChange) error {
	set, args := "updated_at = $2", []any{id, now}
	for _, c := range changes {
		value := c.value
		if m, ok := value.(map[string]any); ok {
			text, err := encodeMetadata(m)
			if err != nil {
				return err
			}
			value = text
		}
		args = append(args, value)
		set += fmt.Sprintf(", %s = $%d", c.column, len(args))
	}
	return addressConflict(db.Exec(ctx, q, "update auth_users set "+set+" where id = $1", args...))
}

// swapPassword replaces the password hash oldHash with newHash. It returns errPasswordReplaced if the account has
// another hash.
func swapPassword(ctx context.Context, q db.Querier, userID, oldHash, newHash string) error {
	return changeOr(ctx, q, errPasswordReplaced, "update auth_users set encrypted_password = $3 where id = $1 and encrypted_password = $2", userID, oldHash, newHash)
}

// setPassword stores the password hash of an address's account and returns the account's id, or db.ErrNoRows.
func setPassword(ctx context.Context, q db.Querier, email, passwordHash string, now time.Time) (userID string, err error) {
	return db.One[string](ctx, q, "update auth_users set encrypted_password = $2, updated_at = $3 where email = $1 and not is_sso_user returning id", email, passwordHash, now)
}

// saveConfirmedUser creates an account whose e-mail address is confirmed, or confirms the address of the existing account.
// passwordHash replaces the account's password hash unless it is "".
func saveConfirmedUser(ctx context.Context, q db.Querier, email, passwordHash string, now time.Time) (userID string, err error) {
	return db.One[string](ctx, q, `insert into auth_users (id, email, encrypted_password, email_confirmed_at, app_metadata, user_metadata, created_at, updated_at)
		values ($1, $2, nullif($3, ''), $4, '{"provider":"email","providers":["email"]}', '{"email_verified":true}', $4, $4)
		on conflict (email) where not is_sso_user do update set
			encrypted_password = coalesce(excluded.encrypted_password, auth_users.encrypted_password),
			email_confirmed_at = coalesce(auth_users.email_confirmed_at, excluded.email_confirmed_at),
			updated_at = excluded.updated_at
		returning id`, uuid.NewString(), email, passwordHash, now)
}

// listUsers returns a page of accounts with their identities and factors, and how many accounts the filter selects in all.
func listUsers(ctx context.Context, q db.Querier, p userPageRequest) (users []User, total int, err error) {
	if len(p.filter) > maxMetadataBytes { // longer than any name, and SQLite refuses long patterns
		return []User{}, 0, nil
	}
	where, args := userFilter(p.filter)
	if err := q.QueryRow(ctx, "select count(*) from auth_users"+where, args...).Scan(&total); err != nil {
		return nil, 0, err
	}
	order := "created_at desc, id"
	if p.oldestFirst {
		order = "created_at, id desc"
	}
	n := len(args)
	users, err = db.Collect(ctx, q, scanUser, fmt.Sprintf("select %s from auth_users u%s order by %s limit $%d offset $%d", userColumns, where, order, n+1, n+2),
		append(args, p.size, (p.number-1)*p.size)...)
	if err != nil {
		return nil, 0, err
	}
	return users, total, addRelations(ctx, q, users)
}

// userFilter returns an SQL clause and its arguments for userPageRequest.filter.
func userFilter(text string) (where string, args []any) {
	if text == "" {
		return "", nil
	}
	pattern := db.Fold("%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(text) + "%")
	name := "lower(user_metadata ->> 'full_name')"
	args = []any{pattern}
	if upper, lower := db.FoldTranslation(pattern); upper != "" {
		name, args = "translate("+name+", $2, $3)", append(args, upper, lower)
	}
	return ` where (email like $1 escape '\' or ` + name + ` like $1 escape '\')`, args
}

// addRelations reads the identities and factors of all accounts of a page, with two queries.
func addRelations(ctx context.Context, q db.Querier, users []User) error {
	if len(users) == 0 {
		return nil
	}
	byID, ids := make(map[string]*User, len(users)), make([]string, len(users))
	for i := range users {
		u := &users[i]
		byID[u.ID], ids[i], u.Identities = u, u.ID, []Identity{}
	}
	identities, err := identitiesOf(ctx, q, ids...)
	if err != nil {
		return err
	}
	for _, i := range identities {
		byID[i.UserID].Identities = append(byID[i.UserID].Identities, i)
	}
	factors, err := factorsOf(ctx, q, ids...)
	for _, f := range factors {
		byID[f.userID].Factors = append(byID[f.userID].Factors, f)
	}
	return err
}

// checkAddressesFree returns errEmailExists or errPhoneExists when an account has the address or the number. "" is ignored.
func checkAddressesFree(ctx context.Context, q db.Querier, email, phone string) error {
	var emailTaken, phoneTaken bool
	err := q.QueryRow(ctx, `select exists (select 1 from auth_users where email = $1 and not is_sso_user), exists (select 1 from auth_users where phone = $2)`,
		email, phone).Scan(&emailTaken, &phoneTaken)
	switch {
	case err != nil:
		return err
	case emailTaken:
		return errEmailExists
	case phoneTaken:
		return errPhoneExists
	}
	return nil
}

// deleteUser deletes an account. The database deletes everything that belongs to it.
func deleteUser(ctx context.Context, tx *db.Tx, id string) error {
	return db.Exec(ctx, tx, "delete from auth_users where id = $1", id)
}

// maxPendingChanges is for how many accounts with a pending change to the same address a code is compared. Several accounts can
// request a change to one address; the newest requests come first.
const maxPendingChanges = 5

// usersChanging returns the ids of accounts with a pending change to an address or a number, at most maxPendingChanges. column is
// colEmailChange or colPhoneChange.
func usersChanging(ctx context.Context, q db.Querier, column userColumn, value string) ([]string, error) {
	return db.Collect(ctx, q, db.ScanOne[string], fmt.Sprintf(`select id from auth_users where %[1]s = $1 and deleted_at is null
		order by %[1]s_sent_at desc, id limit $2`, column), value, maxPendingChanges)
}

// userPageRequest selects the accounts of one page of a list.
type userPageRequest struct {
	number, size int    // number of the page, from 1, and accounts per page
	oldestFirst  bool   // false: newest first
	filter       string // part of the e-mail address or of the full name in user_metadata, in upper or lower case; "" lists all accounts
}

// insertImportedUser inserts the row of an imported account, whose CreatedAt and UpdatedAt must be set. Errors: those of
// addressConflict.
func insertImportedUser(ctx context.Context, tx *db.Tx, a imported.Account) error {
	appMetadata, appErr := encodeMetadata(a.AppMetadata)
	userMetadata, userErr := encodeMetadata(a.UserMetadata)
	if err := errors.Join(appErr, userErr); err != nil {
		return err
	}
	return addressConflict(db.Exec(ctx, tx, `insert into auth_users (id, email, phone, encrypted_password, email_confirmed_at, phone_confirmed_at, invited_at, last_sign_in_at,
			banned_until, app_metadata, user_metadata, created_at, updated_at)
		values ($1, nullif($2, ''), nullif($3, ''), nullif($4, ''), $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		a.ID, a.Email, a.Phone, a.PasswordHash, a.EmailConfirmedAt, a.PhoneConfirmedAt, a.InvitedAt, a.LastSignInAt,
		a.BannedUntil, appMetadata, userMetadata, a.CreatedAt, a.UpdatedAt))
}

// insertImportedIdentity inserts an identity of an imported account. Errors: those of addressConflict.
func insertImportedIdentity(ctx context.Context, tx *db.Tx, a imported.Account, i imported.Identity) error {
	data, err := encodeMetadata(i.Data)
	if err != nil {
		return err
	}
	id, ok := canonicalUUID(i.ID)
	if !ok || id == a.ID { // older versions of Supabase Auth store the provider's id for the user here
		id = uuid.NewString()
	}
	created := cmp.Or(i.CreatedAt, a.CreatedAt)
	return addressConflict(db.Exec(ctx, tx, `insert into auth_identities (id, user_id, provider, provider_id, identity_data, last_sign_in_at, created_at, updated_at)
		values ($1, $2, $3, $4, $5, $6, $7, $7)`, id, a.ID, i.Provider, i.ProviderID, data, i.LastSignInAt, created))
}
