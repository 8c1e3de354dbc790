package auth

import (
	"slices"
	"time"
)

// User is an account, in the form that Supabase's client reads. Responses do not contain the unexported fields.
type User struct {
	ID                     string         `json:"id"`
	Aud                    string         `json:"aud"`  // the aud claim of access tokens, always "authenticated"
	Role                   string         `json:"role"` // the role claim of access tokens, always "authenticated"
	Email                  string         `json:"email"`
	EmailConfirmedAt       *time.Time     `json:"email_confirmed_at,omitempty"`
	InvitedAt              *time.Time     `json:"invited_at,omitempty"`
	Phone                  string         `json:"phone"`
	PhoneConfirmedAt       *time.Time     `json:"phone_confirmed_at,omitempty"`
	ConfirmationSentAt     *time.Time     `json:"confirmation_sent_at,omitempty"`
	ConfirmedAt            *time.Time     `json:"confirmed_at,omitempty"` // the earlier of EmailConfirmedAt and PhoneConfirmedAt; nil if both are
	RecoverySentAt         *time.Time     `json:"recovery_sent_at,omitempty"`
	NewEmail               string         `json:"new_email,omitempty"` // the new address of a pending change; "": no change is pending
	EmailChangeSentAt      *time.Time     `json:"email_change_sent_at,omitempty"`
	NewPhone               string         `json:"new_phone,omitempty"` // the new number of a pending change
	PhoneChangeSentAt      *time.Time     `json:"phone_change_sent_at,omitempty"`
	ReauthenticationSentAt *time.Time     `json:"reauthentication_sent_at,omitempty"`
	LastSignInAt           *time.Time     `json:"last_sign_in_at,omitempty"`
	AppMetadata            map[string]any `json:"app_metadata"`      // only this service and programs with the service key can change it
	UserMetadata           map[string]any `json:"user_metadata"`     // the account's holder can change it, so it grants no rights
	Factors                []Factor       `json:"factors,omitempty"` // second factors
	Identities             []Identity     `json:"identities"`        // ways to sign in
	BannedUntil            *time.Time     `json:"banned_until,omitempty"`
	CreatedAt              time.Time      `json:"created_at"`
	UpdatedAt              time.Time      `json:"updated_at"`
	DeletedAt              *time.Time     `json:"deleted_at,omitempty"` // of a soft-deleted account, whose row is kept
	IsAnonymous            bool           `json:"is_anonymous"`         // always false: every account has an address, a number or a provider

	isSSO             bool   // the account belongs to a SAML identity provider and can only sign in there
	passwordHash      string // "" if the account has no password
	emailChangeStatus int    // 1 after the first of the two confirmations of an e-mail change, otherwise 0
}

// banned reports whether the account is banned at the given time.
func (u User) banned(now time.Time) bool { return u.BannedUntil != nil && now.Before(*u.BannedUntil) }

// hasVerifiedFactor reports whether the account has a second factor whose enrolment is finished.
func (u User) hasVerifiedFactor() bool {
	return slices.ContainsFunc(u.Factors, func(f Factor) bool { return f.Status == "verified" })
}

// locale returns the language of the account's metadata, such as pt-BR, or "".
func (u User) locale() string {
	locale, _ := u.UserMetadata["locale"].(string)
	return locale
}

// factor returns the account's second factor with the given id, or false if there is none.
func (u User) factor(id string) (Factor, bool) {
	i := slices.IndexFunc(u.Factors, func(f Factor) bool { return f.ID == id })
	if i < 0 {
		return Factor{}, false
	}
	return u.Factors[i], true
}

// identityOf returns the account's identity of a provider; false when it has none.
func (u User) identityOf(provider string) (Identity, bool) {
	for _, i := range u.Identities {
		if i.Provider == provider {
			return i, true
		}
	}
	return Identity{}, false
}

// Factor is a second factor, in the form that the client reads.
type Factor struct {
	ID               string     `json:"id"`
	FriendlyName     string     `json:"friendly_name,omitempty"`
	FactorType       string     `json:"factor_type"` // totp or phone
	Status           string     `json:"status"`      // unverified or verified
	Phone            string     `json:"phone,omitempty"`
	LastChallengedAt *time.Time `json:"last_challenged_at,omitempty"`
	CreatedAt        time.Time  `json:"created_at"`
	UpdatedAt        time.Time  `json:"updated_at"`

	userID string // the account that has the factor
}

// Identity is one way in which an account signs in: e-mail, phone or a provider.
type Identity struct {
	IdentityID   string         `json:"identity_id"` // UUID of the row, which UnlinkIdentity takes
	ID           string         `json:"id"`          // the provider's id for the user
	UserID       string         `json:"user_id"`
	IdentityData map[string]any `json:"identity_data,omitempty"`
	Provider     string         `json:"provider"`
	LastSignInAt *time.Time     `json:"last_sign_in_at,omitempty"`
	CreatedAt    time.Time      `json:"created_at"`
	UpdatedAt    time.Time      `json:"updated_at"`
	Email        string         `json:"email,omitempty"`
}

// login identifies an account by its e-mail address or phone number. If both are "", it matches no account.
type login struct{ email, phone string }
