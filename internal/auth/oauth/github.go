package oauth

import (
	"context"
	"fmt"
	"strconv"

	"golang.org/x/oauth2"
)

// setUpGitHub sets the provider up for GitHub or a GitHub Enterprise server. Both use OAuth 2.0 without OpenID Connect.
func (p *Provider) setUpGitHub() error {
	site, err := p.serviceURL("https://github.com") // the default, if Settings.Issuer is ""
	if err != nil {
		return err
	}
	p.apiURL = "https://api.github.com"
	if p.settings.Issuer != "" { // the URL of a GitHub Enterprise server, which also has the API
		p.apiURL = site + "/api/v3"
	}
	p.oauthEndpoint = oauth2.Endpoint{AuthURL: site + "/login/oauth/authorize", TokenURL: site + "/login/oauth/access_token", AuthStyle: oauth2.AuthStyleInParams}
	p.pkce = true
	p.scopes = []string{"user:email"}
	p.fetchIdentity = p.fetchGitHubIdentity
	return nil
}

// fetchGitHubIdentity reads the signed-in user and the user's primary e-mail address from GitHub's API.
func (p *Provider) fetchGitHubIdentity(ctx context.Context, token *oauth2.Token, _ Callback) (Identity, error) {
	var user struct {
		ID        int64  `json:"id"`
		Login     string `json:"login"`
		Name      string `json:"name"`
		AvatarURL string `json:"avatar_url"`
	}
	if err := p.getJSON(ctx, p.apiURL+"/user", token.AccessToken, &user); err != nil {
		return Identity{}, err
	}
	if user.ID <= 0 {
		return Identity{}, fmt.Errorf("%w: no user id", ErrRefused)
	}
	var addresses []struct {
		Email    string `json:"email"`
		Primary  bool   `json:"primary"`
		Verified bool   `json:"verified"`
	}
	if err := p.getJSON(ctx, p.apiURL+"/user/emails", token.AccessToken, &addresses); err != nil {
		return Identity{}, err
	}
	identity := Identity{
		Subject: strconv.FormatInt(user.ID, 10), Name: textClaim(user.Name), AvatarURL: webURL(user.AvatarURL),
		Claims: map[string]any{"iss": p.apiURL, "user_name": textClaim(user.Login), "preferred_username": textClaim(user.Login)},
	}
	for _, a := range addresses {
		if a.Primary {
			identity.Email, identity.EmailVerified = textClaim(a.Email), a.Verified
		}
	}
	return identity.withCommonClaims(), nil
}
