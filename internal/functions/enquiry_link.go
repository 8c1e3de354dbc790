package functions

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/settings"
)

// This file makes private links and derives their URLs. A private link is a secret URL at which a visitor follows the conversation about a
// message.

// EnquiryPath is the beginning of the URL path of a private link. The token of the link follows, as in /enquiry/{token}.
const EnquiryPath = httpx.SecretPath

// tokenBytes is the length of a token before its encoding: 128 bits, so that nobody can guess a token.
const tokenBytes = 16

// contactLink is a row of contact_links: the private link to one message. The row has only a hash of the token, so that the database does
// not reveal the link. The server derives the token itself from Nonce and a key outside the database, when it puts the link into a later
// mail (docs/decisions/0036-links-of-enquiries.md).
type contactLink struct {
	Hash      string // hash of the token (hashToken)
	Nonce     string // random text, from which the token is derived
	CreatedAt time.Time
	ExpiresAt time.Time
}

// linkResponse is the part of the response to a visitor's message that tells the visitor about the private link and the copy.
type linkResponse struct {
	URL string // "" if the visitor has not requested a link, or if the owner has turned links off
	// Copy is true if there is a URL, the owner has turned copies on (mails to visitors with their own message), and the site has a mail
	// server. It is true even if no copy is sent because of a limit or because the message is in quarantine. The response must not reveal
	// that.
	Copy bool
}

// newLink makes a private link. The caller stores it.
func (s *Service) newLink(now time.Time) contactLink {
	l := contactLink{Nonce: rand.Text(), CreatedAt: now, ExpiresAt: linkExpiry(now)}
	l.Hash = hashToken(deriveToken(s.cfg.LinkKey, l.Nonce))
	return l
}

// linkExpiry returns when a link expires: a year after the last text of the conversation.
func linkExpiry(last time.Time) time.Time { return last.AddDate(1, 0, 0) }

// deriveToken returns the token of a link: a keyed hash of its nonce.
func deriveToken(key []byte, nonce string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(nonce))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:tokenBytes])
}

// hashToken returns the hash of a token, which the database stores. token may be any text that a client has sent as a token.
func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// urlOf returns the URL of a link. ok is false if the token can no longer be derived, because the site's secret was replaced after the link
// was made.
func (s *Service) urlOf(l contactLink) (enquiryURL string, ok bool) {
	token, ok := s.tokenOf(l.Nonce, l.Hash)
	if !ok {
		return "", false
	}
	return s.cfg.SiteURL + EnquiryPath + token, true
}

// tokenOf derives a token from its nonce, with the current or the previous key. hash is the hash of the token: only the right key gives a
// token with this hash. ok is false if neither key does.
func (s *Service) tokenOf(nonce, hash string) (token string, ok bool) {
	for _, key := range [][]byte{s.cfg.LinkKey, s.cfg.PreviousLinkKey} {
		if key == nil {
			continue
		}
		if token := deriveToken(key, nonce); hashToken(token) == hash {
			return token, true
		}
	}
	return "", false
}

// linksEnabled reports whether the owner lets visitors follow their messages.
func (s *Service) linksEnabled(ctx context.Context, q db.Querier) (bool, error) {
	site, err := settings.LoadSite(ctx, q)
	return site.EnquiryLinks, err
}

// checkHasLink returns an error, refusal, unless a message has a link that has not expired.
func (s *Service) checkHasLink(ctx context.Context, q db.Querier, messageID string, refusal *apperr.Error) error {
	l, err := readLinkOf(ctx, q, messageID)
	if errors.Is(err, db.ErrNoRows) || err == nil && !l.ExpiresAt.After(s.now()) {
		return refusal
	}
	return err
}

// checkLinksOn returns errLinksOff if the owner has turned links off and the message has no earlier link, not even an expired one.
func (s *Service) checkLinksOn(ctx context.Context, q db.Querier, messageID string) error {
	enabled, err := s.linksEnabled(ctx, q)
	if err != nil || enabled {
		return err
	}
	if _, err = readLinkOf(ctx, q, messageID); errors.Is(err, db.ErrNoRows) {
		return errLinksOff
	}
	return err
}

// linkURL returns the URL of the link to a message; "" if there is none, or if the server can no longer derive it.
func (s *Service) linkURL(ctx context.Context, q db.Querier, messageID string) (string, error) {
	l, err := readLinkOf(ctx, q, messageID)
	if errors.Is(err, db.ErrNoRows) {
		return "", nil
	}
	enquiryURL, _ := s.urlOf(l)
	return enquiryURL, err
}

// ensureLink makes a new link to a message, unless the message has a valid link whose URL the server can derive.
func (s *Service) ensureLink(ctx context.Context, tx *db.Tx, messageID string) error {
	l, err := readLinkOf(ctx, tx, messageID)
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		return err
	}
	if err == nil && l.ExpiresAt.After(s.now()) {
		if _, ok := s.urlOf(l); ok {
			return nil
		}
	}
	return s.replaceLink(ctx, tx, messageID)
}

// replaceLink makes a new link to a message in the inbox. The previous link is deleted.
func (s *Service) replaceLink(ctx context.Context, tx *db.Tx, messageID string) error {
	return errors.Join(deleteLinkOf(ctx, tx, messageID), insertLink(ctx, tx, s.newLink(s.now()), messageID))
}
