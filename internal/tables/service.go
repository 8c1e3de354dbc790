// Package tables answers /rest/v1: the five tables of the specification (§3) in the PostgREST dialect that the official
// client's query builder emits. A request goes from text to a tree (parse.go, operate.go), is joined with what package
// policy allows (service.go), and becomes SQL (render.go).
package tables

import (
	"context"
	"net/http"
	"slices"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// Service answers the calls on tables.
type Service struct {
	db       *db.DB
	now      func() time.Time
	changed  func(ctx context.Context, table string)
	record   Recorder
	patience time.Duration // how long one read may keep the database busy
	maxRows  int64
	media    Media // may be nil
}

// New makes the service; maxRows is the most that one read shows, and now the clock of created_at.
func New(d *db.DB, maxRows int, now func() time.Time) *Service {
	return &Service{
		db: d, now: now, changed: func(context.Context, string) {}, record: func(context.Context, *db.Tx, []Change) error { return nil },
		patience: 8 * time.Second, maxRows: int64(maxRows),
	}
}

// SetChanged sets what is called after a commit that changed rows of a table that visitors see. It is for wiring, before
// the first request; fn must not block, and its context outlives the request.
func (s *Service) SetChanged(fn func(ctx context.Context, table string)) { s.changed = fn }

// announce calls changed once the transaction is on disk.
func (s *Service) announce(ctx context.Context, tx *db.Tx, t *Table) {
	if t.Public {
		tx.AfterCommit(func() { s.changed(context.WithoutCancel(ctx), t.Name) })
	}
}

// table finds the table of the address, and refuses schemas other than public.
func (s *Service) table(w http.ResponseWriter, r *http.Request) (*Table, error) {
	if err := checkProfile(w, r); err != nil {
		return nil, err
	}
	name := r.PathValue("table")
	t := schema[name]
	if t == nil {
		return nil, errUnknownTable(name)
	}
	return t, nil
}

// visible is the condition that policy sets on reading: rows outside it do not exist for the caller.
func visible(c identity.Caller, t *Table) Node {
	return reach(t, policy.Table(c, t.Name, policy.Select))
}

// reach is the condition of a grant.
func reach(t *Table, g policy.Grant) Node {
	if !g.Allowed {
		return never
	}
	if g.Rows.All() {
		return always
	}
	column, value := t.byName[g.Rows.Column], g.Rows.Value
	if text, ok := value.(string); ok {
		parsed, err := parseValue(column.Kind, text)
		if err != nil {
			return never // a caller without a usable id has no rows
		}
		value = parsed
	}
	return Compare{column, Equal, value}
}

// allowWrite refuses an action, or one of its columns, with 42501.
func allowWrite(c identity.Caller, t *Table, action policy.Action, columns []*Column) (policy.Grant, error) {
	g := policy.Table(c, t.Name, action)
	// New rows could only be held against a row condition once they exist; no policy has one, so it stays closed.
	if !g.Allowed || (action == policy.Insert && !g.Rows.All()) {
		return g, errDenied(c, "table "+t.Name)
	}
	for _, column := range columns {
		if g.Columns != nil && !slices.Contains(g.Columns, column.Name) {
			return g, errDenied(c, "column "+column.Name+" of table "+t.Name)
		}
	}
	return g, nil
}

// texts runs a statement and gives the first column of each row.
func texts(ctx context.Context, q db.Querier, s statement) ([]string, error) {
	rows, err := q.Query(ctx, s.sql, s.args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // what matters of it is in Err
	out := []string{}
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, rows.Err()
}

// number runs a statement that gives one number.
func number(ctx context.Context, q db.Querier, s statement) (n int64, err error) {
	err = q.QueryRow(ctx, s.sql, s.args...).Scan(&n)
	return n, err
}

// lock keeps other writers out of the table for the rest of the transaction.
func lock(ctx context.Context, tx *db.Tx, t *Table) error {
	s, needed := renderLock(tx.Dialect, t)
	if !needed {
		return nil
	}
	_, err := tx.Exec(ctx, s.sql)
	return err
}
