package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

type deleteUserRequest struct {
	ShouldSoftDelete bool `json:"should_soft_delete"`
}

// AdminDeleteUser is DELETE /auth/v1/admin/users/{user_id}, for the service key alone. A soft delete keeps the row under
// hashes in place of the addresses, which become free; sessions, factors and the role end either way. Errors:
// user_not_found; conflict for the last owner, which is ours (READING §3.34).
func (s *Service) AdminDeleteUser(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := elevated(ctx); err != nil {
		return err
	}
	var body deleteUserRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	err := s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := lockOwners(ctx, tx); err != nil {
			return err
		}
		u, err := userInPath(ctx, tx, r)
		if err != nil {
			return err
		}
		if err := s.keepAnOwner(ctx, tx, u.ID); err != nil {
			return err
		}
		if err := s.auditByKey(ctx, tx, r, auditUserDeleted, u.ID, map[string]any{"soft": body.ShouldSoftDelete}); err != nil {
			return err
		}
		if body.ShouldSoftDelete {
			return s.softDelete(ctx, tx, u.ID)
		}
		return deleteUser(ctx, tx, u.ID)
	})
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, map[string]any{})
}

// keepAnOwner refuses to lose the last administrator, within a transaction that holds lockOwners.
func (s *Service) keepAnOwner(ctx context.Context, tx *db.Tx, userID string) error {
	isOwner, err := hasOwnerRole(ctx, tx, userID)
	if err != nil || !isOwner {
		return err
	}
	owners, err := countOwners(ctx, tx)
	if err == nil && owners <= 1 {
		err = errLastOwner
	}
	return err
}

// softDelete leaves of an account its id, its times, and hashes that nobody can read an address from. Doing it again
// changes nothing.
func (s *Service) softDelete(ctx context.Context, tx *db.Tx, userID string) error {
	u, err := lockUser(ctx, tx, userID)
	if errors.Is(err, db.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	err = setUser(ctx, tx, u.ID, s.now(),
		change{colEmail, scrambled(u.ID, u.Email, 0)}, change{colPhone, scrambled(u.ID, u.Phone, scrambledPhone)},
		change{colEmailChange, nil}, change{colPhoneChange, nil}, change{colPassword, nil},
		change{colUserMetadata, map[string]any{}}, change{colAppMetadata, map[string]any{}}, change{colDeleted, s.now()})
	if err != nil {
		return err
	}
	for _, i := range u.Identities {
		if err := scrambleIdentity(ctx, tx, i.IdentityID, scrambled(u.ID, i.Provider+":"+i.ID, 0)); err != nil {
			return err
		}
	}
	return deleteTies(ctx, tx, u.ID)
}

const scrambledPhone = 15 // characters; numbers have no more

// scrambled gives a hash in place of an address, cut to a length unless that is 0, and nil for none.
func scrambled(userID, value string, length int) any {
	if value == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(userID + value))
	text := base64.RawURLEncoding.EncodeToString(sum[:])
	if length > 0 {
		text = text[:length]
	}
	return text
}
