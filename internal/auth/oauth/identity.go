package oauth

import (
	"errors"
	"net/url"
	"strings"
	"unicode/utf8"
)

// What can be wrong with an ID token that a client brings, beyond ErrRefused, which wraps them.
var (
	ErrAudience      = errors.New("audience")
	ErrNonceMissing  = errors.New("nonce and nonce claim must either both exist or not")
	ErrNonceMismatch = errors.New("nonces mismatch")
)

// Identity is a person as the provider vouches for them.
type Identity struct {
	Subject       string // the provider's own name for the person: stable, never reused
	Email         string // as the provider writes it; "" when it does not say
	EmailVerified bool   // the provider has checked that the person receives mail there
	Name          string
	AvatarURL     string // http or https, or ""
	// Claims are what is kept about the person, named as Supabase Auth names them. They come from a fixed list, are
	// bounded in size, and say nothing about rights here.
	Claims map[string]any

	AccessToken  string // for calls to the provider; "" after VerifyIDToken
	RefreshToken string
}

// profileClaims are the standard claims that are kept (OpenID Connect Core §5.1).
var profileClaims = []string{
	"iss", "sub", "name", "family_name", "given_name", "middle_name", "nickname", "preferred_username", "profile", "picture", "website", "gender",
	"birthdate", "zoneinfo", "locale",
}

const maxClaim = 2048 // bytes

// text gives a claim as stored text: bounded, valid, and without NUL, which PostgreSQL refuses.
func text(value any) string {
	s, _ := value.(string)
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "")
	for len(s) > maxClaim {
		s = s[:maxClaim]
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
	}
	return strings.TrimSpace(s)
}

// flag reads a boolean that some providers write as text.
func flag(value any) bool {
	switch v := value.(type) {
	case bool:
		return v
	case string:
		return v == "true" || v == "1"
	}
	return false
}

// webAddress gives the address of a picture or a page, or "": it may end up in a link.
func webAddress(value any) string {
	s := text(value)
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return s
}

// personOf makes an identity of the claims of an ID token.
func (p *Provider) personOf(claims map[string]any) Identity {
	kept := map[string]any{}
	for _, name := range profileClaims {
		if value := text(claims[name]); value != "" {
			kept[name] = value
		}
	}
	for _, name := range []string{"picture", "profile", "website"} {
		if _, told := kept[name]; told && webAddress(kept[name]) == "" {
			delete(kept, name)
		}
	}
	who := Identity{Subject: text(claims["sub"]), Email: text(claims["email"]), Name: text(claims["name"]), AvatarURL: webAddress(claims["picture"]), Claims: kept}
	if who.Name == "" {
		who.Name = strings.TrimSpace(text(claims["given_name"]) + " " + text(claims["family_name"]))
	}
	who.EmailVerified = who.Email != "" && flag(claims["email_verified"])
	if domain := text(claims["hd"]); domain != "" { // Google: the organisation that manages the account
		kept["custom_claims"] = map[string]any{"hd": domain}
	}
	return who.describe()
}

// describe fills in the names that Supabase Auth keeps for every provider.
func (i Identity) describe() Identity {
	i.Claims["sub"], i.Claims["provider_id"] = i.Subject, i.Subject
	i.Claims["email_verified"], i.Claims["phone_verified"] = i.EmailVerified, false
	for name, value := range map[string]string{"email": i.Email, "name": i.Name, "full_name": i.Name, "picture": i.AvatarURL, "avatar_url": i.AvatarURL} {
		if value != "" {
			i.Claims[name] = value
		}
	}
	return i
}
