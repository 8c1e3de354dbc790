package pages

import (
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"slices"
	"strings"
)

// pageManifest lists the files and pages of the built site. The build writes it (web/vite.server.config.ts, from
// web/src/app/page-table.ts), so that the server needs no list of its own. Paths of files begin with a slash.
type pageManifest struct {
	// Scripts are the JavaScript modules of the site: the entry module first, then the modules that it imports. A page that the browser
	// renders has script tags for them.
	Scripts []string `json:"scripts"`
	// StartModule is a small module that loads Scripts after the first pictures. A page that the server renders has a script tag only for
	// this module, because the page is readable without Scripts, and loading Scripts must not delay the pictures.
	StartModule string `json:"start"`

	Sheet     string              `json:"sheet"`     // the style sheet; "" for none
	Documents string              `json:"documents"` // the style sheet of the pages without scripts (document.go); "" for none
	Fonts     []string            `json:"fonts"`     // fonts that index.html preloads
	Languages map[string][]string `json:"languages"` // modules with texts, by language
	Pages     []page              `json:"pages"`     // all pages, including those of the admin area
}

// page is a page of the site's router.
type page struct {
	Path    string `json:"path"`    // canonical path
	Pattern string `json:"pattern"` // other paths that show this page, such as /gallery/:type? (? marks an optional segment); "" for none
	// ServerRendered is whether the server renders the page's HTML. The browser renders all other pages.
	ServerRendered bool     `json:"serverRendered"`
	Modules        []string `json:"modules"` // modules that the page needs besides Scripts

	WorksFilter string      `json:"works"`   // selects the works that the page shows, as a query string; "" if it shows none
	Queries     []pageQuery `json:"queries"` // queries whose results every view of the page needs
	WorkQuery   *pageQuery  `json:"work"`    // query for the work whose id is in the URL parameter art; nil if the page ignores the parameter
}

// pageQuery is a query of the page's components. The server puts the result into the boot data (the JSON embedded in the page for
// hydration). Without a Limit the result is an array of all rows. With a Limit it is an object with the first rows and the number of all
// rows: {"rows": [], "total": 0}.
type pageQuery struct {
	Key   []any  `json:"key"`   // the key under which the components find the result
	Table string `json:"table"` // a table of /rest/v1
	Query string `json:"query"` // query string of /rest/v1/{table}, without the limit
	Limit int    `json:"limit"` // number of rows; 0 for all
}

const (
	// workPlaceholder stands for the id of the work in Key and Query of WorkQuery.
	workPlaceholder = ":art"
	// notFoundPath is the canonical path of all unknown URLs. The manifest has no page with this path.
	notFoundPath = "/404"
)

// manifestFile is the path of the manifest in the build. Browsers cannot request files and folders whose names begin with a dot.
const manifestFile = ".server/manifest.json"

// readPageManifest reads the manifest of the build. It returns an error if the manifest lacks a language or page that the
// server needs.
func readPageManifest(dist fs.FS) (m pageManifest, err error) {
	data, err := fs.ReadFile(dist, manifestFile)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("manifest of the pages: %w", err)
	}
	for _, language := range []string{"en", "pt"} {
		if len(m.Languages[language]) == 0 {
			return m, fmt.Errorf("manifest of the pages: no texts in %s", language)
		}
	}
	for _, path := range []string{"/", galleryPath + allTypes, "/politica-privacidade", "/admin"} {
		if m.page(path) == nil {
			return m, fmt.Errorf("manifest of the pages: no page %s", path)
		}
	}
	return m, m.checkWorks()
}

// page returns the page with a canonical path, or nil if there is none.
func (m pageManifest) page(path string) *page {
	if i := slices.IndexFunc(m.Pages, func(p page) bool { return p.Path == path }); i >= 0 {
		return &m.Pages[i]
	}
	return nil
}

// worksOf returns the condition that selects the works of the page with a canonical path, as a query string. The page can be
// missing: an edit of the settings since the view was parsed may have removed it. Then the condition selects nothing.
func (m pageManifest) worksOf(path string) string {
	if p := m.page(path); p != nil {
		return p.WorksFilter
	}
	return "artwork_type=in.()"
}

