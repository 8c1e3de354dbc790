package mail

import (
	"bytes"
	_ "embed"
	"fmt"
	htmltemplate "html/template"
	"net/url"
	"strconv"
	"strings"
	texttemplate "text/template"

	"atelie/internal/device"
	"atelie/internal/i18n"
)

// This file makes the subject, the text and the HTML of a mail. Text and HTML are rendered from the templates in the folder templates.

// palette contains the colours of web/src/styles/tokens.css that mails use. Each has a value for light mode and one for dark mode.
// Many mail programs do not support CSS variables, so fillColours writes the values into the template.
var palette = map[string][2]string{
	"page":          {"#FAFAF8", "#11141B"}, // background of the mail
	"shade":         {"#EEF1F6", "#181C26"}, // background of a panel (the box with a quoted text or a code)
	"ink":           {"#151B2A", "#EEEDE8"}, // text
	"ink2":          {"#505766", "#B1B6C0"}, // less important text
	"line":          {"#D2D6DD", "#313742"}, // dividing lines
	"indigo":        {"#1E368F", "#9CB3F6"}, // background of the button, and a part of the site's logo
	"on-indigo":     {"#FAFAF8", "#0E1321"}, // text of the button
	"band":          {"#1E368F", "#192E77"}, // background of the footer, and of the row below a panel
	"on-band":       {"#FAFAF8", "#F4F3F0"}, // text of the footer
	"on-band-muted": {"#C6D2F1", "#BCCAEC"}, // less important text of the footer
}

//go:embed templates/mail.html
var htmlSource string

// barSource is the template "bar": the coloured row below a panel.
//
//go:embed templates/bar.html
var barSource string

//go:embed templates/mail.txt
var textSource string

// The templates of the two parts of a mail. The data of both has the type page.
var (
	htmlMessage = htmltemplate.Must(htmltemplate.New("html").Funcs(htmltemplate.FuncMap{"outlookOnly": outlookOnly}).
			Parse(fillColours(htmlSource + `{{define "bar"}}` + barSource + "{{end}}")))
	textMessage = texttemplate.Must(texttemplate.New("text").Parse(textSource))
)

// fillColours replaces the names of colours in a template with their values. For example, $ink$ becomes the light value of "ink", and
// $ink.dark$ the dark one.
func fillColours(source string) string {
	var pairs []string
	for name, values := range palette {
		pairs = append(pairs, "$"+name+"$", values[0], "$"+name+".dark$", values[1])
	}
	return strings.NewReplacer(pairs...).Replace(source)
}

// outlookOnly returns HTML in a conditional comment, which only Outlook on Windows reads. Outlook ignores max-width, so the parts "open" and
// "close" put the mail into a table of a fixed width. The part "head" has styles. A function returns the comments, because html/template
// removes the comments in the text of a template.
func outlookOnly(part string) htmltemplate.HTML {
	switch part {
	case "open":
		return `<!--[if mso]><table role="presentation" width="600" align="center" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->`
	case "close":
		return `<!--[if mso]></td></tr></table><![endif]-->`
	}
	return `<!--[if mso]><style>td, p, h1, a, span { font-family: Georgia, serif !important; } table { border-collapse: collapse; }</style><![endif]-->`
}

// page is the data of the templates. They leave out the parts of empty fields.
type page struct {
	Language, Site, SiteURL, SiteHost string
	Subject, Title, Body              string
	Action, Link, Copy                string     // Action is the button's text, Copy the hint to copy the link
	CodeLabel, Code, Once             string     // Once is the sentence which says that the link and the code work once
	Details                           []detail   // rows of a table, such as the time and the device
	Quote                             [][]string // a visitor's text, or an owner's reply: paragraphs of lines
	Note, Footer                      string
}

type detail struct{ Label, Value string }

// addDetail adds a detail with its label in the language of the mail; nothing for an empty value.
func (p *page) addDetail(l i18n.Language, key, value string) {
	if value != "" {
		p.Details = append(p.Details, detail{l.Text("mail.detail." + key), value})
	}
}

type rendered struct{ subject, text, html string }

// render executes both templates for a message. site is the site's name.
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
	count, aside := 0, 0
	if msg.Digest != nil {
		count, aside = msg.Digest.Count, msg.Digest.Quarantined
	}
	say := func(part string) string {
		return l.Text("mail."+string(msg.Kind)+"."+msg.Contact.variant(part), "site", site, "name", name, "n", strconv.Itoa(count), "aside", strconv.Itoa(aside))
	}
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
	switch isNotice := kindIsNotice[msg.Kind]; {
	case isNotice:
	case msg.Link != "" && msg.Code != "":
		p.CodeLabel, p.Once = l.Text("mail.code.besideLink"), l.Text("mail.once.both")
	case msg.Link != "":
		p.Once = l.Text("mail.once.link")
	default:
		p.Once = l.Text("mail.once.code")
	}
	if msg.Contact != nil {
		p.addContact(*msg.Contact, l)
	}
	if msg.Reply != nil {
		p.addReply(*msg.Reply, l)
		if msg.Reply.To == "" {
			p.Note = say("noAddress")
		}
	}
	if msg.Copy != "" {
		p.addCopy(msg.Copy)
		if msg.Thanks {
			p.Title, p.Body = say("thanksTitle"), say("thanks")
		}
	}
	if msg.Digest != nil {
		p.addDigest(*msg.Digest, l)
		if msg.Digest.Quarantined > 0 {
			p.Note = say("aside") + " " + p.Note
		}
	}
	p.addDetail(l, "newEmail", oneLine(msg.NewEmail, 254))
	causeLabel := "cause"
	if msg.Kind == CertificateEnding || msg.Kind == CertificateMissing {
		causeLabel = "domain"
	}
	p.addDetail(l, causeLabel, oneLine(msg.Cause, 300))
	if kindIsNotice[msg.Kind] && !msg.At.IsZero() && msg.Digest == nil {
		p.addDetail(l, "when", l.Time(msg.At))
	}
	p.addDetail(l, "device", oneLine(device.Parse(msg.Device).String(), 120))
	p.addDetail(l, "ip", oneLine(msg.IP, 45))
	return p
}
