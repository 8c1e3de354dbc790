package tables

import (
	"net/http"
	"slices"

	"atelie/internal/policy"
)

// Put answers PUT /rest/v1/{table}?id=eq.…: it stores the one row that the address names, whether it exists or not. 201
// with the representation of a new row, 200 of an old one, else 204.
func (s *Service) Put(w http.ResponseWriter, r *http.Request) error {
	wr, err := s.begin(w, r, policy.Insert)
	if err != nil {
		return err
	}
	key, err := wr.query.onlyKey()
	if err != nil {
		return err
	}
	objects, err := readObjects(w, r)
	if err != nil {
		return err
	}
	t := wr.query.Table
	p, err := newPayload(t, objects, wr.query.Columns)
	if err != nil {
		return err
	}
	if len(p.rows) != 1 || !slices.Contains(p.columns, t.Key) || p.rows[0][t.Key] != key {
		return errPutKey
	}
	wr.query.OnConflict, wr.prefer.resolution = nil, mergeDuplicates
	out, err := s.insert(r.Context(), wr, objects)
	if err != nil {
		return err
	}
	a := answer{status: http.StatusNoContent, headers: map[string]string{"Preference-Applied": wr.prefer.applied("return", "count", "handling", "timezone")}}
	switch {
	case out.rows != nil && out.inserted > 0:
		a.status = http.StatusCreated
	case out.rows != nil:
		a.status = http.StatusOK
	}
	if a, err = a.show(out.rows, wr.form, wr.query.Select); err != nil {
		return err
	}
	return a.write(w, r)
}

// onlyKey gives the key that the address names, and refuses everything else in it that would choose rows.
func (q *Query) onlyKey() (any, error) {
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
