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
	var p adminUserParams
	if err := authorizeAndDecode(w, r, maxBody, &p); err != nil {
		return err
	}
	if p.Email == "" && p.Phone == "" {
		return errAdminIdentifierMissing
	}
	if err := p.validateAndNormalize(); err != nil {
		return err
	}
	bannedUntil, _, err := parseBanDuration(p.BanDuration, s.now()) // _: whether the request changes a ban; a new account has none to change
	if err != nil {
		return err
	}
	if p.ID != "" {
		id, ok := canonicalUUID(p.ID)
		if !ok || id == uuid.Nil.String() {
			return errCustomID.Becausef("id %q", p.ID)
		}
		p.ID = id
	}
	// This check refuses a taken e-mail address or phone number before the slow password hash is computed. Another request can still take it
	// after the check. The insertion then fails, because the columns have unique indexes.
	if err := checkAddressesFree(ctx, s.db, p.Email, p.Phone); err != nil {
		return err
	}
	hash, err := s.newAccountPasswordHash(ctx, p)
	if err != nil {
		return err
	}
	var u User
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		id, err := s.insertNewUser(ctx, tx, p, hash)
		if err != nil {
			return err
		}
		if bannedUntil != nil {
			if err := setUser(ctx, tx, id, s.now(), columnChange{colBannedUntil, bannedUntil}); err != nil {
				return err
			}
		}
		// As in Supabase Auth, the audit entry has the same action as a sign-up. It names the service key as the actor.
		if err := s.auditServiceKey(ctx, tx, r, auditSignedUp, id, nil); err != nil {
			return err
		}
		u, err = userByID(ctx, tx, id)
		return err
	})
	return respondPrivate(w, u, err)
}

// newAccountPasswordHash returns the password hash for the new account: the hash of the request's password, or the hash in the request, or
// "" if the request has neither.
func (s *Service) newAccountPasswordHash(ctx context.Context, p adminUserParams) (string, error) {
	password := ""
	if p.Password != nil {
		password = *p.Password
	}
	switch {
	case p.Password != nil && p.PasswordHash != "":
		return "", errPasswordAndHash
	case p.PasswordHash != "":
		return p.PasswordHash, validateImportedHash(p.PasswordHash)
	case password != "":
		return s.validateAndHashPassword(ctx, password)
	}
	return "", nil
}

// insertNewUser inserts the account, with an identity for its e-mail address and one for its phone number, and returns its id.
func (s *Service) insertNewUser(ctx context.Context, tx *db.Tx, p adminUserParams, hash string) (string, error) {
	now := s.now()
	var providers []any
	if p.Email != "" {
		providers = append(providers, "email")
	}
	if p.Phone != "" {
		providers = append(providers, "phone")
	}
	n := insertUserParams{
		ID: p.ID, Email: p.Email, Phone: p.Phone, Hash: hash,
		EmailConfirmed: p.EmailConfirm && p.Email != "", PhoneConfirmed: p.PhoneConfirm && p.Phone != "",
		AppMetadata:  mergeMetadata(map[string]any{"provider": providers[0], "providers": providers}, p.AppMetadata),
		UserMetadata: mergeMetadata(p.UserMetadata, nil),
	}
	if n.EmailConfirmed {
		n.UserMetadata["email_verified"] = true
	}
	id, err := insertUser(ctx, tx, n, now)
	if err != nil {
		return "", err
	}
	p.EmailConfirm, p.PhoneConfirm = false, false // as in Supabase Auth, the identities of a new account are not marked as verified
	return id, s.saveAdminIdentities(ctx, tx, id, p)
}
