package pages

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"atelie/internal/settings"
)

// This file applies the owner's choices for the gallery to the pages of the build: which types of works the gallery shows, and in which
// order works are listed.

// Parts of the queries in the page manifest (the list of pages that the build writes). They select and order works by the default choices.
// The method choose replaces them with the parts for the owner's choices.
const (
	builtCondition = "artwork_type=not.in.(oil,acrylic)"    // selects the works that the gallery shows
	builtOrder     = "order=created_at.desc"                // the order in which works are listed
	builtTypes     = "types=ov.{digital,mural,watercolour}" // selects the series with a work of a type that the gallery shows (ov: overlaps)
)

// sitePages is the page manifest with the owner's choices: it has no pages for types of works that the gallery does not show, and its
// queries select and order works as the owner has chosen. Requests share it and must not change it.
type sitePages struct {
	pageManifest
	// edited is the content version (a number that each change of visible content raises) of the last edit before the settings were read.
	// After a later edit, the settings are read again.
	edited    int64
	gallery   settings.Gallery
	condition string // selects the works that the gallery shows, as a query string
	order     string // the order of the gallery's works, as a query string
}

// newSitePages returns the pages of a site with these choices for its gallery.
func newSitePages(built pageManifest, g settings.Gallery) *sitePages {
	p := &sitePages{pageManifest: built, gallery: g, condition: worksCondition(g), order: "order=" + g.Order}
	p.Pages = nil
	for _, builtPage := range built.Pages {
		filter, isGallery := galleryFilter(builtPage.Path)
		switch {
		case !isGallery: // such as the home page, for whose row of works the owner can choose another order (EffectiveStripOrder)
			p.Pages = append(p.Pages, builtPage.choose(p.condition, "order="+g.EffectiveStripOrder(), g.Types))
		case filter == allTypes: // the page with all works; the pages of the shown types follow it in the owner's order
			p.Pages = append(p.Pages, builtPage.choose(p.condition, p.order, g.Types))
			for _, t := range g.Types {
				if typePage := built.page(galleryPath + t); typePage != nil {
					p.Pages = append(p.Pages, typePage.choose(p.condition, p.order, g.Types))
				}
			}
		}
	}
	return p
}

// choose returns a copy of the page with another condition and order in its queries for works, and with other types in its query for series.
func (p page) choose(condition, order string, types []string) page {
	replacer := strings.NewReplacer(builtCondition, condition, builtOrder, order)
	p.WorksFilter = replacer.Replace(p.WorksFilter)
	p.Queries = slices.Clone(p.Queries)
	for i := range p.Queries {
		switch q := &p.Queries[i]; q.Table {
		case "products":
			q.Query = replacer.Replace(q.Query)
		case "series":
			q.Query = strings.ReplaceAll(q.Query, builtTypes, typesCondition(types))
		}
	}
	if p.WorkQuery != nil {
		query := *p.WorkQuery
		query.Query = replacer.Replace(query.Query)
		p.WorkQuery = &query
	}
	return p
}

// worksCondition returns the condition, in a query string, for all works that the gallery shows. It never shows works without a type.
// web/src/features/artworks/api/type-conditions.ts makes the same text, so that browsers share cached responses with the server.
func worksCondition(g settings.Gallery) string {
	hidden := g.HiddenTypes()
	if len(hidden) == 0 {
		return "artwork_type=not.is.null"
	}
	return "artwork_type=not.in.(" + strings.Join(hidden, ",") + ")"
}

// pagesOf returns the pages of the site as the owner has chosen. It reads the settings once after each edit.
func (s *Service) pagesOf(ctx context.Context) (*sitePages, error) {
	at, _, err := s.cache.version.Serving(ctx)
	if err != nil {
		return nil, err
	}
	if p := s.sitePages.Load(); p != nil && p.edited == at.Edited {
		return p, nil
	}
	site, err := settings.LoadSite(ctx, s.db)
	if err != nil {
		return nil, err
	}
	p := newSitePages(s.manifest, site.Gallery)
	p.edited = at.Edited
	s.sitePages.Store(p)
	return p, nil
}

// emptyTypes returns the types that the gallery shows but that have no works, if the owner has chosen that such types have no filter
// button.
func (s *Service) emptyTypes(ctx context.Context, g settings.Gallery) (empty []string, err error) {
	if !g.HideEmpty {
		return nil, nil
	}
	for _, t := range g.Types {
		rows, err := s.cfg.Content.Rows(ctx, "products", "select=id&artwork_type=eq."+t+"&limit=1")
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 {
			empty = append(empty, t)
		}
	}
	return empty, nil
}

// checkWorks returns an error if a gallery page of the build has another condition or order than newSitePages replaces.
func (m pageManifest) checkWorks() error {
	for _, p := range m.Pages {
		for _, q := range p.Queries {
			filter, gallery := galleryFilter(p.Path)
			if q.Table == "series" && filter == allTypes && !strings.Contains(q.Query, builtTypes) {
				return fmt.Errorf("manifest of the pages: %s lists its series by %s", p.Path, q.Query)
			}
			if q.Table == "products" && (gallery && !strings.Contains(q.Query, builtCondition) || !strings.Contains(q.Query, builtOrder)) {
				return fmt.Errorf("manifest of the pages: %s lists its works by %s", p.Path, q.Query)
			}
		}
	}
	return nil
}
