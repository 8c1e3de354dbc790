package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// This file returns and changes the caller's own account (GET and PUT /auth/v1/user).

// GetUser handles GET /auth/v1/user: it returns the caller's own account. Error: session_not_found (403) if the session has ended.
func (s *Service) GetUser(w http.ResponseWriter, r *http.Request) error {
	ctx, now := r.Context(), s.now()
	// The state of the database is read before the account, so that no change is missed. On PostgreSQL isKnown is false, and nothing is
	// cached.
	state, isKnown, err := s.db.Changes(ctx)
	if err != nil {
		return err
	}
	shouldCache := false
	if caller := identity.Of(ctx); isKnown && caller.Bearer && caller.Role == identity.Authenticated {
		var body []byte
		if body, shouldCache = s.users.get(state, userSession{caller.UserID, caller.SessionID}, now); body != nil {
			return respondPrivateText(w, body)
		}
	}
	user, sessionID, err := s.currentUser(ctx)
	if err != nil {
		return err
	}
	body, err := json.Marshal(user)
	if err == nil && shouldCache {
		err = s.cacheUser(ctx, state, body, user.ID, sessionID, now)
	}
	if err != nil {
		return err
	}
	return respondPrivateText(w, body)
}

// userUpdateRequest is the body of UpdateUser. Empty fields change nothing.
type userUpdateRequest struct {
	Email         string         `json:"email"`
	Phone         string         `json:"phone"`
	Password      *string        `json:"password"`
	Channel       string         `json:"channel"`      // how the code is sent to the new phone number: sms (the default) or whatsapp
	Data          map[string]any `json:"data"`         // changes of the user metadata; the value null removes a key
	AppData       map[string]any `json:"app_metadata"` // rejected, because only the service key (an API key) may change it
	proof                        // the current password or a nonce, for changes that need a reauthentication
	pkceChallenge                // used by the confirmation of a new e-mail address
}

// changesCredentials reports whether the request changes the password, the e-mail address or the phone number.
func (b userUpdateRequest) changesCredentials() bool {
	return b.Password != nil || b.Email != "" || b.Phone != ""
}

// passwordReauthAfter is how long after a session's last sign-in the password can be changed without a nonce (a code that
// Reauthenticate has sent), if Config.PasswordReauth is true.
const passwordReauthAfter = 24 * time.Hour

// UpdateUser handles PUT /auth/v1/user. A new password and new metadata take effect immediately. A new e-mail address or phone
// number takes effect after its confirmation (a number immediately if Config.PhoneAutoconfirm is true). If the account has a
// verified second factor, all changes except those of the metadata need a session at aal2.
func (s *Service) UpdateUser(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var body userUpdateRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	u, sessionID, err := s.currentUser(ctx)
	if err != nil {
		return err
	}
	if err := s.validateUserUpdate(ctx, u, sessionID, &body); err != nil {
		return err
	}
	nonce, err := s.reauthenticateForUpdate(w, r, u, sessionID, body)
	if err != nil {
		return err
	}
	passwordHash, err := s.hashNewPassword(ctx, u, body)
	if err != nil {
		return err
	}
	if err := s.startUpdateCooldowns(w, r, u, body); err != nil {
		return err
	}
	u, err = s.updateUser(ctx, clientOf(r), u.ID, sessionID, body, passwordHash, nonce, s.redirectTarget(requestedRedirect(r)))
	return respondPrivate(w, u, err)
}

// validateUserUpdate checks the request against the account, normalizes the fields of body, and empties fields that change nothing.
func (s *Service) validateUserUpdate(ctx context.Context, u User, sessionID string, body *userUpdateRequest) (err error) {
	if body.Email != "" {
		if body.Email, err = normalizeEmail(body.Email); err != nil {
			return err
		}
	}
	if body.Phone != "" {
		if body.Channel, err = normalizeChannel(body.Channel); err != nil {
			return err
		}
		if body.Phone, err = s.normalizeEnabledPhone(body.Phone, errPhoneDisabled); err != nil {
			return err
		}
	}
	if body.Email == u.Email {
		body.Email = ""
	}
	if body.Phone == u.Phone {
		body.Phone = ""
	}
	if body.Password != nil {
		if err := s.validatePassword(*body.Password); err != nil {
			return err
		}
	}
	if _, err := body.validate(); err != nil {
		return err
	}
	if err := validateMetadata(body.Data); err != nil {
		return err
	}
	if body.AppData != nil {
		return errAppDataNotAdmin
	}
	if body.changesCredentials() && u.hasVerifiedFactor() {
		level, err := s.sessionLevel(ctx, u.ID, sessionID)
		if err != nil {
			return err
		}
		if level != aal2 {
			return errInsufficientAAL.Becausef("session of %s", level)
		}
	}
	if u.isSSO && (body.changesCredentials() || body.Nonce != "") {
		return errSSOManaged
	}
	return checkAddressesFree(ctx, s.db, body.Email, body.Phone)
}

// sessionLevel returns the assurance level of the caller's session. It returns aal1 when the token has no session or does not
// itself have aal2.
func (s *Service) sessionLevel(ctx context.Context, userID, sessionID string) (string, error) {
	if sessionID == "" || identity.Of(ctx).AAL != aal2 { // the token is older than the session's step-up
		return aal1, nil
	}
	current, err := s.readSession(ctx, s.db, sessionID, userID)
	return current.aal, err
}

