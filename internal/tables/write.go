package tables

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"slices"

	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// writing is what a write is asked for, besides its rows.
type writing struct {
	caller identity.Caller
	query  *Query
	prefer preferences
	form   format
}

// begin reads what Insert, Update and Delete have in common, and refuses what policy forbids before the body is read.
func (s *Service) begin(w http.ResponseWriter, r *http.Request, action policy.Action) (*writing, error) {
	t, err := s.table(w, r)
	if err != nil {
		return nil, err
	}
	wr := &writing{caller: identity.Of(r.Context())}
	if _, err := allowWrite(wr.caller, t, action, nil); err != nil {
		return nil, err
	}
	if wr.form, err = negotiate(r.Header); err != nil {
		return nil, err
	}
	if wr.prefer, err = parsePrefer(r.Header); err != nil {
		return nil, err
	}
	if wr.query, err = parseQuery(t, r.URL.RawQuery); err != nil {
		return nil, err
	}
	return wr, nil
}

// written is the outcome of a write.
type written struct {
	keys     []string // of the rows that were written
	inserted int64    // how many of them are new
	rows     []string // the representation; nil when it was not asked for
}

// counted is the number for Content-Range.
func (wr *writing) counted(out written) *int64 {
	if wr.prefer.count == "" {
		return nil
	}
	n := int64(len(out.keys))
	return &n
}

// run does a write in one transaction: what the caller's conditions refuse is rolled back, and the rest is announced.
func (s *Service) run(ctx context.Context, wr *writing, fn func(tx *db.Tx) (written, error)) (out written, err error) {
	err = s.db.WithTx(ctx, func(tx *db.Tx) (err error) {
		if out, err = fn(tx); err != nil {
			return err
		}
		if n := int64(len(out.keys)); wr.form.single && n != 1 {
			return errNotSingular(n)
		}
		if len(out.keys) > 0 {
			s.announce(ctx, tx, wr.query.Table)
		}
		return nil
	})
	if err != nil || out.rows == nil {
		return out, err
	}
	out.rows, err = s.describe(ctx, wr.caller, out.rows, wr.query.Select)
	return out, err
}

// represent reads the written rows as the caller may see them, when that was asked for.
func (wr *writing) represent(ctx context.Context, tx *db.Tx, keys []string, order []Term) ([]string, error) {
	if wr.prefer.result != "representation" {
		return nil, nil
	}
	t := wr.query.Table
	return texts(ctx, tx, renderKeyed(tx.Dialect, t, wr.query.Select, keys, order, visible(wr.caller, t)))
}

// Insert answers POST /rest/v1/{table}: one object or many, all or none. With Prefer: resolution=… rows whose key exists
// are merged or left alone. Filters of the address do not matter, as in the reference.
func (s *Service) Insert(w http.ResponseWriter, r *http.Request) error {
	wr, err := s.begin(w, r, policy.Insert)
	if err != nil {
		return err
	}
	objects, err := readObjects(w, r)
	if err != nil {
		return err
	}
	out, err := s.insert(r.Context(), wr, objects)
	if err != nil {
		return err
	}
	t := wr.query.Table
	status, location := http.StatusCreated, ""
	if wr.prefer.resolution == mergeDuplicates && out.inserted == 0 {
		status = http.StatusOK
	}
	if wr.prefer.result == "headers-only" && len(out.keys) > 0 {
		location = "/" + t.Name + "?" + t.Key.Name + "=eq." + out.keys[0]
	}
	a, err := answer{status: status, headers: map[string]string{
		"Content-Range":      contentRange(0, 0, wr.counted(out)),
		"Location":           location,
		"Preference-Applied": wr.prefer.applied("resolution", "missing", "return", "count", "handling", "timezone"),
	}}.show(out.rows, wr.form, wr.query.Select)
	if err != nil {
		return err
	}
	return a.write(w, r)
}

// InsertRows inserts rows for a caller by the rules of the endpoint; columns that a row leaves out get their default.
// Values are what JSON can hold, and time.Time. Errors are the endpoint's.
func (s *Service) InsertRows(ctx context.Context, caller identity.Caller, table string, rows []map[string]any) error {
	t := schema[table]
	if t == nil {
		return errUnknownTable(table)
	}
	q := &Query{Table: t, Columns: []*Column{}}
	for _, r := range rows {
		for name := range r {
			c := t.byName[name]
			if c == nil {
				return errUnknownField(t, name)
			}
			if !slices.Contains(q.Columns, c) {
				q.Columns = append(q.Columns, c)
			}
		}
	}
	if len(rows) == 0 {
		rows = []map[string]any{} // not null
	}
	body, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	objects, err := jsonObjects(body)
	if err != nil {
		return err
	}
	_, err = s.insert(ctx, &writing{caller: caller, query: q, prefer: preferences{missing: "default"}}, objects)
	return err
}

