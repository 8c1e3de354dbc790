package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// Mail contains the SMTP server, the sender of mails, and the settings for messages of the contact form.
type Mail struct {
	SMTPURL string `name:"smtp-url" env:"ATELIE_SMTP_URL" secret:"url" help:"Server that takes mail: smtp://user:password@host:587 or smtps://…, with ?tls=required, offered or none. Mails become files in the data folder when empty."`
	From    string `name:"mail-from" env:"ATELIE_MAIL_FROM" help:"Who writes: \"Name <name@example.com>\"."`

	WebhookPrivate Switch `name:"webhook-private" env:"ATELIE_WEBHOOK_PRIVATE" default:"off" help:"Lets the webhook for new messages be http:// and lie in a private network or on this machine."`

	MessagesPerHour int `name:"messages-per-hour" env:"ATELIE_MESSAGES_PER_HOUR" default:"60" help:"Messages through the contact form, of all visitors together, that reach the inbox in an hour; further ones wait in quarantine. 0 for no limit."`
}

// SMTP is the parsed URL of a mail server.
type SMTP struct {
	Host           string
	Port           int
	User, Password string // both are "" when the server needs no login
	// TLS is "implicit" (encrypted from the first byte), "required" (STARTTLS is required), "offered" (STARTTLS is used if
	// the server offers it) or "none".
	TLS string
}

// SMTP parses the URL of the mail server. It returns nil if none is set. For smtps:// TLS is "implicit". For smtp:// TLS is the
// value of the parameter tls; if it is missing, "required" with a login and "offered" without. Errors do not repeat the URL,
// which can contain a password.
func (m *Mail) SMTP() (*SMTP, error) {
	if m.SMTPURL == "" {
		return nil, nil
	}
	u, err := url.Parse(m.SMTPURL)
	if err != nil || u.Hostname() == "" || (u.Scheme != "smtp" && u.Scheme != "smtps") || strings.Trim(u.Path, "/") != "" || u.Fragment != "" || u.Opaque != "" {
		return nil, errors.New("smtp-url: is not an address such as smtp://user:password@mail.example.com:587 (write @ in a password as %40, / as %2F)")
	}
	s := &SMTP{Host: u.Hostname(), Port: 587, User: u.User.Username(), TLS: "offered"}
	s.Password, _ = u.User.Password()
	if (s.User == "") != (s.Password == "") {
		return nil, errors.New("smtp-url: a login needs both a user and a password")
	}
	if u.Scheme == "smtps" {
		s.Port, s.TLS = 465, "implicit"
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
			return nil, errors.New("smtp-url: after ? only tls=required, tls=offered or tls=none can stand")
		}
		if u.Scheme == "smtp" {
			s.TLS = mode
		} else if mode != "required" {
			return nil, errors.New("smtp-url: smtps:// is always encrypted; write smtp:// for anything else")
		}
	}
	if s.User != "" && s.TLS != "required" && s.TLS != "implicit" && !isThisMachine(s.Host) {
		return nil, fmt.Errorf("smtp-url: tls=%s could show the password to others; only a server on this machine may be asked so", s.TLS)
	}
	return s, nil
}

func isThisMachine(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}

func (m *Mail) validate() error {
	var found mistakes
	server, err := m.SMTP()
	found.add(err)
	found.check(server != nil && m.From == "", "mail-from: must be set, for the SMTP server to know who writes")
	if m.From != "" {
		_, err := mail.ParseAddress(m.From)
		found.check(err != nil || strings.ContainsFunc(m.From, unicode.IsControl), "mail-from: %q is not an address such as \"Name <name@example.com>\"", m.From)
	}
	return found.join()
}

// SMS holds the sender of text messages: a webhook, or a service with Twilio's API.
type SMS struct {
	HookURL       string `name:"sms-hook-url" env:"ATELIE_SMS_HOOK_URL" secret:"url" help:"Address that is called for every text message, signed (Standard Webhooks)."`
	HookSecret    string `name:"sms-hook-secret" env:"ATELIE_SMS_HOOK_SECRET" secret:"yes" help:"Key of the signature: v1,whsec_ and base64."`
	TwilioAccount string `name:"sms-twilio-account" env:"ATELIE_SMS_TWILIO_ACCOUNT" help:"Account at Twilio, or at a service that speaks alike."`
	TwilioToken   string `name:"sms-twilio-token" env:"ATELIE_SMS_TWILIO_TOKEN" secret:"yes" help:"Token of that account."`
	TwilioFrom    string `name:"sms-twilio-from" env:"ATELIE_SMS_TWILIO_FROM" help:"Number with +, or messaging service (MG…), that messages come from."`
	TwilioURL     string `name:"sms-twilio-url" env:"ATELIE_SMS_TWILIO_URL" default:"https://api.twilio.com" help:"Address of the service."`
}

// validate checks that at most one sender is set and that its settings are complete. If needed is true, there must be one.
func (s *SMS) validate(needed bool) error {
	var (
		m      mistakes
		hook   = s.HookURL != "" || s.HookSecret != ""
		twilio = s.TwilioAccount != "" || s.TwilioToken != "" || s.TwilioFrom != ""
	)
	m.check(hook && twilio, "sms-hook-url: set either the hook or the Twilio account, not both")
	m.check(needed && !hook && !twilio, "phone-enabled: needs a sender of text messages (sms-hook-url or sms-twilio-account)")
	if hook {
		m.add(validateServiceURL("sms-hook-url", s.HookURL))
		key, ok := strings.CutPrefix(strings.TrimPrefix(s.HookSecret, "v1,"), "whsec_")
		raw, err := base64.StdEncoding.DecodeString(key)
		m.check(!ok || err != nil || len(raw) < 16, "sms-hook-secret: must be v1,whsec_ and at least 16 bytes in base64")
	}
	if twilio {
		m.check(s.TwilioAccount == "" || s.TwilioToken == "" || s.TwilioFrom == "", "sms-twilio-account: account, token and from belong together")
		m.add(validateServiceURL("sms-twilio-url", s.TwilioURL))
	}
	return m.join()
}

// validateServiceURL checks the URL of a service that gets codes. The URL must have https unless it leads to this machine, a private IP
// address or a host name without a dot.
func validateServiceURL(name, value string) error {
	u, err := url.Parse(value)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "" || u.Fragment != "" {
		return fmt.Errorf("%s: must be an address such as https://example.com/hook", name)
	}
	if u.Scheme == "https" || !strings.Contains(u.Hostname(), ".") && net.ParseIP(u.Hostname()) == nil {
		return nil
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && (ip.IsLoopback() || ip.IsPrivate()) {
		return nil
	}
	return fmt.Errorf("%s: codes would travel unencrypted; it must begin with https://", name)
}
