package pages

import (
	"context"
	"fmt"
	"html"
	"strconv"
	"strings"

	"atelie/internal/i18n"
)

// lang is the language of the view, for the server's own texts.
func (v view) lang() i18n.Language { return i18n.Language(v.language) }

// ownText gives one of the owner's texts in a language, else in the other, as web/src/lib/site-text.ts does.
func ownText(site Site, l i18n.Language, of func(Texts) string) string {
	mine, other := site.Texts.EN, site.Texts.PT
	if l == i18n.PT {
		mine, other = other, mine
	}
	if text := of(mine); text != "" {
		return text
	}
	return of(other)
}

// inLanguage adds what asks for the language to an address: the bare one is in English (READING §3.5).
func inLanguage(path string, l i18n.Language) string {
	switch {
	case l != i18n.PT:
		return path
	case strings.Contains(path, "?"):
		return path + "&lang=pt"
	}
	return path + "?lang=pt"
}

// pageHead is what a page says of itself to search engines and link previews.
type pageHead struct {
	language    i18n.Language
	site        Site
	title       string // without the site's name
	description string
	path        string // the one address of the page, in English, from the root; "" for pages that nobody shall find
	work        *work  // whose address this is
	wall        string // of a gallery page
	picture     sharePicture
}

// describePage collects what the head of a page says.
func (s *Service) describePage(ctx context.Context, v view, site Site) (h pageHead, err error) {
	l := v.lang()
	h = pageHead{language: l, site: site}
	about := ownText(site, l, func(t Texts) string { return t.AboutDescription })
	wall, gallery := wallOf(v.path)
	switch {
	case v.status != 200:
		h.title = l.Text("notFound.title")
		return h, nil
	case ofOwner(v.path):
		return h, nil
	case gallery:
		if h.work, err = s.workAt(ctx, v); err != nil {
			return h, err
		}
		// Where pages link to, whatever the address was: /gallery and unknown types show what /gallery/all shows.
		h.wall, h.path, h.title = wall, "/gallery/"+wall, l.Text("gallery.title")
		if wall != allWorks {
			h.title = l.Text("gallery.filter."+wall) + " · " + h.title
		}
		h.description = shorten(l.Text("head.gallery."+wall, "site", site.Name)+" "+about, descriptionLength)
		if h.work != nil {
			h.path, h.title, h.description = h.work.path(), h.work.heading(l), h.work.summary(l)
		}
	case v.path == "/politica-privacidade":
		h.path, h.title = v.path, l.Text("privacy.title")
		if h.description = shorten(site.Privacy.Information, descriptionLength); h.description == "" {
			h.description = shorten(l.Text("head.privacy", "site", site.Name), descriptionLength)
		}
	default:
		h.path = "/"
		texts := []string{about, ownText(site, l, func(t Texts) string { return t.AboutDescription2 }), ownText(site, l, func(t Texts) string { return t.AboutTitle }), l.Text("head.home")}
		for _, text := range texts {
			if h.description = shorten(text, descriptionLength); h.description != "" {
				break
			}
		}
	}
	h.picture, err = s.sharePicture(ctx, v, site, h.work)
	return h, err
}

// fullTitle is what a tab shows; web/src/lib/use-page-title.ts writes the same.
func (h pageHead) fullTitle() string { return joinFilled(" · ", h.title, line(h.site.Name)) }

// locales name the languages as Open Graph does.
var locales = map[i18n.Language]string{i18n.EN: "en_GB", i18n.PT: "pt_PT"}

// head writes the title of a page and what search engines, link previews and feed readers look for. It depends on the view and
// on the site's content alone.
func (s *Service) head(ctx context.Context, v view, b boot) (string, error) {
	h, err := s.describePage(ctx, v, b.Site)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	tag := func(format string, values ...any) {
		for i, value := range values {
			values[i] = html.EscapeString(value.(string))
		}
		fmt.Fprintf(&out, format, values...)
	}
	l := h.language
	tag(`<title>%s</title>`, h.fullTitle())
	if h.path == "" {
		tag(`<meta name="robots" content="noindex">`)
		return out.String(), nil
	}
	absolute := func(path string) string { return s.cfg.SiteURL + path }
	bare := absolute(inLanguage(h.path, i18n.EN))
	tag(`<meta name="description" content="%s">`, h.description)
	tag(`<link rel="canonical" href="%s">`, absolute(inLanguage(h.path, l)))
	for _, one := range i18n.Languages {
		tag(`<link rel="alternate" hreflang="%s" href="%s">`, string(one), absolute(inLanguage(h.path, one)))
	}
	tag(`<link rel="alternate" hreflang="x-default" href="%s">`, bare)
	tag(`<link rel="alternate" type="application/atom+xml" title="%s" href="%s">`, l.Text("feed.title", "site", line(h.site.Name)), inLanguage("/feed.xml", l))
	tag(`<link rel="manifest" href="%s">`, inLanguage("/site.webmanifest", l))
	tag(`<link rel="apple-touch-icon" href="/apple-touch-icon.png">`)
	card := "summary"
	if h.picture.large() {
		card = "summary_large_image"
	}
	short := h.title // previews name the site beside it
	if short == "" {
		short = line(h.site.Name)
	}
	for _, p := range [][2]string{
		{"og:type", "website"}, {"og:site_name", line(h.site.Name)}, {"og:title", short}, {"og:description", h.description},
		{"og:url", absolute(inLanguage(h.path, l))}, {"og:locale", locales[l]}, {"og:locale:alternate", locales[l.Other()]},
		{"og:image", absolute(h.picture.address)}, {"og:image:width", strconv.Itoa(h.picture.width)}, {"og:image:height", strconv.Itoa(h.picture.height)},
		{"og:image:alt", h.picture.alt},
	} {
		tag(`<meta property="%s" content="%s">`, p[0], p[1])
	}
	for _, p := range [][2]string{
		{"twitter:card", card}, {"twitter:title", short}, {"twitter:description", h.description}, {"twitter:image", absolute(h.picture.address)}, {"twitter:image:alt", h.picture.alt},
	} {
		tag(`<meta name="%s" content="%s">`, p[0], p[1])
	}
	data, err := s.structuredData(ctx, h)
	if err != nil {
		return "", err
	}
	return out.String() + `<script type="application/ld+json">` + data + `</script>`, nil
}
