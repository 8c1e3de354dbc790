package auth

import (
	"context"
	"errors"
	"net/http"
	"time"

	"atelie/internal/db"
)

// This file decides whether the caller must reauthenticate (prove their identity again) before a change, and checks the proof. The proof is
// the current password, or a nonce (a code that was sent by mail or SMS).

// reauthenticateAfter is how long after a sign-in an owner (an account with the role admin) can change these parts of the account without a
// proof: the password, e-mail address, phone number, second factors, recovery codes and identities.
const reauthenticateAfter = 10 * time.Minute

// reauthenticationsPerAccount is how many attempts at an account's current password are allowed in five minutes (limitWindow).
const reauthenticationsPerAccount = 20

// methodNonce is the method in the amr claim (the authentication methods of a session) for a reauthentication by a code.
const methodNonce = "otp"

// proof is the part of a request body with which the caller reauthenticates. One of the fields is enough.
type proof struct {
	CurrentPassword string `json:"current_password"`
	Nonce           string `json:"nonce"` // the code that Reauthenticate has sent
}

// lastSignIn returns the time of the session's newest authentication: the sign-in, a second factor or a reauthentication.
// Refreshing the tokens does not change this time. lastSignIn ignores a time that is more than reauthenticateAfter in the future, because
// only a node (a server of the site) with a wrong clock can have written such a time.
func (s session) lastSignIn(now time.Time) (newest time.Time) {
	for _, method := range s.amr {
		if at := time.Unix(method.Timestamp, 0); at.After(newest) && !at.After(now.Add(reauthenticateAfter)) {
			newest = at
		}
	}
	return newest
}

// needsReauthentication reports whether a change needs a proof. Only an owner needs one, and only if the session's last sign-in is
// longer ago than reauthenticateAfter. A token that names no session (sessionID is "") counts as an old sign-in.
func (s *Service) needsReauthentication(ctx context.Context, u User, sessionID string) (bool, error) {
	isOwner, err := hasOwnerRole(ctx, s.db, u.ID)
	if err != nil || !isOwner {
		return false, err
	}
	last, err := s.readLastSignIn(ctx, u.ID, sessionID)
	return err == nil && s.now().After(last.Add(reauthenticateAfter)), err
}

// readLastSignIn reads a session and returns its last sign-in, or the zero time when sessionID is "".
func (s *Service) readLastSignIn(ctx context.Context, userID, sessionID string) (time.Time, error) {
	if sessionID == "" {
		return time.Time{}, nil
	}
	current, err := s.readSession(ctx, s.db, sessionID, userID)
	return current.lastSignIn(s.now()), err
}

// checkProof checks the password or the nonce of a proof. It returns the one-time token of the nonce, or the zero value for
// a password. The transaction of the change must pass the token to consumeNonce. Errors:
//   - errEmpty (a parameter): the proof is empty.
//   - errCurrentPassword: the password is wrong.
//   - errReauthNotValid: the nonce is wrong or has expired, or there were too many attempts at it.
//   - errRateLimit: there were too many attempts at the password.
func (s *Service) checkProof(w http.ResponseWriter, r *http.Request, u User, p proof, errEmpty error) (nonce oneTimeToken, err error) {
	ctx := r.Context()
	switch {
	case p.CurrentPassword != "":
		if err := s.limit(w, r, limitReauthentications, u.ID, reauthenticationsPerAccount); err != nil {
			return nonce, err
		}
		ok, _, err := s.hasher.verify(ctx, u.passwordHash, p.CurrentPassword)
		if errors.Is(err, errUnreadableHash) {
			ok, err = false, nil
		}
		if err != nil || ok {
			return nonce, err
		}
		return nonce, errors.Join(errCurrentPassword, s.audit(ctx, s.db, clientOf(r), auditReauthenticationRefused, u.ID, map[string]any{"method": "password"}))
	case p.Nonce != "":
		return s.checkNonce(ctx, u, p.Nonce)
	}
	return nonce, errEmpty
}

// consumeNonce consumes the one-time token that checkProof has returned. It ignores the zero value.
func (s *Service) consumeNonce(ctx context.Context, tx *db.Tx, nonce oneTimeToken) error {
	if nonce.kind == "" {
		return nil
	}
	return s.consumeToken(ctx, tx, nonce)
}

// reauthenticateIfStale calls checkProof if needsReauthentication returns true. Otherwise it returns the zero value.
func (s *Service) reauthenticateIfStale(w http.ResponseWriter, r *http.Request, u User, sessionID string, p proof) (nonce oneTimeToken, err error) {
	needed, err := s.needsReauthentication(r.Context(), u, sessionID)
	if err != nil || !needed {
		return nonce, err
	}
	return s.checkProof(w, r, u, p, errProofRequired)
}

// checkNonce compares a code with the one that Reauthenticate has sent. It returns errReauthNotValid when the code is wrong or
// expired, or was sent to an e-mail address or phone number that the account does not have any more.
func (s *Service) checkNonce(ctx context.Context, u User, nonce string) (oneTimeToken, error) {
	t, err := s.checkCode(ctx, u.ID, nonce, tokenReauthenticate)
	if err == nil && t.sentTo != u.Email && t.sentTo != u.Phone {
		err = errReauthNotValid.Becausef("sent to another address")
	}
	if errors.Is(err, errOTPExpired) {
		err = errReauthNotValid.Because(err)
	}
	return t, err
}
