package auth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"time"

	"atelie/internal/db"
)

// This file issues, finds and consumes one-time tokens. A one-time token is a link and a code that are sent together. The use of either
// invalidates both. The database stores only hashes of the link and the code.

// Kinds of one-time tokens, named as in Supabase Auth.
const (
	tokenConfirmation   tokenKind = "confirmation"
	tokenRecovery       tokenKind = "recovery" // includes magic links and sign-in codes
	tokenEmailCurrent   tokenKind = "email_change_current"
	tokenEmailNew       tokenKind = "email_change_new"
	tokenPhoneChange    tokenKind = "phone_change"
	tokenReauthenticate tokenKind = "reauthentication"
)

// How long links and codes are valid, and how many attempts at codes are allowed. The numbers of attempts are low, because a code has only
// six digits. An account can have up to five valid codes of a kind (maxCodes), and an attempt counts against each of them.
const (
	linkLife           = time.Hour      // lifetime of links that sign in, and of the codes in the same mails
	confirmLife        = 24 * time.Hour // lifetime of links that confirm an e-mail address, and of the codes in the same mails
	codeLife           = time.Hour      // lifetime of codes by SMS and of codes for reauthentication
	maxCodeTries       = 5              // attempts at a code; after them the code is invalid
	maxTriesPerAccount = 20             // attempts at all codes of an account in triesWindow; further ones are refused
	triesWindow        = 24 * time.Hour
)

// issuedToken is a new one-time token in plain text, to be sent.
type issuedToken struct {
	LinkToken string // the token in the link's URL: 256 random bits in base64; it begins with "pkce_" for a PKCE flow (RFC 7636)
	Code      string // six digits
}

// issueToken creates a link and a code, stores their hashes and applies changes to the account's row. Earlier links of this kind stay valid
// until they expire. Earlier codes stay valid only for the newest maxCodes tokens. sentTo is the e-mail address or phone number to which
// the caller will send link and code. flowID is the PKCE flow that the link or code completes, or "". life is how long both are valid.
func (s *Service) issueToken(
	ctx context.Context, tx *db.Tx, userID string, kind tokenKind, sentTo, flowID string, life time.Duration, changes ...columnChange,
) (issuedToken, error) {
	issued := issuedToken{LinkToken: randomToken(), Code: sixDigitCode()}
	if flowID != "" {
		issued.LinkToken = "pkce_" + issued.LinkToken
	}
	now := s.now()
	err := saveOneTimeToken(ctx, tx, oneTimeToken{
		userID:    userID,
		kind:      kind,
		linkHash:  hashToken(issued.LinkToken),
		codeHash:  s.hashCode(userID, kind, issued.Code),
		sentTo:    sentTo,
		flowID:    flowID,
		createdAt: now,
		expiresAt: now.Add(life),
	})
	if len(changes) > 0 {
		err = errors.Join(err, setUser(ctx, tx, userID, now, changes...))
	}
	return issued, err
}

// findLink returns the one-time token of a link without consuming it, or errLinkExpired when the link is unknown or expired. link
// is the token in the link's URL (issuedToken.LinkToken).
func (s *Service) findLink(ctx context.Context, link string) (oneTimeToken, error) {
	t, err := oneTimeTokenByLink(ctx, s.db, hashToken(link))
	switch {
	case errors.Is(err, db.ErrNoRows):
		return oneTimeToken{}, errLinkExpired.Becausef("unknown link")
	case err != nil:
		return oneTimeToken{}, err
	case !s.now().Before(t.expiresAt):
		return oneTimeToken{}, errLinkExpired.Becausef("expired at %s", t.expiresAt)
	}
	return t, nil
}

// checkCode compares a code with the account's valid codes of the given kinds, and returns the one-time token of the matching code without
// consuming it. It counts one attempt, whatever the number of kinds, before the comparison and never rolls the count back, so that
// concurrent attempts cannot exceed the limit. It returns errOTPExpired for a wrong or expired code, and when no attempts are left.
func (s *Service) checkCode(ctx context.Context, userID, code string, kinds ...tokenKind) (oneTimeToken, error) {
	if s.cfg.RateLimited {
		hits, err := s.db.Hit(ctx, string(limitCodes), userID, triesWindow, s.now())
		if err != nil {
			return oneTimeToken{}, err
		}
		if hits > maxTriesPerAccount {
			// This is also the error for an account that does not exist: the response must not reveal whether it exists.
			return oneTimeToken{}, errOTPExpired.Becausef("%d codes tried for user %s; links still work", hits, userID)
		}
	}
	refusal := error(errOTPExpired)
	for _, kind := range kinds {
		t, err := s.checkCodeOfKind(ctx, userID, kind, code)
		if !errors.Is(err, errOTPExpired) { // the code matches, or the comparison failed
			return t, err
		}
		refusal = err
	}
	return oneTimeToken{}, refusal
}

// checkCodeOfKind is checkCode for one kind, without the limit of the account's attempts.
func (s *Service) checkCodeOfKind(ctx context.Context, userID string, kind tokenKind, code string) (oneTimeToken, error) {
	valid, err := countCodeTry(ctx, s.db, userID, kind, maxCodeTries, s.now())
	if err != nil {
		return oneTimeToken{}, err
	}
	if len(valid) == 0 {
		return oneTimeToken{}, errOTPExpired.Becausef("no code of kind %s, or it has expired, or was tried %d times", kind, maxCodeTries)
	}
	match := oneTimeToken{}
	for _, t := range valid {
		if s.codeMatches(t.codeHash, userID, kind, code) {
			match = t
		}
	}
	if match.kind == "" {
		return oneTimeToken{}, errOTPExpired.Becausef("wrong code for user %s", userID)
	}
	return match, nil
}

// consumeToken deletes a one-time token and the account's other tokens of its kind, in the transaction of the action that the token
// allows. It returns errOTPExpired when another request has consumed the token.
func (s *Service) consumeToken(ctx context.Context, tx *db.Tx, t oneTimeToken) error {
	if err := deleteOneTimeToken(ctx, tx, t); err != nil {
		return err
	}
	return deleteOneTimeTokens(ctx, tx, t.userID, t.kind)
}

// hashCode returns a keyed hash of a code. A hash without a key would protect nothing, because all codes of six digits can be
// tried.
func (s *Service) hashCode(userID string, kind tokenKind, code string) string {
	return hashCodeWith(s.cfg.CodeKey, userID, kind, code)
}

// codeMatches reports whether a stored hash is that of the code, with the current key or the previous one.
func (s *Service) codeMatches(stored, userID string, kind tokenKind, code string) bool {
	same := subtle.ConstantTimeCompare([]byte(stored), []byte(s.hashCode(userID, kind, code)))
	if s.cfg.Previous != nil {
		same |= subtle.ConstantTimeCompare([]byte(stored), []byte(hashCodeWith(s.cfg.Previous.CodeKey, userID, kind, code)))
	}
	return same == 1
}

func hashCodeWith(key []byte, userID string, kind tokenKind, code string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(userID + "\n" + string(kind) + "\n" + code))
	return hex.EncodeToString(mac.Sum(nil))
}
