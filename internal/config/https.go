package config

import (
	"crypto/x509"
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"golang.org/x/net/idna"
)

// This file parses and validates the settings for HTTPS: the site's domains, and the certificate authority that issues their certificates
// by ACME (RFC 8555).

// Domains returns the site's domain names in the form that the DNS uses: in ASCII and lower case, such as xn--ateli-lsa.example for
// ateliê.example. If the result is empty, the program does not serve HTTPS itself. The error has one line for each invalid name.
func (s *Server) Domains() ([]string, error) {
	var (
		names []string
		m     mistakes // collects the errors
	)
	for _, d := range s.Domain {
		name, err := idna.Lookup.ToASCII(strings.TrimSuffix(strings.TrimSpace(d), "."))
		_, ipErr := netip.ParseAddr(name) // nil if the name is an IP address
		// A domain has a dot. It is not an IP address, a wildcard (*), a URL or an e-mail address.
		m.addIf(err != nil || ipErr == nil || !strings.Contains(name, ".") || strings.ContainsAny(name, "*:/@ "), "domains: %q is not a name such as example.com", d)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, m.join()
}

// ACMERootPool returns the root certificates for connections to the certificate authority, from the file ACMERoots. It returns
// nil if no file is set, so that the system's root certificates are used.
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
		return nil, fmt.Errorf("acme-roots: %s contains no certificate in PEM", s.ACMERoots)
	}
	return pool, nil
}

// validateHTTPS checks the settings for HTTPS. They matter only if a domain is set.
func (s *Server) validateHTTPS() error {
	if len(s.Domain) == 0 {
		return nil
	}
	var m mistakes
	domains, err := s.Domains()
	m.add(err)
	m.add(validateListen("listen-https", s.ListenHTTPS))
	m.add(validateListen("listen-http", s.ListenHTTP))
	if u, parseErr := url.Parse(s.SiteURL); s.SiteURL != "" && err == nil && parseErr == nil {
		m.addIf(u.Scheme != "https" || !slices.Contains(domains, u.Hostname()), "site-url: with a domain it starts with https:// and one of the domains")
	}
	if s.ACMEEmail != "" {
		a, err := mail.ParseAddress(s.ACMEEmail)
		m.addIf(err != nil || a.Address != s.ACMEEmail, "acme-email: %q is not an e-mail address", s.ACMEEmail)
	}
	if s.ACMEDirectory != "" {
		u, err := url.Parse(s.ACMEDirectory)
		m.addIf(err != nil || u.Scheme != "https" || u.Host == "", "acme-directory: %q is not a URL that begins with https://", s.ACMEDirectory)
	}
	_, err = s.ACMERootPool()
	m.add(err)
	return m.join()
}
