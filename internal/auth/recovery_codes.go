package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

// This file makes and checks recovery codes. A recovery code replaces a second factor, so that a user who has lost the phone can sign in
// without help from the operator (who runs the server). Each code is shown once, at its creation, and works once. Supabase Auth has no
// recovery codes.

// The form of recovery codes, such as 7kqm2-x9hpd.
const (
	recoveryCodeCount   = 10                                 // codes of an account
	recoveryAlphabet    = "23456789abcdefghjkmnpqrstuvwxyz0" // 32 characters; 1, i, l and o are missing, because they look like others
	recoveryGroupLength = 5                                  // characters on each side of the dash; a code has 50 random bits
)

// MakeRecoveryCodes handles POST /auth/v1/factors/recovery_codes: it replaces all recovery codes of the account with new ones. The account
// must have a verified second factor, and the session must be at the assurance level aal2 (signed in with a second factor).
func (s *Service) MakeRecoveryCodes(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	user, callerSession, err := s.currentSession(ctx)
	if err != nil {
		return err
	}
	var body proof // the password or the code for the reauthentication
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if err := s.limit(w, r, limitRecoveryCodeSets, user.ID, factorCallsPerAccount); err != nil {
		return err
	}
	nonce, err := s.reauthenticateIfStale(w, r, user, callerSession.id, body)
	if err != nil {
		return err
	}
	codes := make([]string, recoveryCodeCount)
	for i := range codes {
		codes[i] = newRecoveryCode()
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		user, current, err := s.lockSession(ctx, tx, callerSession)
		if err != nil {
			return err
		}
		switch {
		case !user.hasVerifiedFactor():
			return errRecoveryNoFactor
		case current.aal != aal2:
			return errAAL2Needed
		}
		if err := s.consumeNonce(ctx, tx, nonce); err != nil {
			return err
		}
		err = deleteRows(ctx, tx, user.ID, "auth_recovery_codes")
		for _, code := range codes {
			err = errors.Join(err, insertRecoveryCode(ctx, tx, user.ID, hashRecoveryCode(s.cfg.CodeKey, user.ID, code), s.now()))
		}
		detail := map[string]any{"codes": len(codes), "session_id": callerSession.id}
		return errors.Join(err, s.audit(ctx, tx, clientOf(r), auditRecoveryCodesMade, user.ID, detail))
	})
	return respondPrivate(w, map[string][]string{"codes": codes}, err)
}

// recoveryCountResponse is the response body of CountRecoveryCodes.
type recoveryCountResponse struct {
	Total     int `json:"total"`
	Remaining int `json:"remaining"`
}

// CountRecoveryCodes handles GET /auth/v1/factors/recovery_codes: it returns how many codes were created, and how many of them are
// not used yet.
func (s *Service) CountRecoveryCodes(w http.ResponseWriter, r *http.Request) error {
	user, _, err := s.currentSession(r.Context())
	if err != nil {
		return err
	}
	total, left, err := countRecoveryCodes(r.Context(), s.db, user.ID)
	return respondPrivate(w, recoveryCountResponse{total, left}, err)
}

var errRecoveryUnknown = errors.New("no such unused code")

// VerifyRecoveryCode handles POST /auth/v1/factors/recovery_codes/verify: an unused code raises the session to aal2, in place
// of a factor. The response is the session with new tokens.
func (s *Service) VerifyRecoveryCode(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	user, current, err := s.currentSession(ctx)
	if err != nil {
		return err
	}
	var body struct {
		Code string `json:"code"`
	}
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if body.Code == "" {
		return errFactorCodeMissing
	}
	// Attempts are counted for each account and IP address, because otherwise somebody who has stolen the password could use up the
	// attempts of the account's holder. 50 random bits cannot be guessed with so few attempts, even from many IP addresses.
	subject := hashKey(user.ID + "\n" + httpx.LimitSubject(ctx))
	if err := s.limitAlways(w, r, limitRecoveryTries, subject, recoveryTriesPerAccountAndIP); err != nil {
		return err
	}
	issued, err := s.acceptRecoveryCode(ctx, clientOf(r), current, body.Code)
	if errors.Is(err, errRecoveryUnknown) {
		auditErr := s.audit(ctx, s.db, clientOf(r), auditRecoveryCodeRefused, user.ID, map[string]any{"session_id": current.id})
		return errors.Join(errRecoveryCodeWrong.Because(err), auditErr)
	}
	return s.respondSession(w, issued, err)
}

