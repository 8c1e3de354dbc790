package mail

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"atelie/internal/i18n"
)

var at = time.Date(2026, 11, 21, 5, 40, 31, 0, time.UTC)

func now() time.Time { return at }

const link = "https://alvor.example/auth/v1/verify?token=s3cr3t-t0ken&type=recovery&redirect_to=https%3A%2F%2Falvor.example%2Fadmin"

// message gives an ordinary one of the kind, as the authentication service fills it in.
func message(kind Kind, l i18n.Language) Message {
	m := Message{Kind: kind, To: "ines@example.org", Language: l, At: at}
	switch {
	case kind == Reauthentication:
		m.Code = "482913"
	case !notice[kind]:
		m.Link, m.Code = link, "482913"
	case kind != Test:
		m.Device, m.IP = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "2001:db8::42"
	}
	if kind == EmailChange {
		m.NewEmail = "nova@example.org"
	}
	return m
}

func siteName(name string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return name, nil }
}

func newMailer(t testing.TB, cfg Config, log io.Writer) *Mailer {
	t.Helper()
	if cfg.SiteURL == "" {
		cfg.SiteURL = "https://alvor.example"
	}
	if cfg.SiteName == nil {
		cfg.SiteName = siteName("Alvor")
	}
	if log == nil {
		log = io.Discard
	}
	m, err := New(cfg, slog.New(slog.NewTextHandler(log, nil)), now)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// certificate makes one for the host that vouches for itself.
func certificate(t *testing.T, host string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		BasicConstraintsValid: true, IsCA: true,
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// received is a mail as a server got it.
type received struct {
	from, to, login string
	encrypted       bool
	helo            string
	data            []byte
}

// post is a real SMTP server in this process.
type post struct {
	mu       sync.Mutex
	mails    []received
	logins   []string // every login that was tried, and how
	answers  []error  // to the next recipients, in turn; then 250
	password string

	host string
	port int
}

type postOptions struct {
	host     string // 127.0.0.1 when empty
	tls      *tls.Config
	implicit bool
	insecure bool // lets clients log in without encryption
}

func newPost(t *testing.T, o postOptions) *post {
	t.Helper()
	if o.host == "" {
		o.host = "127.0.0.1"
	}
	p := &post{password: "correct horse"}
	s := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		_, encrypted := c.TLSConnectionState()
		return &session{post: p, mail: received{encrypted: encrypted, helo: c.Hostname()}}, nil
	}))
	s.Domain, s.TLSConfig, s.AllowInsecureAuth, s.EnableSMTPUTF8 = "post.example", o.tls, o.insecure, true
	s.ErrorLog = quiet{}
	l, err := net.Listen("tcp", net.JoinHostPort(o.host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	p.host, p.port = o.host, l.Addr().(*net.TCPAddr).Port
	if o.implicit {
		l = tls.NewListener(l, o.tls)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Serve(l); err != nil && !errors.Is(err, smtp.ErrServerClosed) {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
	return p
}

// quiet drops what the server says about clients that refuse its certificate.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

func (p *post) server(mode, user, password string) *Server {
	return &Server{Host: p.host, Port: p.port, User: user, Password: password, TLS: mode}
}

func (p *post) all() []received {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]received(nil), p.mails...)
}

func (p *post) tried() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.logins...)
}

type session struct {
	post *post
	mail received
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		s.post.mu.Lock()
		defer s.post.mu.Unlock()
		s.post.logins = append(s.post.logins, user)
		if user != "ana" || password != s.post.password {
			return smtp.ErrAuthFailed
		}
		s.mail.login = user
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.mail.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.post.mu.Lock()
	defer s.post.mu.Unlock()
	s.mail.to = to
	if len(s.post.answers) > 0 {
		answer := s.post.answers[0]
		s.post.answers = s.post.answers[1:]
		return answer
	}
	return nil
}

func (s *session) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mail.data = data
	s.post.mu.Lock()
	defer s.post.mu.Unlock()
	s.post.mails = append(s.post.mails, s.mail)
	return nil
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

// opened is a mail taken apart by the standard library alone.
type opened struct {
	header     netmail.Header
	subject    string
	text, html string
}

func open(t testing.TB, data []byte) opened {
	t.Helper()
	parsed, err := netmail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	o := opened{header: parsed.Header}
	if o.subject, err = new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("Subject")); err != nil {
		t.Fatal(err)
	}
	kind, parameters, err := mime.ParseMediaType(parsed.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("Content-Type %q: %v", parsed.Header.Get("Content-Type"), err)
	}
	parts := multipart.NewReader(parsed.Body, parameters["boundary"])
	for i := 0; ; i++ {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			if i != 2 {
				t.Fatalf("%d parts", i)
			}
			return o
		}
		if err != nil {
			t.Fatal(err)
		}
		if part.Header.Get("Content-Transfer-Encoding") != "quoted-printable" {
			t.Fatalf("part %d: %v", i, part.Header)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			t.Fatal(err)
		}
		// The plain one comes first: of alternatives the last that a program can show counts (RFC 2046 §5.1.4).
		want := []string{"text/plain", "text/html"}[i]
		if got := part.Header.Get("Content-Type"); !strings.HasPrefix(got, want) || !strings.Contains(strings.ToLower(got), "utf-8") {
			t.Fatalf("part %d is %s", i, got)
		}
		content := strings.ReplaceAll(string(body), "\r\n", "\n")
		if i == 0 {
			o.text = content
		} else {
			o.html = content
		}
	}
}
