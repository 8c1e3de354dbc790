package pages

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/i18n"
)

// Limits of a sitemap. sitemaps.org allows 50,000 addresses and 50 MB in a file; with their pictures and languages these
// stay below both. From more works on than a file holds, /sitemap.xml is an index.
const (
	mappedWorks    = 5000 // in a file, each in both languages
	mappedPictures = 10   // of a work
	mappedAtOnce   = 500  // works in one question to the database
)

const (
	sitemapSpace = "http://www.sitemaps.org/schemas/sitemap/0.9"
	imageSpace   = "http://www.google.com/schemas/sitemap-image/1.1"
	xhtmlSpace   = "http://www.w3.org/1999/xhtml"
)

type (
	sitemapIndex struct {
		XMLName xml.Name      `xml:"sitemapindex"`
		Space   string        `xml:"xmlns,attr"`
		Parts   []sitemapPart `xml:"sitemap"`
	}
	sitemapPart struct {
		Address string `xml:"loc"`
	}
	urlSet struct {
		XMLName xml.Name    `xml:"urlset"`
		Space   string      `xml:"xmlns,attr"`
		Image   string      `xml:"xmlns:image,attr"`
		XHTML   string      `xml:"xmlns:xhtml,attr"`
		Pages   []mappedURL `xml:"url"`
	}
	mappedURL struct {
		Address    string        `xml:"loc"`
		Modified   string        `xml:"lastmod,omitempty"`
		Alternates []alternate   `xml:"xhtml:link"`
		Images     []mappedImage `xml:"image:image"`
	}
	alternate struct {
		Rel      string `xml:"rel,attr"`
		Language string `xml:"hreflang,attr"`
		Href     string `xml:"href,attr"`
	}
	mappedImage struct {
		Address string `xml:"image:loc"`
	}
)

var errNoPart = apperr.New(http.StatusNotFound, "not_found", "There is no such part of the sitemap")

// Sitemap answers /sitemap.xml: the pages and the works in both languages, with their pictures. Of a site with more works than
// a file holds it is the index, and ?part=1 and so on are the files.
func (s *Service) Sitemap(w http.ResponseWriter, r *http.Request) error {
	if err := onlyRead(w, r); err != nil {
		return err
	}
	total := int64(0)
	if s.cfg.Content.Count != nil {
		var err error
		if total, err = s.cfg.Content.Count(r.Context(), "products", onWall(allWorks)); err != nil {
			return err
		}
	}
	parts := int((total + s.mappedWorks - 1) / s.mappedWorks)
	part := 0
	if text := r.URL.Query().Get("part"); text != "" {
		var err error
		if part, err = strconv.Atoi(text); err != nil || part < 1 || part > parts || strconv.Itoa(part) != text {
			return errNoPart
		}
	}
	return s.generated(w, r, "sitemap "+strconv.Itoa(part), "application/xml; charset=utf-8", func(ctx context.Context) ([]byte, error) {
		if part == 0 && parts > 1 {
			return s.sitemapIndex(parts)
		}
		return s.sitemap(ctx, max(part, 1))
	})
}

func (s *Service) sitemapIndex(parts int) ([]byte, error) {
	index := sitemapIndex{Space: sitemapSpace}
	for n := range parts {
		index.Parts = append(index.Parts, sitemapPart{fmt.Sprintf("%s/sitemap.xml?part=%d", s.cfg.SiteURL, n+1)})
	}
	return asXML(index)
}

// sitemap makes one file; the pages that are no work's stand in the first.
func (s *Service) sitemap(ctx context.Context, part int) ([]byte, error) {
	set := urlSet{Space: sitemapSpace, Image: imageSpace, XHTML: xhtmlSpace}
	if part == 1 {
		if err := s.mapPages(ctx, &set); err != nil {
			return nil, err
		}
	}
	// Only the first question skips the works before this part; the further ones go on behind the last work.
	after := fmt.Sprintf("&offset=%d", int64(part-1)*s.mappedWorks)
	for left := s.mappedWorks; left > 0; {
		found, err := s.works(ctx, fmt.Sprintf("%s&order=id.asc&limit=%d%s", onWall(allWorks), min(mappedAtOnce, left), after))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			break
		}
		left -= int64(len(found)) // the database may be set to show fewer rows at once
		after = "&id=gt." + found[len(found)-1].ID
		if err := s.mapWorks(ctx, &set, found); err != nil {
			return nil, err
		}
	}
	return asXML(set)
}

func (s *Service) mapWorks(ctx context.Context, set *urlSet, works []work) error {
	var files []string
	for _, w := range works {
		files = append(files, w.files()...)
	}
	known, err := s.pictures(ctx, files)
	if err != nil {
		return err
	}
	for _, w := range works {
		var images []mappedImage
		for _, f := range w.files() {
			if p, ok := known[f]; ok && len(images) < mappedPictures {
				images = append(images, mappedImage{s.cfg.SiteURL + p.Large})
			}
		}
		s.mapPage(set, w.path(), w.changed(), images)
	}
	return nil
}

// mapPages adds home, the walls on which something hangs, and the privacy page.
func (s *Service) mapPages(ctx context.Context, set *urlSet) error {
	saved, err := siteChanged(ctx, s.db)
	if err != nil {
		return err
	}
	latest := saved
	later := func(rows []work) time.Time {
		at := time.Time{}
		for _, w := range rows {
			at = w.changed()
		}
		if at.After(latest) {
			latest = at
		}
		return at
	}
	walls := map[string]time.Time{}
	for _, wall := range append([]string{allWorks}, hungTypes...) {
		newest, err := s.works(ctx, onWall(wall)+"&order=updated_at.desc.nullslast&limit=1")
		if err != nil {
			return err
		}
		if len(newest) > 0 || wall == allWorks {
			walls[wall] = later(newest)
		}
	}
	for _, table := range []string{"cover_images", "reviews"} {
		rows, err := readRows[work](ctx, s.cfg.Content, table, "select=updated_at&is_active=eq.true&order=updated_at.desc.nullslast&limit=1")
		if err != nil {
			return err
		}
		later(rows)
	}
	s.mapPage(set, "/", latest, nil)
	for _, wall := range append([]string{allWorks}, hungTypes...) {
		if at, ok := walls[wall]; ok {
			s.mapPage(set, "/gallery/"+wall, at, nil)
		}
	}
	s.mapPage(set, "/politica-privacidade", saved, nil)
	return nil
}

// mapPage adds an address in both languages, each with the way to the other.
func (s *Service) mapPage(set *urlSet, path string, changed time.Time, images []mappedImage) {
	alternates := []alternate{{"alternate", "x-default", s.cfg.SiteURL + path}}
	for _, l := range i18n.Languages {
		alternates = append(alternates, alternate{"alternate", string(l), s.cfg.SiteURL + inLanguage(path, l)})
	}
	modified := ""
	if !changed.IsZero() {
		modified = stamp(changed)
	}
	for _, l := range i18n.Languages {
		set.Pages = append(set.Pages, mappedURL{Address: s.cfg.SiteURL + inLanguage(path, l), Modified: modified, Alternates: alternates, Images: images})
	}
}
