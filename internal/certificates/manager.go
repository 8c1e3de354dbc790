// Package certificates gets the certificates of the site's domains from a certificate authority by ACME (RFC 8555) and
// renews them, once for all nodes that share a database.
package certificates

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"atelie/internal/db"
)

// Config is what the manager needs to know.
type Config struct {
	Domains   []string // in ASCII, lower case; at least one
	Email     string   // where the authority writes when something is wrong; may be empty
	Directory string   // of the authority; Let's Encrypt when empty
	Roots     *x509.CertPool
	SealKey   []byte // 32 bytes
	// HTTPS and HTTP are the addresses that this node listens on: challenges arrive there.
	HTTPS, HTTP net.Addr
	// CheckEvery is how often certificates are looked at for renewal; 10 minutes when zero.
	CheckEvery time.Duration
}

// Manager keeps certificates.
type Manager struct {
	db      *db.DB
	domains []string
	log     *slog.Logger
	now     func() time.Time
	storage *storage
	cache   *certmagic.Cache
	magic   *certmagic.Config
	issuer  *certmagic.ACMEIssuer
}

// New makes a manager that does nothing yet. It must be closed.
func New(d *db.DB, cfg Config, log *slog.Logger, now func() time.Time) (*Manager, error) {
	m := &Manager{db: d, domains: cfg.Domains, log: log, now: now, storage: newStorage(d, cfg.SealKey, log, now)}
	host, httpPort, err := splitAddr(cfg.HTTP)
	if err != nil {
		return nil, err
	}
	_, httpsPort, err := splitAddr(cfg.HTTPS)
	if err != nil {
		return nil, err
	}
	logger := zap.New(zapCore{log: log})
	m.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert:   func(certmagic.Certificate) (*certmagic.Config, error) { return m.magic, nil },
		RenewCheckInterval: cfg.CheckEvery,
		Logger:             logger,
	})
	m.magic = certmagic.New(m.cache, certmagic.Config{Storage: m.storage, Logger: logger, OnEvent: m.onEvent})
	m.issuer = certmagic.NewACMEIssuer(m.magic, certmagic.ACMEIssuer{
		CA: cfg.Directory, Email: cfg.Email, Agreed: true, TrustedRoots: cfg.Roots, Logger: logger,
		ListenHost: host, AltHTTPPort: httpPort, AltTLSALPNPort: httpsPort,
	})
	m.magic.Issuers = []certmagic.Issuer{m.issuer}
	return m, nil
}

func splitAddr(addr net.Addr) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(addr.String())
	if err != nil {
		return "", 0, err
	}
	port, err = strconv.Atoi(text)
	return host, port, err
}

// TLS gives the settings of a listener: TLS 1.2 or newer, HTTP/2, and the challenges that arrive by TLS.
func (m *Manager) TLS() *tls.Config {
	c := m.magic.TLSConfig()
	c.MinVersion = tls.VersionTLS12
	c.NextProtos = append([]string{"h2", "http/1.1"}, c.NextProtos...)
	return c
}

const (
	cleanEvery = 24 * time.Hour
	// keepExpired is how long the certificate of a name that is no longer set stays in the database.
	keepExpired = 30 * 24 * time.Hour
)

// Run gets and renews certificates until ctx ends. Failures are told in the log and tried again: after a minute at
// first, in the end every six hours. They never end the program, which would ask anew at each start.
func (m *Manager) Run(ctx context.Context) {
	if err := m.magic.ManageAsync(ctx, m.domains); err != nil {
		m.log.Error("certificates cannot be kept", "cause", err.Error())
	}
	tick := time.NewTicker(cleanEvery)
	defer tick.Stop()
	for {
		err := errors.Join(
			certmagic.CleanStorage(ctx, m.storage, certmagic.CleanStorageOptions{
				Logger: m.magic.Logger, InstanceID: m.storage.keyID, Interval: cleanEvery, OCSPStaples: true, ExpiredCerts: true, ExpiredCertGracePeriod: keepExpired,
			}),
			forgetSealed(ctx, m.db, m.storage.keyID, m.now().Add(-4*keepExpired)))
		if err != nil && ctx.Err() == nil {
			m.log.Error("old certificates", "cause", err.Error())
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Close ends the renewal and gives locks back to other nodes. Call it after Run has returned.
func (m *Manager) Close() error {
	m.cache.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), unlockTime)
	defer cancel()
	return m.storage.unlockAll(ctx)
}

// has tells whether visitors of a domain can be sent to HTTPS.
func (m *Manager) has(domain string) bool {
	for _, c := range m.cache.AllMatchingCertificates(domain) {
		if !c.Expired() {
			return true
		}
	}
	return false
}

// Let's Encrypt bears five failures an hour for a name. Each start of a node tries at once, so that starts are counted;
// the tries after it are far enough apart, and rehearse at a test server first where the authority has one.
const (
	startsPerHour = 4
	startsLimit   = "certificates"
)

var errTooManyStarts = fmt.Errorf("a certificate was asked for %d times within the hour: the next try waits, so that the certificate authority does not close its door", startsPerHour)

// onEvent is called by certmagic. An error ends the try that was about to begin.
func (m *Manager) onEvent(ctx context.Context, event string, data map[string]any) error {
	domain, _ := data["identifier"].(string)
	switch event {
	case "cert_obtaining":
		if tries, ok := ctx.Value(certmagic.AttemptsCtxKey).(*int); ok && *tries > 0 {
			return nil
		}
		hits, err := m.db.Hit(ctx, startsLimit, domain, time.Hour, m.now())
		if err == nil && hits > startsPerHour {
			err = errTooManyStarts
			m.log.Warn("certificate", "domain", domain, "cause", err.Error())
		}
		return err
	case "cert_obtained":
		m.log.Info("certificate obtained", "domain", domain, "renewal", data["renewal"])
	case "cert_failed":
		if err, ok := data["error"].(error); ok {
			m.log.Error("no certificate; it will be tried again", "domain", domain, "reason", explain(err), "cause", err.Error())
		}
	}
	return nil
}
