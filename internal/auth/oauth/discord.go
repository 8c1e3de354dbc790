package oauth

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/oauth2"
)

// discord sets the provider up for Discord, which uses OAuth 2.0 without OpenID Connect.
func (p *Provider) discord() error {
	site, err := p.serviceURL("https://discord.com")
	if err != nil {
		return err
	}
	api := site + "/api"
	p.oauthEndpoint = oauth2.Endpoint{AuthURL: api + "/oauth2/authorize", TokenURL: api + "/oauth2/token", AuthStyle: oauth2.AuthStyleInParams}
	p.pkce = true
	p.scopes = []string{"email", "identify"}
	p.fetchProfile = func(ctx context.Context, token *oauth2.Token, _ Callback) (Identity, error) {
		return p.discordProfile(ctx, api, token.AccessToken)
	}
	return nil
}

// discordProfile reads the person from Discord's API.
func (p *Provider) discordProfile(ctx context.Context, api, token string) (Identity, error) {
	var user discordUser
	if err := p.getJSON(ctx, api+"/users/@me", token, &user); err != nil {
		return Identity{}, err
	}
	if _, err := strconv.ParseUint(user.ID, 10, 64); err != nil {
		return Identity{}, fmt.Errorf("%w: user id %q", ErrRefused, user.ID)
	}
	name := textClaim(user.Username)
	claims := map[string]any{"iss": api, "preferred_username": name, "custom_claims": map[string]any{"global_name": textClaim(user.GlobalName)}}
	if user.Discriminator != "" && user.Discriminator != "0" {
		name += "#" + textClaim(user.Discriminator)
	}
	person := Identity{
		Subject: user.ID, Email: textClaim(user.Email), EmailVerified: user.Email != "" && user.Verified,
		Name: name, AvatarURL: user.avatar(), Claims: claims,
	}
	person = person.describe()
	person.Claims["full_name"] = textClaim(user.Username)
	return person, nil
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

// avatar returns the URL of the person's picture, as "Image Formatting" in Discord's reference says: the names of animated
// pictures begin with a_, and an account without a picture has one of Discord's default pictures.
func (u discordUser) avatar() string {
	const cdn = "https://cdn.discordapp.com/"
	if u.Avatar == "" {
		id, _ := strconv.ParseUint(u.ID, 10, 64) // checked before
		drawing := (id >> 22) % 6
		if old, err := strconv.ParseUint(u.Discriminator, 10, 16); err == nil && old > 0 {
			drawing = old % 5
		}
		return fmt.Sprintf("%sembed/avatars/%d.png", cdn, drawing)
	}
	kind := "png"
	if strings.HasPrefix(u.Avatar, "a_") {
		kind = "gif"
	}
	return cdn + "avatars/" + u.ID + "/" + url.PathEscape(textClaim(u.Avatar)) + "." + kind
}
