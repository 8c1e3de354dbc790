package auth

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"atelie/internal/apperr"
	"atelie/internal/httpx"
)

// This file redirects browsers back to the site after a mailed link or a sign-in at a provider.

// redirectTarget returns target if it belongs to the site or matches Config.RedirectURLs. If it does neither, redirectTarget returns
// SiteURL. It never uses the Host header, because an attacker can choose that header.
func (s *Service) redirectTarget(target string) string {
	if target != "" && s.allowlist.allows(target) {
		return target
	}
	return s.cfg.SiteURL
}

// requestedRedirect returns the URL to which the client wants the browser redirected: the redirect_to query parameter, or the
// Redirect_to header of old clients. It does not check the URL; redirectTarget does.
func requestedRedirect(r *http.Request) string {
	if to := r.URL.Query().Get("redirect_to"); to != "" {
		return to
	}
	return r.Header.Get("Redirect_to")
}

// signInResult is the result of a sign-in after which the browser is redirected: a code or a session.
type signInResult struct {
	code    string        // the code that the client exchanges in a PKCE flow; "" in an implicit flow
	session issuedSession // the session of an implicit flow; the zero value in a PKCE flow
}

// redirectWithResult redirects the browser after a sign-in. In a PKCE flow (RFC 7636) the URL's query has a code, which the client then
// exchanges for the session. In an implicit flow (a sign-in without PKCE) the URL's fragment, which browsers do not send to servers, has the
// session, and the further parameters extra, such as the provider's tokens.
func (s *Service) redirectWithResult(w http.ResponseWriter, r *http.Request, to string, result signInResult, extra url.Values) error {
	if result.code != "" {
		return seeOther(w, r, withQuery(to, url.Values{"code": {result.code}}))
	}
	body, err := s.newSessionResponse(result.session)
	if err != nil {
		return err
	}
	params := url.Values{
		"access_token": {body.AccessToken}, "token_type": {body.TokenType}, "refresh_token": {body.RefreshToken},
		"expires_in": {strconv.FormatInt(body.ExpiresIn, 10)}, "expires_at": {strconv.FormatInt(body.ExpiresAt, 10)},
	}
	maps.Copy(params, extra)
	return seeOther(w, r, withFragment(to, params))
}

// redirectWithError is the response to a mailed link that failed. It redirects the browser with the error.
func (s *Service) redirectWithError(w http.ResponseWriter, r *http.Request, to string, e *apperr.Error, isPKCE bool) error {
	oauthCode := "access_denied"
	if e.Status >= http.StatusInternalServerError {
		oauthCode = "server_error"
	}
	oauthCode = cmp.Or(oauthErrorCodes[e.Status], oauthCode)
	return redirectWith(w, r, to, url.Values{"error": {oauthCode}, "error_code": {e.Code}, "error_description": {e.Message}}, isPKCE)
}

// redirectWith redirects the browser with an error (RFC 6749 §4.1.2.1) or a message in the URL's fragment, which clients of the implicit
// flow read. If inQuery is true, it adds the parameters to the query too, because clients of the PKCE flow read the query.
func redirectWith(w http.ResponseWriter, r *http.Request, to string, params url.Values, inQuery bool) error {
	if inQuery {
		to = withQuery(to, params)
	}
	return seeOther(w, r, withFragment(to, params))
}

// redirectWithFlowError logs an error of a provider flow and redirects the browser back with it.
func (s *Service) redirectWithFlowError(w http.ResponseWriter, r *http.Request, to string, e *apperr.Error) error {
	httpx.NoteError(r.Context(), e)
	return redirectWith(w, r, to, url.Values{"error": {oauthErrorCode(e)}, "error_code": {e.Code}, "error_description": {e.Message}}, true)
}

// oauthErrorCode returns the error code of RFC 6749 for an error of a provider flow.
func oauthErrorCode(e *apperr.Error) string {
	switch e.Code {
	case errSignupDisabled.Code, errUserBanned.Code, errProviderEmailUnverified.Code:
		return "access_denied"
	}
	return cmp.Or(oauthErrorCodes[e.Status], "server_error")
}

// oauthErrorCodes maps HTTP statuses to the error codes of RFC 6749 §4.1.2.1.
var oauthErrorCodes = map[int]string{
	http.StatusBadRequest: "invalid_request", http.StatusUnauthorized: "unauthorized_client", http.StatusForbidden: "access_denied",
	http.StatusServiceUnavailable: "temporarily_unavailable",
}

// seeOther redirects the browser. The URL can contain a session, so caches must not store the response, and the browser must
// not send the URL to the next page as the referrer.
func seeOther(w http.ResponseWriter, r *http.Request, to string) error {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// withFragment returns the URL with v as its fragment. It adds the empty parameter sb to v, by which Supabase's client recognizes
// that the fragment is from this service.
func withFragment(to string, v url.Values) string {
	to, _, _ = strings.Cut(to, "#")
	v.Set("sb", "")
	return to + "#" + v.Encode()
}

// withQuery returns the URL with the parameters v in its query. They replace parameters with equal names. It removes the fragment.
func withQuery(to string, v url.Values) string {
	to, _, _ = strings.Cut(to, "#")
	base, query, _ := strings.Cut(to, "?")
	kept := []string{}
	for part := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		if name, err := url.QueryUnescape(name); part != "" && err == nil && !v.Has(name) {
			kept = append(kept, part)
		}
	}
	return base + "?" + strings.Join(append(kept, v.Encode()), "&")
}
