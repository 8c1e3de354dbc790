// Package mail writes the messages that leave by e-mail, as text and HTML in the reader's language, and delivers them:
// to an SMTP server, or without one into a folder.
package mail

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	netmail "net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	gomail "github.com/wneessen/go-mail"

	"atelie/internal/i18n"
	"atelie/internal/jobs"
)

// Kind says what a message is about. Each has its texts in package i18n, under mail.<kind>.
type Kind string

// The messages with a link or a code, then the notices, which carry neither.
const (
	Confirmation     Kind = "confirmation"
	MagicLink        Kind = "magic_link"
	Recovery         Kind = "recovery"
	Invite           Kind = "invite"
	EmailChange      Kind = "email_change"     // to the address that is to be given up
	EmailChangeNew   Kind = "email_change_new" // to the one that is to take its place
	Reauthentication Kind = "reauthentication"
	PasswordChanged  Kind = "password_changed"
	EmailChanged     Kind = "email_changed" // to the address that was given up
	FactorAdded      Kind = "factor_added"
	NewDevice        Kind = "new_device"
	Test             Kind = "test"
	ContactNotice    Kind = "contact_notice" // to the owner: somebody has written
	ContactThanks    Kind = "contact_thanks" // to who has written; has nothing in it that they wrote
)

// notice tells for every kind whether it is one; what is not here is no kind.
var notice = map[Kind]bool{
	Confirmation: false, MagicLink: false, Recovery: false, Invite: false, EmailChange: false, EmailChangeNew: false, Reauthentication: false,
	PasswordChanged: true, EmailChanged: true, FactorAdded: true, NewDevice: true, Test: true,
	ContactNotice: true, ContactThanks: true,
}

// Message is what to say and to whom. Link arrives complete; what is empty is left out.
type Message struct {
	ID       string // same at every try to send it; made up when empty
	Kind     Kind
	To       string // a bare address
	Language i18n.Language
	Link     string
	Code     string
	NewEmail string
	Device   string // the browser, as it names itself
	IP       string
	At       time.Time // when it happened; shown in notices
	Contact  *Contact  // what a visitor wrote; with ContactNotice alone
}

// Contact is a visitor's message. Answers to the mail go to Email.
type Contact struct {
	Name, Email, Reason, Text string // Reason is a key of the catalogue: mail.reason.<reason>
}

// Ways to encrypt the connection to an SMTP server.
const (
	TLSImplicit = "implicit" // from the first byte (smtps)
	TLSRequired = "required" // STARTTLS, or no mail
	TLSOffered  = "offered"  // STARTTLS when the server knows it
	TLSNone     = "none"
)

// Server is where mail is handed over.
type Server struct {
	Host           string
	Port           int
	User, Password string // both empty: no login
	TLS            string // one of the TLS… words
}

// Config says who writes and how it leaves.
type Config struct {
	Server   *Server // nil: every mail becomes a file in Dir
	From     string  // "Name <a@b>"; empty means no-reply at the site's host
	Dir      string
	SiteURL  string
	SiteName func(ctx context.Context) (string, error)
	RootCAs  *x509.CertPool // nil means the system's
}

// Mailer delivers messages.
type Mailer struct {
	cfg  Config
	from *netmail.Address
	log  *slog.Logger
	now  func() time.Time
}

// New checks the sender's address.
func New(cfg Config, log *slog.Logger, now func() time.Time) (*Mailer, error) {
	m := &Mailer{cfg: cfg, log: log, now: now}
	from := cfg.From
	if from == "" {
		u, err := url.Parse(cfg.SiteURL)
		if err != nil || u.Hostname() == "" {
			return nil, fmt.Errorf("mail: the site's address %q has no host", cfg.SiteURL)
		}
		host := u.Hostname()
		if net.ParseIP(host) != nil {
			host = "localhost" // RFC 5321 wants brackets around an IP address, and nobody answers there
		}
		from = "no-reply@" + host
	}
	var err error
	if m.from, err = ParseFrom(from); err != nil {
		return nil, err
	}
	return m, nil
}

