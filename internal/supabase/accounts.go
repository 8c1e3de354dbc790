package supabase

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"atelie/internal/imported"
)

// This file reads the accounts of a Supabase project (the backend of a site at Supabase), for "atelie import supabase". The accounts come
// from the project's admin API, or from a dump (the text that pg_dump makes of the project's database).

// projectUser is an account in the JSON of Supabase's admin API.
type projectUser struct {
	imported.Account
	DeletedAt   *time.Time `json:"deleted_at"`
	IsAnonymous bool       `json:"is_anonymous"`
	IsSSOUser   bool       `json:"is_sso_user"`
	// AllFactors are the second factors, verified or not. Account.Factors is not in the JSON. The method account sets it to the verified
	// factors.
	AllFactors []struct {
		imported.Factor
		Status string `json:"status"`
	} `json:"factors"`
}

// account converts u to the account to import, which has only verified second factors.
func (u projectUser) account() imported.Account {
	a := u.Account
	a.HashUnknown = true // the API does not return password hashes
	a.RefusalReason = accountState{isDeleted: u.DeletedAt != nil, isAnonymous: u.IsAnonymous, isSSO: u.IsSSOUser}.refusalReason()
	if len(a.Identities) == 1 && strings.HasPrefix(a.Identities[0].Provider, "sso:") { // its only identity is single sign-on
		a.RefusalReason = accountState{isSSO: true}.refusalReason()
	}
	for _, f := range u.AllFactors {
		if f.Status == "verified" {
			a.Factors = append(a.Factors, f.Factor)
		}
	}
	return a
}

// accountState has the properties of an account that can be the reason that it is not imported.
type accountState struct{ isDeleted, isAnonymous, isSSO bool }

// refusalReason returns why an account is not imported, or "" if it is imported.
func (s accountState) refusalReason() string {
	switch {
	case s.isDeleted:
		return "it is deleted"
	case s.isAnonymous:
		return "it is anonymous"
	case s.isSSO:
		return "it belongs to single sign-on, which must be set up again (atelie sso)"
	}
	return ""
}

// Accounts implements Data: it calls yield for each account. It reads the admin API, which returns neither password hashes nor the secrets
// of second factors.
func (p *Project) Accounts(ctx context.Context, yield func(imported.Account) error) error {
	for page := 1; ; page++ {
		var response struct {
			Users []projectUser `json:"users"`
		}
		query := url.Values{"page": {strconv.Itoa(page)}, "per_page": {strconv.Itoa(batch)}}
		if err := p.json(ctx, http.MethodGet, "/auth/v1/admin/users", query, nil, &response); err != nil {
			return err
		}
		if len(response.Users) == 0 {
			return nil
		}
		for _, u := range response.Users {
			if err := yield(u.account()); err != nil {
				return err
			}
		}
	}
}

// Accounts implements Data: it calls yield for each account. It reads the tables of GoTrue, the authentication server of Supabase. It reads
// the dump twice, first the identities and second factors and then the accounts, because the tables can be in any order.
func (d *Dump) Accounts(ctx context.Context, yield func(imported.Account) error) error {
	identities, factors := map[string][]imported.Identity{}, map[string][]imported.Factor{}
	size := 0
	err := d.scan(ctx, func(t table) bool { return t.schema == "auth" && (t.name == "identities" || t.name == "mfa_factors") }, func(t table, row map[string]any) error {
		user := text(row, "user_id")
		for _, v := range row {
			value, _ := v.(string)
			size += len(value)
		}
		if size > maxRelations {
			return fmt.Errorf("the identities and second factors of the dump have more than %d MB", maxRelations>>20)
		}
		if t.name == "identities" {
			identities[user] = append(identities[user], identityOf(row))
		} else if text(row, "status") == "verified" {
			factors[user] = append(factors[user], factorOf(row))
		}
		return nil
	})
	if err != nil {
		return err
	}
	found := false
	err = d.scan(ctx, func(t table) bool {
		users := t == table{"auth", "users"}
		found = found || users
		return users
	}, func(_ table, row map[string]any) error {
		a := accountOf(row)
		a.Identities, a.Factors = identities[a.ID], factors[a.ID]
		return yield(a)
	})
	if err == nil && !found {
		return errors.New("the dump has no accounts (auth.users): make it with --schema=public --schema=auth --schema=storage")
	}
	return err
}

