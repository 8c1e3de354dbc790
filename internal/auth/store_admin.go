package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"atelie/internal/db"
)

// anyUserByID is userByID that finds deleted accounts too.
func anyUserByID(ctx context.Context, q db.Querier, id string) (User, error) {
	u, err := scanUser(q.QueryRow(ctx, "select "+userColumns+" from auth_users where id = $1", id))
	if err != nil {
		return User{}, err
	}
	return withTies(ctx, q, u)
}

// listUsers gives a page of accounts with their identities and factors, and how many the filter leaves in all.
func listUsers(ctx context.Context, q db.Querier, p userPage) (users []User, total int64, err error) {
	where, args := userFilter(p.filter)
	if err := q.QueryRow(ctx, "select count(*) from auth_users"+where, args...).Scan(&total); err != nil {
		return nil, 0, err
	}
	order := "created_at desc, id"
	if p.oldestFirst {
		order = "created_at, id desc"
	}
	n := len(args)
	rows, err := q.Query(ctx, fmt.Sprintf("select %s from auth_users%s order by %s limit $%d offset $%d", userColumns, where, order, n+1, n+2),
		append(args, p.size, (p.number-1)*p.size)...)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	users = []User{}
	for rows.Next() {
		u, err := scanUser(rows)
		if err != nil {
			return nil, 0, err
		}
		users = append(users, u)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, 0, err
	}
	return users, total, addTies(ctx, q, users)
}

// userFilter finds the text anywhere in the address or the full name, without regard to case.
func userFilter(text string) (where string, args []any) {
	if text == "" {
		return "", nil
	}
	pattern := db.Fold("%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(text) + "%")
	name := "lower(user_metadata ->> 'full_name')"
	args = []any{pattern}
	if capitals, small := db.FoldLetters(pattern); capitals != "" {
		name, args = "translate("+name+", $2, $3)", append(args, capitals, small)
	}
	return ` where (email like $1 escape '\' or ` + name + ` like $1 escape '\')`, args
}

// addTies adds identities and factors to a page of accounts, with two queries for all of them.
func addTies(ctx context.Context, q db.Querier, users []User) error {
	if len(users) == 0 {
		return nil
	}
	at, ids := make(map[string]int, len(users)), make([]string, len(users))
	for i, u := range users {
		at[u.ID], ids[i] = i, u.ID
		users[i].Identities = []Identity{}
	}
	identities, err := identitiesOf(ctx, q, ids...)
	if err != nil {
		return err
	}
	for _, i := range identities {
		u := &users[at[i.UserID]]
		u.Identities = append(u.Identities, i)
	}
	factors, err := factorsOf(ctx, q, ids...)
	for _, f := range factors {
		u := &users[at[f.userID]]
		u.Factors = append(u.Factors, f)
	}
	return err
}

// oneOf writes a condition on user_id for one account or more.
func oneOf(userIDs []string) (where string, args []any) {
	marks := make([]string, len(userIDs))
	args = make([]any, len(userIDs))
	for i, id := range userIDs {
		marks[i], args[i] = fmt.Sprintf("$%d", i+1), id
	}
	return "user_id in (" + strings.Join(marks, ", ") + ")", args
}

// addressesFree returns errEmailExists or errPhoneExists when an account has the address. Empty ones are not looked at.
func addressesFree(ctx context.Context, q db.Querier, email, phone string) error {
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

func hasOwnerRole(ctx context.Context, q db.Querier, userID string) (found bool, err error) {
	err = q.QueryRow(ctx, "select exists (select 1 from user_roles where user_id = $1 and role = 'admin')", userID).Scan(&found)
	return found, err
}

// deleteUser takes the account away with all that belongs to it.
func deleteUser(ctx context.Context, tx *db.Tx, id string) error {
	_, err := tx.Exec(ctx, "delete from auth_users where id = $1", id)
	return err
}

// deleteTies takes away what a deleted account may still be used through, and what tells of its owner.
func deleteTies(ctx context.Context, tx *db.Tx, userID string) error {
	for _, query := range []string{
		"delete from auth_sessions where user_id = $1",
		"delete from auth_factors where user_id = $1",
		"delete from auth_recovery_codes where user_id = $1",
		"delete from auth_known_devices where user_id = $1",
		"delete from user_roles where user_id = $1",
	} {
		if _, err := tx.Exec(ctx, query, userID); err != nil {
			return err
		}
	}
	return deleteUnderWay(ctx, tx, userID)
}

// deleteUnderWay takes away every link and code that was sent for an account, and flows that could still open a session
// or add an identity to it.
func deleteUnderWay(ctx context.Context, q db.Querier, userID string) error {
	if _, err := q.Exec(ctx, "delete from auth_one_time_tokens where user_id = $1", userID); err != nil {
		return err
	}
	return deleteFlowsOf(ctx, q, userID)
}

// scrambleIdentity leaves of an identity the provider's name alone.
func scrambleIdentity(ctx context.Context, tx *db.Tx, id string, hash any) error {
	_, err := tx.Exec(ctx, "update auth_identities set identity_data = '{}', provider_id = $2 where id = $1", id, hash)
	return err
}

func updateFactor(ctx context.Context, tx *db.Tx, f Factor) error {
	_, err := tx.Exec(ctx, "update auth_factors set friendly_name = nullif($2, ''), phone = nullif($3, ''), updated_at = $4 where id = $1",
		f.ID, f.FriendlyName, f.Phone, f.UpdatedAt)
	return err
}
