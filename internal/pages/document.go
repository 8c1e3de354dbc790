package pages

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"strconv"

	"atelie/internal/i18n"
	"atelie/internal/settings"
)

// Document is a page without scripts that is not part of the built site, such as the contact form for browsers without scripts. Package
// functions makes Documents. WriteDocument adds the site's header and footer.
type Document struct {
	Status   int // HTTP status
	Language i18n.Language
	Title    string        // title without the site's name, which the template adds
	Main     template.HTML // content of the main element as escaped HTML
}

//go:embed document.html
var documentSource string

var documentTemplate = template.Must(template.New("document").Parse(documentSource))

// documentPolicy returns a content security policy that allows no scripts, styles only from the files of the build, and pictures only from
// these files and from the storage.
func documentPolicy(cfg Config) string {
	storageSource := "" // not needed if the site and the backend have the same URL, because 'self' includes the storage then
	if cfg.APIURL != cfg.SiteURL {
		storageSource = " " + cfg.APIURL
	}
	return "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'" + storageSource + "; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
}

// WriteDocument writes the page d as the response. Browsers must not cache the response, because it can contain a visitor's message. If the
// program was compiled without the site, the page has no styles.
func (s *Service) WriteDocument(w http.ResponseWriter, r *http.Request, d Document) error {
	site, err := settings.LoadSite(r.Context(), s.db)
	if err != nil {
		return err
	}
	home := "/"
	if d.Language == i18n.PT {
		home = "/?lang=pt"
	}
	var page bytes.Buffer
	if err := documentTemplate.Execute(&page, struct {
		Document
		Site, Home, HomeLabel, BackLabel string
		Sheet                            string // path of the style sheet, or ""
	}{d, site.Name, home, d.Language.Text("page.home", "site", site.Name), d.Language.Text("page.back"), s.manifest.Documents}); err != nil {
		return err
	}
	return writeHTML(w, r, d.Status, documentPolicy(s.cfg), page.Bytes())
}

// writeHTML writes a page as the response and tells browsers not to cache it. policy is its content security policy.
func writeHTML(w http.ResponseWriter, r *http.Request, status int, policy string, page []byte) error {
	h := w.Header()
	harden(h)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", policy)
	h.Set("Content-Length", strconv.Itoa(len(page)))
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err := w.Write(page)
	return err
}
