package auth

import (
	"context"
	"errors"
	"net/http"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// elevated refuses everybody but the holder of the service key: an owner's own token is not the elevated key (READING §2).
func elevated(ctx context.Context) error {
	if caller := identity.Of(ctx); caller.Role != identity.Service {
		return errNotAdmin.Becausef("role %q, user %q", caller.Role, caller.UserID)
	}
	return nil
}

// byServiceKey marks audit entries of what the holder of the service key did to an account.
const byServiceKey = "service_role"

// auditByKey keeps what the holder of the service key did to an account.
func (s *Service) auditByKey(ctx context.Context, q db.Querier, r *http.Request, action auditAction, userID string, detail map[string]any) error {
	if detail == nil {
		detail = map[string]any{}
	}
	detail["actor"] = byServiceKey
	return s.audit(ctx, q, clientOf(r), action, userID, detail)
}

// userInPath gives the account that the address names, deleted ones too: they stay visible to the service key. Errors:
// 404 validation_failed, 404 user_not_found.
func userInPath(ctx context.Context, q db.Querier, r *http.Request) (User, error) {
	id, ok := canonicalUUID(r.PathValue("user_id"))
	if !ok {
		return User{}, errUserIDNotUUID
	}
	u, err := anyUserByID(ctx, q, id)
	if errors.Is(err, db.ErrNoRows) {
		return User{}, errUnknownUser.Becausef("user %s", id)
	}
	return u, err
}

// lockUserInPath is userInPath that holds the account's row until the transaction ends; deleted accounts are not found.
func lockUserInPath(ctx context.Context, tx *db.Tx, r *http.Request) (User, error) {
	id, ok := canonicalUUID(r.PathValue("user_id"))
	if !ok {
		return User{}, errUserIDNotUUID
	}
	u, err := lockUser(ctx, tx, id)
	if errors.Is(err, db.ErrNoRows) {
		return User{}, errUnknownUser.Becausef("user %s", id)
	}
	return u, err
}

// merged puts changes into metadata; null takes a name away.
func merged(before, changes map[string]any) map[string]any {
	after := make(map[string]any, len(before)+len(changes))
	for name, value := range before {
		after[name] = value
	}
	for name, value := range changes {
		if value == nil {
			delete(after, name)
		} else {
			after[name] = value
		}
	}
	return after
}
