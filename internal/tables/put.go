package tables

import (
	"net/http"
	"slices"

	"atelie/internal/policy"
)

// Put handles PUT /rest/v1/{table}?id=eq.…. It inserts the one row that the URL names. If the row exists, Put sets the columns that the body
// contains. If the client asks for the row (Prefer: return=representation), the status is 201 for a new row and 200 for an existing one. If
// not, the status is 204.
func (s *Service) Put(w http.ResponseWriter, r *http.Request) error {
	req, err := s.parseAndAuthorize(w, r, policy.Insert)
	if err != nil {
		return err
	}
	key, err := req.query.keyFilter()
	if err != nil {
		return err
	}
	p, err := readPayload(w, r, req.query)
	if err != nil {
		return err
	}
	t := req.query.Table
	hasOneRow, setsKey := len(p.rows) == 1, slices.Contains(p.columns, t.Key)
	if !hasOneRow || !setsKey || p.rows[0][t.Key] != key { // the body must have one row, with the key of the URL
		return errPutKey
	}
	req.query.OnConflict, req.prefer.resolution = nil, mergeDuplicates // an existing row is updated
	out, err := s.insert(r.Context(), req, p)
	if err != nil {
		return err
	}
	res := response{status: http.StatusNoContent, headers: map[string]string{
		"Preference-Applied": req.prefer.applied("return", "count", "handling", "timezone"),
	}}
	switch {
	case out.rows != nil && out.inserted > 0:
		res.status = http.StatusCreated
	case out.rows != nil:
		res.status = http.StatusOK
	}
	return req.respond(w, r, out, res)
}

// keyFilter returns the primary key for which the query asks. It returns an error unless the query has just one filter, id=eq.…, and
// neither limit nor offset.
func (q *Query) keyFilter() (any, error) {
	if q.Limit != nil || q.Offset != 0 {
		return nil, errPutLimit
	}
	if parts, ok := q.Where.(All); ok && len(parts) == 1 {
		if c, ok := parts[0].(Compare); ok && c.Column == q.Table.Key && c.Op == Equal {
			return c.Value, nil
		}
	}
	return nil, errPutFilters
}
