package tables

import (
	"context"

	"atelie/internal/identity"
)

// Rows gives what a caller would be shown at GET /rest/v1/{table}?{query}, a JSON text a row, and no more rows than one
// such answer has. Errors are the endpoint's.
func (s *Service) Rows(ctx context.Context, caller identity.Caller, table, query string) ([]string, error) {
	q, err := visibleQuery(caller, table, query)
	if err != nil {
		return nil, err
	}
	limit := s.maxRows
	if q.Limit != nil {
		limit = min(limit, *q.Limit)
	}
	p, err := s.page(ctx, q, limit, q.Offset, false)
	if err != nil {
		return nil, err
	}
	return s.describe(ctx, caller, p.rows, q.Select)
}

// Count tells how many rows a caller could be shown at GET /rest/v1/{table}?{query}.
func (s *Service) Count(ctx context.Context, caller identity.Caller, table, query string) (int64, error) {
	q, err := visibleQuery(caller, table, query)
	if err != nil {
		return 0, err
	}
	return number(ctx, s.db, renderCount(s.db.Dialect, q.Table, q.Where))
}

func visibleQuery(caller identity.Caller, table, query string) (*Query, error) {
	t := schema[table]
	if t == nil {
		return nil, errUnknownTable(table)
	}
	q, err := parseQuery(t, query)
	if err != nil {
		return nil, err
	}
	q.Where = All{visible(caller, t), q.Where}
	return q, nil
}
