package functions

import (
	"bytes"
	_ "embed"
	"errors"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"atelie/internal/apperr"
	"atelie/internal/httpx"
	"atelie/internal/i18n"
)

// Page is what a browser without scripts gets to see; whoever draws it adds the site around it.
type Page struct {
	Status   int // of HTTP
	Language i18n.Language
	Title    string
	Main     template.HTML // escaped
}

//go:embed contact.html
var contactSource string

var contactTemplate = template.Must(template.New("contact").Parse(contactSource))

// contactView is what contact.html shows: the form, or thanks when Sent.
type contactView struct {
	Language i18n.Language
	Address  string
	Reason   string
	Alert    string
	Sent     bool
	Fields   []contactField
}

type contactField struct {
	Name, Type, Label, Value, Problem string
	Max                               int
	Focus                             bool // the first one with a problem
}

// T gives a text of the catalogue.
func (v contactView) T(key string) string { return v.Language.Text(key) }

// wantsPage tells a browser that goes to an address by itself from a program: it names text/html in Accept, and no JSON
// before it (RFC 9110 §12.5.1).
func wantsPage(r *http.Request) bool {
	html := accepts(r, "text/html")
	return html > 0 && html >= accepts(r, "application/json")
}

// accepts gives the weight of a type that Accept names, 0 when it does not; wildcards name nothing.
func accepts(r *http.Request, media string) float64 {
	for item := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		name, parameters, _ := strings.Cut(item, ";")
		if !strings.EqualFold(strings.TrimSpace(name), media) {
			continue
		}
		for parameter := range strings.SplitSeq(parameters, ";") {
			if q, ok := strings.CutPrefix(strings.TrimSpace(parameter), "q="); ok {
				weight, err := strconv.ParseFloat(q, 64)
				if err != nil {
					return 0
				}
				return weight
			}
		}
		return 1
	}
	return 0
}

// languageOf is what the form's field says, else ?lang=pt, else English; nothing else decides (READING §3.5).
func languageOf(r *http.Request, field string) i18n.Language {
	if field == "" {
		field = r.URL.Query().Get("lang")
	}
	if field == "pt" {
		return i18n.PT
	}
	return i18n.EN
}

// contactForm answers GET with an empty form.
func (s *Service) contactForm(w http.ResponseWriter, r *http.Request) error {
	return s.showContact(w, r, http.StatusOK, contactRequest{language: languageOf(r, "")}, nil, "")
}

// plainContact answers a form that a browser sent without scripts: the same rules as submitContact, and a page. A call that
// was refused already keeps what was written.
func (s *Service) plainContact(w http.ResponseWriter, r *http.Request, refused error) error {
	req, err := readContact(w, r)
	req.language = languageOf(r, req.Language)
	problems := req.normalize()
	switch {
	case refused != nil:
		return s.refuseContact(w, r, req, refused)
	case err != nil:
		return s.refuseContact(w, r, req, err)
	case len(problems) > 0:
		httpx.NoteError(r.Context(), errInvalid(i18n.EN.Text(problems[0].key)))
		return s.showContact(w, r, http.StatusBadRequest, req, problems, req.language.Text("contact.check"))
	}
	if err := s.storeContact(r.Context(), req); err != nil {
		return s.refuseContact(w, r, req, err)
	}
	return s.showContact(w, r, http.StatusOK, req, nil, "")
}

// refuseContact shows the form again, with what was written and why it was not taken.
func (s *Service) refuseContact(w http.ResponseWriter, r *http.Request, req contactRequest, err error) error {
	e := apperr.From(err)
	httpx.NoteError(r.Context(), e)
	key := "contact.toast.errorBody"
	switch {
	case errors.Is(e, errTooMany):
		key = "contact.tooMany"
	case errors.Is(e, httpx.ErrTooLarge):
		key = "contact.tooLarge"
	case e.Status < http.StatusInternalServerError:
		key = "contact.unreadable"
	}
	return s.showContact(w, r, e.Status, req, nil, req.language.Text(key))
}

// showContact draws the page: thanks for a POST that nothing stands against, else the form.
func (s *Service) showContact(w http.ResponseWriter, r *http.Request, status int, req contactRequest, problems []problem, alert string) error {
	v := contactView{Language: req.language, Address: r.URL.Path, Reason: req.Reason, Alert: alert, Sent: r.Method == http.MethodPost && alert == ""}
	if req.language == i18n.PT {
		v.Address += "?lang=pt"
	}
	for _, f := range []contactField{
		{Name: "name", Type: "text", Value: req.Name, Max: maxName},
		{Name: "email", Type: "email", Value: req.Email, Max: maxEmail},
		{Name: "message", Value: req.Message, Max: maxMessage},
	} {
		f.Label = v.T("contact.form." + f.Name)
		for i, p := range problems {
			if p.field == f.Name {
				f.Problem, f.Focus = v.T(p.key), i == 0
			}
		}
		v.Fields = append(v.Fields, f)
	}
	title := v.T("contact.form.title")
	switch {
	case v.Sent:
		title = v.T("contact.success.title")
	case alert != "": // the title is what is read first
		title = alert
	}
	var main bytes.Buffer
	if err := contactTemplate.Execute(&main, v); err != nil {
		return err
	}
	return s.page(w, r, Page{status, req.language, title, template.HTML(main.String())}) // html/template has escaped it
}
