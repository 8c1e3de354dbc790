package pages

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelie/internal/i18n"
	"atelie/internal/settings"
)

// This file collects the information in the head of a page (describePage) and writes its tags (makeHead).

// lang returns the language of a view (what a URL selects) as an i18n.Language.
func (v view) lang() i18n.Language { return i18n.Language(v.language) }

// localizePath adds the URL parameter that selects the language to a path. English is the default, so it needs no parameter.
func localizePath(path string, l i18n.Language) string {
	switch {
	case l != i18n.PT:
		return path
	case strings.Contains(path, "?"):
		return path + "&lang=pt"
	}
	return path + "?lang=pt"
}

// pageHead is what the head of a page tells search engines and link previews.
type pageHead struct {
	language    i18n.Language
	site        settings.Site
	title       string // without the site's name
	description string
	path        string  // canonical path without the language; "" if search engines must not list the page
	work        *work   // the work that the URL names; nil for none
	series      *series // the series that the URL names; nil for none
	filter      string  // type of works that a gallery page shows, or allTypes; "" for other pages
	picture     sharePicture
}

// describePage collects the information for the head of a view's page.
func (s *Service) describePage(ctx context.Context, v view, site settings.Site) (h pageHead, err error) {
	l := v.lang()
	h = pageHead{language: l, site: site}
	about := site.Text(l, func(t settings.Texts) string { return t.AboutDescription })
	filter, isGallery := galleryFilter(v.path)
	switch {
	case v.workMissing || v.seriesMissing: // only views of the gallery are marked as missing
		h.title = galleryTitle(l, filter)
		return h, nil
	case v.status != http.StatusOK:
		h.title = l.Text("notFound.title")
		return h, nil
	case isAdminPath(v.path):
		return h, nil
	case isGallery:
		if h.work, err = s.readWorkOf(ctx, v); err != nil {
			return h, err
		}
		h.filter, h.path, h.title = filter, "/gallery/"+filter, galleryTitle(l, filter)
		h.description = shorten(galleryDescription(l, site, filter)+" "+about, descriptionLength)
		if h.series, err = s.seriesOf(ctx, v); err != nil {
			return h, err
		}
		if h.series != nil {
			h.path, h.title = h.series.path(), h.series.name(l)+" · "+l.Text("gallery.title")
			h.description = cmp.Or(shortenFirst(h.series.about(l)), h.description)
			if !slices.ContainsFunc(h.series.Types, func(t string) bool { return slices.Contains(site.Gallery.Types, t) }) {
				h.path = "" // a page without works
			}
		}
	case v.path == "/politica-privacidade":
		h.path, h.title = v.path, l.Text("privacy.title")
		h.description = shortenFirst(site.Privacy.Information, l.Text("head.privacy", "site", site.Name))
	default:
		h.path = "/"
		moreAbout := site.Text(l, func(t settings.Texts) string { return t.AboutDescription2 })
		title := site.Text(l, func(t settings.Texts) string { return t.AboutTitle })
		h.description = shortenFirst(about, moreAbout, title, l.Text("head.home", "types", listTypes(l, site.Gallery.Types...)))
		if h.work, err = s.readWorkOf(ctx, v); err != nil {
			return h, err
		}
	}
	if h.work != nil {
		h.path, h.title, h.description = h.work.path(), h.work.heading(l), h.work.summary(l)
	}
	h.picture, err = s.chooseSharePicture(ctx, v, site, h.work, h.series)
	return h, err
}

// galleryTitle returns the title of a gallery page without the site's name.
func galleryTitle(l i18n.Language, filter string) string {
	title := l.Text("gallery.title")
	if filter != allTypes {
		title = l.Text(filterKey(filter)) + " · " + title
	}
	return title
}

// filterKey returns the key of the name of a filter. web/src/features/artworks/gallery-filter.ts has the same rule.
func filterKey(filter string) string {
	if filter == "oil" || filter == "acrylic" {
		return "type." + filter
	}
	return "gallery.filter." + filter
}

// galleryDescription says of which types the works of a gallery page are.
func galleryDescription(l i18n.Language, site settings.Site, filter string) string {
	types := site.Gallery.Types
	if filter != allTypes {
		types = []string{filter}
	}
	return l.Text("head.gallery", "types", listTypes(l, types...), "site", site.Name)
}

// listTypes returns the beginning of a sentence that names works of these types, such as "Murals and watercolours".
func listTypes(l i18n.Language, types ...string) (list string) {
	for i, t := range types {
		switch {
		case i == 0:
			list = l.Text("head.type." + t)
		case i == len(types)-1:
			list = l.Text("head.and", "first", list, "last", l.Text("head.type."+t))
		default:
			list += ", " + l.Text("head.type."+t)
		}
	}
	first, size := utf8.DecodeRuneInString(list)
	return string(unicode.ToUpper(first)) + list[size:]
}

// fullTitle returns the text of the title element. web/src/lib/use-page-title.ts must make the same text.
func (h pageHead) fullTitle() string { return joinFilled(" · ", h.title, oneLine(h.site.Name)) }

// locales are the names of the languages in Open Graph tags.
var locales = map[i18n.Language]string{i18n.EN: "en_GB", i18n.PT: "pt_PT"}

// makeHead returns the title of a page and the tags for search engines, link previews and feed readers.
func (s *Service) makeHead(ctx context.Context, v view, b bootData) (string, error) {
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
	bare := absolute(localizePath(h.path, i18n.EN))
	tag(`<meta name="description" content="%s">`, h.description)
	tag(`<link rel="canonical" href="%s">`, absolute(localizePath(h.path, l)))
	for _, alternate := range i18n.Languages {
		tag(`<link rel="alternate" hreflang="%s" href="%s">`, string(alternate), absolute(localizePath(h.path, alternate)))
	}
	tag(`<link rel="alternate" hreflang="x-default" href="%s">`, bare)
	tag(`<link rel="alternate" type="application/atom+xml" title="%s" href="%s">`, l.Text("feed.title", "site", oneLine(h.site.Name)), localizePath("/feed.xml", l))
	tag(`<link rel="manifest" href="%s">`, localizePath("/site.webmanifest", l))
	tag(`<link rel="apple-touch-icon" href="/apple-touch-icon.png">`)
	card := "summary"
	if h.picture.width == shareWidth { // large enough for the whole width of a preview: not the site's icon
		card = "summary_large_image"
	}
	short := cmp.Or(h.title, oneLine(h.site.Name)) // without the site's name, which previews show separately
	for _, p := range [][2]string{
		{"og:type", "website"}, {"og:site_name", oneLine(h.site.Name)}, {"og:title", short}, {"og:description", h.description},
		{"og:url", absolute(localizePath(h.path, l))}, {"og:locale", locales[l]}, {"og:locale:alternate", locales[l.Other()]},
		{"og:image", absolute(h.picture.path)}, {"og:image:width", strconv.Itoa(h.picture.width)}, {"og:image:height", strconv.Itoa(h.picture.height)},
		{"og:image:alt", h.picture.alt},
	} {
		tag(`<meta property="%s" content="%s">`, p[0], p[1])
	}
	for _, p := range [][2]string{
		{"twitter:card", card}, {"twitter:title", short}, {"twitter:description", h.description}, {"twitter:image", absolute(h.picture.path)}, {"twitter:image:alt", h.picture.alt},
	} {
		tag(`<meta name="%s" content="%s">`, p[0], p[1])
	}
	data, err := s.makeStructuredData(ctx, h)
	if err != nil {
		return "", err
	}
	return out.String() + `<script type="application/ld+json">` + data + `</script>`, nil
}
