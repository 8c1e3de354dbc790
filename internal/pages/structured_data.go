package pages

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"atelie/internal/i18n"
	"atelie/internal/settings"
)

// This file describes a page for search engines with the vocabulary of schema.org, as JSON-LD (JSON in a script element of the page).

// worksInData is the maximum number of works in the structured data of a gallery page. Works after these are left out.
const worksInData = 24

// thing is an object of the structured data: schema.org properties by name.
type thing map[string]any

// set sets a property, unless its value is an empty string or an empty list. The value is a string, a list or a map.
func (t thing) set(name string, value any) {
	if reflect.ValueOf(value).Len() > 0 {
		t[name] = value
	}
}

// makeStructuredData returns the JSON-LD of a page. It describes the artist, the site, and the gallery or work of the page. It contains no
// Offer (schema.org's type for a price), because works have no price. It contains no "<", so it cannot end its script element.
func (s *Service) makeStructuredData(ctx context.Context, h pageHead) (string, error) {
	root := s.cfg.SiteURL
	artist, site := thing{"@id": root + "/#artist"}, thing{"@id": root + "/#website"} // references to the objects with these ids
	person := thing{"@type": "Person", "@id": root + "/#artist", "name": oneLine(h.site.Name), "url": root + "/"}
	person.set("sameAs", profileURLs(h.site))
	person.set("description", oneLine(h.site.Text(h.language, func(t settings.Texts) string { return t.AboutTitle })))
	var listed []work
	switch {
	case h.work != nil:
		listed = []work{*h.work}
	case h.filter != "":
		pages, err := s.pagesOf(ctx)
		if err != nil {
			return "", err
		}
		condition := pages.worksOf(galleryPath + h.filter)
		if h.series != nil {
			listed, err = s.readSeriesWorks(ctx, h.series, condition, worksInData)
		} else {
			listed, err = s.readWorks(ctx, condition+"&"+pages.order+"&limit="+strconv.Itoa(worksInData))
		}
		if err != nil {
			return "", err
		}
	}
	pictures, err := s.readPicturesOf(ctx, listed, h.site.Portrait)
	if err != nil {
		return "", err
	}
	if p, ok := pictures[h.site.Portrait]; ok {
		person.set("image", root+p.Large)
	}
	graph := []thing{person, {
		"@type": "WebSite", "@id": root + "/#website", "url": root + "/", "name": oneLine(h.site.Name), "inLanguage": i18n.Languages, "publisher": artist,
	}}
	at := root + localizePath(h.path, h.language)
	switch {
	case h.work != nil:
		artwork := s.describeArtwork(h.work, h.language, pictures)
		artwork.set("mainEntityOfPage", at)
		artwork.set("isPartOf", site)
		graph = append(graph, artwork)
	case h.filter != "":
		gallery := thing{"@type": "ImageGallery", "@id": at, "url": at, "name": h.title, "description": h.description, "inLanguage": h.language, "isPartOf": site, "author": artist}
		var parts []thing
		for i := range listed {
			artwork := s.describeArtwork(&listed[i], h.language, pictures)
			if images, ok := artwork["image"].([]any); ok {
				artwork["image"] = images[0]
			}
			delete(artwork, "description") // the work's own page has its description and all its pictures
			parts = append(parts, artwork)
		}
		if len(parts) > 0 {
			gallery["hasPart"] = parts
		}
		graph = append(graph, gallery)
	}
	text, err := json.Marshal(map[string]any{"@context": "https://schema.org", "@graph": graph})
	return string(text), err
}

// describeArtwork describes a work in the language l. pictures contains the pictures of its files by URL.
func (s *Service) describeArtwork(w *work, l i18n.Language, pictures map[string]Picture) thing {
	at := s.cfg.SiteURL + localizePath(w.path(), l)
	artwork := thing{"@type": "VisualArtwork", "@id": s.cfg.SiteURL + w.path(), "url": at, "name": w.name(l), "creator": thing{"@id": s.cfg.SiteURL + "/#artist"}}
	var images []any // a URL, or an ImageObject for a picture with an alternative text
	for _, f := range w.fileURLs() {
		p, ok := pictures[f]
		if !ok {
			continue
		}
		if alt := w.ownAlt(l, f); alt != "" {
			images = append(images, thing{"@type": "ImageObject", "url": s.cfg.SiteURL + p.Large, "caption": alt})
		} else {
			images = append(images, s.cfg.SiteURL+p.Large)
		}
	}
	artwork.set("image", images)
	artwork.set("description", oneLine(inLanguage(l, w.Description, w.DescriptionPT)))
	artwork.set("artform", w.kind(l))
	artwork.set("artMedium", w.medium(l))
	artwork.set("size", w.dimensions(l))
	artwork.set("dateCreated", w.CreationDate)
	var tags []string
	for _, t := range w.Tags {
		tags = append(tags, oneLine(t))
	}
	artwork.set("keywords", joinFilled(", ", tags...))
	return artwork
}

// profileURLs returns the URLs of the artist's profiles. The owner may have entered a URL or only a user name, as in
// web/src/lib/site-links.ts.
func profileURLs(site settings.Site) (out []string) {
	for _, p := range [][2]string{{site.Instagram, "https://www.instagram.com/"}, {site.Facebook, "https://www.facebook.com/"}} {
		text := strings.TrimSpace(p[0])
		switch {
		case text == "":
		case strings.HasPrefix(strings.ToLower(text), "https://"), strings.HasPrefix(strings.ToLower(text), "http://"):
			out = append(out, text)
		default:
			out = append(out, p[1]+strings.TrimPrefix(text, "@"))
		}
	}
	return slices.Compact(out)
}
