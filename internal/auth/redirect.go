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

// redirectWithSession ends an implicit flow (a sign-in without PKCE). It redirects the browser with the session in the URL's fragment,
// which browsers do not send to servers. extra contains further parameters, such as the provider's tokens.
func (s *Service) redirectWithSession(w http.ResponseWriter, r *http.Request, to string, issued issuedSession, extra url.Values) error {
	body, err := s.newSessionResponse(issued)
	if err != nil {
		return err
	}
	params := url.Values{}
	maps.Copy(params, extra)
	params.Set("access_token", body.AccessToken)
	params.Set("token_type", body.TokenType)
	params.Set("expires_in", strconv.FormatInt(body.ExpiresIn, 10))
	params.Set("expires_at", strconv.FormatInt(body.ExpiresAt, 10))
	params.Set("refresh_token", body.RefreshToken)
	return seeOther(w, r, withFragment(to, params))
}

// redirectWithCode ends a PKCE flow (RFC 7636). It redirects the browser with a code in the URL's query. The client then exchanges the code
// for the session.
func (s *Service) redirectWithCode(w http.ResponseWriter, r *http.Request, to, code string) error {
	return seeOther(w, r, withQuery(to, url.Values{"code": {code}}))
}

// redirectWithError is the response to a mailed link that failed: it redirects the browser with the error in the URL's fragment. If isPKCE
// is true, it adds the error to the query too, because clients of the PKCE flow read the query.
func (s *Service) redirectWithError(w http.ResponseWriter, r *http.Request, to string, e *apperr.Error, isPKCE bool) error {
	oauthCode := oauthErrorCodes[e.Status]
	switch {
	case oauthCode != "":
	case e.Status >= http.StatusInternalServerError:
		oauthCode = "server_error"
	default:
		oauthCode = "access_denied"
	}
	params := url.Values{"error": {oauthCode}, "error_code": {e.Code}, "error_description": {e.Message}}
	if isPKCE {
		to = withQuery(to, params)
	}
	return seeOther(w, r, withFragment(to, params))
}

// redirectWithMessage redirects the browser like redirectWithError, but with a message instead of an error.
func (s *Service) redirectWithMessage(w http.ResponseWriter, r *http.Request, to, message string, isPKCE bool) error {
	params := url.Values{"message": {message}}
	if isPKCE {
		to = withQuery(to, params)
	}
	return seeOther(w, r, withFragment(to, params))
}

// redirectWithFlowError logs an error of a provider flow and redirects the browser back with it.
func (s *Service) redirectWithFlowError(w http.ResponseWriter, r *http.Request, to string, e *apperr.Error) error {
	httpx.NoteError(r.Context(), e)
	return s.redirectWithErrorInBothParts(w, r, to, url.Values{"error": {oauthErrorCode(e)}, "error_code": {e.Code}, "error_description": {e.Message}})
}

// redirectWithErrorInBothParts redirects the browser with an error (RFC 6749 §4.1.2.1) in the query, which clients of the PKCE flow
// read, and in the fragment, which clients of the implicit flow read.
func (s *Service) redirectWithErrorInBothParts(w http.ResponseWriter, r *http.Request, to string, v url.Values) error {
	return seeOther(w, r, withFragment(withQuery(to, v), v))
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