// resolve returns the canonical path of the page that a path shows, and the HTTP status of the response. Many paths have the
// same canonical path, so that requests for made-up paths cannot fill the page cache.
func (m pageManifest) resolve(path string) (canonical string, status int) {
	if m.page(path) != nil {
		return path, http.StatusOK
	}
	for _, p := range m.Pages {
		if p.Pattern != "" && matchesPattern(p.Pattern, path) {
			return p.Path, http.StatusOK
		}
	}
	if isAdminPath(path) {
		return "/admin", http.StatusNotFound // the browser's router decides what to show
	}
	return notFoundPath, http.StatusNotFound
}

// matchesPattern reports whether a path matches a pattern of the router that ends in an optional parameter: /gallery/:type?
// matches /gallery and /gallery/ with any one segment after it.
func matchesPattern(pattern, path string) bool {
	prefix, _, _ := strings.Cut(pattern, "/:")
	rest, ok := strings.CutPrefix(path, prefix)
	return ok && (rest == "" || len(rest) > 1 && strings.LastIndex(rest, "/") == 0)
}

// serverRenderedPaths returns the canonical paths of the server-rendered pages.
func (m pageManifest) serverRenderedPaths() (paths []string) {
	for _, p := range m.Pages {
		if p.ServerRendered {
			paths = append(paths, p.Path)
		}
	}
	return paths
}

// modules returns the modules that a view needs besides Scripts; those of its language come first.
func (m pageManifest) modules(v view) []string {
	modules := slices.Clone(m.Languages[v.language])
	if p := m.page(v.path); p != nil {
		modules = append(modules, p.Modules...)
	}
	return modules
}

// scriptTags returns the script tags for scriptsMark and the preload tags for the end of the head. A server-rendered
// page has only the tag of StartModule, whose attribute data-site lists the modules that StartModule loads, the entry first.
func (m pageManifest) scriptTags(v view, serverRendered bool) (tags, preloads string) {
	if serverRendered {
		site := strings.Join(slices.Concat(m.Scripts, m.modules(v)), " ")
		return fmt.Sprintf(`<script type="module" crossorigin src="%s" data-site="%s"></script>`, html.EscapeString(m.StartModule), html.EscapeString(site)), ""
	}
	for i, module := range m.Scripts {
		if i == 0 {
			tags = fmt.Sprintf(`<script type="module" crossorigin src="%s"></script>`, html.EscapeString(module))
		} else {
			tags += modulePreload(module)
		}
	}
	for _, module := range m.modules(v) {
		preloads += modulePreload(module)
	}
	return tags, preloads
}

func modulePreload(module string) string {
	return fmt.Sprintf(`<link rel="modulepreload" crossorigin href="%s">`, html.EscapeString(module))
}

// linkHeaders returns the files that a page loads first, as values of the header Link (RFC 8288).
func (m pageManifest) linkHeaders(v view, serverRendered bool) (links []string) {
	for _, font := range m.Fonts {
		links = append(links, "<"+font+">; rel=preload; as=font; crossorigin")
	}
	modules := []string{m.StartModule}
	if !serverRendered {
		modules = slices.Concat(m.Scripts, m.modules(v))
	}
	for _, module := range modules {
		links = append(links, "<"+module+">; rel=modulepreload; crossorigin")
	}
	return links
}

// sendEarlyHints sends the status 103 (RFC 8297), so that the browser loads files while the server makes the page. Browsers
// use it only over HTTP/2 and newer, and over HTTP/1.1 a proxy could take it for the final response.
func (s *Service) sendEarlyHints(w http.ResponseWriter, r *http.Request, v view) {
	if r.ProtoMajor < 2 || r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return
	}
	h := w.Header()
	h["Link"] = s.manifest.linkHeaders(v, s.isServerRendered(v))
	w.WriteHeader(http.StatusEarlyHints)
	delete(h, "Link") // the page has tags for the same files
}
