package auth

import (
	"context"
	"errors"
	"net/url"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
)

// This file queues mails and text messages about accounts, with the links and codes that they contain.

// Kinds of jobs that send mails and text messages. This package only queues the jobs; package app runs them.
const (
	JobMail = "auth.mail" // payload: Mail
	JobSMS  = "auth.sms"  // payload: SMS
)

// Mail is an e-mail about an account, or to an owner (an account with the role admin) about a problem with the site. It is queued in a
// transaction, and sent after the commit.
type Mail struct {
	Kind     MailKind  `json:"kind"`
	To       string    `json:"to"`                  // e-mail address
	Language string    `json:"language"`            // en or pt
	Link     string    `json:"link,omitempty"`      // URL; "" in mails without a link
	Code     string    `json:"code,omitempty"`      // six digits; "" in mails without a code
	NewEmail string    `json:"new_email,omitempty"` // the new address, in mails about a change of e-mail address
	Cause    string    `json:"cause,omitempty"`     // the cause of a problem with the site
	Device   string    `json:"device,omitempty"`    // User-Agent of the request that a security notice is about
	IP       string    `json:"ip,omitempty"`        // IP address of the same request
	At       time.Time `json:"at"`                  // when the mail was queued
}

// MailKind is the purpose of a mail. Package app converts it to a mail.Kind, so each value must also be the value of a mail.Kind constant.
type MailKind string

// Mails of the kinds up to MailReauthentication contain a link, a code or both. The other kinds are security notices, which only report
// what has happened to the account. A mail about a problem with the site has the code of the problem (health.Code) as its kind.
const (
	MailConfirmation     MailKind = "confirmation"
	MailInvite           MailKind = "invite"
	MailMagicLink        MailKind = "magic_link"
	MailRecovery         MailKind = "recovery"
	MailEmailChange      MailKind = "email_change"     // sent to the account's current e-mail address, before a change
	MailEmailChangeNew   MailKind = "email_change_new" // sent to the new e-mail address, before a change
	MailReauthentication MailKind = "reauthentication" // has a code and no link
	MailPasswordChanged  MailKind = "password_changed"
	MailEmailChanged     MailKind = "email_changed" // sent to the former e-mail address, after a change
	MailFactorAdded      MailKind = "factor_added"
	MailNewDevice        MailKind = "new_device"
)

// SMS is a text message with a code.
type SMS struct {
	UserID   string `json:"user_id"`
	Phone    string `json:"phone"` // digits, without +
	Code     string `json:"code"`
	Type     string `json:"type"`              // sms, phone_change, reauthentication or mfa
	Channel  string `json:"channel,omitempty"` // sms or whatsapp
	Language string `json:"language"`          // en or pt
}

// sendMail queues a mail in the transaction.
func (s *Service) sendMail(ctx context.Context, tx *db.Tx, m Mail) error {
	m.At = s.now()
	return s.queue.Enqueue(ctx, tx, JobMail, m)
}

// sendNotice queues a security notice: a mail without a link or code. It does nothing when the account has no confirmed e-mail
// address.
func (s *Service) sendNotice(ctx context.Context, tx *db.Tx, c clientInfo, u User, kind MailKind) error {
	if u.Email == "" || u.EmailConfirmedAt == nil {
		return nil
	}
	return s.sendMail(ctx, tx, Mail{Kind: kind, To: u.Email, Language: languageFor(u, c), Device: c.userAgent, IP: c.ip})
}

// sendSMS queues a text message in the transaction.
func (s *Service) sendSMS(ctx context.Context, tx *db.Tx, m SMS) error {
	return s.queue.Enqueue(ctx, tx, JobSMS, m)
}

// verifyLink returns the URL that a mail contains. verifyType is the parameter type of GET /verify: signup, invite, magiclink,
// recovery or email_change. The parameters have Supabase Auth's order, on which programs that parse the link rely.
func (s *Service) verifyLink(linkToken, verifyType, redirectTo string) string {
	return s.cfg.APIURL + "/auth/v1/verify?token=" + url.QueryEscape(linkToken) + "&type=" + url.QueryEscape(verifyType) + "&redirect_to=" + url.QueryEscape(redirectTo)
}

