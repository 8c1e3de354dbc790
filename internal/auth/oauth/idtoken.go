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

// IDToken is a token that the client itself got from the provider, for example with Google's sign-in button.
type IDToken struct {
	Raw         string
	Nonce       string // random text of the client; the token contains its SHA-256 in hex. "" when the client sends none
	AccessToken string // issued together with the ID token; "" when the client does not send it
}

// VerifyIDToken checks an ID token and returns the person that it describes. The provider must have signed the token for one of
// Settings.ClientIDs, and the token must not have expired. If the client sent a nonce, the token must contain its hash;
// otherwise it must contain no nonce. Errors wrap ErrRefused (also for a provider without ID tokens) or ErrUnavailable.
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
	person := p.personOf(claims)
	person.EmailAssumed = p.confirmedEmail
	return person, nil
}

// checkClientNonce compares the nonce in the token with the hash of the nonce that the client sent. It rejects a token that
// contains the client's nonce unhashed, except with lenientNonce: somebody who steals such a token could read the nonce from
// it.
func (p *Provider) checkClientNonce(inToken, given string) error {
	sum := sha256.Sum256([]byte(given))
	switch {
	case given == "" && inToken == "", given == "" && p.lenientNonce:
		return nil
	case given == "" || inToken == "":
		return fmt.Errorf("%w: %w", ErrRefused, ErrNonceMissing)
	case equalSecrets(inToken, hex.EncodeToString(sum[:])), p.lenientNonce && equalSecrets(inToken, given):
		return nil
	}
	return fmt.Errorf("%w: %w", ErrRefused, ErrNonceMismatch)
}

func equalSecrets(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// verify checks signature, issuer, audience and expiry of an ID token, and returns its claims too. audience holds the accepted
// client ids.
func (p *Provider) verify(ctx context.Context, raw string, audience []string) (*oidc.IDToken, map[string]any, error) {
	d, err := p.document.get(ctx)
	if err != nil {
		return nil, nil, err
	}
	// The library accepts one issuer and one client id. Several can be valid here, so the code below checks them.
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
	// A token for several audiences must name the one that it was issued to (OpenID Connect Core §3.1.3.7).
	if party, _ := claims["azp"].(string); len(token.Audience) > 1 && !ours(party) {
		return nil, nil, fmt.Errorf("%w: %w: authorized party %q", ErrRefused, ErrAudience, party)
	}
	if token.Subject == "" {
		return nil, nil, fmt.Errorf("%w: ID token without a subject", ErrRefused)
	}
	return token, claims, nil
}

// openIDProfile reads the person from the ID token of an exchange. When the token has no e-mail address, it adds the claims of
// the userinfo endpoint.
func (p *Provider) openIDProfile(ctx context.Context, granted *oauth2.Token, callback Callback) (Identity, error) {
	raw, _ := granted.Extra("id_token").(string)
	if raw == "" {
		return Identity{}, fmt.Errorf("%w: no ID token", ErrRefused)
	}
	token, claims, err := p.verify(ctx, raw, p.settings.ClientIDs[:1])
	if err != nil {
		return Identity{}, err
	}
	if !equalSecrets(token.Nonce, callback.Nonce) {
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
	if _, present := claims["email"]; !present && d.UserInfoURL != "" {
		var more map[string]any
		if err := p.getJSON(ctx, d.UserInfoURL, granted.AccessToken, &more); err != nil {
			return Identity{}, err
		}
		// Without this check the response could describe another person (OpenID Connect Core §5.3.2).
		if subject, _ := more["sub"].(string); subject != token.Subject {
			return Identity{}, fmt.Errorf("%w: userinfo about another subject", ErrRefused)
		}
		for name, value := range more {
			if _, present := claims[name]; !present {
				claims[name] = value
			}
		}
	}
	return p.personOf(claims), nil
}
