package tables

import (
	"context"

	"atelie/internal/identity"
)

// This file reads rows for the server itself, for example for its pages, by the rules of requests on tables.

// Rows returns the rows that GET /rest/v1/{table}?{query} would return to a caller, at most maxRows of them, each as a JSON object. The
// errors are those of the endpoint.
func (s *Service) Rows(ctx context.Context, caller identity.Caller, table, query string) ([]string, error) {
	parsed, err := visibleQuery(caller, table, query)
	if err != nil {
		return nil, err
	}
	limit := s.maxRows
	if parsed.Limit != nil {
		limit = min(limit, *parsed.Limit)
	}
	page, err := s.readPage(ctx, readSlot{querier: s.db, maxBytes: ownerBytes}, parsed, limit, parsed.Offset, withoutTotal)
	if err != nil {
		return nil, err
	}
	return s.describe(ctx, caller, page.rows, parsed.Select)
}

// Count returns the number of rows that a caller may see at GET /rest/v1/{table}?{query}. The query's limit and offset have no effect.
func (s *Service) Count(ctx context.Context, caller identity.Caller, table, query string) (int64, error) {
	parsed, err := visibleQuery(caller, table, query)
	if err != nil {
		return 0, err
	}
	return queryNumber(ctx, s.db, renderCount(s.db.Dialect, parsed.Table, parsed.Where))
}

// visibleQuery parses a query and restricts it to the rows that the caller may see.
func visibleQuery(caller identity.Caller, table, query string) (*Query, error) {
	t := schema[table]
	if t == nil {
		return nil, errUnknownTable(table)
	}
	parsed, err := parseQuery(readableBy(caller, t), query)
	if err != nil {
		return nil, err
	}
	parsed.Where = All{visible(caller, t), parsed.Where}
	return parsed, nil
}
