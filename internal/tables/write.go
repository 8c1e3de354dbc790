package tables

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/http"
	"slices"

	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// This file handles the methods of a table that write: POST, PATCH and DELETE. PUT is in put.go.

// tableRequest is a parsed request on a table, without its body.
type tableRequest struct {
	caller identity.Caller
	query  *Query
	prefer preferences
	format format // format of the response
}

// parseAndAuthorize parses a request on a table, except its body. It returns an error for a write that the policy forbids, so that the body
// of such a request is not read.
func (s *Service) parseAndAuthorize(w http.ResponseWriter, r *http.Request, action policy.Action) (*tableRequest, error) {
	t, err := s.table(w, r)
	if err != nil {
		return nil, err
	}
	req := &tableRequest{caller: identity.Of(r.Context())}
	if action != policy.Select {
		if _, err := allowWrite(req.caller, t, action, nil); err != nil {
			return nil, err
		}
	}
	if req.format, err = negotiate(r.Header); err != nil {
		return nil, err
	}
	if req.prefer, err = parsePrefer(r.Header); err != nil {
		return nil, err
	}
	if req.query, err = parseQuery(readableBy(req.caller, t), r.URL.RawQuery); err != nil {
		return nil, err
	}
	changesRows := action == policy.Update || action == policy.Delete
	if q := req.query; changesRows && (q.Limit != nil || q.Offset > 0) && len(q.Order) == 0 {
		return nil, errNoOrder // such a write would change arbitrary rows
	}
	return req, nil
}

// writeResult is the outcome of a write.
type writeResult struct {
	keys     []string // primary keys of the written rows
	inserted int64    // number of new rows among them
	rows     []string // the rows as JSON for the response; nil if the caller did not ask for them
}

// totalCount returns the number of written rows for Content-Range, or nil if the caller did not ask for it.
func (req *tableRequest) totalCount(out writeResult) *int64 {
	if req.prefer.count == "" {
		return nil
	}
	return new(int64(len(out.keys)))
}

// maxShortRows is the maximum number of rows that a write inserts or changes in a short transaction. On SQLite, short
// transactions that wait share one commit.
const maxShortRows = 20

// inTransaction runs a write in one transaction. isShort means that the write changes at most maxShortRows rows. fn sets the result. If the
// caller asked for a single object and fn did not write exactly one row, the transaction is rolled back.
func (s *Service) inTransaction(ctx context.Context, req *tableRequest, isShort bool, fn func(tx *db.Tx, out *writeResult) error) (out writeResult, err error) {
	run := s.db.WithTx
	if isShort {
		run = s.db.WithShortTx
	}
	err = run(ctx, func(tx *db.Tx) error {
		out = writeResult{} // WithTx may call this function again
		if err := fn(tx, &out); err != nil {
			return err
		}
		if n := int64(len(out.keys)); req.format.single && n != 1 {
			return errNotSingular(n)
		}
		return nil
	})
	if err != nil {
		return out, errConstraint(req.query.Table, err)
	}
	if out.rows != nil {
		out.rows, err = s.describe(ctx, req.caller, out.rows, req.query.Select)
	}
	return out, err
}

// represent reads the written rows as JSON into out if the caller asked for them (Prefer: return=representation). It leaves out rows
// that the caller may not see. The rows are there when the transaction has ended.
func (req *tableRequest) represent(ctx context.Context, tx *db.Tx, out *writeResult, order []Term) error {
	if req.prefer.result != "representation" {
		return nil
	}
	t := req.query.Table
	rows := renderKeyed(tx.Dialect, t, req.query.Select, out.keys, order, visible(req.caller, t))
	out.rows = []string{}
	return tx.QueueRows(ctx, func(row db.Row) error {
		text, err := db.ScanOne[string](row)
		out.rows = append(out.rows, text)
		return err
	}, rows.sql, rows.args...)
}

// Insert handles POST /rest/v1/{table}: it stores all rows of the body, or none. With Prefer: resolution=… a row whose key
// exists is merged into the existing one or ignored. Filters in the URL have no effect, as in PostgREST.
func (s *Service) Insert(w http.ResponseWriter, r *http.Request) error {
	req, err := s.parseAndAuthorize(w, r, policy.Insert)
	if err != nil {
		return err
	}
	p, err := readPayload(w, r, req.query)
	if err != nil {
		return err
	}
	out, err := s.insert(r.Context(), req, p)
	if err != nil {
		return err
	}
	t := req.query.Table
	status, location := http.StatusCreated, ""
	if req.prefer.resolution == mergeDuplicates && out.inserted == 0 {
		status = http.StatusOK
	}
	if req.prefer.result == "headers-only" && len(out.keys) > 0 {
		location = "/" + t.Name + "?" + t.Key.Name + "=eq." + out.keys[0]
	}
	return req.respond(w, r, out, response{status: status, headers: map[string]string{
		"Content-Range":      contentRange(0, 0, req.totalCount(out)),
		"Location":           location,
		"Preference-Applied": req.prefer.applied("resolution", "missing", "return", "count", "handling", "timezone"),
	}})
}

