package auth

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"atelie/internal/auth/oauth"
	"atelie/internal/db"
)

// This file sends browsers to OAuth providers. It starts a flow: a sign-in, or the addition of an identity (the user's account at the
// provider) to an account of this site. The flow is pending until the provider sends the browser back. callback.go handles the return.

const (
	oauthFlowLife   = 5 * time.Minute // maximum time from /authorize to /callback
	authorizesPerIP = 100             // maximum number of requests from one IP address in five minutes (limitWindow)
	maxScopes       = 20              // maximum number of scopes of one request; further ones are ignored
)

// Authorize handles GET /auth/v1/authorize: it sends the browser to an OAuth provider to sign in. Query parameters:
//   - provider, redirect_to, scopes
//   - code_challenge and code_challenge_method, for PKCE (RFC 7636)
//   - parameters that are passed on to the provider's sign-in page, such as login_hint
//   - skip_http_redirect is ignored: a client that adds it opens the URL in a browser later, and the browser needs the redirect.
func (s *Service) Authorize(w http.ResponseWriter, r *http.Request) error {
	redirect, err := s.startProviderFlow(w, r, "") // "": a sign-in
	if errors.Is(err, oauth.ErrUnavailable) {
		// A browser has opened this URL and would show an error in JSON as text. It is sent back to the site, which shows the error.
		return s.redirectWithFlowError(w, r, s.redirectTarget(requestedRedirect(r)), errProviderDown.Because(err))
	}
	if err != nil {
		return err
	}
	if redirect.cookie != nil {
		http.SetCookie(w, redirect.cookie)
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, redirect.url, http.StatusFound)
	return nil
}

// flowSecrets are the secrets of a flow. They are stored sealed (encrypted) until the callback.
type flowSecrets struct {
	Nonce    string `json:"nonce"`    // must be in the provider's ID token
	Verifier string `json:"verifier"` // PKCE verifier that this service sends to the provider with the code
	// NeedsCookie is true if a cookie binds the flow to the browser that began it (newFlowCookie). The callback then refuses a browser
	// without the cookie.
	NeedsCookie bool `json:"cookie,omitempty"`
}

// purposeFlowSecrets is the purpose with which flowSecrets are sealed. A sealed value can be decrypted only with its own purpose.
const purposeFlowSecrets = "oauth flow"

// providerRedirect describes the redirect of the browser to the provider.
type providerRedirect struct {
	url    string       // the provider's sign-in page
	cookie *http.Cookie // the cookie to set in the browser; nil when the flow needs no cookie
}

// startProviderFlow stores a new flow and returns the redirect to the provider. linkingUserID is the account to which the identity will
// be added, or "" for a sign-in. The error wraps oauth.ErrUnavailable if the provider does not respond.
func (s *Service) startProviderFlow(w http.ResponseWriter, r *http.Request, linkingUserID string) (providerRedirect, error) {
	q := r.URL.Query()
	provider, err := s.providerByName(q.Get("provider"))
	if err != nil {
		return providerRedirect{}, err
	}
	if err := s.limitPerIP(w, r, limitAuthorizes, authorizesPerIP); err != nil {
		return providerRedirect{}, err
	}
	challenge := pkceChallenge{CodeChallenge: q.Get("code_challenge"), CodeChallengeMethod: q.Get("code_challenge_method")}
	method, err := challenge.validate()
	if err != nil {
		return providerRedirect{}, err
	}
	state := randomToken()
	secrets := flowSecrets{Nonce: randomToken(), Verifier: randomToken(), NeedsCookie: method == "" && linkingUserID == ""}
	authorizeURL, err := provider.AuthorizeURL(r.Context(), oauth.Request{
		State: state, Nonce: secrets.Nonce, Verifier: secrets.Verifier, Scopes: requestedScopes(q), Extra: q,
	})
	if err != nil {
		return providerRedirect{}, err
	}
	plain, _ := json.Marshal(secrets) // cannot fail: it has only texts and a boolean
	f := flowState{
		authMethod: "oauth", provider: provider.Name(), providerSecrets: s.sealer.seal(purposeFlowSecrets, plain), linkingUserID: linkingUserID, redirectTo: s.redirectTarget(requestedRedirect(r)),
	}
	err = s.db.WithShortTx(r.Context(), func(tx *db.Tx) error {
		_, err := s.startFlow(r.Context(), tx, f, challenge, state)
		return err
	})
	redirect := providerRedirect{url: authorizeURL}
	if secrets.NeedsCookie {
		redirect.cookie = s.newFlowCookie(state, provider.FormPost())
	}
	return redirect, err
}

// newFlowCookie returns a cookie that binds an implicit flow (one without PKCE) to the browser that began it, against cross-site
// request forgery (RFC 6749 §10.12). Other flows have no cookie: a PKCE flow is bound by its verifier, and the URL for linking an
// identity is fetched by a script, which stores no cookies.
func (s *Service) newFlowCookie(state string, formPost bool) *http.Cookie {
	secure := strings.HasPrefix(s.cfg.APIURL, "https://")
	c := &http.Cookie{
		Name: flowCookieName(state), Value: "1", Path: "/auth/v1/callback", MaxAge: int(oauthFlowLife / time.Second), HttpOnly: true, Secure: secure,
		SameSite: http.SameSiteLaxMode,
	}
	if formPost && secure {
		c.SameSite = http.SameSiteNoneMode // browsers send no Lax cookies with the POST from the provider's page
	}
	return c
}

func flowCookieName(state string) string { return "atelie-oauth-" + hashToken(state)[:16] }

// providerByName returns the configured provider with this name, or errProviderUnknown. It removes the prefix "custom:", which
// clients put before names that Supabase does not have.
func (s *Service) providerByName(name string) (*oauth.Provider, error) {
	provider := s.cfg.Providers[strings.TrimPrefix(strings.ToLower(name), "custom:")]
	if provider == nil {
		return nil, errProviderUnknown.Becausef("provider %q", name)
	}
	return provider, nil
}

// requestedScopes returns the scopes of the request, at most maxScopes. Clients separate them by spaces or by commas.
func requestedScopes(q url.Values) []string {
	list := strings.FieldsFunc(q.Get("scopes"), func(r rune) bool { return r == ' ' || r == ',' })
	return list[:min(len(list), maxScopes)]
}

// providerTokens are the tokens that a provider issued for the user. This service passes them on to the client. In a PKCE flow it
// stores them sealed until the client exchanges the flow's code.
type providerTokens struct {
	Token        string `json:"provider_token,omitempty"`
	RefreshToken string `json:"provider_refresh_token,omitempty"`
}

// purposeProviderTokens is the purpose with which the provider's tokens are sealed.
const purposeProviderTokens = "provider tokens"

// sealProviderTokens returns the sealed tokens, or "" when there are none.
func (s *Service) sealProviderTokens(t providerTokens) string {
	if t == (providerTokens{}) {
		return ""
	}
	plain, _ := json.Marshal(t) // cannot fail: it has only texts
	return s.sealer.seal(purposeProviderTokens, plain)
}
