// Package mailtest runs an SMTP server for tests. The server supports STARTTLS, smtps (TLS from the first byte) and logins. The package also
// parses the received mails, with the standard library alone.
package mailtest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// The user name and password that the server accepts.
const (
	User     = "ana"
	Password = "correct horse"
)

// Options configures a server. The zero value is a server on 127.0.0.1 without encryption.
type Options struct {
	Host      string         // "" means 127.0.0.1
	TLS       *tls.Config    // nil for no encryption
	Implicit  bool           // whether the server uses smtps instead of STARTTLS
	Insecure  bool           // whether clients may log in without encryption
	OnReceive func(Received) // called for every accepted mail; may be nil
}

// Received is a mail as the server received it.
type Received struct {
	From, To, Login, HELO string // Login is the user name, "" if the client did not log in
	Encrypted             bool   // whether the connection had TLS
	Data                  []byte // header and body
}

// Server is an SMTP server that listens until Close.
type Server struct {
	Host string
	Port int

	options     Options
	smtp        *smtp.Server
	listener    net.Listener
	done        chan error
	mu          sync.Mutex
	mails       []Received
	logins      []string // user names of the logins
	rcptReplies []error  // replies to the next RCPT commands, each of which names a recipient; a nil reply accepts the recipient
}

// Start starts a server on a free port.
func Start(o Options) (*Server, error) {
	if o.Host == "" {
		o.Host = "127.0.0.1"
	}
	s := &Server{Host: o.Host, options: o, done: make(chan error, 1)}
	s.smtp = smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		_, encrypted := c.TLSConnectionState()
		return &session{server: s, mail: Received{Encrypted: encrypted, HELO: c.Hostname()}}, nil
	}))
	s.smtp.Domain = "post.example"
	s.smtp.TLSConfig = o.TLS
	s.smtp.AllowInsecureAuth = o.Insecure
	s.smtp.EnableSMTPUTF8 = true
	s.smtp.ErrorLog = log.New(io.Discard, "", 0) // without lines about clients that refuse the certificate
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", net.JoinHostPort(o.Host, "0"))
	if err != nil {
		return nil, err
	}
	s.Port = l.Addr().(*net.TCPAddr).Port
	if o.Implicit {
		l = tls.NewListener(l, o.TLS)
	}
	s.listener = l
	go func() { s.done <- s.smtp.Serve(l) }()
	return s, nil
}

// Close stops the server.
func (s *Server) Close() error {
	closed := s.smtp.Close()
	// The listener is closed separately: when Serve has not begun yet, s.smtp.Close does not know the listener.
	if err := s.listener.Close(); !errors.Is(err, net.ErrClosed) {
		closed = errors.Join(closed, err)
	}
	if err := <-s.done; err != nil && !errors.Is(err, smtp.ErrServerClosed) {
		return errors.Join(closed, err)
	}
	return closed
}

// Address is host:port.
func (s *Server) Address() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

// Answer sets the replies to the next RCPT commands: nil accepts the recipient, a Refusal rejects it. After these, the server
// accepts every recipient.
func (s *Server) Answer(answers ...error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rcptReplies = answers
}

// Refusal returns an SMTP error such as 451 or 550 for Answer.
func Refusal(code int, text string) error {
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.NoEnhancedCode, Message: text}
}

// Mails returns the mails that were accepted so far.
func (s *Server) Mails() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mails)
}

// Logins returns the user names of all logins so far, refused ones included.
func (s *Server) Logins() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.logins)
}

type session struct {
	server *Server
	mail   Received
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		s.server.mu.Lock()
		defer s.server.mu.Unlock()
		s.server.logins = append(s.server.logins, user)
		if user != User || password != Password {
			return smtp.ErrAuthFailed
		}
		s.mail.Login = user
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.mail.From = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.mail.To = to
	if len(s.server.rcptReplies) == 0 {
		return nil
	}
	reply := s.server.rcptReplies[0]
	s.server.rcptReplies = s.server.rcptReplies[1:]
	return reply
}

func (s *session) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mail.Data = data
	s.server.mu.Lock()
	s.server.mails = append(s.server.mails, s.mail)
	s.server.mu.Unlock()
	if s.server.options.OnReceive != nil {
		s.server.options.OnReceive(s.mail)
	}
	return nil
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

// Mail is a parsed message.
type Mail struct {
	Header     netmail.Header
	Subject    string
	Text, HTML string
}

// Open parses a mail. It returns an error unless the mail has exactly two alternatives in UTF-8 and quoted-printable: plain
// text and then HTML. The order matters, because a mail program shows the last alternative that it can (RFC 2046 §5.1.4).
func Open(data []byte) (m Mail, err error) {
	parsed, err := netmail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		return m, err
	}
	m.Header = parsed.Header
	if m.Subject, err = new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("Subject")); err != nil {
		return m, err
	}
	kind, parameters, err := mime.ParseMediaType(parsed.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		return m, fmt.Errorf("Content-Type %q: %w", parsed.Header.Get("Content-Type"), err)
	}
	parts := multipart.NewReader(parsed.Body, parameters["boundary"])
	if m.Text, err = readPart(parts, "text/plain"); err != nil {
		return m, err
	}
	if m.HTML, err = readPart(parts, "text/html"); err != nil {
		return m, err
	}
	if _, err := parts.NextRawPart(); !errors.Is(err, io.EOF) {
		return m, fmt.Errorf("more than two parts: %w", err)
	}
	return m, nil
}

func readPart(parts *multipart.Reader, kind string) (string, error) {
	part, err := parts.NextRawPart()
	if err != nil {
		return "", err
	}
	got, parameters, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
	if err != nil || got != kind || !strings.EqualFold(parameters["charset"], "utf-8") || part.Header.Get("Content-Transfer-Encoding") != "quoted-printable" {
		return "", fmt.Errorf("a part with %v instead of %s: %w", part.Header, kind, err)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(part))
	return strings.ReplaceAll(string(body), "\r\n", "\n"), err
}

// Certificate returns a self-signed certificate for the host, and the same certificate in PEM as a root for clients.
func Certificate(host string) (cert tls.Certificate, inPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return cert, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		BasicConstraintsValid: true, IsCA: true,
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return cert, nil, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
