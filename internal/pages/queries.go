package pages

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
)

// knownQuery is a query of the page together with its data, so that the page is drawn at once and asks for nothing on
// arrival. Its key is that of web/src/lib/query-keys.ts.
type knownQuery struct {
	key  []any
	data json.RawMessage
}

// MarshalJSON writes it as lib/boot.ts reads it: [key, data].
func (q knownQuery) MarshalJSON() ([]byte, error) { return json.Marshal([]any{q.key, q.data}) }

// worksPerPage is how many works the gallery asks for at a time (features/artworks/paging.ts).
const worksPerPage = 48

// The queries are those of features/*/api, to the order of their parameters.
const (
	activeCovers  = "select=*,media&is_active=eq.true&order=display_order.asc"
	featuredWorks = "select=*,media&is_featured=eq.true&order=created_at.desc"
	activeReviews = "select=*,media&is_active=eq.true&order=display_order.asc"
	hungWorks     = "select=*,media&artwork_type=not.in.(oil,acrylic)&order=created_at.desc"
)

// queries reads what the components of a view will ask for.
func (s *Service) queries(ctx context.Context, v view) ([]knownQuery, error) {
	if s.cfg.Content.Rows == nil {
		return nil, nil
	}
	if wall, ok := wallOf(v.path); ok {
		return s.galleryQueries(ctx, wall, v.art)
	}
	if v.path != "/" {
		return nil, nil
	}
	var known []knownQuery
	for _, q := range []struct{ table, name, query string }{
		{"cover_images", "active", activeCovers}, {"products", "featured", featuredWorks}, {"reviews", "active", activeReviews},
	} {
		rows, err := s.cfg.Content.Rows(ctx, q.table, q.query)
		if err != nil {
			return nil, err
		}
		known = append(known, knownQuery{[]any{q.table, q.name}, array(rows)})
	}
	return known, nil
}

// galleryQueries reads the first works of a wall, and the one of the address when it hangs further down.
func (s *Service) galleryQueries(ctx context.Context, wall, art string) ([]knownQuery, error) {
	query := hungWorks
	if wall != allWorks {
		query += "&artwork_type=eq." + wall
	}
	rows, err := s.cfg.Content.Rows(ctx, "products", query+"&limit="+strconv.Itoa(worksPerPage))
	if err != nil {
		return nil, err
	}
	total, err := s.cfg.Content.Count(ctx, "products", query)
	if err != nil {
		return nil, err
	}
	first := array(rows)
	part, err := json.Marshal(map[string]any{"works": first, "total": total})
	if err != nil {
		return nil, err
	}
	known := []knownQuery{{[]any{"products", "gallery", wall, 0}, part}}
	if art == "" || total <= int64(len(rows)) || strings.Contains(string(first), `"id":"`+art+`"`) {
		return known, nil
	}
	if rows, err = s.cfg.Content.Rows(ctx, "products", query+"&id=eq."+art); err != nil {
		return nil, err
	}
	work := json.RawMessage("null")
	if len(rows) > 0 {
		work = json.RawMessage(rows[0])
	}
	return append(known, knownQuery{[]any{"products", "gallery-work", wall, art}, work}), nil
}

func array(rows []string) json.RawMessage {
	return json.RawMessage("[" + strings.Join(rows, ",") + "]")
}
