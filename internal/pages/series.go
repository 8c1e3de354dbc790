package pages

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelie/internal/content"
	"atelie/internal/i18n"
)

// This file reads series (works that the owner shows together) and their works, for the gallery's pages and the sitemap.

// series is a row of the table series. A series without a Portuguese title or text is shown with the English one.
type series struct {
	ID        string    `json:"id"`
	Slug      string    `json:"slug"`      // its name in URLs, such as summer-2024
	Title     string    `json:"title"`     // in English; never "", because the table requires it
	TitlePT   string    `json:"title_pt"`  // in Portuguese; "" for none
	Text      string    `json:"text"`      // description in English; "" for none
	TextPT    string    `json:"text_pt"`   // description in Portuguese; "" for none
	ImageURL  string    `json:"image_url"` // picture of the chosen cover, or of the first published work with a picture; "" for none
	Types     []string  `json:"types"`     // types of its published works
	UpdatedAt time.Time `json:"updated_at"`
}

// selectSeries is the beginning of the query strings that read rows into the type series. A new field of the type needs its column here.
const selectSeries = "select=id,slug,title,title_pt,text,text_pt,image_url,types,updated_at&"

const (
	maxSlug        = 100 // characters; no series has a longer slug
	seriesPerQuery = 500 // series that addSeries (for the sitemap) reads with one query
)

// slugPattern matches words of lower-case letters and digits, joined by hyphens.
var slugPattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func isSlug(text string) bool { return len(text) <= maxSlug && slugPattern.MatchString(text) }

// withSeriesMissing returns the view for a URL with the slug of a series that does not exist: the same path, seriesMissing and the status
// 404. The view does not contain the slug, so that URLs with made-up slugs share one page in the cache.
func (v view) withSeriesMissing() view {
	v.seriesSlug, v.seriesMissing = "", true
	if v.status == http.StatusOK {
		v.status = http.StatusNotFound
	}
	return v
}

// name returns the title in a language. If the Portuguese title is missing, it returns the English title, which every series has.
func (e *series) name(l i18n.Language) string {
	if l == i18n.PT {
		return cmp.Or(oneLine(e.TitlePT), oneLine(e.Title))
	}
	return oneLine(e.Title)
}

// about returns the description in a language. If it is missing, about returns the description in the other language.
func (e *series) about(l i18n.Language) string {
	if l == i18n.PT {
		return cmp.Or(e.TextPT, e.Text)
	}
	return cmp.Or(e.Text, e.TextPT)
}

// path is the canonical URL of a series, which shows its works of all types.
func (e *series) path() string { return galleryPath + allTypes + "?series=" + e.Slug }

// seriesOf returns the series that a view names, or nil.
func (s *Service) seriesOf(ctx context.Context, v view) (*series, error) {
	if v.seriesSlug == "" {
		return nil, nil
	}
	return s.findSeries(ctx, "slug=eq."+v.seriesSlug+"&limit=1")
}

