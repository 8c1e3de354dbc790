package auth

import (
	"context"
	"net/url"
	"time"

	"atelie/internal/db"
)

// Kinds of queued work that the authentication service asks for. The payloads are Mail and SMS.
const (
	JobMail = "auth.mail"
	JobSMS  = "auth.sms"
)

// Mail is a message to be sent after the transaction that causes it. Link and Code are empty in notices.
type Mail struct {
	Kind     MailKind  `json:"kind"`
	To       string    `json:"to"`
	Language string    `json:"language"` // en or pt
	Link     string    `json:"link,omitempty"`
	Code     string    `json:"code,omitempty"`
	NewEmail string    `json:"new_email,omitempty"`
	Device   string    `json:"device,omitempty"` // the browser, as it names itself
	IP       string    `json:"ip,omitempty"`
	At       time.Time `json:"at"`
}

// MailKind names a message; package mail has a text for each.
type MailKind string

// The messages of the service: those with a link and a code first, then the notices.
const (
	MailConfirmation     MailKind = "confirmation"
	MailInvite           MailKind = "invite"
	MailMagicLink        MailKind = "magic_link"
	MailRecovery         MailKind = "recovery"
	MailEmailChange      MailKind = "email_change"     // to the address that is to be given up
	MailEmailChangeNew   MailKind = "email_change_new" // to the one that is to take its place
	MailReauthentication MailKind = "reauthentication" // a code alone
	MailPasswordChanged  MailKind = "password_changed"
	MailEmailChanged     MailKind = "email_changed" // to the address that was given up
	MailFactorAdded      MailKind = "factor_added"
	MailNewDevice        MailKind = "new_device"
)

// SMS is a text message with a code.
type SMS struct {
	UserID   string `json:"user_id"`
	Phone    string `json:"phone"` // digits, without +
	Code     string `json:"code"`
	Type     string `json:"type"` // sms, phone_change, reauthentication, mfa
	Channel  string `json:"channel,omitempty"`
	Language string `json:"language"`
}

// sendMail queues a message in the transaction: it leaves once that is on disk, and not otherwise.
func (s *Service) sendMail(ctx context.Context, tx *db.Tx, m Mail) error {
	m.At = s.now()
	return s.queue.Enqueue(ctx, tx, JobMail, m)
}

// sendSMS is sendMail for phones.
func (s *Service) sendSMS(ctx context.Context, tx *db.Tx, m SMS) error {
	return s.queue.Enqueue(ctx, tx, JobSMS, m)
}

// verifyLink is the address in a mail. kind is the type that /verify knows: signup, invite, magiclink, recovery,
// email_change.
func (s *Service) verifyLink(link, kind, redirectTo string) string {
	v := url.Values{"token": {link}, "type": {kind}}
	if redirectTo != "" {
		v.Set("redirect_to", redirectTo)
	}
	return s.cfg.APIURL + "/auth/v1/verify?" + v.Encode()
}

// languageFor is what an account asked for in its own data, else what the request asks for.
func languageFor(u User, c client) string {
	if l := u.locale(); l != "" {
		return baseLanguage(l)
	}
	return c.language
}

// Outdated tells that the message came too late, after failed tries: its link and its code work no longer, and sending
// it would only mislead. Notices always are worth sending.
func (m Mail) Outdated(now time.Time) bool {
	life := linkLife
	switch m.Kind {
	case MailConfirmation, MailInvite, MailEmailChange, MailEmailChangeNew:
		life = confirmLife
	}
	return (m.Link != "" || m.Code != "") && now.Sub(m.At) >= life
}

// Outdated tells that the code of a message that was asked for at a moment has expired.
func (m SMS) Outdated(asked, now time.Time) bool { return now.Sub(asked) >= codeLife }
