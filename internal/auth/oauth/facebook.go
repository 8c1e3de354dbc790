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

// facebook sets the provider up for Facebook. Sign-ins in browsers use OAuth 2.0 without OpenID Connect. Mobile apps get ID
// tokens (Limited Login).
func (p *Provider) facebook() error {
	site, err := p.serviceURL("https://www.facebook.com")
	if err != nil {
		return err
	}
	graph := "https://graph.facebook.com"
	if p.settings.Issuer != "" {
		graph = site
	}
	p.oauthEndpoint = oauth2.Endpoint{AuthURL: site + "/dialog/oauth", TokenURL: graph + "/oauth/access_token", AuthStyle: oauth2.AuthStyleInParams}
	p.scopes = []string{"email"}
	p.issuers, p.document = []string{site}, &document{provider: p}
	p.lenientNonce, p.confirmedEmail = true, true
	p.fetchProfile = func(ctx context.Context, token *oauth2.Token, _ Callback) (Identity, error) {
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
	person := Identity{
		// Facebook returns only e-mail addresses that the person has confirmed, but its response does not state this.
		Subject: textClaim(user.ID), Email: textClaim(user.Email), EmailVerified: user.Email != "", EmailAssumed: true,
		Name: strings.TrimSpace(textClaim(user.FirstName) + " " + textClaim(user.LastName)), AvatarURL: webURL(user.Picture.Data.URL),
		Claims: map[string]any{"iss": graph},
	}
	if nick := textClaim(user.Name); nick != "" {
		person.Claims["nickname"], person.Claims["slug"] = nick, nick
	}
	if person.Name == "" {
		person.Name = textClaim(user.Name)
	}
	return person.describe(), nil
}
