package tables

import (
	"context"
	"errors"
	"math"
	"net/http"
	"regexp"
	"strconv"

	"atelie/internal/identity"
)

// Read answers GET and HEAD /rest/v1/{table}. Rows that policy hides are not there: the list is empty, the count 0.
func (s *Service) Read(w http.ResponseWriter, r *http.Request) error {
	t, err := s.table(w, r)
	if err != nil {
		return err
	}
	form, err := negotiate(r.Header)
	if err != nil {
		return err
	}
	prefer, err := parsePrefer(r.Header)
	if err != nil {
		return err
	}
	q, err := parseQuery(t, r.URL.RawQuery)
	if err != nil {
		return err
	}
	limit, offset, err := window(q, r, s.maxRows)
	if err != nil {
		return err
	}
	q.Where = All{visible(identity.Of(r.Context()), t), q.Where}
	read := s.page
	if r.Method == http.MethodHead {
		read = s.measure
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.patience)
	defer cancel()
	p, err := read(ctx, q, limit, offset, prefer.count != "")
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return errTimeout.Because(err)
	case err != nil:
		return err
	}
	if form.single && p.shown != 1 {
		return errNotSingular(p.shown)
	}
	a := answer{status: http.StatusOK, headers: map[string]string{
		"Content-Range":      contentRange(offset, p.shown, p.total),
		"Preference-Applied": prefer.applied("count", "handling", "timezone"),
	}}
	switch {
	case p.total == nil:
	case offset > *p.total:
		w.Header().Set("Content-Range", contentRange(offset, 0, p.total))
		return errOutOfBounds(offset, *p.total)
	case p.shown < *p.total:
		a.status = http.StatusPartialContent
	}
	if p.rows, err = s.describe(ctx, identity.Of(ctx), p.rows, q.Select); err != nil {
		return err
	}
	if a, err = a.show(p.rows, form, q.Select); err != nil {
		return err
	}
	return a.write(w, r)
}

// page is a part of what a query finds. total is there when it was asked for.
type page struct {
	rows  []string
	shown int64
	total *int64
}

// page reads the rows.
func (s *Service) page(ctx context.Context, q *Query, limit, offset int64, counted bool) (page, error) {
	st := renderRead(s.db.Dialect, q, limit, offset, counted)
	rows, err := s.db.Query(ctx, st.sql, st.args...)
	if err != nil {
		return page{}, err
	}
	defer func() { _ = rows.Close() }() // what matters of it is in Err
	p := page{rows: []string{}}
	var text string
	var total int64
	dest := []any{&text}
	if counted {
		dest = append(dest, &total)
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return page{}, err
		}
		p.rows = append(p.rows, text)
	}
	if err := rows.Err(); err != nil {
		return page{}, err
	}
	p.shown = int64(len(p.rows))
	if counted {
		if p.shown == 0 { // then no row has told the number
			if total, err = number(ctx, s.db, renderCount(s.db.Dialect, q.Table, q.Where)); err != nil {
				return page{}, err
			}
		}
		p.total = &total
	}
	return p, nil
}

// measure tells what page would find without reading rows.
func (s *Service) measure(ctx context.Context, q *Query, limit, offset int64, counted bool) (page, error) {
	total, err := number(ctx, s.db, renderCount(s.db.Dialect, q.Table, q.Where))
	if err != nil {
		return page{}, err
	}
	p := page{rows: []string{}, shown: min(limit, max(0, total-offset))}
	if counted {
		p.total = &total
	}
	return p, nil
}

var rangeHeader = regexp.MustCompile(`^([0-9]+)-([0-9]*)$`)

// window joins limit and offset with the Range header (of GET alone, in rows; other units are ignored).
// No answer has more than maxRows rows, as with the reference's db-max-rows; counts know nothing of it.
func window(q *Query, r *http.Request, maxRows int64) (limit, offset int64, err error) {
	if q.Limit != nil && *q.Limit == 0 {
		return 0, 0, nil
	}
	lower, upper := q.Offset, int64(math.MaxInt64)
	if q.Limit != nil && *q.Limit-1 < math.MaxInt64-lower {
		upper = lower + *q.Limit - 1
	}
	if part := rangeHeader.FindStringSubmatch(r.Header.Get("Range")); part != nil && r.Method == http.MethodGet {
		from, _ := strconv.ParseInt(part[1], 10, 64) // too large a number comes back as the largest
		to := int64(math.MaxInt64)
		if part[2] != "" {
			to, _ = strconv.ParseInt(part[2], 10, 64)
		}
		lower, upper = max(lower, from), min(upper, to)
	}
	if upper < lower {
		return 0, 0, errBadRange("The lower boundary must be lower than or equal to the upper boundary in the Range header.")
	}
	if upper-lower >= maxRows {
		return maxRows, lower, nil
	}
	return upper - lower + 1, lower, nil
}
