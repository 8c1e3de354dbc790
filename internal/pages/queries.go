package pages

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"atelie/internal/content"
)

// This file runs the queries of a page's components, which the build lists in the page manifest (pageQuery).

// queryResult is the result of a query of a page. It is part of the boot data (the JSON embedded in the page), so that the page can
// be rendered immediately and its scripts need not request it.
type queryResult struct {
	key       []any           // the key under which the page's components find the result
	data      json.RawMessage // all rows as an array; for a query with a limit {"rows": [], "total": 0}
	truncated bool            // rows were left out because of their size
}

// MarshalJSON writes [key, data], or [key, data, true] if rows were left out. web/src/lib/boot.ts reads it.
func (q queryResult) MarshalJSON() ([]byte, error) {
	if q.truncated {
		return json.Marshal([]any{q.key, q.data, true})
	}
	return json.Marshal([]any{q.key, q.data})
}

// rowBytes limits the size of results, so that long texts do not make a page large. The rows of a pageQuery with a Limit have at most Limit ×
// rowBytes bytes together; further rows are left out. Most rows have less than half of rowBytes.
const rowBytes = 2560

// hasReviews reports whether the site shows any reviews.
func (s *Service) hasReviews(ctx context.Context) (bool, error) {
	rows, err := s.cfg.Content.Rows(ctx, "reviews", "select=id&is_active=eq.true&limit=1")
	return len(rows) > 0, err
}

// readQueries returns the results of all queries for the page of a view. If the URL names a series, the queries for works return only the
// works of the series, and readQueries adds a result with the series. If the URL names a work that is not in these results, readQueries adds
// a result with the work.
func (s *Service) readQueries(ctx context.Context, v view) (all []queryResult, err error) {
	site, err := s.pagesOf(ctx)
	if err != nil {
		return nil, err
	}
	page := site.page(v.path)
	if page == nil {
		return nil, nil
	}
	needsWork := v.workID != "" && page.WorkQuery != nil
	namedSeries, err := s.seriesOf(ctx, v) // nil if the URL names no series
	if err != nil {
		return nil, err
	}
	for _, q := range page.Queries {
		maxBytes := q.Limit * rowBytes
		if q.Table == "reviews" && v.reviewsPage == 1 {
			maxBytes = math.MaxInt // visitors open this page to read what the home page leaves out
		}
		var (
			result   queryResult
			complete bool
		)
		if namedSeries != nil && q.Table == "products" {
			filter, _ := galleryFilter(v.path)
			result, complete, err = s.runSeriesQuery(ctx, q, namedSeries, filter, page.WorksFilter, maxBytes)
		} else {
			result, complete, err = s.runQuery(ctx, q, 0 /* the first page of rows */, maxBytes)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, result)
		if q.Table == "reviews" && v.reviewsPage > 1 {
			further, _, err := s.runQuery(ctx, q, v.reviewsPage-1, math.MaxInt)
			if err != nil {
				return nil, err
			}
			all = append(all, further)
		}
		if needsWork && q.Table == page.WorkQuery.Table {
			// The gallery can have a work that a series lacks, even if all works of the series were read.
			needsWork = (namedSeries != nil || !complete) && !strings.Contains(string(result.data), `"id":"`+v.workID+`"`)
		}
	}
	if namedSeries != nil {
		// The row with everything that the page shows of the series.
		query := "select=id,slug,title,title_pt,text,text_pt,image_url,types,media&slug=eq." + v.seriesSlug
		result, err := s.readRow(ctx, []any{"series", "one", v.seriesSlug}, "series", query)
		if err != nil {
			return nil, err
		}
		all = append(all, result)
	}
	if !needsWork {
		return all, nil
	}
	key := slices.Clone(page.WorkQuery.Key)
	if i := slices.Index(key, any(workPlaceholder)); i >= 0 {
		key[i] = v.workID
	}
	result, err := s.readRow(ctx, key, page.WorkQuery.Table, strings.ReplaceAll(page.WorkQuery.Query, workPlaceholder, v.workID))
	return append(all, result), err
}

// readRow returns the result of a query that selects at most one row: the row, or null if there is none.
func (s *Service) readRow(ctx context.Context, key []any, table, query string) (result queryResult, err error) {
	result = queryResult{key: key, data: json.RawMessage("null")}
	rows, err := s.cfg.Content.Rows(ctx, table, query)
	if len(rows) > 0 {
		result.data = json.RawMessage(rows[0])
	}
	return result, err
}

// locateReviews returns the view without its page of reviews if there are not so many pages, so that made-up numbers share the
// home page in the cache. A cached page needs no count. at is the content version of the request.
func (s *Service) locateReviews(ctx context.Context, at content.Versions, v view) (view, error) {
	if v.reviewsPage == 0 || s.isCached(at, v) {
		return v, nil
	}
	queries := s.manifest.page(v.path).Queries // those of reviews do not depend on the gallery
	i := slices.IndexFunc(queries, func(q pageQuery) bool { return q.Table == "reviews" })
	if i < 0 {
		v.reviewsPage = 0
		return v, nil
	}
	total, err := s.cfg.Content.Count(ctx, "reviews", queries[i].Query)
	if int64((v.reviewsPage-1)*queries[i].Limit) >= total {
		v.reviewsPage = 0
	}
	return v, err
}

// runQuery returns the result of a query in the form that pageQuery describes. Of a query with a Limit this is one page of rows,
// counted from 0, without the last rows if they have more than maxBytes together. complete is whether it contains all rows.
func (s *Service) runQuery(ctx context.Context, q pageQuery, page, maxBytes int) (result queryResult, complete bool, err error) {
	result.key = q.Key
	query := q.Query
	if q.Limit > 0 {
		query += "&limit=" + strconv.Itoa(q.Limit)
	}
	if page > 0 {
		result.key = append(slices.Clone(q.Key[:len(q.Key)-1]), page)
		query += "&offset=" + strconv.Itoa(page*q.Limit)
	}
	rows, err := s.cfg.Content.Rows(ctx, q.Table, query)
	if err != nil {
		return result, false, err
	}
	if q.Limit == 0 {
		result.data = joinRows(rows)
		return result, true, nil
	}
	total, err := s.cfg.Content.Count(ctx, q.Table, q.Query)
	if err != nil {
		return result, false, err
	}
	complete, err = result.setRows(rows, total, maxBytes)
	return result, complete, err
}

func joinRows(rows []string) json.RawMessage {
	return json.RawMessage("[" + strings.Join(rows, ",") + "]")
}

// setRows sets the data to the first rows that have at most maxBytes together, but at least one row if there are any. total is the number
// of all rows; complete reports whether the data contains all of them.
func (r *queryResult) setRows(rows []string, total int64, maxBytes int) (complete bool, err error) {
	n := 0
	for bytes := 0; n < len(rows); n++ {
		if bytes += len(rows[n]); n > 0 && bytes > maxBytes {
			break
		}
	}
	r.truncated = n < len(rows)
	r.data, err = json.Marshal(map[string]any{"rows": joinRows(rows[:n]), "total": total})
	return total <= int64(n), err
}