// findSeries returns the series that a query string selects, or nil if visitors see no such series.
func (s *Service) findSeries(ctx context.Context, query string) (*series, error) {
	found, err := readRows[series](ctx, s.cfg.Content, "series", selectSeries+query)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// locateSeries looks for the series that the URL of a view names. If the URL has an earlier slug of a series, redirect is the URL with
// the present one. If visitors see no such series, the returned view is that of a missing one. A cached page needs no search: it was
// made after one. at is the content version of the request.
func (s *Service) locateSeries(ctx context.Context, at content.Versions, v view) (_ view, redirect string, err error) {
	if v.seriesSlug == "" || s.isCached(at, v) {
		return v, "", nil
	}
	found, err := s.seriesOf(ctx, v)
	if err != nil || found != nil {
		return v, "", err
	}
	id, err := s.findSeriesByOldSlug(ctx, v.seriesSlug)
	if err == nil && id != "" {
		found, err = s.findSeries(ctx, "id=eq."+id)
	}
	if err != nil || found == nil {
		return v.withSeriesMissing(), "", err
	}
	target := v.path + "?series=" + found.Slug
	if v.workID != "" {
		target += "&art=" + v.workID
	}
	return v, localizePath(target, v.lang()), nil
}

// countSeriesWorks returns how many works of a series meet a condition on their type, as visitors see it.
func (s *Service) countSeriesWorks(ctx context.Context, e *series, condition string) (int64, error) {
	return s.cfg.Content.Count(ctx, "series_works", "series_id=eq."+e.ID+"&"+condition)
}

// seriesWorkIDs returns the ids of the works of a series that meet a condition on their type, in the order of the series.
func (s *Service) seriesWorkIDs(ctx context.Context, e *series, condition string, limit, offset int) ([]string, error) {
	pairs, err := readRows[struct {
		ProductID string `json:"product_id"`
	}](ctx, s.cfg.Content, "series_works", "select=product_id&series_id=eq."+e.ID+"&"+condition+"&order=position.asc&limit="+strconv.Itoa(limit)+"&offset="+strconv.Itoa(offset))
	ids := make([]string, len(pairs))
	for i, p := range pairs {
		ids[i] = p.ProductID
	}
	return ids, err
}

// seriesRows returns the rows of works of a series as the site's scripts read them.
func (s *Service) seriesRows(ctx context.Context, e *series, condition string, limit, offset int) ([]string, error) {
	ids, err := s.seriesWorkIDs(ctx, e, condition, limit, offset)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	rows, err := s.cfg.Content.Rows(ctx, "products", "select=*,media&id=in.("+strings.Join(ids, ",")+")")
	if err != nil {
		return nil, err
	}
	byID := make(map[string]string, len(rows))
	for _, text := range rows {
		var row struct{ ID string }
		if err := json.Unmarshal([]byte(text), &row); err != nil {
			return nil, fmt.Errorf("row of products: %w", err)
		}
		byID[row.ID] = text
	}
	var sorted []string
	for _, id := range ids {
		if text, ok := byID[id]; ok { // otherwise it was hidden since
			sorted = append(sorted, text)
		}
	}
	return sorted, nil
}

// readSeriesWorks returns the first works of a series that meet a condition on their type.
func (s *Service) readSeriesWorks(ctx context.Context, e *series, condition string, limit int) ([]work, error) {
	ids, err := s.seriesWorkIDs(ctx, e, condition, limit, 0)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	found, err := s.readWorks(ctx, "id=in.("+strings.Join(ids, ",")+")")
	slices.SortFunc(found, func(a, b work) int { return cmp.Compare(slices.Index(ids, a.ID), slices.Index(ids, b.ID)) })
	return found, err
}

// runSeriesQuery is runQuery for the works of a series, in place of q, the query for those of the gallery's page.
// web/src/features/artworks/api/get-series.ts makes the same key and data.
func (s *Service) runSeriesQuery(ctx context.Context, q pageQuery, e *series, filter, condition string, maxBytes int) (result queryResult, complete bool, err error) {
	result.key = []any{"products", "series", filter, e.Slug, 0}
	rows, err := s.seriesRows(ctx, e, condition, q.Limit, 0)
	if err != nil {
		return result, false, err
	}
	total, err := s.countSeriesWorks(ctx, e, condition)
	if err != nil {
		return result, false, err
	}
	complete, err = result.setRows(rows, total, maxBytes)
	return result, complete, err
}

// typesCondition returns the condition, in a query string, for series with a work of one of these types.
func typesCondition(types []string) string { return "types=ov.{" + strings.Join(types, ",") + "}" }

// addSeries adds the series whose works the gallery shows to a sitemap.
func (s *Service) addSeries(ctx context.Context, set *urlSet, site *sitePages) error {
	for offset := 0; ; {
		found, err := readRows[series](ctx, s.cfg.Content, "series", fmt.Sprintf("%s%s&order=position.asc&limit=%d&offset=%d", selectSeries, typesCondition(site.gallery.Types), seriesPerQuery, offset))
		if err != nil || len(found) == 0 {
			return err
		}
		offset += len(found)
		for i := range found {
			s.addPage(set, found[i].path(), found[i].UpdatedAt, nil)
		}
	}
}
