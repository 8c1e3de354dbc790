// Package tables serves /rest/v1: the tables of schema.go, with the part of PostgREST's interface that supabase-js uses. It handles a query in
// three steps:
//   - It parses the query string into a tree (parse.go, operators.go, tree.go).
//   - It adds the conditions that package policy sets for the caller (service.go).
//   - It makes SQL from the tree (sql.go).
package tables

import (
	"context"
	"net/http"
	"slices"
	"time"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// Service handles the requests on tables and functions.
type Service struct {
	db             *db.DB
	now            func() time.Time // the clock for created_at and updated_at
	record         Recorder         // Config.Record
	recordInserted InsertRecorder   // Config.RecordInserted
	readTimeout    time.Duration    // limit of one read's duration; defaultReadTimeout except in tests
	maxRows        int64            // limit of the rows that one read returns
	anonymousPool  *anonymousPool   // limits the queries of unprivileged callers
	media          MediaService     // Config.Media
}

// Config is what the service needs besides the database.
type Config struct {
	MaxRows int          // limit of the rows that one read returns
	Media   MediaService // describes the files for the computed column media
	Record  Recorder     // records written rows for live clients
	// RecordInserted is used instead of Record for inserts that cannot update an existing row. The database copies the inserted rows into
	// the recorded changes itself, which saves the program from reading them.
	RecordInserted InsertRecorder
}

// defaultReadTimeout limits the duration of one read. Reads of unprivileged callers have the shorter limit db.AnonymousTimeout.
const defaultReadTimeout = 8 * time.Second

// New returns a service. now is the clock for created_at and updated_at.
func New(d *db.DB, cfg Config, now func() time.Time) *Service {
	return &Service{
		db:             d,
		now:            now,
		record:         cfg.Record,
		recordInserted: cfg.RecordInserted,
		readTimeout:    defaultReadTimeout,
		maxRows:        int64(cfg.MaxRows),
		anonymousPool:  newAnonymousPool(),
		media:          cfg.Media,
	}
}

// table returns the table that the URL names. It returns an error if a header of the request names a schema other than public.
func (s *Service) table(w http.ResponseWriter, r *http.Request) (*Table, error) {
	if err := checkSchemaHeader(w, r); err != nil {
		return nil, err
	}
	name := r.PathValue("table")
	t := schema[name]
	if t == nil {
		return nil, errUnknownTable(name)
	}
	return t, nil
}

// visible returns the condition of the rows that the caller may read. Rows that do not meet it do not exist for the caller.
func visible(c identity.Caller, t *Table) Node {
	return grantCondition(t, policy.Table(c, t.Name, policy.Select))
}

// readableBy returns the table as the caller may read it, without the columns that the policy hides.
func readableBy(c identity.Caller, t *Table) *Table {
	return t.without(policy.Table(c, t.Name, policy.Select).Hidden)
}

// grantCondition returns the condition of the rows for which a grant holds.
func grantCondition(t *Table, g policy.Grant) Node {
	if !g.Allowed {
		return never
	}
	all := make(All, len(g.Rows))
	for i, c := range g.Rows {
		all[i] = conditionNode(t, c)
	}
	return all
}

// conditionNode converts a condition of the policy to a condition of a query. For a time, it compares the scheduled flag: the column that
// stores whether the time has come.
func conditionNode(t *Table, c policy.Condition) Node {
	column, value := t.byName[c.Column], c.Value
	if c.When != "" {
		return Compare{t.scheduledFlag(column), Equal, c.When != policy.NotCome}
	}
	if text, ok := value.(string); ok {
		parsed, err := parseValue(column.Kind, text)
		if err != nil {
			return never // for example a caller whose id is not a UUID: no row is theirs
		}
		value = parsed
	}
	return Compare{column, Equal, value}
}

// publishedCondition returns the condition that no time hides a row from visitors: for example, that a work is published. It returns nil if
// the table has no such times.
func (t *Table) publishedCondition() (all All) {
	for _, c := range policy.Table(identity.Caller{Role: identity.Anon}, t.Name, policy.Select).Rows {
		if c.When != "" {
			all = append(all, conditionNode(t, c))
		}
	}
	return all
}

// allowWrite returns the caller's grant for a write, or error 42501 if the policy forbids the action or one of the columns.
func allowWrite(c identity.Caller, t *Table, action policy.Action, columns []*Column) (policy.Grant, error) {
	g := policy.Table(c, t.Name, action)
	// A row condition could be checked only after the insert. No policy has one for inserts, so such a grant is rejected.
	if !g.Allowed || (action == policy.Insert && !g.Rows.All()) {
		return g, httpx.DeniedError(c, "table "+t.Name)
	}
	for _, column := range columns {
		if g.Columns != nil && !slices.Contains(g.Columns, column.Name) {
			return g, httpx.DeniedError(c, "column "+column.Name+" of table "+t.Name)
		}
	}
	return g, nil
}

// queryTexts runs a statement whose rows have one text each.
func queryTexts(ctx context.Context, q db.Querier, s statement) ([]string, error) {
	return db.Collect(ctx, q, db.ScanOne[string], s.sql, s.args...)
}

// queryNumber runs a statement whose result is one number.
func queryNumber(ctx context.Context, q db.Querier, s statement) (int64, error) {
	return db.One[int64](ctx, q, s.sql, s.args...)
}