// languageFor returns the language of the account's metadata, or that of the request when the metadata has none.
func languageFor(u User, c clientInfo) string {
	if l := u.locale(); l != "" {
		return languageOfLocale(l)
	}
	return c.language
}

// Outdated reports whether the mail's link and code have expired. Security notices do not expire.
func (m Mail) Outdated(now time.Time) bool {
	life := linkLife
	switch m.Kind {
	case MailConfirmation, MailInvite, MailEmailChange, MailEmailChangeNew:
		life = confirmLife
	}
	return (m.Link != "" || m.Code != "") && now.Sub(m.At) >= life
}

// Outdated reports whether the code has expired. requested is when the message was queued.
func (m SMS) Outdated(requested, now time.Time) bool { return now.Sub(requested) >= codeLife }

// linkMail describes a kind of mail with a link and a code that is sent to the account's own e-mail address.
type linkMail struct {
	kind       MailKind
	cooldown   cooldownKind
	method     string        // the method in the amr claim of the session, if the link belongs to a PKCE flow
	verifyType string        // parameter type of GET /verify
	tokenKind  tokenKind     // kind of the one-time token (link and code)
	life       time.Duration // how long the one-time token is valid
	sentColumn userColumn    // stores when the mail was sent
	action     auditAction
}

var (
	confirmationMail = linkMail{
		kind: MailConfirmation, method: "email/signup", verifyType: "signup", cooldown: cooldownConfirmation,
		tokenKind: tokenConfirmation, life: confirmLife, sentColumn: colConfirmationSent, action: auditConfirmationRequested,
	}
	magicLinkMail = linkMail{
		kind: MailMagicLink, method: "magiclink", verifyType: "magiclink", cooldown: cooldownRecovery,
		tokenKind: tokenRecovery, life: linkLife, sentColumn: colRecoverySent, action: auditRecoveryRequested,
	}
	recoveryMail = linkMail{
		kind: MailRecovery, method: "recovery", verifyType: "recovery", cooldown: cooldownRecovery,
		tokenKind: tokenRecovery, life: linkLife, sentColumn: colRecoverySent, action: auditRecoveryRequested,
	}
)

// sendLink mails a link and a code to the account's e-mail address. If the address has no mail quota left, it sends nothing
// and returns nil, because the links of earlier mails still work.
func (s *Service) sendLink(ctx context.Context, tx *db.Tx, c clientInfo, u User, m linkMail, challenge pkceChallenge, redirectTo string) error {
	if wait, err := s.spendQuota(ctx, tx, m.cooldown, s.mailQuota(), u.Email); err != nil || wait > 0 {
		return err
	}
	flow, err := s.startFlow(ctx, tx, flowState{authMethod: m.method, provider: "email", redirectTo: redirectTo}, challenge, "")
	if err != nil {
		return err
	}
	issued, err := s.issueToken(ctx, tx, u.ID, m.tokenKind, u.Email, flow.id, m.life, columnChange{m.sentColumn, s.now()})
	return errors.Join(
		err,
		s.audit(ctx, tx, c, m.action, u.ID, map[string]any{"kind": m.kind}),
		s.sendMail(ctx, tx, Mail{
			Kind: m.kind, To: u.Email, Language: languageFor(u, c), Code: issued.Code, Link: s.verifyLink(issued.LinkToken, m.verifyType, redirectTo),
		}),
	)
}

