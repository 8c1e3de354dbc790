package auth

import (
	"context"
	"errors"
	"net/http"
	"time"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

type userUpdateRequest struct {
	Email    string         `json:"email"`
	Phone    string         `json:"phone"`
	Password *string        `json:"password"`
	Nonce    string         `json:"nonce"`
	Channel  string         `json:"channel"`
	Data     map[string]any `json:"data"`
	AppData  map[string]any `json:"app_metadata"`
	challenge
}

// reauthAfter is the age of a session from which on a new password needs a nonce, where that is switched on.
const reauthAfter = 24 * time.Hour

// UpdateUser is PUT /auth/v1/user: the caller changes password and data at once, and asks for a change of address or
// number, which takes effect when it is confirmed. With a verified second factor all but data needs an aal2 session.
func (s *Service) UpdateUser(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var body userUpdateRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	u, sessionID, err := s.signedIn(ctx)
	if err != nil {
		return err
	}
	if err := s.validateUserUpdate(ctx, u, sessionID, &body); err != nil {
		return err
	}
	hash, nonce, err := s.newPassword(ctx, u, sessionID, body)
	if err != nil {
		return err
	}
	if err := s.takeTurnsOfUpdate(w, r, u, body); err != nil {
		return err
	}
	if u, err = s.updateUser(ctx, clientOf(r), u.ID, sessionID, body, hash, nonce, s.redirectTarget(askedRedirect(r))); err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, u)
}

// validateUserUpdate checks what is asked for against the account, and blanks what changes nothing.
func (s *Service) validateUserUpdate(ctx context.Context, u User, sessionID string, body *userUpdateRequest) (err error) {
	if body.Email != "" {
		if body.Email, err = normalizeEmail(body.Email); err != nil {
			return err
		}
	}
	if body.Phone != "" {
		if body.Channel, err = checkChannel(body.Channel); err != nil {
			return err
		}
		if body.Phone, err = s.phoneOf(body.Phone, errPhoneDisabled); err != nil {
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
	if err := checkData(body.Data); err != nil {
		return err
	}
	if body.AppData != nil {
		return errAppDataNotAdmin
	}
	guarded := body.Password != nil || body.Email != "" || body.Phone != ""
	if guarded && u.hasVerifiedFactor() {
		level, _, err := s.factsOf(ctx, u.ID, sessionID)
		if err != nil {
			return err
		}
		if level != aal2 {
			return errInsufficientAAL.Becausef("session of %s", level)
		}
	}
	if u.isSSO && (guarded || body.Nonce != "") {
		return errSSOManaged
	}
	return s.checkFree(ctx, *body)
}

// checkFree returns errEmailExists or errPhoneExists for what another account has.
func (s *Service) checkFree(ctx context.Context, body userUpdateRequest) error {
	if body.Email != "" {
		other, err := s.account(ctx, login{email: body.Email})
		if err != nil {
			return err
		}
		if other.ID != "" {
			return errEmailExists
		}
	}
	if body.Phone != "" {
		other, err := s.account(ctx, login{phone: body.Phone})
		if err != nil {
			return err
		}
		if other.ID != "" {
			return errPhoneExists
		}
	}
	return nil
}

// factsOf gives a session's level and when it was opened; a token without a session is of aal1 and of unknown age.
func (s *Service) factsOf(ctx context.Context, userID, sessionID string) (aal string, opened time.Time, err error) {
	if sessionID == "" {
		return aal1, time.Time{}, nil
	}
	aal, opened, err = sessionFacts(ctx, s.db, sessionID, userID)
	if errors.Is(err, db.ErrNoRows) {
		err = errSessionNotFound.Becausef("session %s", sessionID)
	}
	if identity.Of(ctx).AAL != aal2 { // a token of before does not rise with its session
		aal = aal1
	}
	return aal, opened, err
}

// newPassword checks whether the password may be changed and hashes the new one. hash is "" when none is asked for,
// nonce the code that allowed it, or its zero value.
func (s *Service) newPassword(ctx context.Context, u User, sessionID string, body userUpdateRequest) (hash string, nonce oneTimeToken, err error) {
	if body.Password == nil {
		return "", nonce, nil
	}
	if s.cfg.PasswordReauth {
		_, opened, err := s.factsOf(ctx, u.ID, sessionID)
		if err != nil {
			return "", nonce, err
		}
		if s.now().After(opened.Add(reauthAfter)) {
			if body.Nonce == "" {
				return "", nonce, errReauthNeeded
			}
			if nonce, err = s.checkNonce(ctx, u, body.Nonce); err != nil {
				return "", nonce, err
			}
		}
	}
	if u.hash != "" {
		same, _, err := s.passwords.verify(ctx, u.hash, *body.Password)
		if err != nil && !errors.Is(err, errUnreadableHash) {
			return "", nonce, err
		}
		if same {
			return "", nonce, errSamePassword
		}
	}
	hash, err = s.passwords.hash(ctx, *body.Password)
	return hash, nonce, err
}

// takeTurnsOfUpdate bounds the messages that changes of address and number send.
func (s *Service) takeTurnsOfUpdate(w http.ResponseWriter, r *http.Request, u User, body userUpdateRequest) error {
	ctx := r.Context()
	if body.Email == "" && body.Phone == "" {
		return nil
	}
	if err := s.limit(w, r, "auth change account", u.ID, changesPerAccount); err != nil {
		return err
	}
	if body.Email != "" {
		subject := u.Email
		if subject == "" {
			subject = u.ID
		}
		if err := s.takeTurn(ctx, s.db, turnEmailChange, subject); err != nil {
			return err
		}
	}
	if body.Phone != "" && !s.cfg.PhoneAutoconfirm {
		return s.takeTurn(ctx, s.db, turnPhoneChange, body.Phone)
	}
	return nil
}

func (s *Service) updateUser(ctx context.Context, c client, userID, sessionID string, body userUpdateRequest, hash string, nonce oneTimeToken, redirectTo string) (u User, err error) {
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		if u, err = lockUser(ctx, tx, userID); errors.Is(err, db.ErrNoRows) {
			return errUserNotFound.Becausef("user %s", userID)
		} else if err != nil {
			return err
		}
		// A change in another session may have ended this one while the hash was computed.
		if sessionID != "" {
			alive, err := sessionExists(ctx, tx, sessionID, userID)
			if err != nil {
				return err
			}
			if !alive {
				return errSessionNotFound.Becausef("ended in the meantime")
			}
		}
		if nonce.kind != "" {
			if err := s.useUp(ctx, tx, nonce); err != nil {
				return err
			}
		}
		if hash != "" {
			if err := s.replacePassword(ctx, tx, c, u, sessionID, hash); err != nil {
				return err
			}
		}
		if body.Data != nil {
			data := merged(u.UserMetadata, body.Data)
			if err := checkData(data); err != nil {
				return err
			}
			if err := setUser(ctx, tx, u.ID, s.now(), change{colUserMetadata, data}); err != nil {
				return err
			}
		}
		if body.Email != "" {
			if err := s.sendEmailChange(ctx, tx, c, u, body.Email, body.challenge, redirectTo); err != nil {
				return err
			}
		}
		if body.Phone != "" {
			if s.cfg.PhoneAutoconfirm {
				err = s.changePhone(ctx, tx, c, u, body.Phone)
			} else {
				err = s.sendPhoneChange(ctx, tx, c, u, body.Phone, body.Channel)
			}
			if err != nil {
				return err
			}
		}
		if err := s.audit(ctx, tx, c, auditUserUpdated, u.ID, nil); err != nil {
			return err
		}
		u, err = userByID(ctx, tx, userID)
		return err
	})
	return u, err
}

