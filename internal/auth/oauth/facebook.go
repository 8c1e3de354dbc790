package oauth

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"

	"golang.org/x/oauth2"
)

// setUpFacebook sets the provider up for Facebook. In browsers, Facebook offers OAuth 2.0 without OpenID Connect. The identity is then read
// from Facebook's Graph API. Mobile apps send ID tokens instead (Facebook's Limited Login).
func (p *Provider) setUpFacebook() error {
	site, err := p.serviceURL("https://www.facebook.com") // the default, if Settings.Issuer is ""
	if err != nil {
		return err
	}
	p.apiURL = "https://graph.facebook.com"
	if p.settings.Issuer != "" { // the URL of another server, which then serves the Graph API too
		p.apiURL = site
	}
	p.oauthEndpoint = oauth2.Endpoint{AuthURL: site + "/dialog/oauth", TokenURL: p.apiURL + "/oauth/access_token", AuthStyle: oauth2.AuthStyleInParams}
	p.scopes = []string{"email"}
	p.issuers = []string{site}
	p.configuration = &configurationCache{provider: p}
	p.acceptsFacebookNonce = true
	p.verifiesAllEmails = true
	p.fetchIdentity = p.fetchFacebookIdentity
	return nil
}

// fetchFacebookIdentity reads from Facebook's Graph API who has signed in.
func (p *Provider) fetchFacebookIdentity(ctx context.Context, token *oauth2.Token, _ Callback) (Identity, error) {
	// The appsecret_proof parameter proves to Facebook that the sender of the token knows the client secret.
	proof := hmac.New(sha256.New, []byte(p.settings.ClientSecret))
	proof.Write([]byte(token.AccessToken))
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
	if err := p.getJSON(ctx, p.apiURL+"/me?"+query.Encode(), token.AccessToken, &user); err != nil {
		return Identity{}, err
	}
	identity := Identity{
		// Facebook returns only e-mail addresses that the user has confirmed, but its response does not state this.
		Subject: textClaim(user.ID), Email: textClaim(user.Email), EmailVerified: user.Email != "", EmailVerifiedByPolicy: true,
		Name:      cmp.Or(strings.TrimSpace(textClaim(user.FirstName)+" "+textClaim(user.LastName)), textClaim(user.Name)),
		AvatarURL: webURL(user.Picture.Data.URL), Claims: map[string]any{"iss": p.apiURL},
	}
	if nick := textClaim(user.Name); nick != "" {
		identity.Claims["nickname"], identity.Claims["slug"] = nick, nick
	}
	return identity.withCommonClaims(), nil
}
