package pages

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"strconv"

	"atelie/internal/i18n"
)

// Document is a page that works without scripts and that another capability fills.
type Document struct {
	Status   int // of HTTP
	Language i18n.Language
	Title    string        // without the site's name, which is added
	Main     template.HTML // the page's main part; who makes it has escaped it
}

//go:embed document.html
var documentSource string

var documentFrame = template.Must(template.New("document").Parse(documentSource))

// documentPolicy allows no script at all, and styles from this site's files alone.
const documentPolicy = "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// Document answers with the page inside the site's frame. It is never stored: it may hold what a visitor wrote. Without a
// built site it comes without styles.
func (s *Service) Document(w http.ResponseWriter, r *http.Request, d Document) error {
	site, err := LoadSite(r.Context(), s.db)
	if err != nil {
		return err
	}
	home := "/"
	if d.Language == i18n.PT {
		home = "/?lang=pt"
	}
	var page bytes.Buffer
	if err := documentFrame.Execute(&page, struct {
		Document
		Site, Home, HomeLabel, BackLabel string
		Styles                           []string
	}{d, site.Name, home, d.Language.Text("page.home", "site", site.Name), d.Language.Text("page.back"), s.built["index.html"].CSS}); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", documentPolicy)
	harden(h)
	h.Set("Content-Length", strconv.Itoa(page.Len()))
	w.WriteHeader(d.Status)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err = page.WriteTo(w)
	return err
}