// respond adds the written rows to a response and writes it.
func (req *tableRequest) respond(w http.ResponseWriter, r *http.Request, out writeResult, res response) error {
	if err := res.setRows(out.rows, req.format, req.query.Select); err != nil {
		return err
	}
	return res.write(w, r)
}

// InsertRows inserts rows for a caller by the rules of the endpoint, and returns its errors. Columns that a row leaves out get
// their default. Values must be of types that encoding/json writes as values of the columns.
func (s *Service) InsertRows(ctx context.Context, caller identity.Caller, table string, rows []map[string]any) error {
	t := schema[table]
	if t == nil {
		return errUnknownTable(table)
	}
	columns := []*Column{}
	for _, r := range rows {
		for name := range r {
			c := t.byName[name]
			if c == nil {
				return errUnknownField(t, name)
			}
			columns = append(columns, c)
		}
	}
	body, err := json.Marshal(append([]map[string]any{}, rows...)) // not null without rows
	if err != nil {
		return err
	}
	objects, err := parseJSON(body)
	if err != nil {
		return err
	}
	p, err := newPayload(t, objects, columns)
	if err != nil {
		return err
	}
	return s.insertForServer(ctx, caller, t, p)
}

// insertForServer inserts rows that are not from a request. Columns that a row leaves out get their default.
func (s *Service) insertForServer(ctx context.Context, caller identity.Caller, t *Table, p *payload) error {
	_, err := s.insert(ctx, &tableRequest{caller: caller, query: &Query{Table: t}, prefer: preferences{missing: "default"}}, p)
	return err
}

func (s *Service) insert(ctx context.Context, req *tableRequest, p *payload) (writeResult, error) {
	t := req.query.Table
	if _, err := allowWrite(req.caller, t, policy.Insert, p.columns); err != nil {
		return writeResult{}, err
	}
	if err := p.fill(t, s.now(), req.prefer.missing == "default"); err != nil {
		return writeResult{}, err
	}
	u, err := req.upsert(p)
	if err != nil {
		return writeResult{}, err
	}
	return s.inTransaction(ctx, req, len(p.rows) <= maxShortRows, func(tx *db.Tx, out *writeResult) error {
		complete := make([]row, len(p.rows)) // copies, because a repeated transaction must number the rows again
		for i, r := range p.rows {
			complete[i] = maps.Clone(r)
		}
		if err := numberRows(ctx, tx, t, complete); err != nil {
			return err
		}
		recordDerived, err := s.watchInserted(ctx, tx, t, p.keys(t), complete, u)
		if err != nil {
			return err
		}
		if u == nil {
			err = s.insertRows(ctx, tx, req, p.keys(t), complete, out)
		} else {
			err = s.mergeRows(ctx, tx, req, u, p.keys(t), complete, out)
		}
		if err != nil {
			return err
		}
		return recordDerived()
	})
}

// insertRows inserts complete rows whose keys are new. It waits for no result.
func (s *Service) insertRows(ctx context.Context, tx *db.Tx, req *tableRequest, keys []string, rows []row, out *writeResult) error {
	t := req.query.Table
	out.keys, out.inserted = keys, int64(len(keys))
	if len(rows) > 0 {
		insert := renderInsertRow(tx.Dialect, t, rows[0])
		if len(rows) > 1 {
			encoded, err := encodeRows(t, rows)
			if err != nil {
				return err
			}
			insert = renderInsert(tx.Dialect, t, encoded, nil)
		}
		if err := db.Queue(ctx, tx, insert.sql, insert.args...); err != nil {
			return err
		}
		if err := s.recordInsertedRows(ctx, tx, t, keys); err != nil {
			return err
		}
	}
	return req.represent(ctx, tx, out, req.query.Order)
}

