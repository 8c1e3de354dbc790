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
	path     string // canonical, without a slash at its end
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
	v.path = canonical(v.path, v.status)
	if _, ok := wallOf(v.path); ok {
		if id := u.Query().Get("art"); id != "" && uuidText.MatchString(id) {
			v.art = strings.ToLower(id)
		}
	}
	return v
}

var uuidText = regexp.MustCompile(`^(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// notFound stands for all addresses that lead nowhere: they share one page, and none of the router's paths matches it.
const notFound = "/404"

// canonical gives the one path that stands for all that show the same, so that strangers cannot make pages without number:
// galleries of unknown types, and the one of none, show everything (spec §2).
func canonical(path string, status int) string {
	if ofOwner(path) {
		if status == http.StatusOK {
			return path
		}
		return "/admin" // browsers draw it, and find out
	}
	if status != http.StatusOK {
		return notFound
	}
	if kind, ok := strings.CutPrefix(path, "/gallery"); ok && !slices.Contains(hungTypes, strings.TrimPrefix(kind, "/")) {
		return "/gallery/" + allWorks
	}
	return path
}

// ofOwner tells the pages of the owner's area.
func ofOwner(path string) bool { return path == "/admin" || strings.HasPrefix(path, "/admin/") }

// wallOf gives which works a canonical gallery path shows: a type, or all of them.
func wallOf(path string) (wall string, ok bool) { return strings.CutPrefix(path, "/gallery/") }

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
	if u.RawQuery != "" && u.Query().Get("lang") == "pt" {
		return "pt"
	}
	return "en"
}
