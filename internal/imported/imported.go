// Package imported declares the types that packages exchange when a Supabase project is imported. Package supabase passes the accounts to
// package auth, and the rows of tables to package tables, which returns a result for each row.
package imported

import (
	"time"

	"atelie/internal/apperr"
)

// Account is an account of another site, with the JSON keys of Supabase's admin API. An empty string or a nil time means that the account
// has no such value, or that the value is unknown.
type Account struct {
	ID               string         `json:"id"`
	Email            string         `json:"email"`
	Phone            string         `json:"phone"`
	PasswordHash     string         `json:"-"`
	EmailConfirmedAt *time.Time     `json:"email_confirmed_at"` // nil: not confirmed
	PhoneConfirmedAt *time.Time     `json:"phone_confirmed_at"`
	InvitedAt        *time.Time     `json:"invited_at"`
	LastSignInAt     *time.Time     `json:"last_sign_in_at"`
	BannedUntil      *time.Time     `json:"banned_until"`
	CreatedAt        *time.Time     `json:"created_at"`
	UpdatedAt        *time.Time     `json:"updated_at"`
	AppMetadata      map[string]any `json:"app_metadata"`
	UserMetadata     map[string]any `json:"user_metadata"`
	Identities       []Identity     `json:"identities"`
	Factors          []Factor       `json:"-"`
	HashUnknown      bool           `json:"-"` // the source does not provide password hashes
	RefusalReason    string         `json:"-"` // why the account cannot be imported; "" if it can
}

// Identity is one way in which an account signs in.
type Identity struct {
	ID           string         `json:"identity_id"`
	Provider     string         `json:"provider"`
	ProviderID   string         `json:"id"` // the provider's id for the account
	Data         map[string]any `json:"identity_data"`
	LastSignInAt *time.Time     `json:"last_sign_in_at"`
	CreatedAt    *time.Time     `json:"created_at"`
}

// Factor is a verified second factor of an account.
type Factor struct {
	ID        string     `json:"id"`
	Type      string     `json:"factor_type"`
	Name      string     `json:"friendly_name"`
	Secret    string     `json:"-"`     // secret of a TOTP factor, in base32; "" if the source does not give it
	Phone     string     `json:"phone"` // number of a phone factor
	CreatedAt *time.Time `json:"-"`
}

// RowResult is the result of an import for one row of a table.
type RowResult struct {
	Key     string        // the primary key; "" if the row has none
	Added   bool          // the row was missing and was inserted, or in a dry run would be inserted
	LeftOut []string      // names of the columns whose value the table cannot store
	Err     *apperr.Error // why the row was not added; nil if it was added, or if the site already has the row with the same content
}
