package identity

import (
	"context"
	"slices"
	"sync"
	"time"
)

// This file checks the issuer and the audience of tokens (the iss and aud claims).

// ownIssuer is the iss claim (issuer) of the API keys that this program creates.
const ownIssuer = "atelie"

// keyIssuers are all accepted issuers of API keys. They include Supabase's, so that a site that moves here with its secret can go
// on using its old keys.
var keyIssuers = []string{ownIssuer, "supabase", "supabase-demo"}

// audience is the aud claim of every access token, as in Supabase.
const audience = "authenticated"

// IssuerLoader reads the accepted issuers of access tokens. They are the current URL of the site's authentication service, and its earlier
// URLs while tokens from there may not have expired.
type IssuerLoader func(ctx context.Context) ([]string, error)

// Limits of reading the accepted issuers from the database.
const (
	issuersMinInterval = 5 * time.Second // minimum time between two reads because of an unknown issuer
	issuersTimeout     = 5 * time.Second // maximum duration of one read
)

// issuerCache caches the accepted issuers of access tokens. Another server of the site, with another URL, can add its issuer to the
// database at any time. Therefore the list is read again before an unknown issuer is rejected, at most once in issuersMinInterval.
type issuerCache struct {
	mu      sync.Mutex
	load    IssuerLoader
	now     func() time.Time
	list    []string  // the accepted issuers; nil before the first read that succeeds
	triedAt time.Time // start of the most recent read, successful or not
	readErr error     // error of the most recent read, returned to callers until the next read; nil when it succeeded
}

// reload locks mu and reads the list.
func (c *issuerCache) reload() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

// read loads the list. The caller must have locked mu. read has its own context, because all requests need the list, even if the
// request that caused the read is cancelled.
func (c *issuerCache) read() error {
	ctx, cancel := context.WithTimeout(context.Background(), issuersTimeout)
	defer cancel()
	c.triedAt = c.now()
	list, err := c.load(ctx)
	c.readErr = err
	if err == nil {
		c.list = list
	}
	return err
}

// check returns ErrBadToken for an access token with another issuer or audience. It returns readErr if the list could not be read.
func (c *issuerCache) check(claims *Claims) error {
	if !slices.Contains(claims.Audience, audience) {
		return ErrBadToken.Becausef("aud %q", claims.Audience)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.list, claims.Issuer) {
		return nil
	}
	if c.now().Sub(c.triedAt) >= issuersMinInterval {
		_ = c.read() // readErr keeps the error
	}
	if c.readErr != nil {
		return c.readErr
	}
	if !slices.Contains(c.list, claims.Issuer) {
		return ErrBadToken.Becausef("iss %q", claims.Issuer)
	}
	return nil
}

// checkKeyIssuer returns ErrBadToken for a key of another issuer or audience. aud may be missing: Supabase's keys have none.
func checkKeyIssuer(claims *Claims) error {
	if !slices.Contains(keyIssuers, claims.Issuer) {
		return ErrBadToken.Becausef("iss %q in a key", claims.Issuer)
	}
	if len(claims.Audience) > 0 && !slices.Contains(claims.Audience, audience) {
		return ErrBadToken.Becausef("aud %q in a key", claims.Audience)
	}
	return nil
}
