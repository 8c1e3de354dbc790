package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// IDToken is a token that a client got from the provider by itself, for example through Google's own button.
type IDToken struct {
	Raw         string
	Nonce       string // what the client chose; the token carries its SHA-256 in hexadecimal
	AccessToken string // optional; then it must be the one that the ID token was made with
}

// VerifyIDToken gives the person that a provider vouches for. The token must be signed by the provider, for one of our
// client ids, in time, and carry the nonce's hash exactly when there is a nonce. Errors are ErrRefused or
// ErrUnavailable; a provider that makes no ID tokens refuses them all.
func (p *Provider) VerifyIDToken(ctx context.Context, t IDToken) (Identity, error) {
	if p.document == nil {
		return Identity{}, fmt.Errorf("%w: %s makes no ID tokens", ErrRefused, p.Name())
	}
	token, claims, err := p.verify(ctx, t.Raw, p.settings.ClientIDs)
	if err != nil {
		return Identity{}, err
	}
	if err := p.checkClientNonce(token.Nonce, t.Nonce); err != nil {
		return Identity{}, err
	}
	if t.AccessToken != "" && token.AccessTokenHash != "" {
		if err := token.VerifyAccessToken(t.AccessToken); err != nil {
			return Identity{}, fmt.Errorf("%w: %w", ErrRefused, err)
		}
	}
	if p.confirmedEmail {
		claims["email_verified"] = true
	}
	return p.personOf(claims), nil
}

// checkClientNonce never takes the bare nonce: whoever steals a token could read it there, but cannot undo its hash.
func (p *Provider) checkClientNonce(inToken, given string) error {
	sum := sha256.Sum256([]byte(given))
	switch {
	case given == "" && inToken == "", given == "" && p.lenientNonce:
		return nil
	case given == "" || inToken == "":
		return fmt.Errorf("%w: %w", ErrRefused, ErrNonceMissing)
	case same(inToken, hex.EncodeToString(sum[:])), p.lenientNonce && same(inToken, given):
		return nil
	}
	return fmt.Errorf("%w: %w", ErrRefused, ErrNonceMismatch)
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// verify checks what holds for every ID token: signature, issuer, audience, time.
func (p *Provider) verify(ctx context.Context, raw string, audience []string) (*oidc.IDToken, map[string]any, error) {
	d, err := p.document.get(ctx)
	if err != nil {
		return nil, nil, err
	}
	// Issuer and audience are looked at below, as there may be several good ones.
	verifier := d.keys.VerifierContext(oidc.ClientContext(ctx, p.client), &oidc.Config{
		SkipIssuerCheck: true, SkipClientIDCheck: true, SupportedSigningAlgs: d.Algorithms, Now: p.now,
	})
	token, err := verifier.Verify(ctx, raw)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: ID token: %w", ErrRefused, err)
	}
	if !slices.Contains(p.issuers, token.Issuer) {
		return nil, nil, fmt.Errorf("%w: ID token of issuer %q", ErrRefused, token.Issuer)
	}
	ours := func(id string) bool { return slices.Contains(audience, id) }
	if !slices.ContainsFunc(token.Audience, ours) {
		return nil, nil, fmt.Errorf("%w: %w %q", ErrRefused, ErrAudience, token.Audience)
	}
	var claims map[string]any
	if err := token.Claims(&claims); err != nil {
		return nil, nil, fmt.Errorf("%w: ID token: %w", ErrRefused, err)
	}
	// OpenID Connect Core §3.1.3.7: a token for several parties says which of them it was made for.
	if party, _ := claims["azp"].(string); len(token.Audience) > 1 && !ours(party) {
		return nil, nil, fmt.Errorf("%w: %w: authorized party %q", ErrRefused, ErrAudience, party)
	}
	if token.Subject == "" {
		return nil, nil, fmt.Errorf("%w: ID token without a subject", ErrRefused)
	}
	return token, claims, nil
}

// openIDProfile reads who signed in from the ID token, and from the userinfo endpoint what the token leaves out.
func (p *Provider) openIDProfile(ctx context.Context, granted *oauth2.Token, a Answer) (Identity, error) {
	raw, _ := granted.Extra("id_token").(string)
	if raw == "" {
		return Identity{}, fmt.Errorf("%w: no ID token", ErrRefused)
	}
	token, claims, err := p.verify(ctx, raw, p.settings.ClientIDs[:1])
	if err != nil {
		return Identity{}, err
	}
	if !same(token.Nonce, a.Nonce) {
		return Identity{}, fmt.Errorf("%w: ID token: %w", ErrRefused, ErrNonceMismatch)
	}
	if token.AccessTokenHash != "" {
		if err := token.VerifyAccessToken(granted.AccessToken); err != nil {
			return Identity{}, fmt.Errorf("%w: ID token: %w", ErrRefused, err)
		}
	}
	d, err := p.document.get(ctx)
	if err != nil {
		return Identity{}, err
	}
	if _, told := claims["email"]; !told && d.UserInfoURL != "" {
		var more map[string]any
		if err := p.getJSON(ctx, d.UserInfoURL, granted.AccessToken, &more); err != nil {
			return Identity{}, err
		}
		// OpenID Connect Core §5.3.2: otherwise the answer may be about somebody else.
		if subject, _ := more["sub"].(string); subject != token.Subject {
			return Identity{}, fmt.Errorf("%w: userinfo about another subject", ErrRefused)
		}
		for name, value := range more {
			if _, told := claims[name]; !told {
				claims[name] = value
			}
		}
	}
	return p.personOf(claims), nil
}