// mergeRows inserts complete rows, and does with those whose keys exist what u says.
func (s *Service) mergeRows(ctx context.Context, tx *db.Tx, req *tableRequest, u *upsert, sent []string, rows []row, out *writeResult) (err error) {
	t := req.query.Table
	var existing []string
	if len(u.merge) > 0 {
		if existing, err = queryTexts(ctx, tx, renderValue(tx.Dialect, t, t.Key, hasKey(t, sent))); err != nil {
			return err
		}
	}
	encoded, err := encodeRows(t, rows)
	if err != nil {
		return err
	}
	stored, err := queryTexts(ctx, tx, renderInsert(tx.Dialect, t, encoded, u))
	if err != nil {
		return err
	}
	out.keys = orderKeys(sent, stored)
	out.inserted = int64(len(out.keys) - len(existing))
	return errors.Join(s.recordWritten(ctx, tx, t, out.keys, sameKeys(existing)), req.represent(ctx, tx, out, req.query.Order))
}

const mergeDuplicates = "merge-duplicates"

// upsert returns what happens to rows whose key exists already; nil means that they are an error.
func (req *tableRequest) upsert(p *payload) (*upsert, error) {
	t := req.query.Table
	if req.prefer.resolution == "" {
		return nil, nil
	}
	if target := req.query.OnConflict; target != nil && !slices.Equal(target, []*Column{t.Key}) {
		return nil, errNoTarget
	}
	u := &upsert{}
	if req.prefer.resolution != mergeDuplicates {
		return u, nil
	}
	grant, err := allowWrite(req.caller, t, policy.Update, p.columns)
	if err != nil {
		return nil, err
	}
	if keys := p.keys(t); len(slices.Compact(slices.Sorted(slices.Values(keys)))) < len(keys) {
		return nil, errTwice
	}
	u.merge = slices.DeleteFunc(slices.Clone(p.columns), func(c *Column) bool { return c == t.Key || c.isWrittenByServer() })
	for _, c := range t.Columns {
		if (c.Stamp && len(u.merge) > 0) || (c.TrueFrom != nil && slices.Contains(u.merge, c.TrueFrom)) {
			u.merge = append(u.merge, c)
		}
	}
	u.where = All{visible(req.caller, t), grantCondition(t, grant)}
	return u, nil
}

// keys returns the keys of the rows, which fill must have completed.
func (p *payload) keys(t *Table) []string {
	keys := make([]string, len(p.rows))
	for i, r := range p.rows {
		keys[i] = r[t.Key].(string) // fill has checked that the key is not null
	}
	return keys
}

// orderKeys returns the stored keys in the order in which they were sent, because the engines return them in any order.
func orderKeys(sent, stored []string) []string {
	left := make(map[string]bool, len(stored))
	for _, key := range stored {
		left[key] = true
	}
	keys := make([]string, 0, len(stored))
	for _, key := range sent {
		if left[key] {
			keys = append(keys, key)
			delete(left, key)
		}
	}
	return keys
}

// numberRows sets the table's counter in rows that have no value for it: each gets the largest value so far plus 1. It locks
// the table, so that two writers cannot use the same number.
func numberRows(ctx context.Context, tx *db.Tx, t *Table, rows []row) error {
	c := t.Counter
	if c == nil || !slices.ContainsFunc(rows, func(r row) bool { return r[c] == nil }) {
		return nil
	}
	if err := db.LockTable(ctx, tx, t.Name); err != nil {
		return err
	}
	last, err := queryNumber(ctx, tx, renderLast(t))
	if err != nil {
		return err
	}
	for _, r := range rows {
		if n, isSet := r[c].(int64); isSet {
			last = max(last, n)
			continue
		}
		if last >= math.MaxInt32 {
			return errNumberRange("last " + c.Name + " + 1")
		}
		last++
		r[c] = last
	}
	return nil
}

