package auth

import (
	"context"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// adminUserParams is the body of the admin API's requests that create or change an account. Role can only be "authenticated",
// the role of every account. The table user_roles decides who is an administrator.
type adminUserParams struct {
	ID           string         `json:"id"` // id of a new account; ignored in changes
	Email        string         `json:"email"`
	Phone        string         `json:"phone"`
	Password     *string        `json:"password"`
	PasswordHash string         `json:"password_hash"` // for a new account only
	EmailConfirm bool           `json:"email_confirm"`
	PhoneConfirm bool           `json:"phone_confirm"`
	UserMetadata map[string]any `json:"user_metadata"`
	AppMetadata  map[string]any `json:"app_metadata"`
	BanDuration  string         `json:"ban_duration"` // see banEnd
	Role         string         `json:"role"`
}

// normalize changes the e-mail address and the phone number to the form in which accounts store them. It returns
// validation_failed when one of them is invalid, or when Role is another role than "authenticated".
func (p *adminUserParams) normalize() (err error) {
	if p.Role != "" && p.Role != string(identity.Authenticated) {
		return errRoleFixed.Becausef("role %q", p.Role)
	}
	if p.Email != "" {
		if p.Email, err = normalizeEmail(p.Email); err != nil {
			return err
		}
	}
	if p.Phone != "" {
		p.Phone, err = normalizePhone(p.Phone)
	}
	return err
}

// banEnd parses ban_duration: a Go duration such as "24h", or "none" to end a ban. until is nil when the account is not
// banned; given is false when text is "". A banned account cannot sign in, renew its sessions or use them.
func banEnd(text string, now time.Time) (until *time.Time, given bool, err error) {
	switch text {
	case "":
		return nil, false, nil
	case "none":
		return nil, true, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil, false, errBanDuration(err)
	}
	if d == 0 {
		return nil, true, nil
	}
	end := now.Add(d)
	return &end, true, nil
}

// saveAdminIdentities creates or updates the account's e-mail and phone identities with the new e-mail address and phone number.
func (s *Service) saveAdminIdentities(ctx context.Context, tx *db.Tx, userID string, p adminUserParams) error {
	now := s.now()
	if p.Email != "" {
		if err := saveIdentity(ctx, tx, userID, "email", userID, identityData(userID, "email", p.Email, p.EmailConfirm), now); err != nil {
			return err
		}
	}
	if p.Phone != "" {
		return saveIdentity(ctx, tx, userID, "phone", userID, identityData(userID, "phone", p.Phone, p.PhoneConfirm), now)
	}
	return nil
}
