// Package mail composes e-mails, as text and HTML in the recipient's language, and delivers them to an SMTP server. If no server is
// configured, it writes them as files into a folder.
package mail

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	netmail "net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	gomail "github.com/wneessen/go-mail"

	"atelie/internal/i18n"
	"atelie/internal/jobs"
)

// Kind is the purpose of a mail. The texts of each kind are in package i18n, under the keys mail.<kind>.
type Kind string

// The kinds up to Reauthentication have a link or a code that signs in or confirms something. All later kinds are notices, which only
// report something.
const (
	Confirmation     Kind = "confirmation"     // confirms the e-mail address of a new account
	MagicLink        Kind = "magic_link"       // signs in without a password
	Recovery         Kind = "recovery"         // lets the account's holder choose a new password
	Invite           Kind = "invite"           // invites somebody to have an account
	EmailChange      Kind = "email_change"     // sent to the account's current e-mail address, before it is changed
	EmailChangeNew   Kind = "email_change_new" // sent to the new e-mail address, before it is changed
	Reauthentication Kind = "reauthentication" // a code that a change to the account needs
	PasswordChanged  Kind = "password_changed"
	EmailChanged     Kind = "email_changed" // sent to the former e-mail address, after it was changed
	FactorAdded      Kind = "factor_added"  // the account has a new second factor
	NewDevice        Kind = "new_device"    // a sign-in from a device that was not used before
	Test             Kind = "test"          // shows that mails arrive
	DiskLow          Kind = "disk_low"      // sent to the owners: the disk is nearly full, or full

	// Problems with the site, sent to the owners. The values are the codes (health.Code) of the problems. A restore test is a nightly test
	// that the backup can be restored.
	BackupOff             Kind = "backup_off"
	BackupFailing         Kind = "backup_failing"
	BackupStale           Kind = "backup_stale"     // the newest backup is too old
	RestoreTestFailed     Kind = "proof_failed"     // the newest complete restore test has found damage
	RestoreTestIncomplete Kind = "proof_incomplete" // a restore test could not be completed
	RestoreTestStale      Kind = "proof_stale"      // no restore test has succeeded recently
	MailFailing           Kind = "mail_failing"     // deliveries of mails fail
	MailWaiting           Kind = "mail_waiting"     // a mail waits for too long
	CertificateEnding     Kind = "certificate_ending"
	CertificateMissing    Kind = "certificate_missing"

	ContactNotice   Kind = "contact_notice"   // sent to the owner, about one message of a visitor
	ContactDigest   Kind = "contact_digest"   // sent to the owner, about many messages
	ContactAnswer   Kind = "contact_answer"   // sent to the owner, about what a visitor has written later, such as a reply
	ContactReply    Kind = "contact_reply"    // sent to the visitor: an owner's reply to the message
	ContactOffer    Kind = "contact_offer"    // sent to the visitor: an offer for a commission
	ContactProgress Kind = "contact_progress" // sent to the visitor: a note on the progress of a commission
	ContactReview   Kind = "contact_review"   // sent to the visitor: a request for a review of a finished commission
	ContactCopy     Kind = "contact_copy"     // sent to the visitor: a copy of the message
	ContactThanks   Kind = "contact_thanks"   // sent to the visitor, after a message; must not include any of its content
)

// kindIsNotice contains every kind, with true for notices.
var kindIsNotice = map[Kind]bool{
	Confirmation: false, MagicLink: false, Recovery: false, Invite: false, EmailChange: false, EmailChangeNew: false, Reauthentication: false,
	PasswordChanged: true, EmailChanged: true, FactorAdded: true, NewDevice: true, Test: true, DiskLow: true,
	BackupOff: true, BackupFailing: true, BackupStale: true, RestoreTestFailed: true, RestoreTestIncomplete: true, RestoreTestStale: true, MailFailing: true, MailWaiting: true,
	CertificateEnding: true, CertificateMissing: true,
	ContactNotice: true, ContactAnswer: true, ContactReply: true, ContactOffer: true, ContactProgress: true, ContactReview: true, ContactCopy: true, ContactDigest: true, ContactThanks: true,
}

// Message is the content of a mail and its recipient. The mail leaves out the parts whose fields are empty.
type Message struct {
	ID       string // value of the Message-ID header, the same at every attempt; "": Send creates one
	Kind     Kind
	To       string // a bare e-mail address, without a name
	Language i18n.Language
	Link     string // complete URL
	Code     string

	NewEmail string    // the new e-mail address, in mails about a change of it
	Cause    string    // what has caused the reported problem; for problems with a certificate, the domain
	Device   string    // User-Agent of the request that the mail is about
	IP       string    // IP address of that request
	At       time.Time // when the reported event happened; shown only in notices

	Contact *Contact // a visitor's text; required for ContactNotice and ContactAnswer, nil for all other kinds
	Reply   *Reply   // a text of the owner; required for ContactReply, ContactOffer, ContactProgress and ContactReview, nil for all other kinds
	Copy    string   // the visitor's text; required for ContactCopy, "" for all other kinds
	Thanks  bool     // whether a ContactCopy has the words of the thank-you mail, which the visitor then does not get
	Digest  *Digest  // many messages; required for ContactDigest, nil for all other kinds
	About   []string // ids of the visitors' messages that the mail is about; stored with a mail that becomes a file
}