// replacePassword stores a new password, ends the account's other sessions, voids every link and code that was sent,
// and tells the account's owner.
func (s *Service) replacePassword(ctx context.Context, tx *db.Tx, c client, u User, sessionID, hash string) error {
	if err := setUser(ctx, tx, u.ID, s.now(), change{colPassword, hash}); err != nil {
		return err
	}
	if err := deleteUnderWay(ctx, tx, u.ID); err != nil {
		return err
	}
	if err := s.endOthers(ctx, tx, u.ID, sessionID); err != nil {
		return err
	}
	if _, ok := u.identityOf("email"); !ok && u.hash == "" && u.EmailConfirmedAt != nil {
		// An account of a provider's that can from now on sign in with its address.
		if err := saveEmailIdentity(ctx, tx, u.ID, u.Email, s.now()); err != nil {
			return err
		}
		if err := s.noteProviders(ctx, tx, u.ID); err != nil {
			return err
		}
	}
	if err := s.audit(ctx, tx, c, auditPasswordSet, u.ID, nil); err != nil {
		return err
	}
	if u.Email == "" || u.EmailConfirmedAt == nil {
		return nil
	}
	return s.sendMail(ctx, tx, Mail{Kind: MailPasswordChanged, To: u.Email, Language: languageFor(u, c), Device: c.userAgent, IP: c.ip})
}

func (s *Service) endOthers(ctx context.Context, tx *db.Tx, userID, keep string) error {
	if keep == "" {
		return deleteSessions(ctx, tx, userID)
	}
	return deleteOtherSessions(ctx, tx, userID, keep)
}
