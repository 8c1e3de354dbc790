package auth

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"atelie/internal/apperr"
)

// redirectTarget gives the address to send a browser to after a link or a provider: the asked one when it belongs to
// the site or is allowed by RedirectURLs, else the site's own. Nothing is ever taken from the Host header.
func (s *Service) redirectTarget(asked string) string {
	if asked != "" && s.redirects.allows(asked) {
		return asked
	}
	return s.cfg.SiteURL
}

// askedRedirect reads where the client wants to go to: the query parameter, or the header that old clients send.
func askedRedirect(r *http.Request) string {
	if to := r.URL.Query().Get("redirect_to"); to != "" {
		return to
	}
	return r.Header.Get("Redirect_to")
}

// redirectWithSession ends the implicit flow: the session stands behind #, which no server ever sees. extra may add
// type and the provider's tokens.
func (s *Service) redirectWithSession(w http.ResponseWriter, r *http.Request, to string, g grant, extra url.Values) error {
	body, err := s.sessionBody(g)
	if err != nil {
		return err
	}
	v := url.Values{}
	for name, values := range extra {
		v[name] = values
	}
	v.Set("access_token", body.AccessToken)
	v.Set("token_type", body.TokenType)
	v.Set("expires_in", strconv.FormatInt(body.ExpiresIn, 10))
	v.Set("expires_at", strconv.FormatInt(body.ExpiresAt, 10))
	v.Set("refresh_token", body.RefreshToken)
	return seeOther(w, r, withFragment(to, v))
}

// redirectWithCode ends a PKCE flow.
func (s *Service) redirectWithCode(w http.ResponseWriter, r *http.Request, to, code string) error {
	return seeOther(w, r, withQuery(to, url.Values{"code": {code}}))
}

// redirectWithError tells the page what went wrong, behind # and, for clients of the PKCE flow, in the query too.
func (s *Service) redirectWithError(w http.ResponseWriter, r *http.Request, to string, e *apperr.Error, pkce bool) error {
	kind := "access_denied"
	switch {
	case e.Status == http.StatusBadRequest:
		kind = "invalid_request"
	case e.Status == http.StatusUnauthorized:
		kind = "unauthorized_client"
	case e.Status == http.StatusServiceUnavailable:
		kind = "temporarily_unavailable"
	case e.Status >= http.StatusInternalServerError:
		kind = "server_error"
	}
	v := url.Values{"error": {kind}, "error_code": {e.Code}, "error_description": {e.Message}}
	if pkce {
		to = withQuery(to, v)
	}
	return seeOther(w, r, withFragment(to, v))
}

// redirectWithMessage tells the page something that is no error and no session either.
func (s *Service) redirectWithMessage(w http.ResponseWriter, r *http.Request, to, message string, pkce bool) error {
	v := url.Values{"message": {message}}
	if pkce {
		to = withQuery(to, v)
	}
	return seeOther(w, r, withFragment(to, v))
}

// seeOther sends the browser on. The answer may carry a session: no cache keeps it and no referrer tells it.
func seeOther(w http.ResponseWriter, r *http.Request, to string) error {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// withFragment puts v behind #. The empty sb tells the client that the fragment is this service's.
func withFragment(to string, v url.Values) string {
	to, _, _ = strings.Cut(to, "#")
	v.Set("sb", "")
	return to + "#" + v.Encode()
}

// withQuery sets parameters of an address, in place of its own ones of these names.
func withQuery(to string, v url.Values) string {
	to, _, _ = strings.Cut(to, "#")
	base, query, _ := strings.Cut(to, "?")
	kept := []string{}
	for _, part := range strings.Split(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		if name, err := url.QueryUnescape(name); part != "" && err == nil && !v.Has(name) {
			kept = append(kept, part)
		}
	}
	return base + "?" + strings.Join(append(kept, v.Encode()), "&")
}
