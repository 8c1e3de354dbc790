package auth

import (
	"net/http"
	"slices"
	"strings"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

// AdminListFactors is GET /auth/v1/admin/users/{user_id}/factors, for the service key alone.
func (s *Service) AdminListFactors(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := elevated(ctx); err != nil {
		return err
	}
	u, err := userInPath(ctx, s.db, r)
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, append([]Factor{}, u.Factors...))
}

type updateFactorRequest struct {
	FriendlyName string `json:"friendly_name"`
	Phone        string `json:"phone"`
}

// AdminUpdateFactor is PUT /auth/v1/admin/users/{user_id}/factors/{factor_id}, for the service key alone: another name,
// and for a phone factor another number.
func (s *Service) AdminUpdateFactor(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := elevated(ctx); err != nil {
		return err
	}
	var body updateFactorRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if strings.ContainsRune(body.FriendlyName, 0) {
		return errUnreadableText
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

// AdminDeleteFactor is DELETE /auth/v1/admin/users/{user_id}/factors/{factor_id}, for the service key alone. Sessions that
// the factor raised fall back to aal1.
func (s *Service) AdminDeleteFactor(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := elevated(ctx); err != nil {
		return err
	}
	return s.changeFactor(w, r, auditFactorDeleted, func(tx *db.Tx, u User, f *Factor) error {
		return dropFactor(ctx, tx, u.ID, f.ID)
	})
}

// changeFactor finds the factor that the address names, lets act do its work and answers the factor. Errors:
// user_not_found, mfa_factor_not_found.
func (s *Service) changeFactor(w http.ResponseWriter, r *http.Request, action auditAction, act func(tx *db.Tx, u User, f *Factor) error) error {
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
		if err := act(tx, u, &f); err != nil {
			return err
		}
		return s.auditByKey(ctx, tx, r, action, u.ID, map[string]any{"factor_id": f.ID, "factor_type": f.FactorType})
	})
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, f)
}

func factorInPath(u User, r *http.Request) (Factor, error) {
	id, ok := canonicalUUID(r.PathValue("factor_id"))
	if !ok {
		return Factor{}, errFactorIDNotUUID
	}
	at := slices.IndexFunc(u.Factors, func(f Factor) bool { return f.ID == id })
	if at < 0 {
		return Factor{}, errUnknownFactor.Becausef("factor %s of user %s", id, u.ID)
	}
	return u.Factors[at], nil
}