// sendEmailChange mails a link and a code to the new e-mail address and, when the account has one, to the current one. The
// change takes effect when both are confirmed. If one of the addresses has no mail quota left, it sends nothing and returns
// errTooSoon.
func (s *Service) sendEmailChange(ctx context.Context, tx *db.Tx, c clientInfo, u User, address string, challenge pkceChallenge, redirectTo string) error {
	addresses := []string{address}
	if u.Email != "" && u.Email != address {
		addresses = append(addresses, u.Email)
	}
	if err := s.requireQuota(ctx, tx, cooldownEmailChange, s.mailQuota(), addresses...); err != nil {
		return err
	}
	if u.NewEmail != address { // links for another new address must not confirm this one
		if err := deleteOneTimeTokens(ctx, tx, u.ID, tokenEmailCurrent, tokenEmailNew); err != nil {
			return err
		}
	}
	flow, err := s.startFlow(ctx, tx, flowState{authMethod: "email_change", provider: "email", redirectTo: redirectTo}, challenge, "")
	if err != nil {
		return err
	}
	now := s.now()
	err = errors.Join(
		setUser(ctx, tx, u.ID, now, columnChange{colEmailChange, address}, columnChange{colEmailChangeSent, now}, columnChange{colEmailChangeStatus, 0}),
		s.audit(ctx, tx, c, auditEmailChangeRequested, u.ID, map[string]any{"kind": MailEmailChange}),
	)
	send := func(token tokenKind, kind MailKind, to string) error {
		issued, err := s.issueToken(ctx, tx, u.ID, token, to, flow.id, confirmLife)
		return errors.Join(err, s.sendMail(ctx, tx, Mail{
			Kind: kind, To: to, NewEmail: address, Language: languageFor(u, c), Code: issued.Code, Link: s.verifyLink(issued.LinkToken, "email_change", redirectTo),
		}))
	}
	if u.Email != "" {
		err = errors.Join(err, send(tokenEmailCurrent, MailEmailChange, u.Email))
	}
	return errors.Join(err, send(tokenEmailNew, MailEmailChangeNew, address))
}

// sendPhoneChange starts a change of phone number: it stores the new number as pending and sends it a code.
func (s *Service) sendPhoneChange(ctx context.Context, tx *db.Tx, c clientInfo, u User, phone, channel string) error {
	return s.sendCode(ctx, tx, c, u, tokenPhoneChange, phone, channel, columnChange{colPhoneChange, phone}, columnChange{colPhoneChangeSent, s.now()})
}

// codeMessages lists the types of token whose codes sendCode sends.
var codeMessages = map[tokenKind]struct {
	quota   cooldownKind // the kind of message of which the number has a quota
	smsType string       // SMS.Type
	action  auditAction
}{
	tokenConfirmation:   {cooldownSMS, "sms", auditConfirmationRequested},
	tokenRecovery:       {cooldownSMS, "sms", auditRecoveryRequested},
	tokenReauthenticate: {cooldownReauthentication, "reauthentication", auditReauthenticationRequested},
	tokenPhoneChange:    {cooldownPhoneChange, "phone_change", auditPhoneChangeRequested},
}

// sendCode issues a code, writes changes to the account and queues a text message with the code for the number phone. If the number
// has no quota of messages left, sendCode does nothing and returns errTooSoon.
func (s *Service) sendCode(ctx context.Context, tx *db.Tx, c clientInfo, u User, kind tokenKind, phone, channel string, changes ...columnChange) error {
	message := codeMessages[kind]
	if err := s.requireQuota(ctx, tx, message.quota, textQuota(s.cfg.TextsPerDay), phone); err != nil {
		return err
	}
	issued, err := s.issueToken(ctx, tx, u.ID, kind, phone, "", codeLife, changes...)
	return errors.Join(
		err,
		s.audit(ctx, tx, c, message.action, u.ID, map[string]any{"kind": message.smsType, "channel": channel}),
		s.sendSMS(ctx, tx, SMS{UserID: u.ID, Phone: phone, Code: issued.Code, Type: message.smsType, Channel: channel, Language: languageFor(u, c)}),
	)
}

// normalizeChannel returns the channel of a message to a phone, "sms" or "whatsapp"; it converts "" to "sms". It returns errChannel
// for an unknown channel.
func normalizeChannel(channel string) (string, error) {
	switch channel {
	case "":
		return "sms", nil
	case "sms", "whatsapp":
		return channel, nil
	}
	return "", errChannel.Becausef("%q", channel)
}

// normalizeEnabledPhone normalizes a phone number if Config.PhoneEnabled is true; otherwise it returns the error disabled.
func (s *Service) normalizeEnabledPhone(number string, disabled *apperr.Error) (string, error) {
	if !s.cfg.PhoneEnabled {
		return "", disabled
	}
	return normalizePhone(number)
}
