package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"time"

	"atelie/internal/db"
)

// tokenType says what a link or a code that was sent is good for. An account has one of a kind at a time.
type tokenType string

// The kinds, as the service names them.
const (
	tokenConfirmation   tokenType = "confirmation"
	tokenRecovery       tokenType = "recovery" // also magic links and codes for signing in
	tokenEmailCurrent   tokenType = "email_change_current"
	tokenEmailNew       tokenType = "email_change_new"
	tokenPhoneChange    tokenType = "phone_change"
	tokenReauthenticate tokenType = "reauthentication"
)

// Lives of links and codes. Six digits are safe because codeTries of them are looked at for one code, and
// codesPerAccount in a day.
const (
	linkLife        = time.Hour
	confirmLife     = 24 * time.Hour
	codeLife        = time.Hour
	codeTries       = 5
	codesPerAccount = 100 // looked at in codeWindow
	codeWindow      = 24 * time.Hour
)

// oneTime is what leaves by mail or SMS. Link is 256 random bits ("pkce_" before them when the client asked for a
// code, RFC 7636), Code six digits.
type oneTime struct{ Link, Code string }

// oneTimeToken is a stored link and code.
type oneTimeToken struct {
	userID    string
	kind      tokenType
	linkHash  string
	codeHash  string
	sentTo    string // the address or number that it proves
	flowID    string // "" without PKCE
	createdAt time.Time
	expiresAt time.Time
}

// issueToken makes a link and a code in place of the older ones of this kind. flowID ties them to a PKCE flow, or is "".
func (s *Service) issueToken(ctx context.Context, tx *db.Tx, userID string, kind tokenType, sentTo, flowID string, life time.Duration) (oneTime, error) {
	out := oneTime{Link: randomToken(), Code: sixDigits()}
	if flowID != "" {
		out.Link = "pkce_" + out.Link
	}
	now := s.now()
	return out, saveOneTimeToken(ctx, tx, oneTimeToken{
		userID: userID, kind: kind, linkHash: hashToken(out.Link), codeHash: s.hashCode(userID, kind, out.Code), sentTo: sentTo, flowID: flowID,
		createdAt: now, expiresAt: now.Add(life),
	})
}

// findLink looks a link up, without using it up. An unknown or expired one is errLinkExpired.
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

// checkCode compares a code with the one that was sent, without using it up. The try is counted first and for good, so
// that many at once are no way around the limit. A wrong, expired or exhausted code is errOTPExpired.
func (s *Service) checkCode(ctx context.Context, userID string, kind tokenType, code string) (oneTimeToken, error) {
	if s.cfg.RateLimits {
		hits, err := s.db.Hit(ctx, "auth code account", userID, codeWindow, s.now())
		if err != nil {
			return oneTimeToken{}, err
		}
		if hits > codesPerAccount {
			// The same answer as for an account that does not exist.
			return oneTimeToken{}, errOTPExpired.Becausef("%d codes tried for user %s; links still work", hits, userID)
		}
	}
	t, err := countCodeTry(ctx, s.db, userID, kind, codeTries, s.now())
	if errors.Is(err, db.ErrNoRows) {
		return oneTimeToken{}, errOTPExpired.Becausef("no code of kind %s, or it has expired, or was tried %d times", kind, codeTries)
	}
	if err != nil {
		return oneTimeToken{}, err
	}
	if subtle.ConstantTimeCompare([]byte(t.codeHash), []byte(s.hashCode(userID, kind, code))) != 1 {
		return oneTimeToken{}, errOTPExpired.Becausef("wrong code for user %s", userID)
	}
	return t, nil
}

// useUp takes the link and its code away, in the transaction that does what they are good for; errOTPExpired when
// somebody else was faster.
func (s *Service) useUp(ctx context.Context, tx *db.Tx, t oneTimeToken) error {
	deleted, err := deleteOneTimeToken(ctx, tx, t)
	if err == nil && !deleted {
		err = errOTPExpired.Becausef("used in the meantime")
	}
	return err
}

// hashCode is keyed: a plain hash of six digits is undone by trying all of them.
func (s *Service) hashCode(userID string, kind tokenType, code string) string {
	mac := hmac.New(sha256.New, s.cfg.CodeKey)
	mac.Write([]byte(userID + "\n" + string(kind) + "\n" + code))
	return hex.EncodeToString(mac.Sum(nil))
}

func sixDigits() string {
	n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return fmt.Sprintf("%06d", n.Int64())
}
