package pages

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// view is all that decides what a page holds besides the content of the site.
type view struct {
	path     string // without a slash at its end
	language string // en or pt
	status   int    // of HTTP
	art      string // id of the work whose address this is (READING §3.22), in lower case; "" elsewhere
}

// viewOf reads an address: 200 for the routes of spec §2, 404 for all others.
func viewOf(u *url.URL) view {
	v := view{path: u.Path, language: requestedLanguage(u), status: http.StatusNotFound}
	if v.path != "/" {
		v.path = strings.TrimSuffix(v.path, "/")
	}
	if known(v.path) {
		v.status = http.StatusOK
	}
	if _, ok := wallOf(v.path); ok {
		if id := u.Query().Get("art"); uuidText.MatchString(id) {
			v.art = strings.ToLower(id)
		}
	}
	return v
}

var uuidText = regexp.MustCompile(`^(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// wallOf gives which works a gallery address shows: a type, or all of them, as for unknown types (spec §2).
func wallOf(path string) (wall string, ok bool) {
	kind, ok := strings.CutPrefix(path, "/gallery")
	if !ok || !known(path) {
		return "", false
	}
	if kind = strings.TrimPrefix(kind, "/"); slices.Contains(hungTypes, kind) {
		return kind, true
	}
	return allWorks, true
}

// known tells the routes of spec §2. An unknown gallery type shows everything, so it is a page too.
func known(path string) bool {
	switch path {
	case "/", "/gallery", "/politica-privacidade", "/admin", "/admin/auth", "/admin/products", "/admin/reviews", "/admin/cover-images", "/admin/contact-messages",
		"/admin/settings", "/admin/account": // our additions
		return true
	}
	kind, ok := strings.CutPrefix(path, "/gallery/")
	return ok && kind != "" && !strings.Contains(kind, "/")
}

// requestedLanguage is en unless the address asks for pt (READING §3.5); nothing else decides, nothing is stored.
func requestedLanguage(u *url.URL) string {
	if u.Query().Get("lang") == "pt" {
		return "pt"
	}
	return "en"
}
