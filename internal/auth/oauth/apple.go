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

// appleSecretLife is short, as each exchange makes a secret of its own. Apple allows six months.
const appleSecretLife = 5 * time.Minute

// apple signs in by OpenID Connect with three ways of its own: the client secret is a token that we sign, the answer
// comes as a POST, and the person's name comes beside the first answer only.
func (p *Provider) apple() error {
	if err := p.openID("https://appleid.apple.com", "email", "name"); err != nil {
		return err
	}
	p.issuers = append(p.issuers, "https://account.apple.com")
	p.formPost = true
	profile := p.profile
	p.profile = func(ctx context.Context, token *oauth2.Token, a Answer) (Identity, error) {
		who, err := profile(ctx, token, a)
		if name := appleName(a.User); err == nil && name != "" {
			who.Name = name
			who = who.describe()
		}
		return who, err
	}
	if p.settings.TeamID == "" && p.settings.KeyID == "" {
		return nil // the secret is a finished token, or there is none and only ID tokens are taken
	}
	if p.settings.TeamID == "" || p.settings.KeyID == "" {
		return errors.New("the team id and the key id go together")
	}
	// Some ways of setting a variable cannot write line ends.
	key, err := jwt.ParseECPrivateKeyFromPEM([]byte(strings.ReplaceAll(p.settings.ClientSecret, `\n`, "\n")))
	if err != nil {
		return fmt.Errorf("the client secret must be the private key (PEM): %w", err)
	}
	p.secret = func() (string, error) { return p.appleSecret(key) }
	return nil
}

func (p *Provider) appleSecret(key *ecdsa.PrivateKey) (string, error) {
	now := p.now()
	token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.RegisteredClaims{
		Issuer: p.settings.TeamID, Subject: p.settings.ClientIDs[0], Audience: jwt.ClaimStrings{p.issuers[0]},
		IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(appleSecretLife)),
	})
	token.Header["kid"] = p.settings.KeyID
	return token.SignedString(key)
}

// appleName reads the name only: the address beside it is not signed by Apple.
func appleName(user string) string {
	var told struct {
		Name struct {
			FirstName string `json:"firstName"`
			LastName  string `json:"lastName"`
		} `json:"name"`
	}
	if json.Unmarshal([]byte(user), &told) != nil {
		return "" // the browser brings it: nonsense there is no reason to refuse a good sign-in
	}
	return strings.TrimSpace(text(told.Name.FirstName) + " " + text(told.Name.LastName))
}
