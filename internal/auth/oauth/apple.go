package oauth

import (
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/oauth2"
)

// appleSecretLife is how long a client secret for Apple is valid. Five minutes are enough, because each exchange of a code
// creates a new secret.
const appleSecretLife = 5 * time.Minute

// setUpApple sets the provider up for Sign in with Apple. Apple differs from other OpenID Connect providers in three points:
//   - The client secret is a token that this program signs.
//   - The callback is a POST.
//   - Only the callback of a user's first sign-in contains the user's name.
func (p *Provider) setUpApple() error {
	if err := p.setUpOpenID("https://appleid.apple.com", "email", "name"); err != nil {
		return err
	}
	p.issuers = append(p.issuers, "https://account.apple.com")
	p.formPost = true
	fetchOpenIDIdentity := p.fetchIdentity
	p.fetchIdentity = func(ctx context.Context, token *oauth2.Token, callback Callback) (Identity, error) {
		identity, err := fetchOpenIDIdentity(ctx, token, callback)
		// withCommonClaims copies the name to the claims.
		if name := appleName(callback.User); err == nil && name != "" {
			identity.Name = name
			identity = identity.withCommonClaims()
		}
		return identity, err
	}
	if p.settings.TeamID == "" && p.settings.KeyID == "" {
		return nil // the operator has signed the client secret, or there is none, because only VerifyIDToken is used
	}
	if p.settings.TeamID == "" || p.settings.KeyID == "" {
		return errors.New("the team id and the key id must both be set or both be missing")
	}
	// Some ways to set environment variables allow no line breaks. The operator can write the two characters \n in place of each break.
	key, err := jwt.ParseECPrivateKeyFromPEM([]byte(strings.ReplaceAll(p.settings.ClientSecret, `\n`, "\n")))
	if err != nil {
		return fmt.Errorf("the client secret must be the private key (PEM): %w", err)
	}
	p.clientSecret = func() (string, error) { return p.appleSecret(key) }
	return nil
}

// appleSecret returns a new client secret: a token that is signed with the private key that Apple has given to the operator.
func (p *Provider) appleSecret(key *ecdsa.PrivateKey) (string, error) {
	now := p.now()
	token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.RegisteredClaims{
		Issuer: p.settings.TeamID, Subject: p.settings.ClientIDs[0], Audience: jwt.ClaimStrings{p.issuers[0]},
		IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(appleSecretLife)),
	})
	token.Header["kid"] = p.settings.KeyID
	return token.SignedString(key)
}

// appleName returns the user's name from the user parameter of Apple's callback, or "". It ignores the e-mail address in the
// parameter, because Apple does not sign the parameter.
func appleName(user string) string {
	var parsed struct {
		Name struct {
			FirstName string `json:"firstName"`
			LastName  string `json:"lastName"`
		} `json:"name"`
	}
	if json.Unmarshal([]byte(user), &parsed) != nil {
		return "" // the parameter comes from the browser; invalid text must not make a valid sign-in fail
	}
	return strings.TrimSpace(textClaim(parsed.Name.FirstName) + " " + textClaim(parsed.Name.LastName))
}
