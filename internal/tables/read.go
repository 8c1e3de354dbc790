package tables

import (
	"context"
	"math"
	"net/http"
	"regexp"
	"strconv"

	"atelie/internal/db"
	"atelie/internal/policy"
)

// Read handles GET and HEAD /rest/v1/{table}. Rows that the policy hides from the caller are neither listed nor counted.
func (s *Service) Read(w http.ResponseWriter, r *http.Request) error {
	req, err := s.parseAndAuthorize(w, r, policy.Select)
	if err != nil {
		return err
	}
	caller, query := req.caller, req.query
	limit, offset, err := rowRange(query, r, s.maxRows)
	if err != nil {
		return err
	}
	slot, err := s.acquireSlot(r.Context(), caller, query)
	if err != nil {
		return err
	}
	defer slot.release()
	ctx, cancel := context.WithTimeout(r.Context(), slot.timeout)
	defer cancel()
	query.Where = All{visible(caller, query.Table), query.Where}
	readPage := s.readPage
	if r.Method == http.MethodHead { // the response has no body, so the rows are only counted
		readPage = s.countPage
	}
	wantsTotal := req.prefer.count != ""
	page, err := readPage(ctx, slot, query, limit, offset, wantsTotal)
	if err != nil {
		return err
	}
	if page.rows, err = s.describe(ctx, caller, page.rows, query.Select); err != nil {
		return err
	}
	if req.format.single && page.rowCount != 1 {
		return errNotSingular(page.rowCount)
	}
	res := response{status: http.StatusOK, headers: map[string]string{
		"Content-Range":      contentRange(offset, page.rowCount, page.total),
		"Preference-Applied": req.prefer.applied("count", "handling", "timezone"),
	}}
	if page.total != nil {
		if offset > *page.total {
			w.Header().Set("Content-Range", contentRange(offset, 0, page.total))
			return errOutOfBounds(offset, *page.total)
		}
		if page.rowCount < *page.total {
			res.status = http.StatusPartialContent
		}
	}
	if err := res.setRows(page.rows, req.format, query.Select); err != nil {
		return err
	}
	// readPage has limited the rows, but descriptions of files, or CSV, can make the body longer than the rows.
	if len(res.body) > slot.maxBytes {
		return errTooLarge(slot.maxBytes)
	}
	if !isUnprivileged(caller) {
		return res.write(w, r)
	}
	slot.release() // before the response is sent, because no other query must wait for a client that reads slowly
	return s.anonymousPool.send(len(res.body), func() error { return res.write(w, r) })
}

// page is the part of a query's result that one response contains.
type page struct {
	rows     []string // JSON objects; empty for HEAD
	rowCount int64    // number of rows within limit and offset, also for HEAD
	total    *int64   // number of rows without limit and offset; nil if the caller did not ask for it
}

// withoutTotal is the argument withTotal of readPage for callers that need only the rows.
const withoutTotal = false

// readPage reads the rows of a query, at most limit of them, beginning with the row number offset (from 0). If withTotal is true,
// it sets total. The error is errTooLarge if the rows have more than slot.maxBytes bytes.
func (s *Service) readPage(ctx context.Context, slot readSlot, q *Query, limit, offset int64, withTotal bool) (page, error) {
	st := renderRead(s.db.Dialect, q, limit, offset, withTotal)
	var total int64
	size := 0
	rows, err := db.Collect(ctx, slot.querier, func(row db.Row) (text string, err error) {
		dest := []any{&text, &total}
		if !withTotal {
			dest = dest[:1]
		}
		if err := row.Scan(dest...); err != nil {
			return "", err
		}
		if size += len(text) + 1; size > slot.maxBytes {
			return "", errTooLarge(slot.maxBytes)
		}
		return text, nil
	}, st.sql, st.args...)
	if err != nil {
		return page{}, err
	}
	p := page{rows: rows, rowCount: int64(len(rows))}
	if withTotal {
		if p.rowCount == 0 { // the total is a column of the rows, so without rows it needs another query
			if total, err = queryNumber(ctx, slot.querier, renderCount(s.db.Dialect, q.Table, q.Where)); err != nil {
				return page{}, err
			}
		}
		p.total = &total
	}
	return p, nil
}

// countPage returns the page that readPage would return, but without its rows.
func (s *Service) countPage(ctx context.Context, slot readSlot, q *Query, limit, offset int64, withTotal bool) (page, error) {
	total, err := queryNumber(ctx, slot.querier, renderCount(s.db.Dialect, q.Table, q.Where))
	if err != nil {
		return page{}, err
	}
	p := page{rows: []string{}, rowCount: min(limit, max(0, total-offset))}
	if withTotal {
		p.total = &total
	}
	return p, nil
}

var rangeHeader = regexp.MustCompile(`^([0-9]+)-([0-9]*)$`)

// rowRange combines limit and offset with the Range header, which only GET uses; its unit is rows. The limit is at most maxRows,
// like PostgREST's db-max-rows, which does not change the total count.
func rowRange(q *Query, r *http.Request, maxRows int64) (limit, offset int64, err error) {
	if q.Limit != nil && *q.Limit == 0 {
		return 0, 0, nil
	}
	lower, upper := q.Offset, int64(math.MaxInt64)
	if q.Limit != nil && *q.Limit-1 < math.MaxInt64-lower {
		upper = lower + *q.Limit - 1
	}
	if part := rangeHeader.FindStringSubmatch(r.Header.Get("Range")); part != nil && r.Method == http.MethodGet {
		from, _ := strconv.ParseInt(part[1], 10, 64) // for a number that is too large, ParseInt returns the largest int64
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