// Update handles PATCH /rest/v1/{table}: it changes the visible rows that meet the filters, or all visible rows without a
// filter.
func (s *Service) Update(w http.ResponseWriter, r *http.Request) error {
	req, err := s.parseAndAuthorize(w, r, policy.Update)
	if err != nil {
		return err
	}
	q, ctx := req.query, r.Context()
	p, err := readPayload(w, r, q)
	if err != nil {
		return err
	}
	if err := req.limitRows(policy.Update, p.columns); err != nil {
		return err
	}
	change, err := p.change(q.Table, s.now(), req.prefer.missing == "default")
	if err != nil {
		return err
	}
	out, err := s.inTransaction(ctx, req, q.namesRows(maxShortRows), func(tx *db.Tx, out *writeResult) (err error) {
		if len(change) > 0 { // without columns to set, no row changes, as in PostgREST
			var old []string // the keys before the update, if it changes them
			if change[q.Table.Key] != nil {
				if old, err = queryTexts(ctx, tx, renderKeys(tx.Dialect, q)); err != nil {
					return err
				}
			}
			recordDerived, err := s.watchUpdate(ctx, tx, q, change)
			if err != nil {
				return err
			}
			if out.keys, err = queryTexts(ctx, tx, renderUpdate(tx.Dialect, q, change)); err != nil {
				return err
			}
			before := sameKeys(out.keys)
			if len(old) == 1 && len(out.keys) == 1 { // only one row can get the new key
				before[out.keys[0]] = old[0]
			}
			if err := s.recordWritten(ctx, tx, q.Table, out.keys, before); err != nil {
				return err
			}
			if err := recordDerived(); err != nil {
				return err
			}
		}
		if err := req.checkAffected(out.keys); err != nil {
			return err
		}
		return req.represent(ctx, tx, out, withTieBreakers(q.Table, q.Order))
	})
	if err != nil {
		return err
	}
	return req.writeChanged(w, r, out, contentRange(0, int64(len(out.keys)), req.totalCount(out)), "missing")
}

// Delete handles DELETE /rest/v1/{table}: it deletes the visible rows that meet the filters, or all visible rows without a
// filter.
func (s *Service) Delete(w http.ResponseWriter, r *http.Request) error {
	req, err := s.parseAndAuthorize(w, r, policy.Delete)
	if err != nil {
		return err
	}
	q, ctx := req.query, r.Context()
	if err := req.limitRows(policy.Delete, nil); err != nil {
		return err
	}
	out, err := s.inTransaction(ctx, req, q.namesRows(maxShortRows), func(tx *db.Tx, out *writeResult) (err error) {
		if out.keys, err = queryTexts(ctx, tx, renderKeys(tx.Dialect, q)); err != nil {
			return err
		}
		if err := req.checkAffected(out.keys); err != nil {
			return err
		}
		if err := req.represent(ctx, tx, out, nil); err != nil {
			return err
		}
		recordDerived, err := s.watchDerived(ctx, tx, q.Table, out.keys)
		if err != nil {
			return err
		}
		if err := s.recordDeleted(ctx, tx, q.Table, out.keys); err != nil {
			return err
		}
		st := renderDelete(tx.Dialect, q.Table, out.keys)
		if err := db.Queue(ctx, tx, st.sql, st.args...); err != nil {
			return err
		}
		return recordDerived()
	})
	if err != nil {
		return err
	}
	return req.writeChanged(w, r, out, contentRange(0, 0, req.totalCount(out)))
}

// limitRows adds to the query the condition that the caller may see and change the row. It returns an error if the policy
// forbids the action.
func (req *tableRequest) limitRows(action policy.Action, columns []*Column) error {
	q := req.query
	grant, err := allowWrite(req.caller, q.Table, action, columns)
	q.Where = All{visible(req.caller, q.Table), grantCondition(q.Table, grant), q.Where}
	return err
}

// namesRows reports whether the conditions name the rows by their keys, at most limit of them.
func (q *Query) namesRows(limit int) bool {
	var names func(Node) bool
	names = func(n Node) bool {
		switch n := n.(type) {
		case Compare:
			return n.Column == q.Table.Key && n.Op == Equal
		case In:
			return n.Column == q.Table.Key && len(n.Values) <= limit
		case All:
			return slices.ContainsFunc(n, names)
		}
		return false
	}
	return names(q.Where)
}

// checkAffected returns an error if a write changes more rows than Prefer: handling=strict, max-affected=n allows.
func (req *tableRequest) checkAffected(keys []string) error {
	if limit := req.prefer.affectedLimit(); limit != nil && int64(len(keys)) > *limit {
		return errTooManyAffected(int64(len(keys)))
	}
	return nil
}

// writeChanged writes the response of an update or delete: 200 with the changed rows, or 204 if the caller did not ask for them.
func (req *tableRequest) writeChanged(w http.ResponseWriter, r *http.Request, out writeResult, contentRange string, more ...string) error {
	res := response{status: http.StatusNoContent, headers: map[string]string{
		"Content-Range":      contentRange,
		"Preference-Applied": req.prefer.applied(append(more, "return", "count", "handling", "timezone", "max-affected")...),
	}}
	if out.rows != nil {
		res.status = http.StatusOK
	}
	return req.respond(w, r, out, res)
}