func (s *Service) insert(ctx context.Context, wr *writing, objects []map[string]any) (written, error) {
	t := wr.query.Table
	p, err := newPayload(t, objects, wr.query.Columns)
	if err != nil {
		return written{}, err
	}
	if _, err := allowWrite(wr.caller, t, policy.Insert, p.columns); err != nil {
		return written{}, err
	}
	if err := p.fill(t, s.now(), wr.prefer.missing == "default"); err != nil {
		return written{}, err
	}
	u, err := wr.upsert(p)
	if err != nil {
		return written{}, err
	}
	return s.run(ctx, wr, func(tx *db.Tx) (out written, err error) {
		complete := p.cloneRows() // the numbers hold for this run of the transaction alone
		if err := countOn(ctx, tx, t, complete); err != nil {
			return out, err
		}
		sent := p.keys(t)
		var existing []string
		if u != nil && len(u.merge) > 0 {
			if existing, err = texts(ctx, tx, renderExisting(tx.Dialect, t, sent)); err != nil {
				return out, err
			}
		}
		rows, err := encodeRows(t, complete)
		if err != nil {
			return out, err
		}
		stored, err := texts(ctx, tx, renderInsert(tx.Dialect, t, rows, u))
		if err != nil {
			return out, errConstraint(t, err)
		}
		out.keys = inOrder(sent, stored)
		out.inserted = int64(len(out.keys) - len(existing))
		if err := s.recordWritten(ctx, tx, t, out.keys, same(existing)); err != nil {
			return out, err
		}
		out.rows, err = wr.represent(ctx, tx, out.keys, wr.query.Order)
		return out, err
	})
}

const mergeDuplicates = "merge-duplicates"

// upsert says what happens to rows whose key exists; nil means that they are refused.
func (wr *writing) upsert(p *payload) (*upsert, error) {
	t := wr.query.Table
	if wr.prefer.resolution == "" {
		return nil, nil
	}
	if target := wr.query.OnConflict; target != nil && !slices.Equal(target, []*Column{t.Key}) {
		return nil, errNoTarget
	}
	u := &upsert{}
	if wr.prefer.resolution != mergeDuplicates {
		return u, nil
	}
	grant, err := allowWrite(wr.caller, t, policy.Update, p.columns)
	if err != nil {
		return nil, err
	}
	if keys := p.keys(t); len(slices.Compact(slices.Sorted(slices.Values(keys)))) < len(keys) {
		return nil, errTwice
	}
	u.merge = slices.DeleteFunc(slices.Clone(p.columns), func(c *Column) bool { return c == t.Key })
	for _, c := range t.Columns {
		if c.Stamp && len(u.merge) > 0 && !slices.Contains(u.merge, c) {
			u.merge = append(u.merge, c)
		}
	}
	u.where = All{visible(wr.caller, t), reach(t, grant)}
	return u, nil
}

// keys gives the keys of complete rows.
func (p *payload) keys(t *Table) []string {
	keys := make([]string, len(p.rows))
	for i, r := range p.rows {
		keys[i] = r[t.Key].(string) // the key is a uuid that fill has found not null
	}
	return keys
}

func (p *payload) cloneRows() []row {
	rows := make([]row, len(p.rows))
	for i, r := range p.rows {
		rows[i] = maps.Clone(r)
	}
	return rows
}

