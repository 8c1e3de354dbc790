// Package certificates obtains and renews the TLS certificates of the site's domains by ACME (RFC 8555), the protocol of Let's Encrypt
// and other certificate authorities. It uses the certmagic library. Nodes (servers of the site) that share a database also share the
// certificates.
package certificates

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"atelie/internal/db"
	"atelie/internal/interval"
)

// Config configures a Manager.
type Config struct {
	Domains     []string       // domain names in ASCII, lower case; at least one
	Email       string         // e-mail address to which the certificate authority reports problems; "" for none
	Directory   string         // URL of the authority's ACME directory; "" means Let's Encrypt
	Roots       *x509.CertPool // root certificates that verify the server at Directory; nil means those of the system
	SealKey     []byte         // 32 bytes; encrypts the certificates and keys in the database
	HTTPS, HTTP net.Addr       // addresses on which this node listens; the authority's challenges arrive there
	CheckEvery  time.Duration  // time between two checks whether a certificate must be renewed; 0 means 10 minutes
}

// Manager obtains, renews and serves certificates.
type Manager struct {
	db              *db.DB
	domains         []string
	log             *slog.Logger
	now             func() time.Time
	storage         *storage
	cache           *certmagic.Cache // the certificates in memory
	certmagicConfig *certmagic.Config
	issuer          *certmagic.ACMEIssuer
	loaded          atomic.Bool // true once Run has read the stored certificates
}

// New returns a Manager. It obtains and renews certificates while Run runs. The caller must close it. now is the clock of the
// locks and of the rate limit for requests to the authority.
func New(d *db.DB, cfg Config, log *slog.Logger, now func() time.Time) (*Manager, error) {
	m := &Manager{db: d, domains: cfg.Domains, log: log, now: now, storage: newStorage(d, cfg.SealKey, log, now)}
	http, err := netip.ParseAddrPort(cfg.HTTP.String())
	if err != nil {
		return nil, err
	}
	https, err := netip.ParseAddrPort(cfg.HTTPS.String())
	if err != nil {
		return nil, err
	}
	logger := zap.New(zapCore{log: log})
	m.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert:   func(certmagic.Certificate) (*certmagic.Config, error) { return m.certmagicConfig, nil },
		RenewCheckInterval: cfg.CheckEvery,
		Logger:             logger,
	})
	m.certmagicConfig = certmagic.New(m.cache, certmagic.Config{Storage: m.storage, Logger: logger, OnEvent: m.onEvent})
	m.issuer = certmagic.NewACMEIssuer(m.certmagicConfig, certmagic.ACMEIssuer{
		CA: cfg.Directory, Email: cfg.Email, Agreed: true, TrustedRoots: cfg.Roots, Logger: logger,
		ListenHost: http.Addr().String(), AltHTTPPort: int(http.Port()), AltTLSALPNPort: int(https.Port()),
	})
	m.certmagicConfig.Issuers = []certmagic.Issuer{m.issuer}
	return m, nil
}

// TLS returns the configuration of the HTTPS listener: TLS 1.2 or newer, HTTP/2, the certificates of this manager, and answers
// to TLS-ALPN challenges.
func (m *Manager) TLS() *tls.Config {
	c := m.certmagicConfig.TLSConfig()
	c.MinVersion = tls.VersionTLS12
	c.NextProtos = append([]string{"h2", "http/1.1"}, c.NextProtos...)
	return c
}

const (
	cleanInterval = 24 * time.Hour // interval at which Run deletes old certificates
	// keepExpired is how long an expired certificate stays in the database. Usually its domain is no longer configured.
	keepExpired = 30 * 24 * time.Hour
	// keepOtherKeys is how long a value stays that was sealed with another key than this program's.
	keepOtherKeys = 4 * keepExpired
)

// Run obtains and renews certificates until ctx ends. After a failure it logs the cause and retries, first after a minute
// and later every six hours. A failure does not end the program: a program that is restarted again and again would send a
// request at each start and reach the authority's limit.
func (m *Manager) Run(ctx context.Context) {
	if err := m.certmagicConfig.ManageAsync(ctx, m.domains); err != nil {
		m.log.Error("certificates are neither obtained nor renewed until the next start", "cause", err.Error())
	}
	m.loaded.Store(true) // ManageAsync has read the stored certificates; it obtains missing ones later
	interval.Every(ctx, cleanInterval, func() {
		err := errors.Join(
			certmagic.CleanStorage(ctx, m.storage, certmagic.CleanStorageOptions{
				Logger: m.certmagicConfig.Logger, InstanceID: m.storage.keyID, Interval: cleanInterval, OCSPStaples: true, ExpiredCerts: true, ExpiredCertGracePeriod: keepExpired,
			}),
			deleteValuesOfOtherKeys(ctx, m.db, m.storage.keyID, m.now().Add(-keepOtherKeys)))
		if err != nil && ctx.Err() == nil {
			m.log.Error("certificates: expired certificates could not be deleted; this is tried again in 24 hours", "cause", err.Error())
		}
	})
}

// Close ends the renewal and releases this node's locks. Call it after Run has returned.
func (m *Manager) Close() error {
	m.cache.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), unlockTimeout)
	defer cancel()
	return m.storage.unlockAll(ctx)
}

// hasCertificate reports whether a domain has a certificate that is not expired.
func (m *Manager) hasCertificate(domain string) bool {
	return slices.ContainsFunc(m.cache.AllMatchingCertificates(domain), func(c certmagic.Certificate) bool { return !c.Expired() })
}

// Validity returns from when to when the certificate of each domain is valid, by domain. If a domain has several certificates,
// it is the one that expires last; without a certificate both times are zero. Validity returns nil until Run has read the stored
// certificates.
func (m *Manager) Validity() map[string][2]time.Time {
	if !m.loaded.Load() {
		return nil
	}
	validity := map[string][2]time.Time{}
	for _, domain := range m.domains {
		validity[domain] = [2]time.Time{}
		for _, c := range m.cache.AllMatchingCertificates(domain) {
			if c.Leaf != nil && c.Leaf.NotAfter.After(validity[domain][1]) {
				validity[domain] = [2]time.Time{c.Leaf.NotBefore, c.Leaf.NotAfter}
			}
		}
	}
	return validity
}

// Let's Encrypt allows five failed requests per name and hour. Each start of a node sends a request immediately, so the first
// request of each start is counted, for all nodes together. The retries that follow need no limit: they are far enough apart,
// and go to the authority's test server first if it has one.
const (
	startsPerHour = 4
	startLimit    = "certificates" // name of the limit in the table rate_limits
)

var errTooManyStarts = fmt.Errorf("a certificate was requested %d times within the hour: the next try waits, so that the certificate authority's limit is not reached", startsPerHour)

// onEvent is called by certmagic. If it returns an error for cert_obtaining, the request is not sent.
func (m *Manager) onEvent(ctx context.Context, event string, data map[string]any) error {
	domain, _ := data["identifier"].(string)
	switch event {
	case "cert_obtaining":
		if tries, ok := ctx.Value(certmagic.AttemptsCtxKey).(*int); ok && *tries > 0 {
			return nil
		}
		hits, err := m.db.Hit(ctx, startLimit, domain, time.Hour, m.now())
		if err == nil && hits > startsPerHour {
			err = errTooManyStarts
			m.log.Warn("certificate not requested", "domain", domain, "cause", err.Error())
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
