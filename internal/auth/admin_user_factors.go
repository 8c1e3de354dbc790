package auth

import (
	"errors"
	"net/http"
	"strings"

	"atelie/internal/db"
)

// This file handles the requests of the admin API about the second factors (authenticator apps and phone numbers) of an account. All of
// them require the service key (the API key with the role service_role).

// AdminListFactors handles GET /auth/v1/admin/users/{user_id}/factors: it returns the second factors of an account.
func (s *Service) AdminListFactors(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := requireServiceKey(ctx); err != nil {
		return err
	}
	u, err := userInPath(ctx, s.db, r)
	return respond(w, http.StatusOK, append([]Factor{}, u.Factors...), err) // [] instead of null when there are none
}

// updateFactorRequest is the body of AdminUpdateFactor. Empty fields change nothing.
type updateFactorRequest struct {
	FriendlyName string `json:"friendly_name"`
	Phone        string `json:"phone"`
}

// AdminUpdateFactor handles PUT /auth/v1/admin/users/{user_id}/factors/{factor_id}: it changes the name of a factor. For a phone factor, it
// also changes the phone number.
func (s *Service) AdminUpdateFactor(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var body updateFactorRequest
	if err := authorizeAndDecode(w, r, maxBody, &body); err != nil {
		return err
	}
	if strings.ContainsRune(body.FriendlyName, 0) { // PostgreSQL cannot store NUL; the phone number is normalized below
		return errUnstorableText
	}
	return s.changeFactor(w, r, auditFactorUpdated, func(tx *db.Tx, u User, f *Factor) error {
		if body.FriendlyName != "" {
			f.FriendlyName = body.FriendlyName
		}
		if body.Phone != "" && f.FactorType == "phone" {
			phone, err := normalizePhone(body.Phone)
			if err != nil {
				return err
			}
			f.Phone = phone
		}
		f.UpdatedAt = s.now()
		return updateFactor(ctx, tx, *f)
	})
}

// AdminDeleteFactor handles DELETE /auth/v1/admin/users/{user_id}/factors/{factor_id}: it deletes the factor. A session is at the assurance
// level aal2 after a second factor was used, and at aal1 before. Sessions that reached aal2 with the deleted factor return to aal1.
func (s *Service) AdminDeleteFactor(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := requireServiceKey(ctx); err != nil {
		return err
	}
	return s.changeFactor(w, r, auditFactorDeleted, func(tx *db.Tx, u User, f *Factor) error {
		return removeFactor(ctx, tx, u.ID, f.ID)
	})
}

// changeFactor calls change with the factor that the request's path names and the factor's account, in one transaction with the
// audit entry of the action. It responds with the factor as change has left it. Errors: user_not_found, mfa_factor_not_found.
func (s *Service) changeFactor(w http.ResponseWriter, r *http.Request, action auditAction, change func(tx *db.Tx, u User, f *Factor) error) error {
	ctx := r.Context()
	var f Factor
	err := s.db.WithTx(ctx, func(tx *db.Tx) error {
		u, err := lockUserInPath(ctx, tx, r)
		if err != nil {
			return err
		}
		if f, err = factorInPath(u, r); err != nil {
			return err
		}
		return errors.Join(
			change(tx, u, &f),
			s.auditServiceKey(ctx, tx, r, action, u.ID, map[string]any{"factor_id": f.ID, "factor_type": f.FactorType}),
		)
	})
	return respond(w, http.StatusOK, f, err)
}

// factorInPath returns the account's factor that the request's path names.
func factorInPath(u User, r *http.Request) (Factor, error) {
	id, ok := canonicalUUID(r.PathValue("factor_id"))
	if !ok {
		return Factor{}, errFactorNotUUID
	}
	f, ok := u.factor(id)
	if !ok {
		return Factor{}, errFactorNotFound.Becausef("factor %s of user %s", id, u.ID)
	}
	return f, nil
}
