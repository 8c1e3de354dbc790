package oauth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"

	"golang.org/x/oauth2"
)

// facebook sets the provider up for Facebook, which uses OAuth 2.0 without OpenID Connect in browsers, but issues ID tokens to
// mobile apps (Limited Login).
func (p *Provider) facebook() error {
	site, err := p.address("https://www.facebook.com")
	if err != nil {
		return err
	}
	graph := "https://graph.facebook.com"
	if p.settings.Issuer != "" {
		graph = site
	}
	p.plain = oauth2.Endpoint{AuthURL: site + "/dialog/oauth", TokenURL: graph + "/oauth/access_token", AuthStyle: oauth2.AuthStyleInParams}
	p.scopes = []string{"email"}
	p.issuers, p.document = []string{site}, &document{provider: p}
	p.lenientNonce, p.confirmedEmail = true, true
	p.profile = func(ctx context.Context, token *oauth2.Token, _ Answer) (Identity, error) {
		return p.facebookProfile(ctx, graph, token.AccessToken)
	}
	return nil
}

// facebookProfile reads the person from Facebook's Graph API.
func (p *Provider) facebookProfile(ctx context.Context, graph, token string) (Identity, error) {
	// appsecret_proof proves that the app that uses the token knows the client secret.
	proof := hmac.New(sha256.New, []byte(p.settings.ClientSecret))
	proof.Write([]byte(token))
	query := url.Values{"fields": {"id,email,first_name,last_name,name,picture"}, "appsecret_proof": {hex.EncodeToString(proof.Sum(nil))}}
	var user struct {
		ID        string `json:"id"`
		Email     string `json:"email"`
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
		Name      string `json:"name"`
		Picture   struct {
			Data struct {
				URL string `json:"url"`
			} `json:"data"`
		} `json:"picture"`
	}
	if err := p.getJSON(ctx, graph+"/me?"+query.Encode(), token, &user); err != nil {
		return Identity{}, err
	}
	who := Identity{
		// Facebook returns an address only when the person has confirmed it, but does not say so.
		Subject: text(user.ID), Email: text(user.Email), EmailVerified: user.Email != "", EmailAssumed: true,
		Name: strings.TrimSpace(text(user.FirstName) + " " + text(user.LastName)), AvatarURL: webAddress(user.Picture.Data.URL),
		Claims: map[string]any{"iss": graph},
	}
	if nick := text(user.Name); nick != "" {
		who.Claims["nickname"], who.Claims["slug"] = nick, nick
	}
	if who.Name == "" {
		who.Name = text(user.Name)
	}
	return who.describe(), nil
}
