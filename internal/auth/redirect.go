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
	if asked != "" && redirectAllowed(s.cfg.SiteURL, s.cfg.RedirectURLs, asked) {
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

// redirectAllowed tells whether an address lies under the site's origin or matches one of the patterns.
func redirectAllowed(site string, patterns []string, asked string) bool {
	u, err := url.Parse(asked)
	if err != nil || u.Scheme == "" || u.Opaque != "" || u.User != nil || strings.ContainsAny(asked, "\\\r\n\t ") {
		return false
	}
	base, err := url.Parse(site)
	if err == nil && u.Scheme == base.Scheme && strings.EqualFold(u.Host, base.Host) {
		return true
	}
	for _, p := range patterns {
		if matchesGlob(p, asked) {
			return true
		}
	}
	return false
}

// matchesGlob matches a whole address; the part after # does not count. * stands for any run without . and /, ** for
// any run, ? for one character.
func matchesGlob(pattern, address string) bool {
	address, _, _ = strings.Cut(address, "#")
	return globMatch(pattern, address)
}

func globMatch(p, s string) bool {
	for p != "" {
		switch {
		case strings.HasPrefix(p, "**"):
			rest := strings.TrimLeft(p, "*")
			for i := 0; i <= len(s); i++ {
				if globMatch(rest, s[i:]) {
					return true
				}
			}
			return false
		case p[0] == '*':
			for i := 0; ; i++ {
				if globMatch(p[1:], s[i:]) {
					return true
				}
				if i == len(s) || s[i] == '.' || s[i] == '/' {
					return false
				}
			}
		case s == "", p[0] != '?' && p[0] != s[0]:
			return false
		}
		p, s = p[1:], s[1:]
	}
	return s == ""
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
	if e.Status >= http.StatusInternalServerError {
		kind = "server_error"
	}
	v := url.Values{"error": {kind}, "error_code": {e.Code}, "error_description": {e.Message}}
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

func withFragment(to string, v url.Values) string {
	to, _, _ = strings.Cut(to, "#")
	return to + "#" + v.Encode()
}

func withQuery(to string, v url.Values) string {
	to, _, _ = strings.Cut(to, "#")
	separator := "?"
	if strings.Contains(to, "?") {
		separator = "&"
	}
	return to + separator + v.Encode()
}
