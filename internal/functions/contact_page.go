package functions

import (
	"bytes"
	"cmp"
	_ "embed"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"atelie/internal/apperr"
	"atelie/internal/httpx"
	"atelie/internal/i18n"
)

// This file serves browsers without scripts: it makes the page with the contact form, and handles the form that these browsers send.

// Page is a page of this package, such as the contact form or the page of a private link. It needs no scripts. Config.WritePage adds the
// site's header and footer.
type Page struct {
	Status   int // HTTP status
	Language i18n.Language
	Title    string
	Main     template.HTML // HTML inside the main element
}

//go:embed contact.html
var contactSource string

var contactTemplate = template.Must(template.New("contact").Parse(contactSource))

// contactPageData is the data of the template contact.html.
type contactPageData struct {
	Language i18n.Language
	Path     string // URL path to which the form is sent
	Reason   string // value of the hidden field "reason": what the message is about (see reasons in submit_contact.go)
	Alert    string // error shown above the form; "" for none
	Sent     bool   // whether the message was stored; the page then shows thanks instead of the form
	Link     string // private link: the URL at which the visitor can follow the sent message; "" for none
	CopyHint bool   // whether the thanks say that the visitor gets a copy of the message by mail
	Fields   []contactField
}

// contactField is one visible field of the form.
type contactField struct {
	Name, Type, Label, Value string // Type is that of an input element; "" for the text area
	Problem                  string // error shown below the field; "" for none
	MaxLength                int    // in characters
	Focus                    bool   // the field gets the focus; set for the first field with a problem
}

// T returns a text of package i18n in the page's language, for the template.
func (v contactPageData) T(key string) string { return v.Language.Text(key) }

// wantsPage reports whether the client wants an HTML page as the response, and not JSON. Its Accept header must name text/html, with at
// least the weight of JSON (RFC 9110 §12.5.1).
func wantsPage(r *http.Request) bool {
	html := acceptWeight(r, "text/html")
	return html > 0 && html >= acceptWeight(r, "application/json")
}

// acceptWeight returns the weight (0 to 1) of a media type in the Accept header, or 0 if the header does not name the type. It
// ignores wildcards such as */*, because programs that are not browsers send them too.
func acceptWeight(r *http.Request, media string) float64 {
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

// requestedLanguage returns the language that the form's field "language" names, or that ?lang= names if field is "". Any value
// other than "pt" means English.
func requestedLanguage(r *http.Request, field string) i18n.Language {
	if cmp.Or(field, r.URL.Query().Get("lang")) == "pt" {
		return i18n.PT
	}
	return i18n.EN
}

// showContactForm handles GET: it sends an empty form.
func (s *Service) showContactForm(w http.ResponseWriter, r *http.Request) error {
	return s.writeContactPage(w, r, http.StatusOK, contactRequest{responseLanguage: requestedLanguage(r, "")}, nil, "", linkResponse{})
}

// submitContactForm handles POST of the form: it stores the message like submitContact, but the response is a page. If refused is
// not nil, or the message is invalid, the page shows the form again with the visitor's text and an error.
func (s *Service) submitContactForm(w http.ResponseWriter, r *http.Request, refused error) error {
	req, err := readContactRequest(w, r)
	req.responseLanguage = requestedLanguage(r, req.Language)
	problems := req.normalizeAndValidate()
	switch {
	case refused != nil:
		return s.showRefusal(w, r, req, refused)
	case err != nil:
		return s.showRefusal(w, r, req, err)
	case len(problems) > 0:
		httpx.NoteError(r.Context(), errInvalid(i18n.EN.Text(problems[0].key)))
		return s.writeContactPage(w, r, http.StatusBadRequest, req, problems, req.responseLanguage.Text("contact.check"), linkResponse{})
	}
	req.Follow = true // the reader of a page can use the link
	link, err := s.storeMessage(r.Context(), req)
	if err != nil {
		return s.showRefusal(w, r, req, err)
	}
	return s.writeContactPage(w, r, http.StatusOK, req, nil, "", link)
}

// showRefusal shows the form again, with the visitor's text and an alert that explains err.
func (s *Service) showRefusal(w http.ResponseWriter, r *http.Request, req contactRequest, err error) error {
	e := apperr.From(err)
	httpx.NoteError(r.Context(), e)
	return s.writeContactPage(w, r, e.Status, req, nil, alertText(req.responseLanguage, e), linkResponse{})
}

// writeContactPage writes the page: the thanks after a POST without an alert, and otherwise the form.
func (s *Service) writeContactPage(w http.ResponseWriter, r *http.Request, status int, req contactRequest, problems []problem, alert string, link linkResponse) error {
	v := contactPageData{Language: req.responseLanguage, Path: r.URL.Path, Reason: req.Reason, Alert: alert, Link: link.URL, CopyHint: link.Copy, Sent: r.Method == http.MethodPost && alert == ""}
	if req.responseLanguage == i18n.PT {
		v.Path += "?lang=pt"
	}
	for _, f := range []contactField{
		{Name: "name", Type: "text", Value: req.Name, MaxLength: maxName},
		{Name: "email", Type: "email", Value: req.Email, MaxLength: maxEmail},
		{Name: "message", Value: req.Message, MaxLength: maxMessage},
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
	case alert != "": // screen readers read the title first
		title = alert
	}
	var main bytes.Buffer
	if err := contactTemplate.Execute(&main, v); err != nil {
		return err
	}
	return s.cfg.WritePage(w, r, Page{status, req.responseLanguage, title, template.HTML(main.String())}) // html/template has escaped it
}
