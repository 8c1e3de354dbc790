package pages

import (
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/i18n"
	"atelie/internal/settings"
)

// This file makes /sitemap.xml, which lists the URLs of pages, series and works for search engines. A new page of the site needs a call of
// addPage in addPages.

// Limits of a file of the sitemap. They keep it below the 50,000 URLs and 50 MB that sitemaps.org allows. If there are more works than fit
// into one file, /sitemap.xml is an index of several files.
const (
	sitemapWorks    = 5000 // works in a file; each has two URLs, one for each language
	sitemapPictures = 10   // listed pictures of each work
	worksPerQuery   = 500  // works that are read with one query
)

const sitemapType = "application/xml; charset=utf-8"

// XML namespaces of the elements of a sitemap.
const (
	sitemapNamespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
	imageNamespace   = "http://www.google.com/schemas/sitemap-image/1.1"
	xhtmlNamespace   = "http://www.w3.org/1999/xhtml"
)

// The elements of a sitemap and of an index of sitemaps, as encoding/xml writes them.
type (
	sitemapIndex struct {
		XMLName   xml.Name      `xml:"sitemapindex"`
		Namespace string        `xml:"xmlns,attr"`
		Parts     []sitemapPart `xml:"sitemap"`
	}
	sitemapPart struct {
		URL string `xml:"loc"`
	}
	urlSet struct {
		XMLName   xml.Name    `xml:"urlset"`
		Namespace string      `xml:"xmlns,attr"`
		Image     string      `xml:"xmlns:image,attr"`
		XHTML     string      `xml:"xmlns:xhtml,attr"`
		Pages     []mappedURL `xml:"url"`
	}
	mappedURL struct {
		URL        string        `xml:"loc"`
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
		URL     string `xml:"image:loc"`
		Caption string `xml:"image:caption,omitempty"`
	}
)

var errNoSitemapPart = apperr.New(http.StatusNotFound, "not_found", "There is no such part of the sitemap")

// Sitemap handles /sitemap.xml. The sitemap lists the pages and the works in both languages, with their pictures. If there are more works
// than fit into a file, the response is an index of the files /sitemap.xml?part=1, ?part=2 and so on.
func (s *Service) Sitemap(w http.ResponseWriter, r *http.Request) error {
	if err := allowRead(w, r); err != nil {
		return err
	}
	requestedPart := r.URL.Query().Get("part")
	if s.outageFile(w, r, "sitemap "+cmp.Or(requestedPart, "0"), sitemapType) {
		return nil
	}
	pages, err := s.pagesOf(r.Context())
	if err != nil {
		return err
	}
	total, err := s.cfg.Content.Count(r.Context(), "products", pages.condition)
	if err != nil {
		return err
	}
	parts := int((total + s.sitemapWorks - 1) / s.sitemapWorks)
	part := 0
	if requestedPart != "" {
		if part, err = strconv.Atoi(requestedPart); err != nil || part < 1 || part > parts || strconv.Itoa(part) != requestedPart {
			return errNoSitemapPart
		}
	}
	return s.serveGenerated(w, r, "sitemap "+strconv.Itoa(part), sitemapType, func(ctx context.Context) ([]byte, error) {
		if part == 0 && parts > 1 {
			return s.makeSitemapIndex(parts)
		}
		return s.makeSitemap(ctx, max(part, 1))
	})
}

func (s *Service) makeSitemapIndex(parts int) ([]byte, error) {
	index := sitemapIndex{Namespace: sitemapNamespace}
	for n := range parts {
		index.Parts = append(index.Parts, sitemapPart{fmt.Sprintf("%s/sitemap.xml?part=%d", s.cfg.SiteURL, n+1)})
	}
	return encodeXML(index)
}

