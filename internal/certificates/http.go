package certificates

import (
	"html"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"atelie/internal/i18n"
)

// This file handles unencrypted requests, and makes browsers use HTTPS.

// HTTP returns the handler of unencrypted requests:
//
//   - ACME challenges (requests by which the certificate authority checks that a domain leads to this machine) are answered.
//   - Requests for paths below /health/ are passed to health.
//   - All other requests are redirected to HTTPS. The target is the requested host if that is one of the manager's domains. If not, the
//     target is the host of siteURL (https://host[:port]).
//
// While a domain has no certificate, visitors get a page that says so, because the site is never served without encryption.
func (m *Manager) HTTP(siteURL string, health http.Handler) http.Handler {
	siteHost := strings.TrimPrefix(siteURL, "https://")
	siteName, port, err := net.SplitHostPort(siteHost)
	if err != nil {
		siteName, port = siteHost, ""
	}
	redirect := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/health/") {
			health.ServeHTTP(w, r)
			return
		}
		host := hostName(r.Host)
		if !slices.Contains(m.domains, host) {
			host = siteName // otherwise the request could choose the target of the redirect
		}
		if !m.hasCertificate(host) {
			writePending(w, r, host)
			return
		}
		target := "https://" + host
		if port != "" {
			target = "https://" + net.JoinHostPort(host, port)
		}
		w.Header().Set("Cache-Control", "max-age=300") // without it browsers cache a 308 forever
		// Only path and query are taken from the request, because the rest of "GET http:.evil.example/" would extend the target's host.
		path := r.URL.EscapedPath()
		if !strings.HasPrefix(path, "/") {
			path = "/"
		}
		if r.URL.RawQuery != "" {
			path += "?" + r.URL.RawQuery
		}
		http.Redirect(w, r, target+path, http.StatusPermanentRedirect)
	})
	return m.issuer.HTTPChallengeHandler(redirect)
}

// hostName returns the name in a Host header, in lower case, without port and final dot.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// HSTS makes browsers use only HTTPS for this host, for a year (RFC 6797). It does not include subdomains, because other servers
// may serve them.
func HSTS(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		next.ServeHTTP(w, r)
	})
}

// writePending sends the status 503 and a page that explains that the site has no certificate yet.
func writePending(w http.ResponseWriter, r *http.Request, host string) {
	l := i18n.Choose(r.URL.Query().Get("lang"), r.Header.Get("Accept-Language"))
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Retry-After", "60")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	w.WriteHeader(http.StatusServiceUnavailable)
	title, body := html.EscapeString(l.Text("secure.waiting.title")), html.EscapeString(l.Text("secure.waiting.body", "site", host))
	// An error means that the visitor has gone.
	_, _ = io.WriteString(w, `<!doctype html><html lang="`+string(l)+`"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>`+title+
		`</title><body style="font:1.1rem/1.6 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1.5rem"><h1>`+title+`</h1><p>`+body+"</p></body></html>\n")
}
