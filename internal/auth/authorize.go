package auth

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/auth/oauth"
	"atelie/internal/db"
	"atelie/internal/httpx"
)

const (
	oauthFlowLife        = 5 * time.Minute // from /authorize to /callback
	authorizesPerAddress = 100             // in limitWindow
	maxScopes            = 20
)

// flowSecrets are what a sign-in at a provider has to keep to itself until the person comes back.
type flowSecrets struct {
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	// Cookie tells that the browser which began the flow has a cookie for it.
	Cookie bool `json:"cookie,omitempty"`
}

// flowSecretsPurpose binds the sealed secrets to their use.
const flowSecretsPurpose = "oauth flow"

// Authorize is GET /auth/v1/authorize: it sends the browser to an identity provider. Query: provider, redirect_to, scopes,
// code_challenge and code_challenge_method (PKCE), and what the provider is to be told (see package oauth).
// skip_http_redirect changes nothing here, as the client only puts it into an address that a browser then opens.
func (s *Service) Authorize(w http.ResponseWriter, r *http.Request) error {
	b, err := s.beginAtProvider(w, r, "")
	if errors.Is(err, oauth.ErrUnavailable) {
		// A person is waiting at this address: the page that sent them can say it better.
		return s.failCallback(w, r, s.redirectTarget(askedRedirect(r)), errProviderDown.Because(err))
	}
	if err != nil {
		return err
	}
	if b.cookie != nil {
		http.SetCookie(w, b.cookie)
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, b.url, http.StatusFound)
	return nil
}

// beginning is a flow that has begun.
type beginning struct {
	url    string       // where the person signs in
	cookie *http.Cookie // nil when the flow needs none
}

// beginAtProvider keeps a new flow and gives the provider's address for it. linkTo is the account that the identity is to
// be added to, or "". An error that wraps oauth.ErrUnavailable means that the provider is down.
func (s *Service) beginAtProvider(w http.ResponseWriter, r *http.Request, linkTo string) (beginning, error) {
	q := r.URL.Query()
	p, err := s.provider(q.Get("provider"))
	if err != nil {
		return beginning{}, err
	}
	if err := s.limit(w, r, "auth authorize address", httpx.LimitSubject(r.Context()), authorizesPerAddress); err != nil {
		return beginning{}, err
	}
	committed := challenge{CodeChallenge: q.Get("code_challenge"), CodeChallengeMethod: q.Get("code_challenge_method")}
	method, err := committed.validate()
	if err != nil {
		return beginning{}, err
	}
	state := randomToken()
	secrets := flowSecrets{Nonce: randomToken(), Verifier: randomToken(), Cookie: method == "" && linkTo == ""}
	address, err := p.AuthorizeURL(r.Context(), oauth.Request{State: state, Nonce: secrets.Nonce, Verifier: secrets.Verifier, Scopes: askedScopes(q), Extra: q})
	if err != nil {
		return beginning{}, err
	}
	plain, err := json.Marshal(secrets)
	if err != nil {
		return beginning{}, err
	}
	f := flowState{
		authMethod: "oauth", provider: p.Name(), providerSecrets: s.sealer.seal(flowSecretsPurpose, plain), linkingUserID: linkTo, redirectTo: s.redirectTarget(askedRedirect(r)),
	}
	err = s.db.WithTx(r.Context(), func(tx *db.Tx) error {
		_, err := s.startFlow(r.Context(), tx, f, committed, state)
		return err
	})
	b := beginning{url: address}
	if secrets.Cookie {
		b.cookie = s.flowCookie(state, p.FormPost())
	}
	return b, err
}

// flowCookie ties an implicit flow to the browser that began it. Without, anybody could begin a sign-in, and have somebody
// else's browser end it in the wrong account (RFC 6749 §10.12). A PKCE flow is tied by its verifier, and an address for
// adding an identity is fetched by a script, which keeps no cookies.
func (s *Service) flowCookie(state string, formPost bool) *http.Cookie {
	secure := strings.HasPrefix(s.cfg.APIURL, "https://")
	c := &http.Cookie{
		Name: flowCookieName(state), Value: "1", Path: "/auth/v1/callback", MaxAge: int(oauthFlowLife / time.Second), HttpOnly: true, Secure: secure,
		SameSite: http.SameSiteLaxMode,
	}
	if formPost && secure {
		c.SameSite = http.SameSiteNoneMode // comes back with a POST from the provider's page
	}
	return c
}

func flowCookieName(state string) string { return "atelie-oauth-" + hashToken(state)[:16] }

// provider finds a provider by its name; clients that type names write custom: before one that they do not know.
func (s *Service) provider(name string) (*oauth.Provider, error) {
	p := s.cfg.Providers[strings.TrimPrefix(strings.ToLower(name), "custom:")]
	if p == nil {
		return nil, errProviderUnknown.Becausef("provider %q", name)
	}
	return p, nil
}

// askedScopes splits at spaces and commas, as clients write both.
func askedScopes(q url.Values) []string {
	list := strings.FieldsFunc(q.Get("scopes"), func(r rune) bool { return r == ' ' || r == ',' })
	return list[:min(len(list), maxScopes)]
}

// failCallback sends the browser back with the error.
func (s *Service) failCallback(w http.ResponseWriter, r *http.Request, to string, e *apperr.Error) error {
	httpx.NoteError(r.Context(), e)
	return s.sendBack(w, r, to, url.Values{"error": {errorKind(e)}, "error_code": {e.Code}, "error_description": {e.Message}})
}

// sendBack puts an error (RFC 6749 §4.1.2.1) in the query and behind #, where the client looks for the implicit flow.
func (s *Service) sendBack(w http.ResponseWriter, r *http.Request, to string, v url.Values) error {
	to = withQuery(to, v)
	v.Set("sb", "") // marks the answer as ours for the client
	return seeOther(w, r, withFragment(to, v))
}

// errorKind gives the error of RFC 6749 that a refusal belongs to.
func errorKind(e *apperr.Error) string {
	switch e.Code {
	case errSignupDisabled.Code, errUserBanned.Code, errProviderEmailUnproven.Code:
		return "access_denied"
	}
	switch e.Status {
	case http.StatusBadRequest:
		return "invalid_request"
	case http.StatusUnauthorized:
		return "unauthorized_client"
	case http.StatusForbidden:
		return "access_denied"
	case http.StatusServiceUnavailable:
		return "temporarily_unavailable"
	}
	return "server_error"
}
