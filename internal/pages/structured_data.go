package pages

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"atelie/internal/i18n"
	"atelie/internal/settings"
)

// worksInData is the largest number of works in the structured data of a gallery page. The newest works come first.
const worksInData = 24

// thing is an object of the structured data: schema.org properties by name.
type thing map[string]any

// set sets a property, unless its value is an empty text or list.
func (t thing) set(name string, value any) {
	switch v := value.(type) {
	case string:
		if v == "" {
			return
		}
	case []string:
		if len(v) == 0 {
			return
		}
	}
	t[name] = value
}

// structuredData describes the page for search engines as JSON-LD (schema.org): the artist, the site, and the gallery or
// work of the page. It has no Offer, because works have no price. The text contains no "<", so it cannot end its script
// element.
func (s *Service) structuredData(ctx context.Context, h pageHead) (string, error) {
	root := s.cfg.SiteURL
	artist, site := thing{"@id": root + "/#artist"}, thing{"@id": root + "/#website"}
	person := thing{"@type": "Person", "@id": root + "/#artist", "name": line(h.site.Name), "url": root + "/"}
	person.set("sameAs", profiles(h.site))
	person.set("description", line(h.site.Text(h.language, func(t settings.Texts) string { return t.AboutTitle })))
	var listed []work
	switch {
	case h.work != nil:
		listed = []work{*h.work}
	case h.filter != "":
		var err error
		if listed, err = s.works(ctx, s.manifest.page(galleryPath+h.filter).Works+"&order=created_at.desc&limit="+strconv.Itoa(worksInData)); err != nil {
			return "", err
		}
	}
	known, err := s.picturesOf(ctx, listed, h.site.Portrait)
	if err != nil {
		return "", err
	}
	if p, ok := known[h.site.Portrait]; ok {
		person.set("image", root+p.Large)
	}
	graph := []thing{person, {
		"@type": "WebSite", "@id": root + "/#website", "url": root + "/", "name": line(h.site.Name), "inLanguage": i18n.Languages, "publisher": artist,
	}}
	at := root + localized(h.path, h.language)
	switch {
	case h.work != nil:
		one := s.artwork(h.work, h.language, known)
		one.set("mainEntityOfPage", at)
		one.set("isPartOf", site)
		graph = append(graph, one)
	case h.filter != "":
		gallery := thing{"@type": "ImageGallery", "@id": at, "url": at, "name": h.title, "description": h.description, "inLanguage": h.language, "isPartOf": site, "author": artist}
		var parts []thing
		for i := range listed {
			one := s.artwork(&listed[i], h.language, known)
			if images, ok := one["image"].([]string); ok {
				one["image"] = images[0]
			}
			delete(one, "description") // the work's own page has its description and all its pictures
			parts = append(parts, one)
		}
		if len(parts) > 0 {
			gallery["hasPart"] = parts
		}
		graph = append(graph, gallery)
	}
	text, err := json.Marshal(map[string]any{"@context": "https://schema.org", "@graph": graph})
	return string(text), err
}

func (s *Service) artwork(w *work, l i18n.Language, known map[string]Picture) thing {
	at := s.cfg.SiteURL + localized(w.path(), l)
	one := thing{"@type": "VisualArtwork", "@id": s.cfg.SiteURL + w.path(), "url": at, "name": w.name(l), "creator": thing{"@id": s.cfg.SiteURL + "/#artist"}}
	var images []string
	for _, f := range w.files() {
		if p, ok := known[f]; ok {
			images = append(images, s.cfg.SiteURL+p.Large)
		}
	}
	one.set("image", images)
	one.set("description", line(w.Description))
	one.set("artform", w.kind(l))
	one.set("artMedium", line(w.Medium))
	one.set("size", line(w.Dimensions))
	one.set("dateCreated", w.CreationDate)
	var tags []string
	for _, t := range w.Tags {
		tags = append(tags, line(t))
	}
	one.set("keywords", joinFilled(", ", tags...))
	return one
}

// profiles returns the URLs of the artist's profiles. The owner may have entered a URL or only a user name, as in
// web/src/lib/site-links.ts.
func profiles(site settings.Site) (out []string) {
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
