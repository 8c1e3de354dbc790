package pages

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// This file renders the pages of a static copy for the command "atelie export". A static copy is the public pages as files that open from the
// disk. It cannot load more works into a gallery when a visitor scrolls. Therefore a gallery is divided into several parts, each a page of
// its own, and the carousels of the home page have more slides than on the site.

// slidesInCopy is the maximum number of works or reviews in a carousel of a static copy.
const slidesInCopy = 200

// StaticView selects a page of a static copy.
type StaticView struct {
	Path, Language string
	Work           string // id of the work that the page shows; "" for none
	Series         string // slug of the series that the page shows; "" for none
	Part           int    // number of the part of a gallery, from 0; 0 for other pages
}

// StaticPage is a rendered page of a static copy.
type StaticPage struct {
	HTML  []byte // with script elements as on the site, which package archive removes
	Parts int    // number of parts into which the gallery is divided; 1 for other pages
}

// RenderedPaths returns the paths of the pages that the server renders, which are those of a static copy. The error is ErrNotBuilt if the
// program was compiled without the site.
func (s *Service) RenderedPaths(ctx context.Context) ([]string, error) {
	if s.template == nil || s.renderer == nil {
		return nil, ErrNotBuilt
	}
	site, err := s.pagesOf(ctx)
	if err != nil {
		return nil, err
	}
	return site.serverRenderedPaths(), nil
}

// LocateStatic returns the page of the static copy that shows the work linked.Work, in the language linked.Language. The caller rewrites
// links to the work, so that they lead to this page. linked.Path is ignored, because the site can open a work over any page. ok is false if
// the site does not show the work.
func (s *Service) LocateStatic(ctx context.Context, linked StaticView) (found StaticView, ok bool, err error) {
	site, err := s.pagesOf(ctx)
	if err != nil {
		return found, false, err
	}
	for _, filter := range []string{site.worksOf("/"), site.condition} {
		w, err := s.readWork(ctx, filter, linked.Work)
		if err != nil {
			return found, false, err
		}
		if w != nil {
			found, ok = StaticView{Path: "/", Language: linked.Language, Work: w.ID}, true
			if w.typeHasGalleryPage {
				found.Path = galleryPath + w.Type
			}
		}
	}
	return found, ok, nil
}

// RenderStatic renders a page from the current content, without the page cache.
func (s *Service) RenderStatic(ctx context.Context, selected StaticView) (StaticPage, error) {
	v := view{path: selected.Path, language: selected.Language, status: http.StatusOK, workID: selected.Work, seriesSlug: selected.Series}
	b, err := s.readBoot(ctx, v)
	if err != nil {
		return StaticPage{}, err
	}
	site, err := s.pagesOf(ctx)
	if err != nil {
		return StaticPage{}, err
	}
	page := StaticPage{Parts: 1}
	_, isGallery := galleryFilter(v.path)
	namedSeries, err := s.seriesOf(ctx, v)
	if err != nil {
		return page, err
	}
	for i, q := range site.page(v.path).Queries {
		if q.Limit == 0 {
			continue
		}
		limit := slidesInCopy
		if isGallery {
			limit = q.Limit
			var total int64
			if namedSeries != nil {
				total, err = s.countSeriesWorks(ctx, namedSeries, site.worksOf(v.path))
			} else {
				total, err = s.cfg.Content.Count(ctx, q.Table, q.Query)
			}
			if err != nil {
				return page, err
			}
			page.Parts = max(1, (int(total)+limit-1)/limit)
		}
		var rows []string
		if namedSeries != nil {
			rows, err = s.seriesRows(ctx, namedSeries, site.worksOf(v.path), limit, selected.Part*limit)
		} else {
			rows, err = s.cfg.Content.Rows(ctx, q.Table, q.Query+"&limit="+strconv.Itoa(limit)+"&offset="+strconv.Itoa(selected.Part*limit))
		}
		if err != nil {
			return page, err
		}
		// The gallery grid reserves the height of all works in total. Without scripts, only those of this part appear, so total is
		// their number.
		if b.Queries[i].data, err = json.Marshal(map[string]any{"rows": joinRows(rows), "total": len(rows)}); err != nil {
			return page, err
		}
	}
	in, err := s.inputsFrom(ctx, v, b)
	if err != nil {
		return page, err
	}
	var complete bool
	if page.HTML, complete = s.assemble(ctx, v, in, true /* in advance: no visitor waits */); !complete {
		return StaticPage{}, fmt.Errorf("%s, %s: the page could not be rendered", selected.Path, selected.Language)
	}
	return page, nil
}
