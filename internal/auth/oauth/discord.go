package oauth

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/oauth2"
)

// setUpDiscord sets the provider up for Discord. Discord uses OAuth 2.0 without OpenID Connect.
func (p *Provider) setUpDiscord() error {
	site, err := p.serviceURL("https://discord.com") // the default, if Settings.Issuer is ""
	if err != nil {
		return err
	}
	p.apiURL = site + "/api"
	p.oauthEndpoint = oauth2.Endpoint{AuthURL: p.apiURL + "/oauth2/authorize", TokenURL: p.apiURL + "/oauth2/token", AuthStyle: oauth2.AuthStyleInParams}
	p.pkce = true
	p.scopes = []string{"email", "identify"}
	p.fetchIdentity = p.fetchDiscordIdentity
	return nil
}

// fetchDiscordIdentity reads from Discord's API who has signed in.
func (p *Provider) fetchDiscordIdentity(ctx context.Context, token *oauth2.Token, _ Callback) (Identity, error) {
	var user discordUser
	if err := p.getJSON(ctx, p.apiURL+"/users/@me", token.AccessToken, &user); err != nil {
		return Identity{}, err
	}
	if _, err := strconv.ParseUint(user.ID, 10, 64); err != nil { // Discord's ids are numbers
		return Identity{}, fmt.Errorf("%w: user id %q", ErrRefused, user.ID)
	}
	name := textClaim(user.Username)
	claims := map[string]any{"iss": p.apiURL, "preferred_username": name, "custom_claims": map[string]any{"global_name": textClaim(user.GlobalName)}}
	if user.Discriminator != "" && user.Discriminator != "0" {
		name += "#" + textClaim(user.Discriminator) // as Discord writes the name of an older account, such as ana#1234
	}
	identity := Identity{
		Subject: user.ID, Email: textClaim(user.Email), EmailVerified: user.Email != "" && user.Verified,
		Name: name, AvatarURL: user.avatarURL(), Claims: claims,
	}
	identity = identity.withCommonClaims()
	identity.Claims["full_name"] = textClaim(user.Username) // without the discriminator
	return identity, nil
}

// discordUser is the response body of /users/@me.
type discordUser struct {
	ID            string `json:"id"`
	Username      string `json:"username"`
	GlobalName    string `json:"global_name"`
	Discriminator string `json:"discriminator"` // "0" for accounts with a unique name, four digits for older ones
	Avatar        string `json:"avatar"`
	Email         string `json:"email"`
	Verified      bool   `json:"verified"`
}

// avatarURL returns the URL of the user's picture ("Image Formatting" in Discord's reference). The names of animated pictures begin with
// a_. For an account without a picture, Discord has default pictures; the account's id or discriminator selects one.
func (u discordUser) avatarURL() string {
	const cdn = "https://cdn.discordapp.com/"
	if u.Avatar == "" {
		id, _ := strconv.ParseUint(u.ID, 10, 64) // fetchDiscordIdentity has checked the id
		avatarNumber := (id >> 22) % 6
		if discriminator, err := strconv.ParseUint(u.Discriminator, 10, 16); err == nil && discriminator > 0 {
			avatarNumber = discriminator % 5
		}
		return fmt.Sprintf("%sembed/avatars/%d.png", cdn, avatarNumber)
	}
	extension := "png"
	if strings.HasPrefix(u.Avatar, "a_") {
		extension = "gif"
	}
	return cdn + "avatars/" + u.ID + "/" + url.PathEscape(textClaim(u.Avatar)) + "." + extension
}
