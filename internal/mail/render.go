package mail

import (
	"bytes"
	_ "embed"
	"fmt"
	htmltemplate "html/template"
	"net/url"
	"strings"
	texttemplate "text/template"

	"atelie/internal/i18n"
)

// palette is DESIGN §2, light and dark. Mail programs know no variables, so the values are written into the template.
var palette = map[string][2]string{
	"cal":        {"#FAFAF8", "#11141B"},
	"sombra":     {"#EEF1F6", "#181C26"},
	"ink":        {"#151B2A", "#EEEDE8"},
	"ink2":       {"#505766", "#B1B6C0"},
	"line":       {"#D2D6DD", "#313742"},
	"anil":       {"#1E368F", "#9CB3F6"},
	"on-anil":    {"#FAFAF8", "#0E1321"},
	"barra":      {"#1E368F", "#192E77"},
	"on-barra":   {"#FAFAF8", "#F4F3F0"},
	"on-barra-2": {"#C6D2F1", "#BCCAEC"},
}

//go:embed templates/message.html
var htmlSource string

// barSource is the row that a panel stands on.
//
//go:embed templates/bar.html
var barSource string

//go:embed templates/message.txt
var textSource string

var (
	htmlMessage = htmltemplate.Must(htmltemplate.New("html").Funcs(htmltemplate.FuncMap{"mso": mso}).Parse(paint(htmlSource + `{{define "bar"}}` + barSource + "{{end}}")))
	textMessage = texttemplate.Must(texttemplate.New("text").Parse(textSource))
)

// paint puts the colours in: $ink$ is the light one, $ink.dark$ the other.
func paint(source string) string {
	var pairs []string
	for name, c := range palette {
		pairs = append(pairs, "$"+name+"$", c[0], "$"+name+".dark$", c[1])
	}
	return strings.NewReplacer(pairs...).Replace(source)
}

// mso is what only Outlook on Windows sees: it has no max-width. The template package drops written comments.
func mso(part string) htmltemplate.HTML {
	switch part {
	case "open":
		return `<!--[if mso]><table role="presentation" width="600" align="center" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->`
	case "close":
		return `<!--[if mso]></td></tr></table><![endif]-->`
	}
	return `<!--[if mso]><style>td, p, h1, a, span { font-family: Georgia, serif !important; } table { border-collapse: collapse; }</style><![endif]-->`
}

// page is what the templates show; empty parts are left out.
type page struct {
	Language, Site, SiteURL, SiteHost string
	Subject, Title, Body              string
	Action, Link, Copy                string
	CodeLabel, Code, Once             string
	Details                           []detail
	Quote                             [][]string // a visitor's words: paragraphs of lines
	Note, Footer                      string
}

type detail struct{ Label, Value string }

type rendered struct{ subject, text, html string }

func render(msg Message, site, siteURL string) (rendered, error) {
	p := newPage(msg, site, siteURL)
	var text, html bytes.Buffer
	if err := textMessage.Execute(&text, p); err != nil {
		return rendered{}, fmt.Errorf("mail: text of %s: %w", msg.Kind, err)
	}
	if err := htmlMessage.Execute(&html, p); err != nil {
		return rendered{}, fmt.Errorf("mail: page of %s: %w", msg.Kind, err)
	}
	return rendered{subject: p.Subject, text: text.String(), html: html.String()}, nil
}

func newPage(msg Message, site, siteURL string) page {
	l := i18n.Choose(string(msg.Language))
	var name string
	if msg.Contact != nil {
		name = oneLine(msg.Contact.Name, 60)
	}
	say := func(part string) string { return l.Text("mail."+string(msg.Kind)+"."+part, "site", site, "name", name) }
	p := page{
		Language: string(l), Site: site, SiteURL: siteURL, SiteHost: siteURL,
		Subject: say("subject"), Title: say("title"), Body: say("body"), Note: say("note"), Footer: l.Text("mail.footer", "site", site),
	}
	if u, err := url.Parse(siteURL); err == nil && u.Host != "" {
		p.SiteHost = u.Host
	}
	if msg.Link != "" {
		p.Action, p.Link, p.Copy = say("action"), msg.Link, l.Text("mail.link.copy")
	}
	if msg.Code != "" {
		p.Code, p.CodeLabel = oneLine(msg.Code, 20), l.Text("mail.code.alone")
	}
	switch isNotice := notice[msg.Kind]; {
	case isNotice:
	case msg.Link != "" && msg.Code != "":
		p.CodeLabel, p.Once = l.Text("mail.code.besideLink"), l.Text("mail.once.both")
	case msg.Link != "":
		p.Once = l.Text("mail.once.link")
	default:
		p.Once = l.Text("mail.once.code")
	}
	add := func(key, value string) {
		if value != "" {
			p.Details = append(p.Details, detail{l.Text("mail.detail." + key), value})
		}
	}
	if c := msg.Contact; c != nil {
		add("name", oneLine(c.Name, 100))
		add("email", oneLine(c.Email, 254))
		add("reason", l.Text("mail.reason."+c.Reason))
		p.Quote = paragraphs(c.Text)
	}
	add("newEmail", oneLine(msg.NewEmail, 254))
	if notice[msg.Kind] && !msg.At.IsZero() {
		add("when", l.Time(msg.At))
	}
	add("device", describeDevice(msg.Device))
	add("ip", oneLine(msg.IP, 45))
	return p
}

// paragraphs takes a text apart at empty lines, and each part into its lines, made harmless.
func paragraphs(text string) (all [][]string) {
	for part := range strings.SplitSeq(text, "\n\n") {
		var lines []string
		for line := range strings.SplitSeq(part, "\n") {
			if line = oneLine(line, 5000); line != "" {
				lines = append(lines, line)
			}
		}
		if len(lines) > 0 {
			all = append(all, lines)
		}
	}
	return all
}
