package config

import (
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// Mail contains the SMTP server, the sender of mails, and the settings for messages of the contact form.
type Mail struct {
	SMTPURL string `name:"smtp-url" env:"ATELIE_SMTP_URL" secret:"url" help:"SMTP server: smtp://user:password@host:587 or smtps://…, with ?tls=required, offered or none. When empty, mails are written to files in the data folder."`
	From    string `name:"mail-from" env:"ATELIE_MAIL_FROM" help:"Sender of mails: \"Name <name@example.com>\"."`

	WebhookPrivate Switch `name:"webhook-private" env:"ATELIE_WEBHOOK_PRIVATE" default:"off" help:"Allow http:// and addresses in a private network or on this machine for the webhook for new messages and for cdn-purge-url."`

	MessagesPerHour int `name:"messages-per-hour" env:"ATELIE_MESSAGES_PER_HOUR" default:"60" help:"Largest number of messages per hour that reach the inbox through the contact form, from all visitors together; further ones go to quarantine. 0 for no limit."`
}

// SMTPServer is the parsed URL of a mail server.
type SMTPServer struct {
	Host           string
	Port           int
	User, Password string // both are "" when the server needs no login
	// TLS says how the connection is encrypted:
	//
	//	"implicit"   from the first byte
	//	"required"   by STARTTLS; no mail is sent if the server does not offer it
	//	"offered"    by STARTTLS if the server offers it
	//	"none"       not at all
	TLS string
}

// Server parses the URL of the mail server. It returns nil if none is set. For smtps:// TLS is "implicit". For smtp:// TLS is the
// value of the parameter tls; its default is "required" if the URL has a login, and "offered" if it has none. Errors do not repeat
// the URL, because it can contain a password.
func (m *Mail) Server() (*SMTPServer, error) {
	if m.SMTPURL == "" {
		return nil, nil
	}
	u, err := url.Parse(m.SMTPURL)
	isServer := err == nil && u.Hostname() != "" && (u.Scheme == "smtp" || u.Scheme == "smtps")
	if !isServer || strings.Trim(u.Path, "/") != "" || u.Fragment != "" || u.Opaque != "" {
		return nil, errors.New("smtp-url: is not a URL such as smtp://user:password@mail.example.com:587 (write @ in a password as %40, / as %2F)")
	}
	const submissionPort, implicitTLSPort = 587, 465 // RFC 8314 §7.3
	s := &SMTPServer{Host: u.Hostname(), Port: submissionPort, User: u.User.Username(), TLS: "offered"}
	s.Password, _ = u.User.Password()
	if (s.User == "") != (s.Password == "") {
		return nil, errors.New("smtp-url: a login needs both a user and a password")
	}
	if u.Scheme == "smtps" {
		s.Port, s.TLS = implicitTLSPort, "implicit"
	} else if s.User != "" {
		s.TLS = "required"
	}
	if port := u.Port(); port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return nil, errors.New("smtp-url: the port must be between 1 and 65535")
		}
		s.Port = int(n)
	}
	for name, values := range u.Query() {
		mode := values[0]
		if name != "tls" || len(values) != 1 || (mode != "required" && mode != "offered" && mode != "none") {
			return nil, errors.New("smtp-url: the only parameter after ? is tls=required, tls=offered or tls=none")
		}
		if u.Scheme == "smtp" {
			s.TLS = mode
		} else if mode != "required" {
			return nil, errors.New("smtp-url: smtps:// is always encrypted; write smtp:// for anything else")
		}
	}
	if s.User != "" && s.TLS != "required" && s.TLS != "implicit" && !isThisMachine(s.Host) {
		return nil, fmt.Errorf("smtp-url: tls=%s could reveal the password; it is allowed only for a server on this machine", s.TLS)
	}
	return s, nil
}

func isThisMachine(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}

func (m *Mail) validate() error {
	var found mistakes
	server, err := m.Server()
	found.add(err)
	found.addIf(server != nil && m.From == "", "mail-from: must be set, because the SMTP server needs a sender")
	if m.From != "" {
		_, err := mail.ParseAddress(m.From)
		found.addIf(err != nil || strings.ContainsFunc(m.From, unicode.IsControl), "mail-from: %q is not an address such as \"Name <name@example.com>\"", m.From)
	}
	return found.join()
}
