package pages

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// view is the part of a page that its URL determines. The view and the content together determine the page, so the view
// is part of the key of the page cache.
type view struct {
	path     string // canonical path, see pageManifest.resolve
	language string // en or pt
	status   int    // HTTP status of the response
	art      string // id of the work that the URL names with ?art=, in lower case; "" for none
	noWork   bool   // the URL names a work that does not exist; status is 404, or 410 if the work was deleted
}

// viewOf returns the view of a URL. It ignores unknown parameters.
func (s *Service) viewOf(u *url.URL) view {
	path := u.Path
	if path != "/" {
		path = strings.TrimSuffix(path, "/")
	}
	v := view{language: requestedLanguage(u)}
	v.path, v.status = s.manifest.resolve(path)
	if _, gallery := galleryFilter(v.path); u.RawQuery != "" && (gallery || v.path == "/") {
		switch id := u.Query().Get("art"); {
		case uuidText.MatchString(id):
			v.art = strings.ToLower(id)
		case id != "" && gallery:
			v = v.withoutWork(http.StatusNotFound)
		}
	}
	return v
}

// withoutWork returns the view of the gallery with a notice that the work does not exist. All such URLs share one page.
func (v view) withoutWork(status int) view {
	v.art, v.noWork, v.status = "", true, status
	return v
}

var uuidText = regexp.MustCompile(`^(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// isAdminPath reports whether a path belongs to the admin area. The browser draws its pages, and search engines must not list
// them.
func isAdminPath(path string) bool { return path == "/admin" || strings.HasPrefix(path, "/admin/") }

// galleryFilter returns the filter in a canonical path of the gallery: a type of works, or allTypes. ok is false for other
// paths.
func galleryFilter(path string) (filter string, ok bool) { return strings.CutPrefix(path, galleryPath) }

// requestedLanguage returns pt if the URL has ?lang=pt, else en. Headers and cookies have no influence.
func requestedLanguage(u *url.URL) string {
	if u.RawQuery != "" && u.Query().Get("lang") == "pt" {
		return "pt"
	}
	return "en"
}