// Ways to encrypt the connection to an SMTP server.
const (
	TLSImplicit = "implicit" // TLS from the first byte (smtps)
	TLSRequired = "required" // STARTTLS; no mail is sent when the server does not offer it
	TLSOffered  = "offered"  // STARTTLS when the server offers it
	TLSNone     = "none"     // no encryption
)

// Server is the SMTP server that mails are delivered to.
type Server struct {
	Host           string
	Port           int
	User, Password string // both empty: no login
	TLS            string // TLSImplicit, TLSRequired, TLSOffered or TLSNone
}

// Config holds the sender of all mails and the way in which they are delivered.
type Config struct {
	Server   *Server // nil: every mail becomes a file in Dir
	From     string  // "Name <a@b>"; "": no-reply at the site's host
	Dir      string  // folder for mails in files
	SiteURL  string
	SiteName func(ctx context.Context) (string, error)
	RootCAs  *x509.CertPool // trusted authorities for the server's certificate; nil: the system's
}

// Mailer composes and delivers mails.
type Mailer struct {
	cfg  Config
	from *netmail.Address
	log  *slog.Logger
	now  func() time.Time

	delivered, failed atomic.Int64 // numbers of attempts to deliver a mail
}

// New returns a mailer. It returns an error when the sender's address is invalid.
func New(cfg Config, log *slog.Logger, now func() time.Time) (*Mailer, error) {
	m := &Mailer{cfg: cfg, log: log, now: now}
	from := cfg.From
	if from == "" {
		host := hostName(cfg.SiteURL)
		if host == "" {
			return nil, fmt.Errorf("mail: the site's URL %q has no host", cfg.SiteURL)
		}
		from = "no-reply@" + host
	}
	var err error
	if m.from, err = ParseFrom(from); err != nil {
		return nil, err
	}
	return m, nil
}

// hostName returns the host of the site's URL; "" if it has none. For an IP address it returns localhost, because an IP address would need
// brackets (RFC 5321), and nobody can reply to no-reply anyway.
func hostName(siteURL string) string {
	u, err := url.Parse(siteURL)
	switch {
	case err != nil:
		return ""
	case net.ParseIP(u.Hostname()) != nil:
		return "localhost"
	}
	return u.Hostname()
}

// ParseFrom parses "Name <a@b>" or "a@b" (RFC 5322 §3.4). It rejects control characters, because a line break would start
// another header.
func ParseFrom(s string) (*netmail.Address, error) {
	a, err := netmail.ParseAddress(s)
	if err != nil || !hasNoControl(s) || !hasNoControl(a.Name) || checkAddress(a.Address) != nil {
		return nil, fmt.Errorf("mail: the sender %q is not an address such as \"Name <name@example.com>\"", s)
	}
	return a, nil
}

// Send composes the mail and delivers it. where is the server's host:port or the file's path. An error that another attempt would
// only repeat is jobs.Permanent.
func (m *Mailer) Send(ctx context.Context, msg Message) (where string, err error) {
	if where, err = m.send(ctx, msg); err != nil {
		m.failed.Add(1)
	} else {
		m.delivered.Add(1)
	}
	return where, err
}

// Attempts returns how many calls of Send have delivered a mail, and how many have failed, since the start of the program.
func (m *Mailer) Attempts() (delivered, failed int64) { return m.delivered.Load(), m.failed.Load() }

func (m *Mailer) send(ctx context.Context, msg Message) (where string, err error) {
	if err := check(msg); err != nil {
		return "", jobs.Permanent(err)
	}
	site, err := m.cfg.SiteName(ctx)
	if err != nil {
		return "", fmt.Errorf("mail: the site's name: %w", err)
	}
	composed, err := m.compose(msg, oneLine(site, 100))
	if err != nil {
		return "", jobs.Permanent(err)
	}
	if m.cfg.Server == nil {
		return m.writeFile(composed, msg)
	}
	where, err = m.deliver(ctx, composed)
	if err == nil { // the mail server's log has the same message_id
		m.log.Info("mail delivered", "kind", string(msg.Kind), "server", where, "message_id", composed.GetMessageID())
	}
	return where, err
}

