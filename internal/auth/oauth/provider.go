// Package oauth is a client of OAuth 2.0 and OpenID Connect providers such as Google. It makes the URLs of their sign-in pages, exchanges
// the codes that they return for tokens, and reads who has signed in. It does not depend on the site's accounts or a database.
package oauth

import (
	"cmp"
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

// ErrUnavailable means that the provider does not respond, or that its response cannot be read. A later attempt may succeed.
// ErrRefused means that a code or token is not valid. Another attempt with the same code or token will fail too.
var (
	ErrUnavailable = errors.New("the identity provider does not respond, or its response cannot be read")
	ErrRefused     = errors.New("the identity provider refused, or its response is not valid")
)

// Settings are the settings of one provider.
type Settings struct {
	// Name is the provider's name in the provider parameter of requests. google, apple, github, facebook and discord have built-in
	// settings; any other name is an OpenID Connect provider.
	Name string
	// Issuer is the OpenID Connect issuer, exactly as in its tokens. For github, facebook and discord it is the URL of the
	// service, such as a GitHub Enterprise server. "" means the public service.
	Issuer string
	// ClientIDs are the ids of this site at the provider. Sign-ins use the first one. VerifyIDToken accepts tokens for any of
	// them, because mobile apps have their own ids.
	ClientIDs []string
	// ClientSecret is the secret of the first client id. Apple has no fixed secret. If TeamID and KeyID are set, ClientSecret is the private
	// key (PEM) with the id KeyID. The program signs a new secret with this key for each exchange of a code.
	ClientSecret  string
	TeamID, KeyID string
	Scopes        []string // requested in addition to the scopes for name and e-mail address
}

// Provider is one configured provider. It is safe for concurrent use.
type Provider struct {
	settings    Settings
	callbackURL string // the URL to which the provider sends the browser after a sign-in
	client      *http.Client
	now         func() time.Time

	scopes        []string            // requested at every sign-in
	formPost      bool                // the provider's page posts a form to the callback; false: it redirects there
	issuers       []string            // accepted issuers of ID tokens; the provider's configuration is read from the first one
	configuration *configurationCache // nil for a provider without ID tokens
	oauthEndpoint oauth2.Endpoint     // URLs for sign-ins by OAuth 2.0 without OpenID Connect; empty if sign-ins use OpenID Connect
	apiURL        string              // URL of the API that describes the user; "" for a provider whose ID tokens do
	pkce          bool                // oauthEndpoint supports PKCE (RFC 7636)
	// fetchIdentity returns who has signed in, after the code of the callback was exchanged for token.
	fetchIdentity func(ctx context.Context, token *oauth2.Token, callback Callback) (Identity, error)
	// clientSecret returns the client secret for the exchange of a code.
	clientSecret func() (string, error)
	// acceptsFacebookNonce means that the nonce in an ID token may be unhashed. The client need not send the nonce, because Facebook's library
	// may have chosen it.
	acceptsFacebookNonce bool
	// verifiesAllEmails means that e-mail addresses in ID tokens are verified although the tokens do not contain email_verified
	// (Facebook).
	verifiesAllEmails bool
}

var scopePattern = regexp.MustCompile(`^[\x21\x23-\x5B\x5D-\x7E]{1,200}$`) // RFC 6749 §3.3

// New returns a provider that sends browsers back to callbackURL. New sends no request to the provider, so that the server starts
// even when the provider is down. It returns an error for invalid settings.
func New(s Settings, callbackURL string, now func() time.Time) (*Provider, error) {
	if len(s.ClientIDs) == 0 || slices.Contains(s.ClientIDs, "") {
		return nil, fmt.Errorf("%s: the client id is missing", s.Name)
	}
	for _, scope := range s.Scopes {
		if !scopePattern.MatchString(scope) {
			return nil, fmt.Errorf("%s: %q is not a scope", s.Name, scope)
		}
	}
	p := &Provider{settings: s, callbackURL: callbackURL, client: newClient(), now: now}
	p.clientSecret = func() (string, error) { return s.ClientSecret, nil }
	var err error
	switch s.Name {
	case "google":
		err = p.setUpOpenID("https://accounts.google.com", "openid", "email", "profile")
		p.issuers = append(p.issuers, "accounts.google.com") // the issuer in Google's older tokens
	case "apple":
		err = p.setUpApple()
	case "github":
		err = p.setUpGitHub()
	case "facebook":
		err = p.setUpFacebook()
	case "discord":
		err = p.setUpDiscord()
	default:
		err = p.setUpOpenID("", "openid", "email", "profile")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return p, nil
}

// Name returns the provider's name in requests.
func (p *Provider) Name() string { return p.settings.Name }

// Issues reports whether the provider issues ID tokens with this issuer.
func (p *Provider) Issues(issuer string) bool { return slices.Contains(p.issuers, issuer) }

// FormPost reports whether the provider's page posts a form to the callback. Other providers redirect the browser there.
func (p *Provider) FormPost() bool { return p.formPost }

// setUpOpenID sets the provider up for OpenID Connect. issuer is used when Settings.Issuer is "".
func (p *Provider) setUpOpenID(issuer string, scopes ...string) error {
	issuer = cmp.Or(p.settings.Issuer, issuer)
	if err := checkURL(issuer); err != nil {
		return fmt.Errorf("issuer: %w", err)
	}
	p.issuers, p.scopes = []string{issuer}, scopes
	p.configuration = &configurationCache{provider: p}
	p.fetchIdentity = p.fetchOpenIDIdentity
	return nil
}

// serviceURL returns the URL of the provider's service: Settings.Issuer, or publicURL when that is "".
func (p *Provider) serviceURL(publicURL string) (string, error) {
	if p.settings.Issuer == "" {
		return publicURL, nil
	}
	return strings.TrimRight(p.settings.Issuer, "/"), checkURL(p.settings.Issuer)
}

// checkURL returns an error unless the URL is https, or http on this machine: anything else is not encrypted.
func checkURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return fmt.Errorf("%q is not a URL such as https://id.example.com", raw)
	}
	host := u.Hostname()
	if u.Scheme == "https" || u.Scheme == "http" && (host == "localhost" || host == "127.0.0.1" || host == "::1") {
		return nil
	}
	return fmt.Errorf("%q must begin with https://", raw)
}

// Request describes a sign-in to begin.
type Request struct {
	State    string     // the provider sends it back unchanged
	Nonce    string     // the provider writes it into the ID token, if it issues one
	Verifier string     // PKCE verifier (RFC 7636); its challenge is sent when the provider supports PKCE
	Scopes   []string   // requested by the client, in addition to the provider's own
	Extra    url.Values // parameters of the client; only those in allowedExtras are sent
}

// allowedExtras are the parameters that a client may add. They change the provider's sign-in page, but never the result of the
// sign-in.
var allowedExtras = []string{
	"access_type", "acr_values", "allow_signup", "auth_type", "connection", "display", "domain_hint", "hd", "include_granted_scopes", "kc_idp_hint",
	"login", "login_hint", "max_age", "organization", "prompt", "screen_hint", "ui_locales",
}

const maxExtraBytes = 512 // maximum length of one parameter; a longer one is not sent

// AuthorizeURL returns the provider's URL to which the browser is sent for a sign-in. The error wraps ErrUnavailable when the
// provider's configuration cannot be read.
func (p *Provider) AuthorizeURL(ctx context.Context, r Request) (string, error) {
	endpoint, pkce, err := p.endpoint(ctx)
	if err != nil {
		return "", err
	}
	var scopes []string
	for _, scope := range slices.Concat(p.scopes, p.settings.Scopes, r.Scopes) {
		if scopePattern.MatchString(scope) && !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	var options []oauth2.AuthCodeOption
	for _, name := range allowedExtras {
		if value := r.Extra.Get(name); value != "" && len(value) <= maxExtraBytes {
			options = append(options, oauth2.SetAuthURLParam(name, value))
		}
	}
	if p.configuration != nil && p.oauthEndpoint.AuthURL == "" {
		options = append(options, oauth2.SetAuthURLParam("nonce", r.Nonce))
	}
	if p.formPost {
		options = append(options, oauth2.SetAuthURLParam("response_mode", "form_post"))
	}
	if pkce {
		options = append(options, oauth2.S256ChallengeOption(r.Verifier))
	}
	cfg := oauth2.Config{ClientID: p.settings.ClientIDs[0], Endpoint: endpoint, RedirectURL: p.callbackURL, Scopes: scopes}
	return cfg.AuthCodeURL(r.State, options...), nil
}

// endpoint returns the provider's URLs for sign-in and for the exchange of codes, and whether it supports PKCE (RFC 7636).
func (p *Provider) endpoint(ctx context.Context) (oauth2.Endpoint, bool, error) {
	if p.oauthEndpoint.AuthURL != "" {
		return p.oauthEndpoint, p.pkce, nil
	}
	configuration, err := p.configuration.get(ctx)
	if err != nil {
		return oauth2.Endpoint{}, false, err
	}
	return configuration.endpoint(), configuration.pkce(), nil
}

// Callback holds the parameters that the provider sends to the callback URL through the browser, and the secrets of the
// sign-in's Request.
type Callback struct {
	Code     string
	Issuer   string // the provider's issuer (RFC 9207); "" when the provider does not send it
	User     string // Apple's description of a user at the user's first sign-in, as JSON
	Nonce    string // Nonce of the Request
	Verifier string // Verifier of the Request
}

// Exchange exchanges the callback's code for tokens and returns who has signed in. Errors of the provider wrap ErrRefused or
// ErrUnavailable, and a cause for the log.
func (p *Provider) Exchange(ctx context.Context, callback Callback) (Identity, error) {
	if callback.Issuer != "" && p.configuration != nil && !slices.Contains(p.issuers, callback.Issuer) {
		return Identity{}, fmt.Errorf("%w: the response is from the issuer %q", ErrRefused, callback.Issuer)
	}
	endpoint, pkce, err := p.endpoint(ctx)
	if err != nil {
		return Identity{}, err
	}
	secret, err := p.clientSecret()
	if err != nil {
		return Identity{}, err
	}
	if secret == "" {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	var options []oauth2.AuthCodeOption
	if pkce {
		options = append(options, oauth2.VerifierOption(callback.Verifier))
	}
	cfg := oauth2.Config{ClientID: p.settings.ClientIDs[0], ClientSecret: secret, Endpoint: endpoint, RedirectURL: p.callbackURL}
	token, err := cfg.Exchange(context.WithValue(ctx, oauth2.HTTPClient, p.client), callback.Code, options...)
	if err != nil {
		return Identity{}, exchangeError(err)
	}
	identity, err := p.fetchIdentity(ctx, token, callback)
	if err != nil {
		return Identity{}, err
	}
	if identity.Subject == "" {
		return Identity{}, fmt.Errorf("%w: no subject", ErrRefused)
	}
	identity.AccessToken, identity.RefreshToken = token.AccessToken, token.RefreshToken
	return identity, nil
}

// exchangeError converts the error of a failed exchange to one that wraps ErrRefused or ErrUnavailable. It keeps the provider's
// error code, but leaves out the response body, which may repeat the secrets of the request.
func exchangeError(err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return fmt.Errorf("%w: token: %w", ErrUnavailable, err)
	}
	status := 0
	if refused.Response != nil {
		status = refused.Response.StatusCode
	}
	if status >= http.StatusInternalServerError {
		return fmt.Errorf("%w: the token endpoint responded with status %d", ErrUnavailable, status)
	}
	return fmt.Errorf("%w: the token endpoint responded with status %d %q", ErrRefused, status, refused.ErrorCode)
}
