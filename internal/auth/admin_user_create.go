package auth

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"atelie/internal/db"
)

// AdminCreateUser handles POST /auth/v1/admin/users, and requires the service key (the API key with the role service_role). It creates an
// account and sends no mail. The body may contain the account's id. In place of a password it may contain a password hash (argon2id or
// bcrypt). Errors:
//   - email_exists, phone_exists, user_already_exists: another account has the e-mail address, the phone number or the id.
//   - weak_password: the password is too short or easy to guess.
//   - validation_failed: another field is missing or not valid.
func (s *Service) AdminCreateUser(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var params adminUserParams
	if err := authorizeAndDecode(w, r, maxBody, &params); err != nil {
		return err
	}
	if params.Email == "" && params.Phone == "" {
		return errAdminIdentifierMissing
	}
	if err := params.validateAndNormalize(); err != nil {
		return err
	}
	// The second result (whether the request changes the ban) is not needed, because a new account has no ban.
	bannedUntil, _, err := parseBanDuration(params.BanDuration, s.now())
	if err != nil {
		return err
	}
	if params.ID != "" {
		id, ok := canonicalUUID(params.ID)
		if !ok || id == uuid.Nil.String() {
			return errCustomID.Becausef("id %q", params.ID)
		}
		params.ID = id
	}
	// This check refuses a taken e-mail address or phone number before the slow password hash is computed. Another request can still take it
	// after the check. The insertion then fails, because the columns have unique indexes.
	if err := checkAddressesFree(ctx, s.db, params.Email, params.Phone); err != nil {
		return err
	}
	passwordHash, err := s.newAccountPasswordHash(ctx, params)
	if err != nil {
		return err
	}
	u, err := inTx(ctx, s.db.WithTx, func(tx *db.Tx) (User, error) {
		id, err := s.insertNewUser(ctx, tx, params, passwordHash)
		if err == nil && bannedUntil != nil {
			err = setUser(ctx, tx, id, s.now(), columnChange{colBannedUntil, bannedUntil})
		}
		if err != nil {
			return User{}, err
		}
		// As in Supabase Auth, the audit entry has the same action as a sign-up. It names the service key as the actor.
		if err := s.auditServiceKey(ctx, tx, r, auditSignedUp, id, nil); err != nil {
			return User{}, err
		}
		return userByID(ctx, tx, id)
	})
	return respondPrivate(w, u, err)
}

// newAccountPasswordHash returns the password hash for the new account: the hash of the request's password, or the hash in the request, or
// "" if the request has neither.
func (s *Service) newAccountPasswordHash(ctx context.Context, params adminUserParams) (string, error) {
	switch {
	case params.Password != nil && params.PasswordHash != "":
		return "", errPasswordAndHash
	case params.PasswordHash != "":
		return params.PasswordHash, validateImportedHash(params.PasswordHash)
	case params.Password != nil && *params.Password != "":
		return s.validateAndHashPassword(ctx, *params.Password)
	}
	return "", nil
}

// insertNewUser inserts the account, with an identity for its e-mail address and one for its phone number, and returns its id.
func (s *Service) insertNewUser(ctx context.Context, tx *db.Tx, params adminUserParams, passwordHash string) (string, error) {
	now := s.now()
	var providers []any
	if params.Email != "" {
		providers = append(providers, "email")
	}
	if params.Phone != "" {
		providers = append(providers, "phone")
	}
	n := insertUserParams{
		ID: params.ID, Email: params.Email, Phone: params.Phone, PasswordHash: passwordHash,
		EmailConfirmed: params.EmailConfirm && params.Email != "", PhoneConfirmed: params.PhoneConfirm && params.Phone != "",
		AppMetadata:  mergeMetadata(map[string]any{"provider": providers[0], "providers": providers}, params.AppMetadata),
		UserMetadata: mergeMetadata(params.UserMetadata, nil),
	}
	if n.EmailConfirmed {
		n.UserMetadata["email_verified"] = true
	}
	id, err := insertUser(ctx, tx, n, now)
	if err != nil {
		return "", err
	}
	params.EmailConfirm, params.PhoneConfirm = false, false // as in Supabase Auth, the identities of a new account are not marked as verified
	return id, s.saveAdminIdentities(ctx, tx, id, params)
}
