package auth

import (
	"net/http"
	"slices"
	"time"

	"atelie/internal/httpx"
)

// User is an account as the client reads it. Times that are not set are left out.
type User struct {
	ID                     string         `json:"id"`
	Aud                    string         `json:"aud"`
	Role                   string         `json:"role"`
	Email                  string         `json:"email"`
	EmailConfirmedAt       *time.Time     `json:"email_confirmed_at,omitempty"`
	InvitedAt              *time.Time     `json:"invited_at,omitempty"`
	Phone                  string         `json:"phone"`
	PhoneConfirmedAt       *time.Time     `json:"phone_confirmed_at,omitempty"`
	ConfirmationSentAt     *time.Time     `json:"confirmation_sent_at,omitempty"`
	ConfirmedAt            *time.Time     `json:"confirmed_at,omitempty"`
	RecoverySentAt         *time.Time     `json:"recovery_sent_at,omitempty"`
	NewEmail               string         `json:"new_email,omitempty"`
	EmailChangeSentAt      *time.Time     `json:"email_change_sent_at,omitempty"`
	NewPhone               string         `json:"new_phone,omitempty"`
	PhoneChangeSentAt      *time.Time     `json:"phone_change_sent_at,omitempty"`
	ReauthenticationSentAt *time.Time     `json:"reauthentication_sent_at,omitempty"`
	LastSignInAt           *time.Time     `json:"last_sign_in_at,omitempty"`
	AppMetadata            map[string]any `json:"app_metadata"`
	UserMetadata           map[string]any `json:"user_metadata"`
	Factors                []Factor       `json:"factors,omitempty"`
	Identities             []Identity     `json:"identities"`
	BannedUntil            *time.Time     `json:"banned_until,omitempty"`
	CreatedAt              time.Time      `json:"created_at"`
	UpdatedAt              time.Time      `json:"updated_at"`
	DeletedAt              *time.Time     `json:"deleted_at,omitempty"`
	IsAnonymous            bool           `json:"is_anonymous"`

	isSSO bool
	hash  string // "" when the account has no password
	// emailChangeStatus counts the confirmations of an e-mail change that have arrived: 0 or 1.
	emailChangeStatus int
}

// banned tells whether the account may not sign in at the moment.
func (u User) banned(now time.Time) bool { return u.BannedUntil != nil && now.Before(*u.BannedUntil) }

// hasVerifiedFactor tells whether the account has finished setting up a second factor.
func (u User) hasVerifiedFactor() bool {
	return slices.ContainsFunc(u.Factors, func(f Factor) bool { return f.Status == "verified" })
}

// locale is the language that the account asked for in its own data, or "".
func (u User) locale() string {
	locale, _ := u.UserMetadata["locale"].(string)
	return locale
}

// Factor is a second factor as the client reads it.
type Factor struct {
	ID               string     `json:"id"`
	FriendlyName     string     `json:"friendly_name,omitempty"`
	FactorType       string     `json:"factor_type"` // totp or phone
	Status           string     `json:"status"`      // unverified or verified
	Phone            string     `json:"phone,omitempty"`
	LastChallengedAt *time.Time `json:"last_challenged_at,omitempty"`
	CreatedAt        time.Time  `json:"created_at"`
	UpdatedAt        time.Time  `json:"updated_at"`

	userID string
}

// Identity is one way in which an account signs in. ID is the provider's name for the account; IdentityID is the
// UUID that unlinking takes.
type Identity struct {
	IdentityID   string         `json:"identity_id"`
	ID           string         `json:"id"`
	UserID       string         `json:"user_id"`
	IdentityData map[string]any `json:"identity_data,omitempty"`
	Provider     string         `json:"provider"`
	LastSignInAt *time.Time     `json:"last_sign_in_at,omitempty"`
	CreatedAt    time.Time      `json:"created_at"`
	UpdatedAt    time.Time      `json:"updated_at"`
	Email        string         `json:"email,omitempty"`
}

// GetUser is GET /auth/v1/user: the caller's own account; 403 session_not_found once its session has ended.
func (s *Service) GetUser(w http.ResponseWriter, r *http.Request) error {
	user, _, err := s.signedIn(r.Context())
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, user)
}
