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

// This file reads and caches the configurations that OpenID Connect providers publish: their URLs, algorithms and keys.

const (
	configurationLife = time.Hour       // how long a configuration is used before it is read again
	minRetryInterval  = 2 * time.Second // minimum time between a failed read of a configuration and the next read
)

// configuration is the part of an OpenID Connect provider's configuration that this package uses (OpenID Connect Discovery 1.0 §3).
type configuration struct {
	oidc.ProviderConfig
	AuthMethods      []string `json:"token_endpoint_auth_methods_supported"`
	ChallengeMethods []string `json:"code_challenge_methods_supported"`
	// oidcProvider verifies signatures with the provider's public keys. It fetches the keys at the first use, and again when a
	// token names an unknown key.
	oidcProvider *oidc.Provider
}

// configurationCache caches a provider's configuration. It reads the configuration at the first use, and again after
// configurationLife. If a later read fails, the cached configuration stays in use.
type configurationCache struct {
	provider *Provider

	mu          sync.Mutex
	cached      *configuration // the configuration of the newest successful read; nil before that
	readAt      time.Time      // when cached was read
	newestError error          // the error of the newest read; nil if that read succeeded
	failedAt    time.Time      // when the read that failed with newestError ended
	reading     chan struct{}  // closed when the running read has ended; nil when no read is running
}

// get returns the configuration. After a failed read it returns the cached configuration, which is then older than configurationLife. If
// nothing is cached, or if ctx ends during the read, it returns an error that wraps ErrUnavailable. Concurrent calls wait for the same
// read. The read continues even if all calls are cancelled, so that the next call finds its result.
func (c *configurationCache) get(ctx context.Context) (*configuration, error) {
	c.mu.Lock()
	now := c.provider.now()
	if c.cached != nil && now.Sub(c.readAt) < configurationLife {
		defer c.mu.Unlock()
		return c.cached, nil
	}
	if c.newestError != nil && now.Sub(c.failedAt) < minRetryInterval {
		defer c.mu.Unlock()
		return c.cached, c.failureIfUncached()
	}
	if c.reading == nil {
		c.reading = make(chan struct{})
		go c.read(context.WithoutCancel(ctx))
	}
	reading := c.reading
	c.mu.Unlock()
	select {
	case <-reading:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cached, c.failureIfUncached()
}

// failureIfUncached returns the error of the newest read if nothing is cached, otherwise nil.
func (c *configurationCache) failureIfUncached() error {
	if c.cached != nil {
		return nil
	}
	return c.newestError
}

// read reads the configuration, stores the result and wakes the calls of get that wait.
func (c *configurationCache) read(ctx context.Context) {
	found, err := c.provider.discover(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.provider.now()
	if err != nil {
		c.newestError, c.failedAt = err, now
	} else {
		c.cached, c.readAt, c.newestError = found, now, nil
	}
	close(c.reading)
	c.reading = nil
}

// acceptedAlgorithms are the accepted signature algorithms of ID tokens. HMAC, which uses a shared secret, and "none" are not
// accepted.
var acceptedAlgorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA}

// discover fetches and checks the provider's configuration.
func (p *Provider) discover(ctx context.Context) (*configuration, error) {
	var c configuration
	if err := p.getJSON(ctx, strings.TrimSuffix(p.issuers[0], "/")+"/.well-known/openid-configuration", "", &c); err != nil {
		return nil, fmt.Errorf("%w: configuration: %w", ErrUnavailable, err)
	}
	if !slices.Contains(p.issuers, c.IssuerURL) {
		return nil, fmt.Errorf("%w: %s calls itself %q", ErrUnavailable, p.issuers[0], c.IssuerURL)
	}
	for name, endpoint := range map[string]string{"authorization": c.AuthURL, "token": c.TokenURL, "keys": c.JWKSURL, "userinfo": c.UserInfoURL} {
		// The userinfo endpoint is optional. A provider with an oauthEndpoint needs only the keys from its configuration.
		if endpoint == "" && (name == "userinfo" || p.oauthEndpoint.AuthURL != "" && name != "keys") {
			continue
		}
		if err := checkEndpoint(endpoint, p.issuers[0]); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrUnavailable, name, err)
		}
	}
	c.Algorithms = slices.DeleteFunc(c.Algorithms, func(a string) bool { return !slices.Contains(acceptedAlgorithms, a) })
	if len(c.Algorithms) == 0 {
		c.Algorithms = []string{oidc.RS256} // every provider must support it
	}
	c.oidcProvider = c.NewProvider(oidc.ClientContext(ctx, p.client))
	return &c, nil
}

// checkEndpoint returns an error for an endpoint URL without https, because codes and secrets are sent there. It accepts http when
// the issuer itself has http, which checkURL allows on this machine only.
func checkEndpoint(endpoint, issuer string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("%q is not a URL", endpoint)
	}
	if u.Scheme != "https" && !strings.HasPrefix(issuer, u.Scheme+"://") {
		return fmt.Errorf("%q must begin with https://", endpoint)
	}
	return nil
}

// endpoint returns the provider's URLs. The client secret is sent in the body if the provider accepts that, otherwise in the
// header, which not every provider decodes as RFC 6749 §2.3.1 says.
func (c *configuration) endpoint() oauth2.Endpoint {
	style := oauth2.AuthStyleInHeader // OpenID Connect Discovery 1.0 §3: the default
	if slices.Contains(c.AuthMethods, "client_secret_post") {
		style = oauth2.AuthStyleInParams
	}
	return oauth2.Endpoint{AuthURL: c.AuthURL, TokenURL: c.TokenURL, AuthStyle: style}
}

// pkce reports whether the provider supports PKCE with S256.
func (c *configuration) pkce() bool { return slices.Contains(c.ChallengeMethods, "S256") }
