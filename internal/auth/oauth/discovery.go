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
	documentLife = time.Hour       // how long a provider's configuration is taken as it was read
	retryAfter   = 2 * time.Second // after a failure, so that waiting visitors do not all ask a provider that is down
)

// metadata is what we read of an OpenID Connect provider's configuration (OpenID Connect Discovery 1.0 §3).
type metadata struct {
	oidc.ProviderConfig
	AuthMethods      []string `json:"token_endpoint_auth_methods_supported"`
	ChallengeMethods []string `json:"code_challenge_methods_supported"`
	// keys verify the provider's signatures. They are read when first needed, and again for an unknown key.
	keys *oidc.Provider
}

// document is a provider's configuration, read when first needed and kept. While it cannot be renewed the old one serves.
type document struct {
	provider *Provider

	mu      sync.Mutex
	known   *metadata
	readAt  time.Time
	failure error
	failed  time.Time
	reading chan struct{} // closed when the read under way has ended
}

// get gives the configuration, or ErrUnavailable. One read serves everybody who waits for it, and goes on when they
// leave.
func (d *document) get(ctx context.Context) (*metadata, error) {
	d.mu.Lock()
	now := d.provider.now()
	if d.known != nil && now.Sub(d.readAt) < documentLife {
		defer d.mu.Unlock()
		return d.known, nil
	}
	if d.failure != nil && now.Sub(d.failed) < retryAfter {
		defer d.mu.Unlock()
		return d.known, d.problem()
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
	return d.known, d.problem()
}

// problem is the last failure, as long as there is no configuration to go on with.
func (d *document) problem() error {
	if d.known != nil {
		return nil
	}
	return d.failure
}

func (d *document) read(ctx context.Context) {
	found, err := d.provider.discover(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.provider.now()
	if err != nil {
		d.failure, d.failed = err, now
	} else {
		d.known, d.readAt, d.failure = found, now, nil
	}
	close(d.reading)
	d.reading = nil
}

// algorithms are the signatures we accept: no shared secrets, and never "none".
var algorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA}

func (p *Provider) discover(ctx context.Context) (*metadata, error) {
	var m metadata
	if err := p.getJSON(ctx, strings.TrimSuffix(p.issuers[0], "/")+"/.well-known/openid-configuration", "", &m); err != nil {
		return nil, fmt.Errorf("%w: configuration: %w", ErrUnavailable, err)
	}
	if !slices.Contains(p.issuers, m.IssuerURL) {
		return nil, fmt.Errorf("%w: %s calls itself %q", ErrUnavailable, p.issuers[0], m.IssuerURL)
	}
	for name, address := range map[string]string{"authorization": m.AuthURL, "token": m.TokenURL, "keys": m.JWKSURL, "userinfo": m.UserInfoURL} {
		if address == "" && (name == "userinfo" || p.plain.AuthURL != "" && name != "keys") {
			continue
		}
		if err := checkEndpoint(address, p.issuers[0]); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrUnavailable, name, err)
		}
	}
	m.Algorithms = slices.DeleteFunc(m.Algorithms, func(a string) bool { return !slices.Contains(algorithms, a) })
	if len(m.Algorithms) == 0 {
		m.Algorithms = []string{oidc.RS256} // the one that every provider must know
	}
	m.keys = m.NewProvider(oidc.ClientContext(ctx, p.client))
	return &m, nil
}

// checkEndpoint refuses what would take codes and secrets off TLS.
func checkEndpoint(address, issuer string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("%q is no address", address)
	}
	if u.Scheme != "https" && !strings.HasPrefix(issuer, u.Scheme+"://") {
		return fmt.Errorf("%q must begin with https://", address)
	}
	return nil
}

// endpoint sends the secret in the body where the provider takes it there: not every provider decodes it in the header
// as RFC 6749 §2.3.1 says.
func (m *metadata) endpoint() oauth2.Endpoint {
	style := oauth2.AuthStyleInHeader // OpenID Connect Discovery 1.0 §3: the default
	if slices.Contains(m.AuthMethods, "client_secret_post") {
		style = oauth2.AuthStyleInParams
	}
	return oauth2.Endpoint{AuthURL: m.AuthURL, TokenURL: m.TokenURL, AuthStyle: style}
}

func (m *metadata) pkce() bool { return slices.Contains(m.ChallengeMethods, "S256") }
