package pages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
)

// This file draws the pages of a static copy: the same pages, with all works of the gallery on several pages.

// StaticView names a page of a static copy. Work is the id of a work that the page shows, or "". Part counts the pages of a gallery
// from 0; other pages have one part.
type StaticView struct {
	Path, Language, Work string
	Part                 int
}

// StaticPage is a drawn page of a static copy. Its HTML still has the scripts of the page. Parts is the number of parts that the
// gallery has; 1 for other pages.
type StaticPage struct {
	HTML  []byte
	Parts int
}

// DrawnPaths returns the paths of the pages that the server draws. The error is ErrNotBuilt if the program was compiled without
// the site.
func (s *Service) DrawnPaths() ([]string, error) {
	if s.template == nil || s.renderer == nil {
		return nil, ErrNotBuilt
	}
	return s.manifest.drawnPaths(), nil
}

var errNotDrawn = errors.New("the page could not be drawn")

// LocateStatic returns the view that has the page of a work on the site, for a link to the work at any path. ok is false if the
// site has no such work.
func (s *Service) LocateStatic(ctx context.Context, linked StaticView) (at StaticView, ok bool, err error) {
	for _, filter := range []string{s.manifest.page("/").Works, s.allInGallery()} {
		w, err := s.workWith(ctx, filter, linked.Work)
		if err != nil {
			return at, false, err
		}
		if w != nil {
			at, ok = StaticView{Path: "/", Language: linked.Language, Work: w.ID}, true
			if w.inGallery {
				at.Path = galleryPath + w.Type
			}
		}
	}
	return at, ok, nil
}

// DrawStatic draws a page from the current content, past the page cache. The works of a gallery beyond its first page follow on the
// gallery's further parts.
func (s *Service) DrawStatic(ctx context.Context, of StaticView) (StaticPage, error) {
	v := view{path: of.Path, language: of.Language, status: http.StatusOK, art: of.Work}
	b, err := s.readBoot(ctx, v)
	if err != nil {
		return StaticPage{}, err
	}
	page := StaticPage{Parts: 1}
	for i, q := range s.manifest.page(v.path).Queries {
		if q.Limit == 0 {
			continue
		}
		var shown struct {
			Works []json.RawMessage `json:"works"`
			Total int               `json:"total"`
		}
		if err := json.Unmarshal(b.Queries[i].data, &shown); err != nil {
			return page, err
		}
		page.Parts = max(1, (shown.Total+q.Limit-1)/q.Limit)
		if of.Part > 0 {
			rows, err := s.cfg.Content.Rows(ctx, q.Table, q.Query+"&limit="+strconv.Itoa(q.Limit)+"&offset="+strconv.Itoa(of.Part*q.Limit))
			if err != nil {
				return page, err
			}
			shown.Works = shown.Works[:0]
			for _, row := range rows {
				shown.Works = append(shown.Works, json.RawMessage(row))
			}
		}
		// The grid reserves the height of all works, and without scripts the others never come: so the total is that of the part.
		if b.Queries[i].data, err = json.Marshal(map[string]any{"works": shown.Works, "total": len(shown.Works)}); err != nil {
			return page, err
		}
	}
	in := pageInputs{}
	if in.head, err = s.head(ctx, v, b); err != nil {
		return page, err
	}
	data, err := json.Marshal(b)
	if err != nil {
		return page, err
	}
	in.boot = string(data)
	html, complete := s.assemble(ctx, v, in)
	if !complete {
		return page, fmt.Errorf("%s, %s: %w", of.Path, of.Language, errNotDrawn)
	}
	page.HTML = html
	return page, nil
}