// makeSitemap makes one file; the first also lists the pages without a work.
func (s *Service) makeSitemap(ctx context.Context, part int) ([]byte, error) {
	set := urlSet{Namespace: sitemapNamespace, Image: imageNamespace, XHTML: xhtmlNamespace}
	pages, err := s.pagesOf(ctx)
	if err != nil {
		return nil, err
	}
	if part == 1 {
		if err := s.addPages(ctx, &set, pages); err != nil {
			return nil, err
		}
	}
	// Only the first query uses an offset; the others go on after the last id.
	after := fmt.Sprintf("&offset=%d", int64(part-1)*s.sitemapWorks)
	for left := s.sitemapWorks; left > 0; {
		found, err := s.readWorks(ctx, fmt.Sprintf("%s&order=id.asc&limit=%d%s", pages.condition, min(worksPerQuery, left), after))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			break
		}
		left -= int64(len(found)) // the database may be configured to return fewer rows
		after = "&id=gt." + found[len(found)-1].ID
		if err := s.addWorks(ctx, &set, found); err != nil {
			return nil, err
		}
	}
	return encodeXML(set)
}

func (s *Service) addWorks(ctx context.Context, set *urlSet, works []work) error {
	known, err := s.readPicturesOf(ctx, works)
	if err != nil {
		return err
	}
	for _, w := range works {
		images := func(l i18n.Language) (images []mappedImage) {
			for _, f := range w.fileURLs() {
				if p, ok := known[f]; ok && len(images) < sitemapPictures {
					images = append(images, mappedImage{s.cfg.SiteURL + p.Large, w.ownAlt(l, f)})
				}
			}
			return images
		}
		s.addPage(set, w.path(), w.changedAt(), images)
	}
	return nil
}

// addPages adds home, the galleries that hold works, the series, and the privacy page.
func (s *Service) addPages(ctx context.Context, set *urlSet, site *sitePages) error {
	saved, err := settings.SiteChanged(ctx, s.db)
	if err != nil {
		return err
	}
	home := saved // when the home page was last changed
	later := func(rows []work) (at time.Time) {
		for _, w := range rows {
			at = latest(at, w.changedAt())
		}
		home = latest(home, at)
		return at
	}
	galleries := urlSet{}
	for _, p := range site.Pages {
		filter, ok := galleryFilter(p.Path)
		if !ok {
			continue
		}
		// The work that was written last, and the one that was published last: a scheduled work becomes visible without being written.
		newest, err := s.readInOrders(ctx, p.WorksFilter, 1, "updated_at.desc.nullslast", "published_at.desc")
		if err != nil {
			return err
		}
		if len(newest) > 0 || filter == allTypes {
			s.addPage(&galleries, p.Path, later(newest), nil)
		}
	}
	for _, q := range []struct{ table, query string }{
		{"cover_images", "select=updated_at&is_active=eq.true&order=updated_at.desc.nullslast&limit=1"},
		{"cover_images", "select=published_at:visible_from&is_active=eq.true&order=visible_from.desc.nullslast&limit=1"}, // shown without being written
		{"reviews", "select=updated_at&is_active=eq.true&order=updated_at.desc.nullslast&limit=1"},
	} {
		rows, err := readRows[work](ctx, s.cfg.Content, q.table, q.query)
		if err != nil {
			return err
		}
		later(rows)
	}
	s.addPage(set, "/", home, nil)
	set.Pages = append(set.Pages, galleries.Pages...)
	if err := s.addSeries(ctx, set, site); err != nil {
		return err
	}
	s.addPage(set, "/politica-privacidade", saved, nil)
	return nil
}

// readInOrders returns the first works of each of these orders, at most limit of each, among the works that meet a condition.
func (s *Service) readInOrders(ctx context.Context, condition string, limit int, orders ...string) (all []work, err error) {
	for _, order := range orders {
		found, err := s.readWorks(ctx, condition+"&order="+order+"&limit="+strconv.Itoa(limit))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// addPage adds a URL in both languages, each with a link to the other. images returns the pictures of the page, with captions in a
// language; nil for none.
func (s *Service) addPage(set *urlSet, path string, changed time.Time, images func(i18n.Language) []mappedImage) {
	alternates := []alternate{{"alternate", "x-default", s.cfg.SiteURL + path}}
	for _, l := range i18n.Languages {
		alternates = append(alternates, alternate{"alternate", string(l), s.cfg.SiteURL + localizePath(path, l)})
	}
	modified := ""
	if !changed.IsZero() {
		modified = formatTime(changed)
	}
	for _, l := range i18n.Languages {
		page := mappedURL{URL: s.cfg.SiteURL + localizePath(path, l), Modified: modified, Alternates: alternates}
		if images != nil {
			page.Images = images(l)
		}
		set.Pages = append(set.Pages, page)
	}
}