// reauthenticateForUpdate checks the proof that a guarded change needs. An owner needs one when the last
// sign-in is older than reauthenticateAfter; with PasswordReauth, every account needs a nonce for a new password after
// passwordReauthAfter. nonce is to be passed to consumeNonce; it is the zero value when none was used.
func (s *Service) reauthenticateForUpdate(w http.ResponseWriter, r *http.Request, u User, sessionID string, body userUpdateRequest) (nonce oneTimeToken, err error) {
	if !body.changesCredentials() {
		return nonce, nil
	}
	needed, err := s.needsReauthentication(r.Context(), u, sessionID)
	if err != nil {
		return nonce, err
	}
	if needed {
		return s.checkProof(w, r, u, body.proof, errProofRequired)
	}
	if body.Password == nil || !s.cfg.PasswordReauth {
		return nonce, nil
	}
	last, err := s.readLastSignIn(r.Context(), u.ID, sessionID)
	if err != nil || !s.now().After(last.Add(passwordReauthAfter)) {
		return nonce, err
	}
	if body.Nonce == "" {
		return nonce, errNonceRequired
	}
	return s.checkNonce(r.Context(), u, body.Nonce)
}

// hashNewPassword returns the hash of the new password, or "" when the request has none. errSamePassword: it is the current one.
func (s *Service) hashNewPassword(ctx context.Context, u User, body userUpdateRequest) (passwordHash string, err error) {
	if body.Password == nil {
		return "", nil
	}
	if u.passwordHash != "" {
		same, _, err := s.hasher.verify(ctx, u.passwordHash, *body.Password)
		if err != nil && !errors.Is(err, errUnreadableHash) {
			return "", err
		}
		if same {
			return "", errSamePassword
		}
	}
	return s.hasher.hash(ctx, *body.Password)
}

// startUpdateCooldowns limits the messages that changes of e-mail address and phone number send.
func (s *Service) startUpdateCooldowns(w http.ResponseWriter, r *http.Request, u User, body userUpdateRequest) error {
	ctx := r.Context()
	if body.Email == "" && body.Phone == "" {
		return nil
	}
	if err := s.limit(w, r, limitChanges, u.ID, changesPerAccount); err != nil {
		return err
	}
	if body.Email != "" {
		if err := s.startMessageCooldown(ctx, cooldownEmailChange, cmp.Or(u.Email, u.ID)); err != nil {
			return err
		}
	}
	if body.Phone != "" && !s.cfg.PhoneAutoconfirm {
		return s.startMessageCooldown(ctx, cooldownPhoneChange, body.Phone)
	}
	return nil
}

// updateUser makes the changes of a checked request in one transaction and returns the account.
func (s *Service) updateUser(ctx context.Context, c clientInfo, userID, sessionID string, body userUpdateRequest, passwordHash string, nonce oneTimeToken, redirectTo string) (User, error) {
	return inTx(ctx, s.db.WithShortTx, func(tx *db.Tx) (User, error) {
		u, err := lockUser(ctx, tx, userID)
		if err != nil {
			return User{}, db.NoRowsAs(err, errUserNotFound.Becausef("user %s", userID))
		}
		// A change in another session may have ended this session while the hash was computed.
		if sessionID != "" {
			if _, err := sessionByID(ctx, tx, sessionID, userID, s.sessionAliveArgs()); err != nil {
				return User{}, db.NoRowsAs(err, errSessionNotFound.Becausef("ended in the meantime"))
			}
		}
		if err := s.consumeNonce(ctx, tx, nonce); err != nil {
			return User{}, err
		}
		if passwordHash != "" {
			err = s.replacePassword(ctx, tx, c, u, sessionID, passwordHash)
		}
		if body.Data != nil {
			err = errors.Join(err, setUser(ctx, tx, u.ID, s.now(), columnChange{colUserMetadata, mergeMetadata(u.UserMetadata, body.Data)}))
		}
		if body.Email != "" {
			err = errors.Join(err, s.sendEmailChange(ctx, tx, c, u, body.Email, body.pkceChallenge, redirectTo))
		}
		switch {
		case body.Phone == "":
		case s.cfg.PhoneAutoconfirm:
			err = errors.Join(err, s.changePhone(ctx, tx, c, u, body.Phone))
		default:
			err = errors.Join(err, s.sendPhoneChange(ctx, tx, c, u, body.Phone, body.Channel))
		}
		if err = errors.Join(err, s.audit(ctx, tx, c, auditUserModified, u.ID, nil)); err != nil {
			return User{}, err
		}
		return userByID(ctx, tx, userID)
	})
}

// replacePassword stores a new password hash, ends the account's other sessions, deletes pending links and codes, and mails a
// notice to the account's address.
func (s *Service) replacePassword(ctx context.Context, tx *db.Tx, c clientInfo, u User, sessionID, passwordHash string) error {
	err := errors.Join(
		setUser(ctx, tx, u.ID, s.now(), columnChange{colPassword, passwordHash}),
		deletePending(ctx, tx, u.ID),
		deleteOtherSessions(ctx, tx, u.ID, sessionID),
	)
	if _, ok := u.identityOf("email"); !ok && u.passwordHash == "" && u.EmailConfirmedAt != nil {
		// The account had only a provider identity. With the password it can also sign in with its address.
		err = errors.Join(err, saveAddressIdentity(ctx, tx, u.ID, "email", u.Email, true, s.now()), s.syncProviders(ctx, tx, u.ID))
	}
	return errors.Join(err, s.audit(ctx, tx, c, auditPasswordSet, u.ID, nil), s.sendNotice(ctx, tx, c, u, MailPasswordChanged))
}
