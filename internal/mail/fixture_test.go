package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"testing"
	"time"

	"atelie/internal/i18n"
	"atelie/internal/mail/mailtest"
)

var at = time.Date(2026, 11, 21, 5, 40, 31, 0, time.UTC)

func now() time.Time { return at }

// link is the link of the mails that sign in. The token in it must not be in the log.
const link = "https://alvor.example/auth/v1/verify?token=s3cr3t-t0ken&type=recovery&redirect_to=https%3A%2F%2Falvor.example%2Fadmin"

// message returns a typical message of a kind, with the fields that the calling packages set.
func message(kind Kind, l i18n.Language) Message {
	m := Message{Kind: kind, To: "ines@example.org", Language: l, At: at}
	switch {
	case kind == Reauthentication:
		m.Code = "482913"
	case !kindIsNotice[kind]:
		m.Link, m.Code = link, "482913"
	case kind == ContactReply:
		m.Link = "https://alvor.example/enquiry/c2VjcmV0LXRva2VuLW9mLWE"
		m.Reply = &Reply{Text: "Bom dia!\nTemos <tempo> & tinta.\n\nEm maio.", To: "atelier@alvor.example"}
	case kind == ContactProgress, kind == ContactReview:
		m.Link = "https://alvor.example/enquiry/c2VjcmV0LXRva2VuLW9mLWE"
		m.Reply = &Reply{Text: "Bom dia!\nTemos <tempo> & tinta.\n\nEm maio.", To: "atelier@alvor.example"}
	case kind == ContactOffer:
		m.Link = "https://alvor.example/enquiry/c2VjcmV0LXRva2VuLW9mLWE"
		m.Reply = &Reply{Text: "Bom dia!\nTemos <tempo> & tinta.\n\nEm maio.", To: "atelier@alvor.example", Offer: &Offer{Price: "900 €\n<b>", PromisedOn: "2027-05-01", ExpiresOn: "2026-12-24"}}
	case kind == ContactCopy:
		m.Link = "https://alvor.example/enquiry/c2VjcmV0LXRva2VuLW9mLWE"
		m.Copy = "Bom dia!\nTemos uma <parede> em www.evil.example/x.\n\nSeria possível?"
	case kind == ContactNotice, kind == ContactAnswer:
		m.Link = "https://alvor.example/admin/contact-messages?message=7"
		m.Contact = &Contact{Name: "Inês & <b>Rui</b>", Email: "rui@example.org", Reason: "commission", Text: "Bom dia!\nTemos uma <parede>.\n\nSeria possível?"}
	case kind == ContactDigest:
		m.Link = "https://alvor.example/admin/contact-messages"
		m.Digest = &Digest{Count: 595, Quarantined: 540, Newest: []DigestEntry{{"Inês & <b>Rui</b>", "commission", at, 0}, {"Ana", "general", at, 3}}}
	case kind == ContactThanks:
	case kind != Test:
		m.Device, m.IP = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "2001:db8::42"
	}
	if kind == EmailChange {
		m.NewEmail = "nova@example.org"
	}
	return m
}

// siteName returns a function that returns the name, as the settings would.
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

// certificate returns a self-signed certificate for the host.
func certificate(t *testing.T, host string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	cert, inPEM, err := mailtest.Certificate(host)
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(inPEM) {
		t.Fatal(err)
	}
	return cert, pool
}

func startMailServer(t *testing.T, o mailtest.Options) *mailtest.Server {
	t.Helper()
	p, err := mailtest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func serverOf(p *mailtest.Server, mode, user, password string) *Server {
	return &Server{Host: p.Host, Port: p.Port, User: user, Password: password, TLS: mode}
}

func open(t testing.TB, data []byte) mailtest.Mail {
	t.Helper()
	m, err := mailtest.Open(data)
	if err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	return m
}
