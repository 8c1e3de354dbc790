package oauth

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strings"
)

// This file makes an Identity from the claims (facts about a user) that providers send.

// Reasons why an ID token is refused. The errors of VerifyIDToken and Exchange wrap one of them together with ErrRefused.
var (
	ErrAudience      = errors.New("audience")                                            // the token was issued for another client
	ErrNonceMissing  = errors.New("nonce and nonce claim must either both exist or not") // only the request or only the token has a nonce
	ErrNonceMismatch = errors.New("nonces mismatch")
)

// Identity is what a provider reports about a user who has signed in: the account at the provider, and some facts about the user.
type Identity struct {
	Subject               string // the provider's id for the user's account; it never changes and is never reused
	Email                 string // the address as the provider writes it; "" when the provider reports none
	EmailVerified         bool   // the provider has verified that the user receives mail at Email
	EmailVerifiedByPolicy bool   // EmailVerified is not from the response: this provider verifies all addresses
	Name                  string
	AvatarURL             string // http or https, or ""
	// Claims are stored as the user metadata of the account, under the names that Supabase Auth uses. The names are from a fixed list, and
	// textClaim limits the size of each. Claims grant no rights.
	Claims map[string]any

	AccessToken  string // gives access to the provider's API; "" after VerifyIDToken
	RefreshToken string // "" when the provider issues none
}

// profileClaims are the claims of an ID token that Identity.Claims may contain: iss, and standard claims (OpenID Connect Core §5.1).
var profileClaims = []string{
	"iss", "sub", "name", "family_name", "given_name", "middle_name", "nickname", "preferred_username", "profile", "picture", "website", "gender",
	"birthdate", "zoneinfo", "locale",
}

const maxClaimBytes = 2048 // a longer claim is truncated

// textClaim returns a claim as a string that the database can store: at most maxClaimBytes bytes of valid UTF-8 without NUL. It returns ""
// for a value that is not a string.
func textClaim(value any) string {
	s, _ := value.(string)
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "")
	s = strings.ToValidUTF8(s[:min(len(s), maxClaimBytes)], "") // again, because s can end inside a character now
	return strings.TrimSpace(s)
}

// webURL returns a claim that is an http or https URL, and "" for any other value: pages may use it in a link.
func webURL(value any) string {
	s := textClaim(value)
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return s
}

// identityFromClaims returns the identity that the claims of an ID token describe.
func (p *Provider) identityFromClaims(claims map[string]any) Identity {
	stored := map[string]any{}
	for _, name := range profileClaims {
		value := textClaim(claims[name])
		if slices.Contains([]string{"picture", "profile", "website"}, name) {
			value = webURL(value)
		}
		if value != "" {
			stored[name] = value
		}
	}
	fullName := strings.TrimSpace(textClaim(claims["given_name"]) + " " + textClaim(claims["family_name"]))
	identity := Identity{
		Subject: textClaim(claims["sub"]), Email: textClaim(claims["email"]), Name: cmp.Or(textClaim(claims["name"]), fullName),
		AvatarURL: webURL(claims["picture"]), Claims: stored,
	}
	// Some providers send the claim as a string.
	identity.EmailVerified = identity.Email != "" && slices.Contains([]any{true, "true", "1"}, claims["email_verified"])
	if domain := textClaim(claims["hd"]); domain != "" { // Google: the domain of the organization that manages the account
		stored["custom_claims"] = map[string]any{"hd": domain}
	}
	return identity.withCommonClaims()
}

// withCommonClaims adds the claims that Supabase Auth stores for every provider to i.Claims, and returns i.
func (i Identity) withCommonClaims() Identity {
	i.Claims["sub"], i.Claims["provider_id"] = i.Subject, i.Subject
	i.Claims["email_verified"], i.Claims["phone_verified"] = i.EmailVerified, false
	for name, value := range map[string]string{"email": i.Email, "name": i.Name, "full_name": i.Name, "picture": i.AvatarURL, "avatar_url": i.AvatarURL} {
		if value != "" {
			i.Claims[name] = value
		}
	}
	return i
}
