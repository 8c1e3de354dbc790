package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"time"

	gomail "github.com/wneessen/go-mail"

	"atelie/internal/jobs"
)

// Limits of one delivery: each exchange with the server, and all of it.
const (
	exchangeTime = 20 * time.Second
	deliveryTime = 45 * time.Second
)

// logins are the ways to log in, best first. Those that show the password are refused by the library on a connection
// without encryption, except to this machine.
var logins = []gomail.SMTPAuthType{gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthSCRAMSHA1, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin, gomail.SMTPAuthCramMD5}

// transmit hands the message over. The connection is dialled here, so that it is closed whatever happens and when ctx
// ends; the library leaves it open when the greeting, the encryption or the login fails.
func (m *Mailer) transmit(ctx context.Context, msg *gomail.Msg) (where string, err error) {
	ctx, cancel := context.WithTimeout(ctx, deliveryTime)
	defer cancel()
	server := m.cfg.Server
	tlsConfig := &tls.Config{ServerName: server.Host, RootCAs: m.cfg.RootCAs, MinVersion: tls.VersionTLS12}
	options := []gomail.Option{
		gomail.WithPort(server.Port), gomail.WithTimeout(exchangeTime), gomail.WithTLSConfig(tlsConfig), gomail.WithTLSPolicy(policy(server.TLS)), gomail.WithHELO(m.helo()),
		gomail.WithDialContextFunc(func(dialing context.Context, network, address string) (net.Conn, error) {
			conn, err := server.dial(dialing, network, address, tlsConfig)
			if err == nil {
				context.AfterFunc(ctx, func() { _ = conn.Close() }) // cancel, at the end, closes it too
			}
			return conn, err
		}),
	}
	if server.User != "" {
		options = append(options, gomail.WithOpportunisticSMTPAuth(logins...), gomail.WithUsername(server.User), gomail.WithPassword(server.Password))
	}
	client, err := gomail.NewClient(server.Host, options...)
	if err != nil {
		return "", fmt.Errorf("mail: %w", err)
	}
	err = client.DialAndSendWithContext(ctx, msg)
	if err == nil || msg.IsDelivered() { // a farewell that fails must not send it twice
		return server.address(), nil
	}
	if ctx.Err() != nil {
		err = errors.Join(err, ctx.Err())
	}
	err = fmt.Errorf("mail: %s: %w", server.address(), err)
	if refused(err) {
		return "", jobs.Permanent(err)
	}
	return "", err
}

func (s *Server) dial(ctx context.Context, network, address string, cfg *tls.Config) (net.Conn, error) {
	if s.TLS == TLSImplicit {
		return (&tls.Dialer{Config: cfg}).DialContext(ctx, network, address)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// policy is for what happens after the connection stands; an implicit one is encrypted by then.
func policy(mode string) gomail.TLSPolicy {
	switch mode {
	case TLSRequired:
		return gomail.TLSMandatory
	case TLSOffered:
		return gomail.TLSOpportunistic
	}
	return gomail.NoTLS
}

// helo is the site's host, and not this machine's name, which is nobody's business.
func (m *Mailer) helo() string {
	u, err := url.Parse(m.cfg.SiteURL)
	if err != nil || u.Hostname() == "" || net.ParseIP(u.Hostname()) != nil {
		return "localhost"
	}
	return u.Hostname()
}

// notOurs are refusals of the login or the encryption (RFC 4954 §6): the owner can put them right while the mail waits.
var notOurs = []int{530, 534, 535, 538}

// refused tells that the server said no to this message for good (5xx, RFC 5321 §4.2.1).
func refused(err error) bool {
	var e *gomail.SendError
	return errors.As(err, &e) && e.ErrorCode() >= 500 && !slices.Contains(notOurs, e.ErrorCode())
}