// inOrder gives the stored keys in the order in which they were sent; the engines return them in one of their own.
func inOrder(sent, stored []string) []string {
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

// countOn gives rows without a number the next ones (READING §3.13). The lock makes sure that no two writers count from
// the same row.
func countOn(ctx context.Context, tx *db.Tx, t *Table, rows []row) error {
	c := t.Counter
	if c == nil || !slices.ContainsFunc(rows, func(r row) bool { return r[c] == nil }) {
		return nil
	}
	if err := lock(ctx, tx, t); err != nil {
		return err
	}
	last, err := number(ctx, tx, renderLast(t))
	if err != nil {
		return err
	}
	for _, r := range rows {
		if n, given := r[c].(int64); given {
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

// Update answers PATCH /rest/v1/{table}: it changes the visible rows that the filters name, all of them without filters.
func (s *Service) Update(w http.ResponseWriter, r *http.Request) error {
	wr, err := s.begin(w, r, policy.Update)
	if err != nil {
		return err
	}
	q := wr.query
	if err := q.checkPart(); err != nil {
		return err
	}
	objects, err := readObjects(w, r)
	if err != nil {
		return err
	}
	p, err := newPayload(q.Table, objects, q.Columns)
	if err != nil {
		return err
	}
	grant, err := allowWrite(wr.caller, q.Table, policy.Update, p.columns)
	if err != nil {
		return err
	}
	change, err := p.change(q.Table, s.now(), wr.prefer.missing == "default")
	if err != nil {
		return err
	}
	q.Where = All{visible(wr.caller, q.Table), reach(q.Table, grant), q.Where}
	ctx := r.Context()
	out, err := s.run(ctx, wr, func(tx *db.Tx) (out written, err error) {
		if len(change) > 0 { // nothing to set changes no row, as in the reference
			var old []string // the keys of before, where the change gives new ones
			if change[q.Table.Key] != nil {
				if old, err = texts(ctx, tx, renderKeys(tx.Dialect, q)); err != nil {
					return out, err
				}
			}
			if out.keys, err = texts(ctx, tx, renderUpdate(tx.Dialect, q, change)); err != nil {
				return out, errConstraint(q.Table, err)
			}
			before := same(out.keys)
			if len(old) == 1 && len(out.keys) == 1 { // a new key is for one row alone
				before[out.keys[0]] = old[0]
			}
			if err := s.recordWritten(ctx, tx, q.Table, out.keys, before); err != nil {
				return out, err
			}
		}
		if err := wr.checkAffected(out.keys); err != nil {
			return out, err
		}
		out.rows, err = wr.represent(ctx, tx, out.keys, unambiguous(q.Table, q.Order))
		return out, err
	})
	if err != nil {
		return err
	}
	return wr.changed(w, r, out, contentRange(0, int64(len(out.keys)), wr.counted(out)), "missing")
}

// Delete answers DELETE /rest/v1/{table}: it deletes the visible rows that the filters name, all of them without filters.
func (s *Service) Delete(w http.ResponseWriter, r *http.Request) error {
	wr, err := s.begin(w, r, policy.Delete)
	if err != nil {
		return err
	}
	q := wr.query
	if err := q.checkPart(); err != nil {
		return err
	}
	grant, err := allowWrite(wr.caller, q.Table, policy.Delete, nil)
	if err != nil {
		return err
	}
	q.Where = All{visible(wr.caller, q.Table), reach(q.Table, grant), q.Where}
	ctx := r.Context()
	out, err := s.run(ctx, wr, func(tx *db.Tx) (out written, err error) {
		if out.keys, err = texts(ctx, tx, renderKeys(tx.Dialect, q)); err != nil {
			return out, err
		}
		if err := wr.checkAffected(out.keys); err != nil {
			return out, err
		}
		if out.rows, err = wr.represent(ctx, tx, out.keys, nil); err != nil {
			return out, err
		}
		if err := s.recordDeleted(ctx, tx, q.Table, out.keys); err != nil {
			return out, err
		}
		st := renderDelete(tx.Dialect, q.Table, out.keys)
		_, err = tx.Exec(ctx, st.sql, st.args...)
		return out, err
	})
	if err != nil {
		return err
	}
	return wr.changed(w, r, out, contentRange(0, 0, wr.counted(out)))
}

// checkPart refuses to change a part of the rows when nothing says which part.
func (q *Query) checkPart() error {
	if (q.Limit != nil || q.Offset > 0) && len(q.Order) == 0 {
		return errNoOrder
	}
	return nil
}

// checkAffected holds a change against Prefer: handling=strict, max-affected=n.
func (wr *writing) checkAffected(keys []string) error {
	if limit := wr.prefer.affectedLimit(); limit != nil && int64(len(keys)) > *limit {
		return errTooManyAffected(int64(len(keys)))
	}
	return nil
}

// changed writes the answer to an update or delete: 200 with the representation, else 204.
func (wr *writing) changed(w http.ResponseWriter, r *http.Request, out written, contentRange string, more ...string) error {
	a := answer{status: http.StatusNoContent, headers: map[string]string{
		"Content-Range":      contentRange,
		"Preference-Applied": wr.prefer.applied(append(more, "return", "count", "handling", "timezone", "max-affected")...),
	}}
	if out.rows != nil {
		a.status = http.StatusOK
	}
	a, err := a.show(out.rows, wr.form, wr.query.Select)
	if err != nil {
		return err
	}
	return a.write(w, r)
}
