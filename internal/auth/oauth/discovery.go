package oauth

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	documentLife = time.Hour       // how long a provider's configuration is cached
	retryAfter   = 2 * time.Second // least time between a failed read of the configuration and the next one
)

// metadata is the part of an OpenID Connect provider's configuration that this package uses (OpenID Connect Discovery 1.0 §3).
type metadata struct {
	oidc.ProviderConfig
	AuthMethods      []string `json:"token_endpoint_auth_methods_supported"`
	ChallengeMethods []string `json:"code_challenge_methods_supported"`
	// keys are the provider's public keys, which verify its signatures. They are fetched at the first use, and again when a
	// token names an unknown key.
	keys *oidc.Provider
}

// document caches a provider's configuration (the OpenID Connect discovery document). The configuration is read at the first
// use and again after documentLife. If a later read fails, the cached configuration stays in use.
type document struct {
	provider *Provider

	mu       sync.Mutex
	cached   *metadata     // the last configuration that was read; nil: none yet
	readAt   time.Time     // when cached was read
	failure  error         // error of the last read; nil when it succeeded
	failedAt time.Time     // time of the last failure
	reading  chan struct{} // closed when the running read has ended; nil: no read is running
}

// get returns the configuration, or an error that wraps ErrUnavailable. Concurrent requests wait for the same read, which
// continues even if all of them are cancelled.
func (d *document) get(ctx context.Context) (*metadata, error) {
	d.mu.Lock()
	now := d.provider.now()
	if d.cached != nil && now.Sub(d.readAt) < documentLife {
		defer d.mu.Unlock()
		return d.cached, nil
	}
	if d.failure != nil && now.Sub(d.failedAt) < retryAfter {
		defer d.mu.Unlock()
		return d.cached, d.problem()
	}
	if d.reading == nil {
		d.reading = make(chan struct{})
		go d.read(context.WithoutCancel(ctx))
	}
	reading := d.reading
	d.mu.Unlock()
	select {
	case <-reading:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cached, d.problem()
}

// problem returns the last failure when no configuration was ever read, otherwise nil.
func (d *document) problem() error {
	if d.cached != nil {
		return nil
	}
	return d.failure
}

// read reads the configuration, stores the result and wakes the requests that wait.
func (d *document) read(ctx context.Context) {
	found, err := d.provider.discover(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.provider.now()
	if err != nil {
		d.failure, d.failedAt = err, now
	} else {
		d.cached, d.readAt, d.failure = found, now, nil
	}
	close(d.reading)
	d.reading = nil
}

// algorithms are the accepted signature algorithms of ID tokens. HMAC (a shared secret) and "none" are not among them.
var algorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA}

// discover fetches and checks the provider's configuration.
func (p *Provider) discover(ctx context.Context) (*metadata, error) {
	var m metadata
	if err := p.getJSON(ctx, strings.TrimSuffix(p.issuers[0], "/")+"/.well-known/openid-configuration", "", &m); err != nil {
		return nil, fmt.Errorf("%w: configuration: %w", ErrUnavailable, err)
	}
	if !slices.Contains(p.issuers, m.IssuerURL) {
		return nil, fmt.Errorf("%w: %s calls itself %q", ErrUnavailable, p.issuers[0], m.IssuerURL)
	}
	for name, endpoint := range map[string]string{"authorization": m.AuthURL, "token": m.TokenURL, "keys": m.JWKSURL, "userinfo": m.UserInfoURL} {
		if endpoint == "" && (name == "userinfo" || p.oauthEndpoint.AuthURL != "" && name != "keys") {
			continue
		}
		if err := checkEndpoint(endpoint, p.issuers[0]); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrUnavailable, name, err)
		}
	}
	m.Algorithms = slices.DeleteFunc(m.Algorithms, func(a string) bool { return !slices.Contains(algorithms, a) })
	if len(m.Algorithms) == 0 {
		m.Algorithms = []string{oidc.RS256} // every provider must support it
	}
	m.keys = m.NewProvider(oidc.ClientContext(ctx, p.client))
	return &m, nil
}

// checkEndpoint returns an error for an endpoint URL without TLS, because codes and secrets are sent there. http is accepted
// when the issuer itself has http.
func checkEndpoint(endpoint, issuer string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("%q is no address", endpoint)
	}
	if u.Scheme != "https" && !strings.HasPrefix(issuer, u.Scheme+"://") {
		return fmt.Errorf("%q must begin with https://", endpoint)
	}
	return nil
}

// endpoint returns the provider's URLs. The client secret is sent in the body when the provider accepts that, otherwise in the
// header: not every provider decodes the header as RFC 6749 §2.3.1 says.
func (m *metadata) endpoint() oauth2.Endpoint {
	style := oauth2.AuthStyleInHeader // OpenID Connect Discovery 1.0 §3: the default
	if slices.Contains(m.AuthMethods, "client_secret_post") {
		style = oauth2.AuthStyleInParams
	}
	return oauth2.Endpoint{AuthURL: m.AuthURL, TokenURL: m.TokenURL, AuthStyle: style}
}

// pkce reports whether the provider supports PKCE with S256.
func (m *metadata) pkce() bool { return slices.Contains(m.ChallengeMethods, "S256") }
