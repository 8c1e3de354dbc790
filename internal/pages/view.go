package pages

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// view is what a URL selects: a page, its language, and the work, the series or the reviews that the page shows. URLs with the same view show
// the same page, so the view is part of the key of the page cache. Examples:
//
//	/gallery/digital?series=summer-2024&lang=pt  path /gallery/digital, language pt, status 200, seriesSlug summer-2024
//	/?reviews=2                                  path /, language en, status 200, reviewsPage 2
type view struct {
	path        string // canonical path of a page in the page manifest (the build's list of pages), or notFoundPath for other paths
	language    string // en or pt
	status      int    // HTTP status of the response
	workID      string // id of the work that the URL names with ?art=, in lower case; "" for none
	reviewsPage int    // number of the page of reviews that the URL names with ?reviews=, from 1; 0 for none
	seriesSlug  string // slug of the series that the URL names with ?series=; "" for none

	workMissing   bool // the URL names a work that does not exist; status is 404, or 410 if the work was deleted
	seriesMissing bool // the URL names a series that does not exist; status is 404, or 410 if the URL also names a deleted work
}

// parseView returns the view that a URL selects. It does not read the database: locateWork and locateSeries later check whether the work
// and the series exist. The parameters besides ?lang= are:
//   - in the gallery: ?art= and ?series=
//   - on the home page: ?art= or, if that is not the id of a work, ?reviews=
//
// Other parameters are ignored.
func (p *sitePages) parseView(u *url.URL) view {
	path := u.Path
	if path != "/" {
		path = strings.TrimSuffix(path, "/")
	}
	v := view{language: requestedLanguage(u)}
	v.path, v.status = p.resolve(path)
	isHome := v.path == "/"
	_, isGallery := galleryFilter(v.path)
	if u.RawQuery == "" || !isGallery && !isHome {
		return v
	}
	query := u.Query()
	if slug := query.Get("series"); isGallery && isSlug(slug) {
		v.seriesSlug = slug
	} else if isGallery && slug != "" {
		v = v.withSeriesMissing()
	}
	switch id := query.Get("art"); {
	case uuidPattern.MatchString(id):
		v.workID = strings.ToLower(id)
	case id != "" && isGallery:
		v = v.withWorkMissing(http.StatusNotFound)
	case isHome: // an invalid id is ignored
		if number := query.Get("reviews"); pageNumberPattern.MatchString(number) {
			v.reviewsPage, _ = strconv.Atoi(number) // cannot fail, because the pattern allows only one to four digits
		}
	}
	return v
}

// pageNumberPattern matches the numbers of pages, 1 to 9999.
var pageNumberPattern = regexp.MustCompile(`^[1-9][0-9]{0,3}$`)

// withWorkMissing returns the view for a URL that names a work that does not exist: the same path, with a notice and this status (404 or
// 410). The view does not contain the id, so that URLs with made-up ids share one page in the cache.
func (v view) withWorkMissing(status int) view {
	v.workID, v.workMissing, v.status = "", true, status
	return v
}

var uuidPattern = regexp.MustCompile(`^(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// isAdminPath reports whether a path belongs to the admin area. The browser renders its pages, and search engines must not list
// them.
func isAdminPath(path string) bool { return path == "/admin" || strings.HasPrefix(path, "/admin/") }

// galleryFilter returns the filter in a canonical path of the gallery: a type of works, or allTypes. ok is false if the path is not
// one of the gallery.
func galleryFilter(path string) (filter string, ok bool) { return strings.CutPrefix(path, galleryPath) }

// requestedLanguage returns "pt" if the URL has ?lang=pt, and otherwise "en". It does not read headers and cookies, so that all
// visitors of a URL get the same page.
func requestedLanguage(u *url.URL) string {
	if u.RawQuery != "" && u.Query().Get("lang") == "pt" {
		return "pt"
	}
	return "en"
}
