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

// HTTP answers what arrives without encryption: challenges of the authority, then health for those who ask from nearby,
// and sends everything else to HTTPS. site is the site's address, whose port (and host, for unknown ones) is used.
// Until there is a certificate visitors read that it is on its way: the site itself is never shown in the open.
func (m *Manager) HTTP(site string, health http.Handler) http.Handler {
	siteHost := strings.TrimPrefix(site, "https://")
	name, port, err := net.SplitHostPort(siteHost)
	if err != nil {
		name, port = siteHost, ""
	}
	redirect := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/health/") {
			health.ServeHTTP(w, r)
			return
		}
		host := hostName(r.Host)
		if !slices.Contains(m.domains, host) {
			host = name // never to a place that the request chose
		}
		if !m.has(host) {
			writeWaiting(w, r, host)
			return
		}
		target := "https://" + host
		if port != "" {
			target = "https://" + net.JoinHostPort(host, port)
		}
		w.Header().Set("Cache-Control", "max-age=300") // browsers would keep a 308 for good
		// Only path and query: of "GET http:.evil.example/" the rest would become part of the host.
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

func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// Strict tells browsers to use HTTPS only, for a year (RFC 6797). Subdomains are the owner's business.
func Strict(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		next.ServeHTTP(w, r)
	})
}

func writeWaiting(w http.ResponseWriter, r *http.Request, host string) {
	l := i18n.Choose(r.URL.Query().Get("lang"), r.Header.Get("Accept-Language"))
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Retry-After", "60")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	w.WriteHeader(http.StatusServiceUnavailable)
	title, body := html.EscapeString(l.Text("secure.waiting.title")), html.EscapeString(l.Text("secure.waiting.body", "site", host))
	_, _ = io.WriteString(w, `<!doctype html><html lang="`+string(l)+`"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>`+title+ // a visitor who has gone needs no answer
		`</title><body style="font:1.1rem/1.6 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1.5rem"><h1>`+title+`</h1><p>`+body+"</p></body></html>\n")
}