// text returns a text of a row, or "" for NULL and for a missing column.
func text(row map[string]any, column string) string {
	value, _ := row[column].(string)
	return value
}

// accountOf converts a row of auth.users. A time that cannot be read refuses the account: a ban or a confirmation could get lost.
func accountOf(row map[string]any) imported.Account {
	a := imported.Account{ID: text(row, "id"), Email: text(row, "email"), Phone: text(row, "phone"), PasswordHash: text(row, "encrypted_password")}
	a.RefusalReason = accountState{isDeleted: row["deleted_at"] != nil, isAnonymous: isTrue(row, "is_anonymous"), isSSO: isTrue(row, "is_sso_user")}.refusalReason()
	for column, at := range map[string]**time.Time{
		"email_confirmed_at": &a.EmailConfirmedAt, "phone_confirmed_at": &a.PhoneConfirmedAt, "invited_at": &a.InvitedAt, "last_sign_in_at": &a.LastSignInAt,
		"banned_until": &a.BannedUntil, "created_at": &a.CreatedAt, "updated_at": &a.UpdatedAt,
	} {
		var ok bool
		if *at, ok = timeOf(row, column); !ok {
			a.RefusalReason = column + " cannot be read"
		}
	}
	for column, data := range map[string]*map[string]any{"raw_app_meta_data": &a.AppMetadata, "raw_user_meta_data": &a.UserMetadata} {
		if row[column] == nil {
			continue
		}
		if err := json.Unmarshal([]byte(text(row, column)), data); err != nil {
			a.RefusalReason = column + " cannot be read"
		}
	}
	return a
}

// identityOf converts a row of auth.identities. Before 2023 the table had the provider's id in the column id.
func identityOf(row map[string]any) imported.Identity {
	i := imported.Identity{ID: text(row, "id"), Provider: text(row, "provider"), ProviderID: text(row, "provider_id")}
	if i.ProviderID == "" {
		i.ID, i.ProviderID = "", i.ID
	}
	i.LastSignInAt, _ = timeOf(row, "last_sign_in_at")
	i.CreatedAt, _ = timeOf(row, "created_at")
	if json.Unmarshal([]byte(text(row, "identity_data")), &i.Data) != nil {
		i.Data = nil // the provider sends this data again at the next sign-in
	}
	return i
}

// factorOf converts a row of auth.mfa_factors.
func factorOf(row map[string]any) imported.Factor {
	f := imported.Factor{ID: text(row, "id"), Type: text(row, "factor_type"), Name: text(row, "friendly_name"), Secret: text(row, "secret"), Phone: text(row, "phone")}
	f.CreatedAt, _ = timeOf(row, "created_at")
	return f
}

func isTrue(row map[string]any, column string) bool { return strings.HasPrefix(text(row, column), "t") }

// timeOf returns a time, or nil for NULL. ok is false if it cannot be read. PostgreSQL's infinity is the end of the year 9999.
func timeOf(row map[string]any, column string) (at *time.Time, ok bool) {
	value := text(row, column)
	if value == "" {
		return nil, true
	}
	if value == "infinity" {
		end := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
		return &end, true
	}
	for _, layout := range []string{"2006-01-02 15:04:05.999999-07", "2006-01-02 15:04:05.999999-07:00", time.RFC3339Nano} {
		if t, err := time.Parse(layout, value); err == nil {
			t = t.UTC()
			return &t, true
		}
	}
	return nil, false
}
