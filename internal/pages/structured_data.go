package pages

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"atelie/internal/i18n"
)

// hungInData is how many works of a wall its structured data lists, the newest first.
const hungInData = 24

// thing is a node of schema.org's graph; members that are empty are left out.
type thing map[string]any

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

// structuredData describes the page as JSON-LD (schema.org): the artist, the site, and the wall or the work. There is no
// Offer: nothing here has a price (READING §3.23). The text holds no "<", so it cannot leave its block.
func (s *Service) structuredData(ctx context.Context, h pageHead) (string, error) {
	root := s.cfg.SiteURL
	artist, site := thing{"@id": root + "/#artist"}, thing{"@id": root + "/#website"}
	person := thing{"@type": "Person", "@id": root + "/#artist", "name": line(h.site.Name), "url": root + "/"}
	person.set("sameAs", profiles(h.site))
	person.set("description", line(ownText(h.site, h.language, func(t Texts) string { return t.AboutTitle })))
	files := []string{h.site.Portrait}
	var hung []work
	switch {
	case h.work != nil:
		files = append(files, h.work.files()...)
	case h.wall != "":
		var err error
		if hung, err = s.works(ctx, onWall(h.wall)+"&order=created_at.desc&limit="+strconv.Itoa(hungInData)); err != nil {
			return "", err
		}
		for _, w := range hung {
			files = append(files, w.files()...)
		}
	}
	known, err := s.pictures(ctx, files)
	if err != nil {
		return "", err
	}
	if p, ok := known[h.site.Portrait]; ok {
		person.set("image", root+p.Large)
	}
	graph := []thing{person, {
		"@type": "WebSite", "@id": root + "/#website", "url": root + "/", "name": line(h.site.Name), "inLanguage": i18n.Languages, "publisher": artist,
	}}
	at := root + inLanguage(h.path, h.language)
	switch {
	case h.work != nil:
		one := s.artwork(h.work, h.language, known)
		one.set("mainEntityOfPage", at)
		one.set("isPartOf", site)
		graph = append(graph, one)
	case h.wall != "":
		gallery := thing{"@type": "ImageGallery", "@id": at, "url": at, "name": h.title, "description": h.description, "inLanguage": h.language, "isPartOf": site, "author": artist}
		var parts []thing
		for i := range hung {
			one := s.artwork(&hung[i], h.language, known)
			if images, ok := one["image"].([]string); ok {
				one["image"] = images[0]
			}
			delete(one, "description") // it and the other pictures stand on the work's own page
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
	at := s.cfg.SiteURL + inLanguage(w.path(), l)
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

// profiles are the artist's pages elsewhere, as addresses: the owner may give a name alone (web/src/lib/site-links.ts).
func profiles(site Site) (out []string) {
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
