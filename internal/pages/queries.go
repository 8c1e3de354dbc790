package pages

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// queryData is a query of a page with its data. It is part of the boot data, so that the page can be drawn immediately and
// its scripts need no request for these data.
type queryData struct {
	key  []any
	data json.RawMessage
}

// MarshalJSON writes [key, data], which web/src/lib/boot.ts reads.
func (q queryData) MarshalJSON() ([]byte, error) { return json.Marshal([]any{q.key, q.data}) }

// hasReviews reports whether the site shows any reviews.
func (s *Service) hasReviews(ctx context.Context) (bool, error) {
	rows, err := s.cfg.Content.Rows(ctx, "reviews", "select=id&is_active=eq.true&limit=1")
	return len(rows) > 0, err
}

// queries returns the data of all queries of a view's page. If the URL names a work that is not among their rows, the
// data of that work are the last entry.
func (s *Service) queries(ctx context.Context, v view) (all []queryData, err error) {
	page := s.manifest.page(v.path)
	if page == nil {
		return nil, nil
	}
	needsWork := v.art != "" && page.Work != nil
	for _, q := range page.Queries {
		data, complete, err := s.runQuery(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, queryData{q.Key, data})
		needsWork = needsWork && !complete && !strings.Contains(string(data), `"id":"`+v.art+`"`)
	}
	if !needsWork {
		return all, nil
	}
	rows, err := s.cfg.Content.Rows(ctx, page.Work.Table, strings.ReplaceAll(page.Work.Query, artParameter, v.art))
	if err != nil {
		return nil, err
	}
	workData := queryData{slices.Clone(page.Work.Key), json.RawMessage("null")}
	if i := slices.Index(workData.key, any(artParameter)); i >= 0 {
		workData.key[i] = v.art
	}
	if len(rows) > 0 {
		workData.data = json.RawMessage(rows[0])
	}
	return append(all, workData), nil
}

// runQuery returns the data of a query in the form in which the site's components expect them. complete reports whether the data
// include all rows.
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
