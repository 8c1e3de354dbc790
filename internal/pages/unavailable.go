package pages

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"sync"

	"atelie/internal/i18n"
)

//go:embed unavailable.html
var unavailableSource string

// unavailablePage returns the page that browsers get during an outage of the database. It contains its text in both languages. It
// does not contain the site's name, which is stored in the database.
var unavailablePage = sync.OnceValues(func() ([]byte, error) {
	t, err := template.New("unavailable").Parse(unavailableSource)
	if err != nil {
		return nil, err
	}
	type part struct{ Language, Title, Text string }
	var parts []part
	for _, language := range i18n.Languages {
		parts = append(parts, part{string(language), language.Text("unavailable.title"), language.Text("unavailable.text")})
	}
	var page bytes.Buffer
	err = t.Execute(&page, parts)
	return page.Bytes(), err
})

// writeUnavailable sends unavailablePage. It is used if the requested page is not in the page cache.
func writeUnavailable(w http.ResponseWriter, r *http.Request, status int) {
	page, err := unavailablePage()
	if err != nil { // only if the embedded template is wrong
		http.Error(w, http.StatusText(status), status)
		return
	}
	const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	_ = writeHTML(w, r, status, policy, page) // an error means that the client has gone
}
