package pages

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// queryResult is the result of a query of a page. It is part of the boot data, so that the page can be drawn immediately and its
// scripts need not request it.
type queryResult struct {
	key  []any           // pageQuery.Key
	data json.RawMessage // see pageQuery
}

// MarshalJSON writes [key, data], which web/src/lib/boot.ts reads.
func (q queryResult) MarshalJSON() ([]byte, error) { return json.Marshal([]any{q.key, q.data}) }

// hasReviews reports whether the site shows any reviews.
func (s *Service) hasReviews(ctx context.Context) (bool, error) {
	rows, err := s.cfg.Content.Rows(ctx, "reviews", "select=id&is_active=eq.true&limit=1")
	return len(rows) > 0, err
}

// readQueries returns the results of all queries for the page of a view. If the URL names a work that is not among the rows of
// these results, one more result with that work follows.
func (s *Service) readQueries(ctx context.Context, v view) (all []queryResult, err error) {
	page := s.manifest.page(v.path)
	if page == nil {
		return nil, nil
	}
	needsWork := v.workID != "" && page.WorkQuery != nil
	for _, q := range page.Queries {
		data, complete, err := s.runQuery(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, queryResult{q.Key, data})
		needsWork = needsWork && !complete && !strings.Contains(string(data), `"id":"`+v.workID+`"`)
	}
	if !needsWork {
		return all, nil
	}
	rows, err := s.cfg.Content.Rows(ctx, page.WorkQuery.Table, strings.ReplaceAll(page.WorkQuery.Query, workPlaceholder, v.workID))
	if err != nil {
		return nil, err
	}
	workResult := queryResult{slices.Clone(page.WorkQuery.Key), json.RawMessage("null")}
	if i := slices.Index(workResult.key, any(workPlaceholder)); i >= 0 {
		workResult.key[i] = v.workID
	}
	if len(rows) > 0 {
		workResult.data = json.RawMessage(rows[0])
	}
	return append(all, workResult), nil
}

// runQuery returns the data of a query in the form that pageQuery describes. complete is whether the data contain all rows.
func (s *Service) runQuery(ctx context.Context, q pageQuery) (data json.RawMessage, complete bool, err error) {
	query := q.Query
	if q.Limit > 0 {
		query += "&limit=" + strconv.Itoa(q.Limit)
	}
	rows, err := s.cfg.Content.Rows(ctx, q.Table, query)
	if err != nil {
		return nil, false, err
	}
	data = json.RawMessage("[" + strings.Join(rows, ",") + "]")
	if q.Limit == 0 {
		return data, true, nil
	}
	total, err := s.cfg.Content.Count(ctx, q.Table, q.Query)
	if err != nil {
		return nil, false, err
	}
	data, err = json.Marshal(map[string]any{"works": data, "total": total})
	return data, total <= int64(len(rows)), err
}
