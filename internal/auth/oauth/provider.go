// Package oauth speaks OAuth 2.0 and OpenID Connect with identity providers: it sends people to them, exchanges what
// they bring back, and reads who they are. It knows no accounts and no database.
package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// ErrUnavailable is for a provider that does not answer or answers nonsense: a later try may succeed. ErrRefused is for
// a code, token or consent that is not good: a later try with the same will fail again.
var (
	ErrUnavailable = errors.New("the identity provider does not answer as it should")
	ErrRefused     = errors.New("the identity provider refused, or its answer is not valid")
)

// Settings describe one provider.
type Settings struct {
	// Name is what clients ask for. google, apple, github, facebook and discord have an issuer and ways of their own.
	Name string
	// Issuer is the OpenID Connect issuer, exactly as it stands in its tokens. For github, facebook and discord it is the
	// address of the service, where that is not the public one (GitHub Enterprise).
	Issuer string
	// ClientIDs are our names at the provider: the first signs people in, all are accepted as audience of an ID token,
	// as native apps have names of their own.
	ClientIDs []string
	// ClientSecret is the secret, or Apple's private key (PEM), which TeamID and KeyID go with.
	ClientSecret  string
	TeamID, KeyID string
	Scopes        []string // asked for besides those that name and address need
}

// Provider is one provider, ready for use by many requests at once.
type Provider struct {
	settings Settings
	callback string
	client   *http.Client
	now      func() time.Time

	scopes   []string
	formPost bool            // the answer comes as a POST from the provider's page
	issuers  []string        // names under which the provider signs ID tokens; the first one is asked for its configuration
	document *document       // nil for a provider without OpenID Connect
	plain    oauth2.Endpoint // of a provider that does not sign people in with OpenID Connect
	pkce     bool            // of such a provider: it knows RFC 7636
	profile  func(ctx context.Context, token *oauth2.Token, a Answer) (Identity, error)
	secret   func() (string, error)
	// lenientNonce is for ID tokens whose nonce the provider's own library may have made up (Facebook).
	lenientNonce bool
	// confirmedEmail is for ID tokens that carry an address only when it is confirmed, without saying so (Facebook).
	confirmedEmail bool
}

var scopePattern = regexp.MustCompile(`^[\x21\x23-\x5B\x5D-\x7E]{1,200}$`) // RFC 6749 §3.3

// New makes a provider whose answers come back to callback. It does not call the provider: one that is down must not
// keep us from starting. It returns an error for settings that cannot work.
func New(s Settings, callback string, now func() time.Time) (*Provider, error) {
	if len(s.ClientIDs) == 0 || slices.Contains(s.ClientIDs, "") {
		return nil, fmt.Errorf("%s: the client id is missing", s.Name)
	}
	for _, scope := range s.Scopes {
		if !scopePattern.MatchString(scope) {
			return nil, fmt.Errorf("%s: %q is not a scope", s.Name, scope)
		}
	}
	p := &Provider{settings: s, callback: callback, client: newClient(), now: now}
	p.secret = func() (string, error) { return s.ClientSecret, nil }
	var err error
	switch s.Name {
	case "google":
		err = p.openID("https://accounts.google.com", "openid", "email", "profile")
		p.issuers = append(p.issuers, "accounts.google.com") // its older tokens
	case "apple":
		err = p.apple()
	case "github":
		err = p.github()
	case "facebook":
		err = p.facebook()
	case "discord":
		err = p.discord()
	default:
		err = p.openID("", "openid", "email", "profile")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return p, nil
}

// Name is what clients ask for.
func (p *Provider) Name() string { return p.settings.Name }

// Issues tells whether the provider signs ID tokens under this name.
func (p *Provider) Issues(issuer string) bool { return slices.Contains(p.issuers, issuer) }

// FormPost tells that the browser brings the provider's answer in a POST from the provider's own page.
func (p *Provider) FormPost() bool { return p.formPost }

// openID sets the provider up for sign-in by OpenID Connect.
func (p *Provider) openID(issuer string, scopes ...string) error {
	if p.settings.Issuer != "" {
		issuer = p.settings.Issuer
	}
	if err := checkAddress(issuer); err != nil {
		return fmt.Errorf("issuer: %w", err)
	}
	p.issuers, p.scopes = []string{issuer}, scopes
	p.document = &document{provider: p}
	p.profile = p.openIDProfile
	return nil
}

// address gives the service's own address, or the public one.
func (p *Provider) address(public string) (string, error) {
	if p.settings.Issuer == "" {
		return public, nil
	}
	return strings.TrimRight(p.settings.Issuer, "/"), checkAddress(p.settings.Issuer)
}

// checkAddress takes https, and http for a provider on this very machine: everything else travels in the open.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return fmt.Errorf("%q is not an address such as https://id.example.com", address)
	}
	host := u.Hostname()
	if u.Scheme == "https" || u.Scheme == "http" && (host == "localhost" || host == "127.0.0.1" || host == "::1") {
		return nil
	}
	return fmt.Errorf("%q must begin with https://", address)
}

