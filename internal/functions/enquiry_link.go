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
	Hash      string // hash of the token (hashText)
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
	l.Hash = hashText(deriveToken(s.cfg.LinkKey, l.Nonce))
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

// hashText returns the hash under which the database stores a token or a text. A token may be any text that a client has sent.
func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// urlOf returns the URL of a link; "" if the server can no longer derive it.
func (s *Service) urlOf(l contactLink) string { return s.secretURL(EnquiryPath, l.Nonce, l.Hash, "") }

// secretURL returns the URL that begins with path, and then has the token that belongs to a nonce, and ending. It derives the token with the
// current or the previous key. hash is the hash of the token: only the right key gives a token with this hash. The URL is "" if neither key
// does, because the site's secret was replaced after the token was made.
func (s *Service) secretURL(path, nonce, hash, ending string) string {
	for _, key := range [][]byte{s.cfg.LinkKey, s.cfg.PreviousLinkKey} {
		if token := deriveToken(key, nonce); key != nil && hashText(token) == hash {
			return s.cfg.SiteURL + path + token + ending
		}
	}
	return ""
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
	return s.urlOf(l), db.NoRowsAs(err, nil)
}

// ensureLink makes a new link to a message, unless the message has a valid link whose URL the server can derive.
func (s *Service) ensureLink(ctx context.Context, tx *db.Tx, messageID string) error {
	l, err := readLinkOf(ctx, tx, messageID)
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		return err
	}
	if err == nil && l.ExpiresAt.After(s.now()) && s.urlOf(l) != "" {
		return nil
	}
	return s.replaceLink(ctx, tx, messageID)
}
