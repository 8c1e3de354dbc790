package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"

	"atelie/internal/db"
)

// AdminDeleteUser handles DELETE /auth/v1/admin/users/{user_id}, and requires the service key (the API key with the role service_role).
// It deletes the account's row, or keeps the row without personal data if should_soft_delete is true. In both cases it ends the
// account's sessions and deletes its second factors and its role. Errors:
//   - user_not_found
//   - conflict: the account is the last owner (account with the role admin). Supabase Auth does not have this error.
func (s *Service) AdminDeleteUser(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var body struct {
		ShouldSoftDelete bool `json:"should_soft_delete"` // keep the row, without the personal data
	}
	if err := authorizeAndDecode(w, r, maxBody, &body); err != nil {
		return err
	}
	err := s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := lockOwners(ctx, tx); err != nil { // two concurrent requests must not delete the last two owners
			return err
		}
		u, err := userInPath(ctx, tx, r)
		if err != nil {
			return err
		}
		if err := s.refuseLastOwner(ctx, tx, u.ID); err != nil {
			return err
		}
		if err := s.auditServiceKey(ctx, tx, r, auditUserDeleted, u.ID, map[string]any{"soft": body.ShouldSoftDelete}); err != nil {
			return err
		}
		if body.ShouldSoftDelete {
			return s.softDelete(ctx, tx, u.ID)
		}
		return deleteUser(ctx, tx, u.ID)
	})
	return respondEmpty(w, err)
}

// softDelete marks an account as deleted and keeps its row. It replaces the e-mail address and the phone number with hashes, so that a new
// account can use both. If the account was soft-deleted before, or its row does not exist, softDelete does nothing.
func (s *Service) softDelete(ctx context.Context, tx *db.Tx, userID string) error {
	u, err := lockUser(ctx, tx, userID)
	if errors.Is(err, db.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	err = setUser(ctx, tx, u.ID, s.now(), // the length 0 means the whole hash
		columnChange{colEmail, anonymize(u.ID, u.Email, 0)}, columnChange{colPhone, anonymize(u.ID, u.Phone, anonymizedPhoneLength)},
		columnChange{colEmailChange, nil}, columnChange{colPhoneChange, nil}, columnChange{colPassword, nil},
		columnChange{colUserMetadata, map[string]any{}}, columnChange{colAppMetadata, map[string]any{}}, columnChange{colDeleted, s.now()})
	for _, i := range u.Identities {
		err = errors.Join(err, anonymizeIdentity(ctx, tx, i.IdentityID, anonymize(u.ID, i.Provider+":"+i.ID, 0)))
	}
	return errors.Join(
		err,
		deleteSessions(ctx, tx, u.ID),
		deleteFactors(ctx, tx, u.ID),
		deleteRows(ctx, tx, u.ID, "auth_known_devices", "user_roles"),
		deletePending(ctx, tx, u.ID),
	)
}

// anonymizedPhoneLength is the length of the hash that replaces a phone number. It is the length of the longest phone number (E.164).
const anonymizedPhoneLength = 15

// anonymize returns a hash that replaces value: an e-mail address, a phone number or the name of an identity. It returns nil when
// value is "". A length above 0 truncates the hash.
func anonymize(userID, value string, length int) any {
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
