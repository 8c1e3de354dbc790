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

// This file verifies ID tokens: signed statements of an OpenID Connect provider about who has signed in.

// IDToken is a token that the client has obtained directly from the provider, for example with Google's sign-in button.
type IDToken struct {
	Raw         string // the signed token
	Nonce       string // random string that the client has chosen, or ""; the token contains its SHA-256 (hex)
	AccessToken string // issued together with the ID token; "" when the client does not send it
}

// VerifyIDToken checks an ID token and returns the identity that it describes. The provider must have signed the token for one of
// Settings.ClientIDs, the token must not have expired, and its nonce must match (checkClientNonce). Errors wrap ErrUnavailable or
// ErrRefused. The error for a provider without ID tokens wraps ErrRefused.
func (p *Provider) VerifyIDToken(ctx context.Context, t IDToken) (Identity, error) {
	if p.configuration == nil {
		return Identity{}, fmt.Errorf("%w: %s does not issue ID tokens", ErrRefused, p.Name())
	}
	token, claims, err := p.verifyToken(ctx, t.Raw, p.settings.ClientIDs)
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
	if p.verifiesAllEmails {
		claims["email_verified"] = true
	}
	identity := p.identityFromClaims(claims)
	identity.EmailVerifiedByPolicy = p.verifiesAllEmails
	return identity, nil
}

// checkClientNonce compares the nonce in the token with the hash of the nonce that the client sent. If the client sent no nonce (""), the
// token must not contain a nonce. A token with the unhashed nonce is refused, because a thief could read the nonce from the token. Facebook
// is an exception (acceptsFacebookNonce): its token may contain the unhashed nonce, and the client need not send the nonce.
func (p *Provider) checkClientNonce(tokenNonce, clientNonce string) error {
	clientNonceHash := sha256.Sum256([]byte(clientNonce))
	switch {
	case clientNonce == "" && tokenNonce == "", clientNonce == "" && p.acceptsFacebookNonce:
		return nil
	case clientNonce == "" || tokenNonce == "":
		return fmt.Errorf("%w: %w", ErrRefused, ErrNonceMissing)
	case equalSecrets(tokenNonce, hex.EncodeToString(clientNonceHash[:])), p.acceptsFacebookNonce && equalSecrets(tokenNonce, clientNonce):
		return nil
	}
	return fmt.Errorf("%w: %w", ErrRefused, ErrNonceMismatch)
}

func equalSecrets(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// verifyToken checks signature, issuer, audience and expiry of an ID token, and returns the token and its claims. audience contains
// the accepted client ids.
func (p *Provider) verifyToken(ctx context.Context, raw string, audience []string) (*oidc.IDToken, map[string]any, error) {
	configuration, err := p.configuration.get(ctx)
	if err != nil {
		return nil, nil, err
	}
	// The library accepts one issuer and one client id. Several can be valid here, so the code below checks them.
	verifier := configuration.oidcProvider.VerifierContext(oidc.ClientContext(ctx, p.client), &oidc.Config{
		SkipIssuerCheck: true, SkipClientIDCheck: true, SupportedSigningAlgs: configuration.Algorithms, Now: p.now,
	})
	token, err := verifier.Verify(ctx, raw)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: ID token: %w", ErrRefused, err)
	}
	if !slices.Contains(p.issuers, token.Issuer) {
		return nil, nil, fmt.Errorf("%w: ID token of issuer %q", ErrRefused, token.Issuer)
	}
	isAccepted := func(id string) bool { return slices.Contains(audience, id) }
	if !slices.ContainsFunc(token.Audience, isAccepted) {
		return nil, nil, fmt.Errorf("%w: %w %q", ErrRefused, ErrAudience, token.Audience)
	}
	var claims map[string]any
	if err := token.Claims(&claims); err != nil {
		return nil, nil, fmt.Errorf("%w: ID token: %w", ErrRefused, err)
	}
	// A token for several audiences must name the one that it was issued to (OpenID Connect Core §3.1.3.7).
	if party, _ := claims["azp"].(string); len(token.Audience) > 1 && !isAccepted(party) {
		return nil, nil, fmt.Errorf("%w: %w: authorized party %q", ErrRefused, ErrAudience, party)
	}
	if token.Subject == "" {
		return nil, nil, fmt.Errorf("%w: ID token without a subject", ErrRefused)
	}
	return token, claims, nil
}

// fetchOpenIDIdentity reads who has signed in from the ID token of an exchange. When the token has no e-mail address, it adds the
// claims of the provider's userinfo endpoint.
func (p *Provider) fetchOpenIDIdentity(ctx context.Context, tokens *oauth2.Token, callback Callback) (Identity, error) {
	raw, _ := tokens.Extra("id_token").(string)
	if raw == "" {
		return Identity{}, fmt.Errorf("%w: no ID token", ErrRefused)
	}
	token, claims, err := p.verifyToken(ctx, raw, p.settings.ClientIDs[:1])
	if err != nil {
		return Identity{}, err
	}
	if !equalSecrets(token.Nonce, callback.Nonce) {
		return Identity{}, fmt.Errorf("%w: ID token: %w", ErrRefused, ErrNonceMismatch)
	}
	if token.AccessTokenHash != "" {
		if err := token.VerifyAccessToken(tokens.AccessToken); err != nil {
			return Identity{}, fmt.Errorf("%w: ID token: %w", ErrRefused, err)
		}
	}
	configuration, err := p.configuration.get(ctx)
	if err != nil {
		return Identity{}, err
	}
	if _, present := claims["email"]; !present && configuration.UserInfoURL != "" {
		var userinfo map[string]any
		if err := p.getJSON(ctx, configuration.UserInfoURL, tokens.AccessToken, &userinfo); err != nil {
			return Identity{}, err
		}
		// Without this check the response could describe another user (OpenID Connect Core §5.3.2).
		if subject, _ := userinfo["sub"].(string); subject != token.Subject {
			return Identity{}, fmt.Errorf("%w: userinfo about another subject", ErrRefused)
		}
		for name, value := range userinfo {
			if _, present := claims[name]; !present {
				claims[name] = value
			}
		}
	}
	return p.identityFromClaims(claims), nil
}
