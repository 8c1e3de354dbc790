package auth

import (
	"context"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// adminUserParams is the body of two requests of the admin API, which create and update an account: POST /auth/v1/admin/users and
// PUT /auth/v1/admin/users/{user_id}. In an update, a field with its zero value changes nothing.
type adminUserParams struct {
	ID           string         `json:"id"` // id of a new account; ignored in an update
	Email        string         `json:"email"`
	Phone        string         `json:"phone"`
	Password     *string        `json:"password"`      // nil: the body has none; "" is an error in an update
	PasswordHash string         `json:"password_hash"` // for a new account, in place of Password; ignored in an update
	EmailConfirm bool           `json:"email_confirm"` // mark the e-mail address as confirmed
	PhoneConfirm bool           `json:"phone_confirm"` // mark the phone number as confirmed
	UserMetadata map[string]any `json:"user_metadata"`
	AppMetadata  map[string]any `json:"app_metadata"`
	BanDuration  string         `json:"ban_duration"` // such as "24h"; "none" and "0s" end a ban
	// Role can only be "" or "authenticated". It is read so that any other role is an error and not ignored. The role admin, which makes an
	// account an owner, is in the table user_roles and cannot be set here.
	Role string `json:"role"`
}

// validateAndNormalize converts Email and Phone to the form in which accounts store them. It returns an error with the code
// validation_failed if one of them is invalid, or if Role is neither "" nor "authenticated".
func (p *adminUserParams) validateAndNormalize() error {
	if p.Role != "" && p.Role != string(identity.Authenticated) {
		return errRoleFixed.Becausef("role %q", p.Role)
	}
	return normalizeAddresses(&p.Email, &p.Phone)
}

// parseBanDuration parses ban_duration: a Go duration such as "24h", or "none". A banned account can neither sign in nor use or refresh its
// sessions.
//   - until is when the ban ends. It is nil (no ban) for "none" and for a duration of zero.
//   - changesBan is false if text is "". The request then does not change the ban.
func parseBanDuration(text string, now time.Time) (until *time.Time, changesBan bool, err error) {
	switch text {
	case "":
		return nil, false, nil
	case "none":
		return nil, true, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil, false, errInvalid("invalid format for ban duration: %v", err)
	}
	if d == 0 {
		return nil, true, nil
	}
	return new(now.Add(d)), true, nil
}

// saveAdminIdentities creates or updates the account's identity for the e-mail address, and the one for the phone number, if
// params contains them.
func (s *Service) saveAdminIdentities(ctx context.Context, tx *db.Tx, userID string, params adminUserParams) error {
	now := s.now()
	if params.Email != "" {
		if err := saveAddressIdentity(ctx, tx, userID, "email", params.Email, params.EmailConfirm, now); err != nil {
			return err
		}
	}
	if params.Phone != "" {
		return saveAddressIdentity(ctx, tx, userID, "phone", params.Phone, params.PhoneConfirm, now)
	}
	return nil
}
