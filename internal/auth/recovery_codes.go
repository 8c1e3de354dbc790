package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

// Recovery codes are our addition: Supabase Auth has none, and an owner who has lost the phone must get in without the
// host (READING §3.17). They are made and shown once; each opens one session.
const (
	recoveryCodes    = 10
	recoveryAlphabet = "23456789abcdefghjkmnpqrstuvwxyz0" // 32 letters, none of them 1, i, l or o
	recoveryHalf     = 5                                  // letters on each side of the dash: 50 bits in all
)

// newRecoveryCode gives two groups of letters with a dash between.
func newRecoveryCode() string {
	b := make([]byte, 2*recoveryHalf)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	for i := range b {
		b[i] = recoveryAlphabet[int(b[i])%len(recoveryAlphabet)] // 256 is a multiple of 32: no letter is likelier
	}
	return string(b[:recoveryHalf]) + "-" + string(b[recoveryHalf:])
}

// hashRecoveryCode takes a code as a person types it: case, blanks and dashes do not count, an o is a zero.
func (s *Service) hashRecoveryCode(userID, code string) string {
	code = strings.NewReplacer("-", "", " ", "", "o", "0").Replace(strings.ToLower(strings.TrimSpace(code)))
	mac := hmac.New(sha256.New, s.cfg.CodeKey)
	mac.Write([]byte("recovery code\n" + userID + "\n" + code))
	return hex.EncodeToString(mac.Sum(nil))
}

type recoveryCodesBody struct {
	Codes []string `json:"codes"`
}

// MakeRecoveryCodes is POST /auth/v1/factors/recovery_codes: ten new codes in place of all older ones, shown this once.
// It needs aal2.
func (s *Service) MakeRecoveryCodes(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	user, in, err := s.inSession(ctx)
	if err != nil {
		return err
	}
	if err := s.limit(w, r, "auth recovery codes", user.ID, factorCallsPerAccount); err != nil {
		return err
	}
	codes := make([]string, recoveryCodes)
	for i := range codes {
		codes[i] = newRecoveryCode()
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		user, current, err := lockAccount(ctx, tx, in)
		if err != nil {
			return err
		}
		switch {
		case !user.hasVerifiedFactor():
			return errRecoveryNoFactor
		case current.aal != aal2:
			return errAAL2Needed
		}
		if err := deleteRecoveryCodes(ctx, tx, user.ID); err != nil {
			return err
		}
		for _, code := range codes {
			if err := insertRecoveryCode(ctx, tx, user.ID, s.hashRecoveryCode(user.ID, code), s.now()); err != nil {
				return err
			}
		}
		return s.audit(ctx, tx, clientOf(r), auditRecoveryMade, user.ID, map[string]any{"codes": len(codes), "session_id": in.id})
	})
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, recoveryCodesBody{codes})
}

type recoveryCountBody struct {
	Total     int `json:"total"`
	Remaining int `json:"remaining"`
}

// CountRecoveryCodes is GET /auth/v1/factors/recovery_codes: how many were made and how many are left.
func (s *Service) CountRecoveryCodes(w http.ResponseWriter, r *http.Request) error {
	user, _, err := s.inSession(r.Context())
	if err != nil {
		return err
	}
	total, left, err := countRecoveryCodes(r.Context(), s.db, user.ID)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, recoveryCountBody{total, left})
}