// check returns an error for a message that can never be sent.
func check(msg Message) error {
	isNotice, known := kindIsNotice[msg.Kind]
	if !known {
		return fmt.Errorf("mail: unknown kind of message %q", msg.Kind)
	}
	if err := checkAddress(msg.To); err != nil {
		return err
	}
	if !isNotice && msg.Link == "" && msg.Code == "" {
		return fmt.Errorf("mail: %s without a link and without a code", msg.Kind)
	}
	if msg.Link != "" {
		u, err := url.Parse(msg.Link)
		if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || !hasNoControl(msg.Link) {
			return fmt.Errorf("mail: the link of %s is not a URL", msg.Kind) // without the link, which is secret
		}
	}
	if (msg.Kind == ContactNotice || msg.Kind == ContactAnswer) != (msg.Contact != nil) {
		return fmt.Errorf("mail: %s, and a visitor's message: %v", msg.Kind, msg.Contact != nil)
	}
	if (msg.Kind == ContactReply || msg.Kind == ContactOffer || msg.Kind == ContactProgress || msg.Kind == ContactReview) != (msg.Reply != nil) {
		return fmt.Errorf("mail: %s, and a reply: %v", msg.Kind, msg.Reply != nil)
	}
	if (msg.Kind == ContactCopy) != (msg.Copy != "") {
		return fmt.Errorf("mail: %s, and a copy: %v", msg.Kind, msg.Copy != "")
	}
	if (msg.Kind == ContactDigest) != (msg.Digest != nil) {
		return fmt.Errorf("mail: %s, and a digest: %v", msg.Kind, msg.Digest != nil)
	}
	if slices.ContainsFunc(msg.About, func(id string) bool { return uuid.Validate(id) != nil }) {
		return errors.New("mail: the id of a message that the mail is about is not a UUID")
	}
	if !hasNoControl(msg.ID) || strings.ContainsAny(msg.ID, "<>@ ") {
		return errors.New("mail: the id is not valid in a header")
	}
	return nil
}

// checkAddress returns an error unless address is one bare address: no list, name or comment, and no character that ends a
// header line.
func checkAddress(address string) error {
	parsed, err := netmail.ParseAddress(address)
	if err != nil || parsed.Address != address || parsed.Name != "" || !hasNoControl(address) || len(address) > 254 {
		return errors.New("mail: the recipient's address cannot be used")
	}
	return nil
}

// hasNoControl reports whether s is valid UTF-8 without control characters and without Unicode's line separators.
func hasNoControl(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' })
}

// oneLine makes untrusted text safe to show and to put into a header. It replaces control characters and direction marks by spaces, except
// for the joiners of scripts and emoji (U+200C, U+200D), and truncates the text to limit runes. It splits "=?", because that begins an
// encoded word in a header (RFC 2047).
func oneLine(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\u200c' || r == '\u200d':
			return r
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || r == utf8.RuneError:
			return ' '
		}
		return r
	}, s)
	s = strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "=?", "= ?")
	if r := []rune(s); len(r) > limit {
		s = strings.TrimSpace(string(r[:limit])) + "…"
	}
	return s
}

// compose returns the MIME message: text and HTML as alternatives, and headers that suppress automatic replies.
func (m *Mailer) compose(msg Message, site string) (*gomail.Msg, error) {
	rendered, err := render(msg, site, m.cfg.SiteURL)
	if err != nil {
		return nil, err
	}
	if !hasNoControl(rendered.subject) {
		return nil, errors.New("mail: the subject has more than one line")
	}
	from := *m.from
	if from.Name == "" {
		from.Name = site
	}
	_, domain, _ := strings.Cut(from.Address[strings.LastIndex(from.Address, "@"):], "@")
	out := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	out.FromMailAddress(&from)
	out.ToMailAddress(&netmail.Address{Address: msg.To})
	if c := msg.Contact; c != nil && checkAddress(c.Email) == nil { // the text shows an invalid address too
		out.ReplyToMailAddress(&netmail.Address{Name: oneLine(c.Name, 100), Address: c.Email})
	}
	if r := msg.Reply; r != nil && checkAddress(r.To) == nil {
		out.ReplyToMailAddress(&netmail.Address{Name: from.Name, Address: r.To})
	}
	out.Subject(rendered.subject)
	out.SetDateWithValue(m.now())
	out.SetMessageIDWithValue(cmp.Or(msg.ID, uuid.NewString()) + "@" + domain)
	if msg.Reply == nil { // a person has written a reply
		out.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834 §5
		out.SetGenHeader("X-Auto-Response-Suppress", "All")  // for Exchange, which does not read Auto-Submitted
	}
	out.SetGenHeader("Content-Language", string(msg.Language))
	out.SetBodyString(gomail.TypeTextPlain, rendered.text)
	out.AddAlternativeString(gomail.TypeTextHTML, rendered.html)
	return out, nil
}

func (s *Server) address() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }
