package auth

import (
	"context"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/crypto/bcrypt"

	"atelie/internal/db"
)

// adminUserParams describe an account to be made or changed. A role is not read: user_roles alone says who is an
// administrator (spec §6).
type adminUserParams struct {
	ID           string         `json:"id"`
	Email        string         `json:"email"`
	Phone        string         `json:"phone"`
	Password     *string        `json:"password"`
	PasswordHash string         `json:"password_hash"` // for a new account only
	EmailConfirm bool           `json:"email_confirm"`
	PhoneConfirm bool           `json:"phone_confirm"`
	UserMetadata map[string]any `json:"user_metadata"`
	AppMetadata  map[string]any `json:"app_metadata"`
	BanDuration  string         `json:"ban_duration"`
}

// normalize brings the addresses into the form in which they are stored.
func (p *adminUserParams) normalize() (err error) {
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

// AdminCreateUser is POST /auth/v1/admin/users, for the service key alone: an account without any mail. It may bring
// its id and, instead of a password, the hash of one (argon2id or bcrypt). Errors: email_exists, phone_exists,
// user_already_exists for an id, weak_password, validation_failed.
func (s *Service) AdminCreateUser(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := elevated(ctx); err != nil {
		return err
	}
	var p adminUserParams
	if err := decode(w, r, &p); err != nil {
		return err
	}
	if p.Email == "" && p.Phone == "" {
		return errAdminNeedsAddress
	}
	if err := p.normalize(); err != nil {
		return err
	}
	bannedUntil, _, err := banEnd(p.BanDuration, s.now())
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
	// Looked at before the costly hash; what counts is the database's answer.
	if err := addressesFree(ctx, s.db, p.Email, p.Phone); err != nil {
		return err
	}
	hash, err := s.adminHash(ctx, p)
	if err != nil {
		return err
	}
	var u User
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		id, err := s.adminInsert(ctx, tx, p, hash)
		if err != nil {
			return err
		}
		if bannedUntil != nil {
			if err := setUser(ctx, tx, id, s.now(), change{colBannedUntil, bannedUntil}); err != nil {
				return err
			}
		}
		if err := s.auditByKey(ctx, tx, r, auditUserCreated, id, nil); err != nil {
			return err
		}
		u, err = userByID(ctx, tx, id)
		return err
	})
	if err != nil {
		return err
	}
	return answerUser(w, u)
}

// adminHash gives the hash of the new account's password, "" without one.
func (s *Service) adminHash(ctx context.Context, p adminUserParams) (string, error) {
	password := ""
	if p.Password != nil {
		password = *p.Password
	}
	switch {
	case p.Password != nil && p.PasswordHash != "":
		return "", errPasswordAndHash
	case p.PasswordHash != "":
		return p.PasswordHash, importable(p.PasswordHash)
	case password != "":
		return s.newHash(ctx, password)
	}
	return "", nil
}

// importable refuses a hash that no password could ever be compared with.
func importable(hash string) error {
	if strings.HasPrefix(hash, "$2") {
		cost, err := bcrypt.Cost([]byte(hash))
		if err != nil || cost > maxBcryptCost || len(hash) != bcryptLength {
			return errPasswordHash.Becausef("bcrypt of cost %d: %v", cost, err)
		}
		return nil
	}
	if _, err := parseArgonHash(hash); err != nil {
		return errPasswordHash.Because(err)
	}
	return nil
}

const bcryptLength = 60 // characters of every bcrypt hash

// adminInsert writes the account with an identity for each of its addresses.
func (s *Service) adminInsert(ctx context.Context, tx *db.Tx, p adminUserParams, hash string) (string, error) {
	now := s.now()
	var providers []any
	if p.Email != "" {
		providers = append(providers, "email")
	}
	if p.Phone != "" {
		providers = append(providers, "phone")
	}
	n := newUser{
		ID: p.ID, Email: p.Email, Phone: p.Phone, Hash: hash,
		EmailConfirmed: p.EmailConfirm && p.Email != "", PhoneConfirmed: p.PhoneConfirm && p.Phone != "",
		AppMetadata:  merged(map[string]any{"provider": providers[0], "providers": providers}, p.AppMetadata),
		UserMetadata: merged(p.UserMetadata, nil),
	}
	if n.EmailConfirmed {
		n.UserMetadata["email_verified"] = true
	}
	id, err := insertUser(ctx, tx, n, now)
	if err != nil {
		return "", err
	}
	if p.Email != "" {
		if err := saveIdentity(ctx, tx, id, "email", id, identityData(id, "email", p.Email, false), now); err != nil {
			return "", err
		}
	}
	if p.Phone != "" {
		if err := saveIdentity(ctx, tx, id, "phone", id, identityData(id, "phone", p.Phone, false), now); err != nil {
			return "", err
		}
	}
	return id, nil
}

// identityData is what an identity of our own says: kind is email or phone, which may be proven.
func identityData(userID, kind, address string, verified bool) map[string]any {
	return map[string]any{"sub": userID, kind: address, "email_verified": kind == "email" && verified, "phone_verified": kind == "phone" && verified}
}
