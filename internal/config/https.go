package config

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"golang.org/x/net/idna"
)

// Domains gives the names of the site as they stand in DNS: ASCII, lower case. None means that HTTPS is somebody
// else's business.
func (s *Server) Domains() ([]string, error) {
	var (
		names []string
		errs  []error
	)
	for _, d := range s.Domain {
		name, err := idna.Lookup.ToASCII(strings.TrimSuffix(strings.TrimSpace(d), "."))
		if _, address := netip.ParseAddr(name); err != nil || address == nil || !strings.Contains(name, ".") || strings.ContainsAny(name, "*:/@ ") {
			errs = append(errs, fmt.Errorf("domains: %q is not a name such as example.com", d))
			continue
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, errors.Join(errs...)
}

// ACMERootPool reads the roots of the certificate authority's own address; nil means the machine's.
func (s *Server) ACMERootPool() (*x509.CertPool, error) {
	if s.ACMERoots == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(s.ACMERoots)
	if err != nil {
		return nil, fmt.Errorf("acme-roots: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("acme-roots: %s holds no certificate in PEM", s.ACMERoots)
	}
	return pool, nil
}

func (s *Server) validateHTTPS() error {
	if len(s.Domain) == 0 {
		return nil
	}
	domains, err := s.Domains()
	errs := []error{err, validateListen("listen-https", s.ListenHTTPS), validateListen("listen-http", s.ListenHTTP)}
	if s.SiteURL != "" && err == nil {
		if u, err := url.Parse(s.SiteURL); err == nil && (u.Scheme != "https" || !slices.Contains(domains, u.Hostname())) {
			errs = append(errs, errors.New("site-url: with a domain it starts with https:// and one of the domains"))
		}
	}
	if s.ACMEEmail != "" {
		if a, err := mail.ParseAddress(s.ACMEEmail); err != nil || a.Address != s.ACMEEmail {
			errs = append(errs, fmt.Errorf("acme-email: %q is not an e-mail address", s.ACMEEmail))
		}
	}
	if s.ACMEDirectory != "" {
		if u, err := url.Parse(s.ACMEDirectory); err != nil || u.Scheme != "https" || u.Host == "" {
			errs = append(errs, fmt.Errorf("acme-directory: %q is not an address that starts with https://", s.ACMEDirectory))
		}
	}
	_, err = s.ACMERootPool()
	return errors.Join(append(errs, err)...)
}