// Request is one sign-in that is about to begin.
type Request struct {
	State    string // comes back unchanged
	Nonce    string // comes back inside the ID token, from providers that make one
	Verifier string // RFC 7636; the challenge goes along where the provider knows it
	Scopes   []string
	Extra    url.Values // what the client adds; anything that is not on the list is left out
}

// extras are the parameters that a client may add: how the provider shows itself, never what it answers to whom.
var extras = []string{
	"access_type", "acr_values", "allow_signup", "auth_type", "connection", "display", "domain_hint", "hd", "include_granted_scopes", "kc_idp_hint",
	"login", "login_hint", "max_age", "organization", "prompt", "screen_hint", "ui_locales",
}

const maxExtraBytes = 512

// AuthorizeURL gives the provider's address for the browser. It returns ErrUnavailable when the provider's
// configuration has to be asked for and cannot be had.
func (p *Provider) AuthorizeURL(ctx context.Context, r Request) (string, error) {
	endpoint, pkce, err := p.endpoint(ctx)
	if err != nil {
		return "", err
	}
	scopes := slices.Concat(p.scopes, p.settings.Scopes)
	for _, scope := range r.Scopes {
		if scopePattern.MatchString(scope) {
			scopes = append(scopes, scope)
		}
	}
	var options []oauth2.AuthCodeOption
	for _, name := range extras {
		if value := r.Extra.Get(name); value != "" && len(value) <= maxExtraBytes {
			options = append(options, oauth2.SetAuthURLParam(name, value))
		}
	}
	if p.document != nil && p.plain.AuthURL == "" {
		options = append(options, oauth2.SetAuthURLParam("nonce", r.Nonce))
	}
	if p.formPost {
		options = append(options, oauth2.SetAuthURLParam("response_mode", "form_post"))
	}
	if pkce {
		options = append(options, oauth2.S256ChallengeOption(r.Verifier))
	}
	cfg := oauth2.Config{ClientID: p.settings.ClientIDs[0], Endpoint: endpoint, RedirectURL: p.callback, Scopes: unique(scopes)}
	return cfg.AuthCodeURL(r.State, options...), nil
}

// unique keeps the first of equal values, in their order.
func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// endpoint gives where to send people and codes, and whether the provider knows RFC 7636.
func (p *Provider) endpoint(ctx context.Context) (oauth2.Endpoint, bool, error) {
	if p.plain.AuthURL != "" {
		return p.plain, p.pkce, nil
	}
	d, err := p.document.get(ctx)
	if err != nil {
		return oauth2.Endpoint{}, false, err
	}
	return d.endpoint(), d.pkce(), nil
}

// Answer is what the browser brings back from the provider.
type Answer struct {
	Code     string
	Issuer   string // RFC 9207; "" when the provider does not say
	User     string // what Apple tells of a person the first time, as JSON
	Nonce    string // as sent with the Request
	Verifier string // as sent with the Request
}

// Exchange gives the person behind a code. Errors are ErrRefused or ErrUnavailable, with a cause for the log.
func (p *Provider) Exchange(ctx context.Context, a Answer) (Identity, error) {
	if a.Issuer != "" && p.document != nil && !slices.Contains(p.issuers, a.Issuer) {
		return Identity{}, fmt.Errorf("%w: the answer comes from %q", ErrRefused, a.Issuer)
	}
	endpoint, pkce, err := p.endpoint(ctx)
	if err != nil {
		return Identity{}, err
	}
	secret, err := p.secret()
	if err != nil {
		return Identity{}, err
	}
	if secret == "" {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	var options []oauth2.AuthCodeOption
	if pkce {
		options = append(options, oauth2.VerifierOption(a.Verifier))
	}
	cfg := oauth2.Config{ClientID: p.settings.ClientIDs[0], ClientSecret: secret, Endpoint: endpoint, RedirectURL: p.callback}
	token, err := cfg.Exchange(context.WithValue(ctx, oauth2.HTTPClient, p.client), a.Code, options...)
	if err != nil {
		return Identity{}, exchangeError(err)
	}
	who, err := p.profile(ctx, token, a)
	if err != nil {
		return Identity{}, err
	}
	if who.Subject == "" {
		return Identity{}, fmt.Errorf("%w: no subject", ErrRefused)
	}
	who.AccessToken, who.RefreshToken = token.AccessToken, token.RefreshToken
	return who, nil
}

// exchangeError keeps the provider's own code and drops its body, which may repeat what we sent.
func exchangeError(err error) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return fmt.Errorf("%w: token: %w", ErrUnavailable, err)
	}
	status := 0
	if refused.Response != nil {
		status = refused.Response.StatusCode
	}
	if status >= http.StatusInternalServerError {
		return fmt.Errorf("%w: the token endpoint answers %d", ErrUnavailable, status)
	}
	return fmt.Errorf("%w: the token endpoint answers %d %q", ErrRefused, status, refused.ErrorCode)
}