// ParseFrom reads "Name <a@b>" or "a@b" (RFC 5322 §3.4) and refuses control characters, which could start a header.
func ParseFrom(s string) (*netmail.Address, error) {
	a, err := netmail.ParseAddress(s)
	if err != nil || !plain(s) || !plain(a.Name) || checkAddress(a.Address) != nil {
		return nil, fmt.Errorf("mail: the sender %q is not an address such as \"Name <name@example.com>\"", s)
	}
	return a, nil
}

// Send writes the message and delivers it. where says in words where it went. An error that another try would only
// repeat is jobs.Permanent.
func (m *Mailer) Send(ctx context.Context, msg Message) (where string, err error) {
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
		return m.keep(composed, msg.Kind)
	}
	where, err = m.transmit(ctx, composed)
	if err == nil { // the id is what the server's own log knows the mail by
		m.log.Info("mail handed over", "kind", string(msg.Kind), "server", where, "message_id", composed.GetMessageID())
	}
	return where, err
}

func check(msg Message) error {
	isNotice, known := notice[msg.Kind]
	if !known {
		return fmt.Errorf("mail: %q is no kind of message", msg.Kind)
	}
	if err := checkAddress(msg.To); err != nil {
		return err
	}
	if !isNotice && msg.Link == "" && msg.Code == "" {
		return fmt.Errorf("mail: %s without a link and without a code", msg.Kind)
	}
	if msg.Link != "" {
		u, err := url.Parse(msg.Link)
		if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || !plain(msg.Link) {
			return fmt.Errorf("mail: the link of %s is no web address", msg.Kind) // without the link: it is a secret
		}
	}
	if (msg.Kind == ContactNotice) != (msg.Contact != nil) {
		return fmt.Errorf("mail: %s, and a visitor's message: %v", msg.Kind, msg.Contact != nil)
	}
	if !plain(msg.ID) || strings.ContainsAny(msg.ID, "<>@ ") {
		return errors.New("mail: the id cannot stand in a header")
	}
	return nil
}

// checkAddress refuses everything but one bare address: lists, names, comments, and characters that end a header line.
func checkAddress(address string) error {
	parsed, err := netmail.ParseAddress(address)
	if err != nil || parsed.Address != address || parsed.Name != "" || !plain(address) || len(address) > 254 {
		return errors.New("mail: the recipient's address cannot be used")
	}
	return nil
}

// plain tells that no control character is in s, nor anything that Unicode counts as a line's end.
func plain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' })
}

// oneLine makes foreign text harmless to show: spaces for control characters and marks that change the writing
// direction, limit runes at most. "=?" opens an encoded word (RFC 2047), which a header must not get by accident.
func oneLine(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || r == utf8.RuneError {
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

// compose makes the message as it leaves: both alternatives, and headers that keep answering machines quiet.
func (m *Mailer) compose(msg Message, site string) (*gomail.Msg, error) {
	rendered, err := render(msg, site, m.cfg.SiteURL)
	if err != nil {
		return nil, err
	}
	if !plain(rendered.subject) {
		return nil, errors.New("mail: the subject has more than one line")
	}
	from := *m.from
	if from.Name == "" {
		from.Name = site
	}
	id := msg.ID
	if id == "" {
		id = uuid.NewString()
	}
	_, domain, _ := strings.Cut(from.Address[strings.LastIndex(from.Address, "@"):], "@")
	out := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	out.FromMailAddress(&from)
	out.ToMailAddress(&netmail.Address{Address: msg.To})
	if c := msg.Contact; c != nil && checkAddress(c.Email) == nil { // an address that cannot be written to is shown all the same
		out.ReplyToMailAddress(&netmail.Address{Name: oneLine(c.Name, 100), Address: c.Email})
	}
	out.Subject(rendered.subject)
	out.SetDateWithValue(m.now())
	out.SetMessageIDWithValue(id + "@" + domain)
	out.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834 §5
	out.SetGenHeader("X-Auto-Response-Suppress", "All")  // what Exchange looks at instead
	out.SetGenHeader("Content-Language", string(msg.Language))
	out.SetBodyString(gomail.TypeTextPlain, rendered.text)
	out.AddAlternativeString(gomail.TypeTextHTML, rendered.html)
	return out, nil
}

func (s *Server) address() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }
