package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"atelie/internal/apperr"
	"atelie/internal/auth/oauth"
	"atelie/internal/db"
	"atelie/internal/httpx"
)

// This file handles the return of the browser from an OAuth provider. It completes the flow that authorize.go has started: a sign-in, or
// the addition of an identity (the user's account at the provider) to an account of this site.

const callbacksPerIP = 200 // maximum number of requests from one IP address in five minutes (limitWindow)

// Callback handles GET and POST /auth/v1/callback. An OAuth provider sends the browser there after a sign-in. Callback redirects the
// browser to the flow's redirect_to, and adds a session, a code (PKCE) or an error to that URL. If no flow matches the request, it
// redirects to SiteURL with the error.
func (s *Service) Callback(w http.ResponseWriter, r *http.Request) error {
	if err := s.limitPerIP(w, r, limitCallbacks, callbacksPerIP); err != nil {
		return err
	}
	params, err := readCallbackParams(w, r)
	if err != nil {
		return s.redirectWithFlowError(w, r, s.cfg.SiteURL, apperr.From(err))
	}
	f, err := s.consumeOAuthFlow(r.Context(), params.Get("state"))
	if err != nil {
		return s.redirectWithFlowError(w, r, s.cfg.SiteURL, apperr.From(err))
	}
	result, err := s.completeProviderSignIn(w, r, f, params)
	if providerErr, ok := errors.AsType[*providerError](err); ok { // the provider reports an error: for example, the user has denied consent
		httpx.NoteError(r.Context(), errProviderRefused.Because(err)) // for the log; the redirect is the response
		return redirectWith(w, r, f.redirectTo, url.Values{"error": {providerErr.code}, "error_description": {providerErr.description}}, true)
	}
	if err != nil {
		return s.redirectWithFlowError(w, r, f.redirectTo, callbackError(err))
	}
	providerTokens := url.Values{"provider_token": {result.tokens.Token}}
	if result.tokens.RefreshToken != "" {
		providerTokens.Set("provider_refresh_token", result.tokens.RefreshToken)
	}
	return s.redirectWithResult(w, r, f.redirectTo, result.signInResult, providerTokens)
}

// readCallbackParams returns the parameters that the provider sends: in the URL's query, or in the form of a POST.
func readCallbackParams(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if r.Method != http.MethodPost {
		return r.URL.Query(), nil
	}
	body, err := httpx.ReadBody(w, r, maxBody)
	if err != nil {
		return nil, errOAuthCallback.Because(err)
	}
	v, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, errOAuthCallback.Because(err)
	}
	return v, nil
}

// consumeOAuthFlow returns the flow that belongs to state, the secret that the provider sends back. It consumes the state, even
// when the flow has expired. Errors: errOAuthStateMissing, errOAuthState, errOAuthStateExpired.
func (s *Service) consumeOAuthFlow(ctx context.Context, state string) (flowState, error) {
	if state == "" {
		return flowState{}, errOAuthStateMissing
	}
	f, err := inTx(ctx, s.db.WithShortTx, func(tx *db.Tx) (flowState, error) { return consumeFlowState(ctx, tx, hashToken(state)) })
	switch {
	case errors.Is(err, db.ErrNoRows):
		return flowState{}, errOAuthState
	case err != nil:
		return flowState{}, err
	case f.authMethod != "oauth":
		return flowState{}, errOAuthState.Becausef("the state of a flow by %s", f.authMethod)
	case !s.now().Before(f.createdAt.Add(oauthFlowLife)):
		return flowState{}, errOAuthStateExpired
	}
	return f, nil
}

// flowResult is the result of a successful flow.
type flowResult struct {
	signInResult
	tokens providerTokens // the provider's tokens
}

// completeProviderSignIn checks the callback's parameters, exchanges the provider's code and signs the user in. It returns a
// *providerError when the provider has sent an error.
func (s *Service) completeProviderSignIn(w http.ResponseWriter, r *http.Request, f flowState, params url.Values) (flowResult, error) {
	var secrets flowSecrets
	plain, err := s.sealer.unseal(purposeFlowSecrets, f.providerSecrets)
	if err != nil {
		return flowResult{}, err
	}
	if err := json.Unmarshal(plain, &secrets); err != nil {
		return flowResult{}, err
	}
	if secrets.NeedsCookie {
		name := flowCookieName(params.Get("state"))
		if _, err := r.Cookie(name); err != nil {
			return flowResult{}, errOAuthState.Becausef("another browser began this flow")
		}
		http.SetCookie(w, &http.Cookie{Name: name, Path: "/auth/v1/callback", MaxAge: -1})
	}
	if code := params.Get("error"); code != "" {
		return flowResult{}, newProviderError(code, params.Get("error_description"))
	}
	if params.Get("code") == "" {
		return flowResult{}, errOAuthCodeMissing
	}
	provider, err := s.providerByName(f.provider)
	if err != nil {
		return flowResult{}, errProviderNotSupported.Because(err)
	}
	reported, err := provider.Exchange(r.Context(), oauth.Callback{
		Code: params.Get("code"), Issuer: params.Get("iss"), User: params.Get("user"), Nonce: secrets.Nonce, Verifier: secrets.Verifier,
	})
	if err != nil {
		return flowResult{}, err
	}
	return s.finishFlow(r.Context(), clientOf(r), f, newProviderUser(provider.Name(), reported))
}

// finishFlow signs the provider's user in. For a PKCE flow it issues a code, which the client exchanges for a session. For an
// implicit flow it opens the session and deletes the flow.
func (s *Service) finishFlow(ctx context.Context, c clientInfo, f flowState, user providerUser) (flowResult, error) {
	result := flowResult{tokens: providerTokens{Token: user.AccessToken, RefreshToken: user.RefreshToken}}
	err := s.signInProviderUser(ctx, c, f.linkingUserID, f.redirectTo, user, func(tx *db.Tx, userID string) (err error) {
		if f.codeChallenge != "" {
			result.code, err = s.issueAuthCode(ctx, tx, f.id, userID, s.sealProviderTokens(result.tokens))
			return err
		}
		if err := deleteFlow(ctx, tx, f.id, nil); err != nil {
			return err
		}
		result.session, err = s.startSession(ctx, tx, c, userID, signIn{method: "oauth", provider: user.provider})
		return err
	})
	return result, err
}

// providerError is an error that the provider sends to the callback instead of a code, for example when the user has denied
// consent. code is an OAuth error code such as access_denied.
type providerError struct{ code, description string }

func (e *providerError) Error() string {
	return "the provider responded with " + e.code + ": " + e.description
}

var errorCodePattern = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,60}$`)

const maxErrorText = 300 // code points

// newProviderError cleans and shortens the texts, because anybody can put text into the callback's URL, and the site shows it.
func newProviderError(code, description string) *providerError {
	if !errorCodePattern.MatchString(code) {
		code = "server_error"
	}
	isUnwanted := func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }
	// Supabase's client recognizes an error by its description.
	return &providerError{code, cmp.Or(cleanText(description, isUnwanted, maxErrorText), code)}
}

// callbackError returns the error that the site shows for err. Only the log contains err itself.
func callbackError(err error) *apperr.Error {
	switch {
	case errors.Is(err, oauth.ErrUnavailable):
		return errProviderDown.Because(err)
	case errors.Is(err, oauth.ErrRefused):
		return errProviderCode.Because(err)
	}
	return apperr.From(err)
}

// cleanText returns s without invalid UTF-8 and the characters that unwanted reports, cut after maxLength code points.
func cleanText(s string, unwanted func(rune) bool, maxLength int) string {
	runes := slices.DeleteFunc([]rune(strings.ToValidUTF8(s, "")), unwanted)
	return string(runes[:min(len(runes), maxLength)])
}