// acceptRecoveryCode consumes a code and raises the session to aal2, in one transaction. It returns errRecoveryUnknown if the
// account has no such unused code.
func (s *Service) acceptRecoveryCode(ctx context.Context, c clientInfo, callerSession session, code string) (issued issuedSession, err error) {
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		user, current, err := s.lockSession(ctx, tx, callerSession)
		if err != nil {
			return err
		}
		if !user.hasVerifiedFactor() {
			return errRecoveryNoFactor
		}
		keys, err := s.recoveryCodeKeys(ctx, tx)
		if err != nil {
			return err
		}
		used := false
		for _, key := range keys {
			if used, err = useRecoveryCode(ctx, tx, user.ID, hashRecoveryCode(key, user.ID, code), s.now()); err != nil {
				return err
			}
			if used {
				break
			}
		}
		if !used {
			return errRecoveryUnknown
		}
		if issued, err = s.stepUp(ctx, tx, c, current, methodRecoveryCode, ""); err != nil {
			return err
		}
		_, left, err := countRecoveryCodes(ctx, tx, user.ID)
		if err != nil {
			return err
		}
		return s.audit(ctx, tx, c, auditRecoveryCodeUsed, user.ID, map[string]any{"session_id": callerSession.id, "remaining": left})
	})
	return issued, err
}

// newRecoveryCode returns a random code of two groups with a dash between them, such as 7k2xm-d9w3p.
func newRecoveryCode() string {
	b := make([]byte, 2*recoveryGroupLength)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	for i := range b {
		b[i] = recoveryAlphabet[int(b[i])%len(recoveryAlphabet)] // 256 is a multiple of 32, so all characters are equally likely
	}
	return string(b[:recoveryGroupLength]) + "-" + string(b[recoveryGroupLength:])
}

// hashRecoveryCode returns the keyed hash of a code as a user types it. It ignores case, spaces and dashes, and reads the
// letter o as a zero.
func hashRecoveryCode(key []byte, userID, code string) string {
	code = strings.NewReplacer("-", "", " ", "", "o", "0").Replace(strings.ToLower(strings.TrimSpace(code)))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("recovery code\n" + userID + "\n" + code))
	return hex.EncodeToString(mac.Sum(nil))
}

// recoveryCodeKeys returns all keys with which a recovery code may have been hashed, the current key first.
func (s *Service) recoveryCodeKeys(ctx context.Context, q db.Querier) ([][]byte, error) {
	keys := [][]byte{s.cfg.CodeKey}
	if s.cfg.Previous != nil {
		keys = append(keys, s.cfg.Previous.CodeKey)
	}
	stored, err := s.storedHashKeys(ctx, q)
	return append(keys, stored...), err
}

// storedHashKeys returns the CodeKeys of former secrets, which Reseal has stored. It leaves out keys that it cannot open, because
// they were sealed with another secret.
func (s *Service) storedHashKeys(ctx context.Context, q db.Querier) (keys [][]byte, err error) {
	values, err := sealedValues(ctx, q, sealedColumn{table: "auth_hash_keys", column: "sealed_key"})
	for _, v := range values {
		if key, err := s.sealer.unseal(purposeHashKey+v.id, v.sealed); err == nil {
			keys = append(keys, key)
		}
	}
	return keys, err
}

// purposeHashKey, followed by the row's id, is the additional authenticated data (AAD) of a sealed (encrypted) hash key.
const purposeHashKey = "hash key "
