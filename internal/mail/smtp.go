package mail

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	gomail "github.com/wneessen/go-mail"

	"atelie/internal/jobs"
)

// This file delivers mails to the SMTP server (Config.Server).

// Time limits of a delivery.
const (
	exchangeTimeout = 20 * time.Second // one exchange with the server
	deliveryTimeout = 45 * time.Second // the whole delivery
)

// loginMethods are the methods of the login, the preferred one first. On a connection without encryption, package gomail skips the
// methods that send the password itself, unless the server is on this machine.
var loginMethods = []gomail.SMTPAuthType{
	gomail.SMTPAuthSCRAMSHA256,
	gomail.SMTPAuthSCRAMSHA1,
	gomail.SMTPAuthPlain,
	gomail.SMTPAuthLogin,
	gomail.SMTPAuthCramMD5,
}

// deliver sends the mail to the SMTP server and returns the server's host:port. The connection is closed at the end in any case. gomail
// would leave it open if the greeting, the encryption or the login fails.
func (m *Mailer) deliver(ctx context.Context, msg *gomail.Msg) (serverAddr string, err error) {
	ctx, cancel := context.WithTimeout(ctx, deliveryTimeout)
	defer cancel()
	server := m.cfg.Server
	tlsConfig := &tls.Config{ServerName: server.Host, RootCAs: m.cfg.RootCAs, MinVersion: tls.VersionTLS12}
	options := []gomail.Option{
		gomail.WithPort(server.Port),
		gomail.WithTimeout(exchangeTimeout),
		gomail.WithTLSConfig(tlsConfig),
		gomail.WithTLSPolicy(tlsPolicy(server.TLS)),
		gomail.WithHELO(cmp.Or(hostName(m.cfg.SiteURL), "localhost")), // not the machine's own name, which is private
		gomail.WithDialContextFunc(func(dialCtx context.Context, network, address string) (net.Conn, error) {
			conn, err := server.dial(dialCtx, network, address, tlsConfig)
			if err == nil {
				context.AfterFunc(ctx, func() { _ = conn.Close() }) // the deferred cancel ends ctx in every case
			}
			return conn, err
		}),
	}
	if server.User != "" {
		options = append(options,
			gomail.WithOpportunisticSMTPAuth(loginMethods...),
			gomail.WithUsername(server.User),
			gomail.WithPassword(server.Password))
	}
	client, err := gomail.NewClient(server.Host, options...)
	if err != nil {
		return "", fmt.Errorf("mail: %w", err)
	}
	err = client.DialAndSendWithContext(ctx, msg)
	if err == nil || msg.IsDelivered() { // if only QUIT fails, after the delivery, the job must not send the mail again
		return server.address(), nil
	}
	if ctx.Err() != nil {
		err = errors.Join(err, ctx.Err())
	}
	err = fmt.Errorf("mail: %s: %w", server.address(), err)
	if isRefused(err) {
		return "", jobs.Permanent(err)
	}
	return "", err
}

// dial opens the connection, with TLS from the first byte if the server needs it.
func (s *Server) dial(ctx context.Context, network, address string, cfg *tls.Config) (net.Conn, error) {
	if s.TLS == TLSImplicit {
		return (&tls.Dialer{Config: cfg}).DialContext(ctx, network, address)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// tlsPolicy returns when gomail must use STARTTLS. An implicit connection is encrypted already and needs none.
func tlsPolicy(mode string) gomail.TLSPolicy {
	switch mode {
	case TLSRequired:
		return gomail.TLSMandatory
	case TLSOffered:
		return gomail.TLSOpportunistic
	}
	return gomail.NoTLS
}

// retriable are the permanent errors about login and encryption (RFC 4954 §6). Another attempt may succeed, because the operator can
// correct the settings while the mail waits.
var retriable = []int{530, 534, 535, 538}

// isRefused reports whether the server refused this mail permanently (5xx, RFC 5321 §4.2.1), other than for retriable errors.
func isRefused(err error) bool {
	var e *gomail.SendError
	return errors.As(err, &e) && e.ErrorCode() >= 500 && !slices.Contains(retriable, e.ErrorCode())
}
