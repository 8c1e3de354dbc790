package db

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// copyState is the table in the target that says how far a copy has come. It is there only while the copy is unfinished,
// and Migrate refuses a database that has it.
const copyState = "atelie_copy"

// Limits of what a copy holds in memory: rows that are written in one transaction, their bytes, and parameters of one
// statement (SQLite takes 32,766).
const (
	copyRows       = 500
	copyBytes      = 1 << 20
	copyParameters = 30_000
)

// exception leaves rows of a table out, for a reason.
type exception struct{ where, why string }

var exceptions = map[string]exception{
	"storage_uploads": {"finished", "the pieces of an upload on its way cannot be read out of every store; its client begins it anew"},
}

// Refusals of a copy. The text says what to do.
var (
	errNotEmpty  = errors.New("the target is not empty: copy into a new database and an empty place for files")
	errOther     = errors.New("the target holds an unfinished copy of something else: copy into a new database and an empty place for files")
	errDifferent = errors.New("the copy differs from the source: the source was changed after the copy had begun, or the target was. Nothing is wrong with the source; empty the target and copy again")
)

// Copying is a copy from one database to another that goes on where an earlier run was stopped. Its steps: Rows, what
// the caller copies beside (Note and Noted keep how far that is), Verify, End.
type Copying struct {
	// Resumed tells that an earlier run had begun.
	Resumed bool

	target         *DB
	tables         []*table
	sourceDialect  Dialect
	tell           func(table string, rows int64)
	origin, schema string
}

// TableSum describes the content of a table: the rows that a copy takes along, and the SHA-256 of their canonical bytes
// in the order of the primary key, alike on both engines.
type TableSum struct {
	Table  string
	Rows   int64
	SHA256 string
	// LeftOut counts rows that a copy does not take along, Why gives the reason.
	LeftOut int64
	Why     string
}

// BeginCopy checks that source, in a snapshot, can be copied into target: both of this program's schema version, the
// target empty (then fresh is asked too, for what lies beside the database) or holding an unfinished copy of the same
// origin. tell hears of progress after each part of a table.
func BeginCopy(ctx context.Context, source Querier, sourceDialect Dialect, target *DB, origin string, fresh func(context.Context) error, tell func(table string, rows int64)) (*Copying, error) {
	tables, err := catalogue()
	if err != nil {
		return nil, err
	}
	c := &Copying{target: target, tables: tables, sourceDialect: sourceDialect, tell: tell, origin: origin}
	newest, err := newestVersion()
	if err != nil {
		return nil, err
	}
	c.schema = strconv.FormatInt(newest, 10)
	if err := c.checkSource(ctx, source, newest); err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	if err := c.prepareTarget(ctx, newest, fresh); err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	return c, nil
}

func newestVersion() (newest int64, err error) {
	scripts, err := renderMigrations(wordsOf(SQLite))
	if err == nil {
		newest = scripts[len(scripts)-1].version
	}
	return newest, err
}

func (c *Copying) checkSource(ctx context.Context, source Querier, newest int64) error {
	found, err := tablesOf(ctx, source, c.sourceDialect)
	if err != nil {
		return err
	}
	switch {
	case !slices.Contains(found, "goose_db_version"):
		return errors.New("this is not a database of this program")
	case slices.Contains(found, copyState):
		return errors.New("it is itself an unfinished copy: finish that one first")
	}
	if err := checkVersion(ctx, source, newest, "bring it up to date with atelie migrate"); err != nil {
		return err
	}
	return matchesCatalogue(ctx, source, c.sourceDialect, c.tables)
}

func checkVersion(ctx context.Context, q Querier, newest int64, older string) error {
	var version int64
	if err := q.QueryRow(ctx, "select coalesce(max(version_id), 0) from goose_db_version").Scan(&version); err != nil {
		return err
	}
	switch {
	case version > newest:
		return fmt.Errorf("it has schema version %d and this program knows %d: use the newer program", version, newest)
	case version < newest:
		return fmt.Errorf("it has schema version %d, this program %d: %s", version, newest, older)
	}
	return nil
}

// prepareTarget makes a new target ready, or finds the state of an earlier run. The state is written first: whatever is
// interrupted after that belongs to this copy.
func (c *Copying) prepareTarget(ctx context.Context, newest int64, fresh func(context.Context) error) error {
	found, err := c.target.tables(ctx)
	if err != nil {
		return err
	}
	if c.Resumed = slices.Contains(found, copyState); c.Resumed {
		return c.resume(ctx)
	}
	if len(found) > 0 {
		if !slices.Contains(found, "goose_db_version") {
			return errNotEmpty
		}
		if err := checkVersion(ctx, c.target, newest, "empty it, it is made anew"); err != nil {
			return err
		}
		if err := matchesCatalogue(ctx, c.target, c.target.Dialect, c.tables); err != nil {
			return err
		}
		for _, t := range c.tables {
			var some bool
			if err := c.target.QueryRow(ctx, "select exists (select 1 from "+t.name+")").Scan(&some); err != nil {
				return err
			}
			if some && !t.seeded {
				return errNotEmpty
			}
		}
	}
	if err := fresh(ctx); err != nil {
		return err
	}
	err = c.target.WithTx(ctx, func(tx *Tx) error {
		if _, err := tx.Exec(ctx, "create table "+copyState+" (part text primary key not null, state text not null)"); err != nil {
			return err
		}
		if err := note(ctx, tx, "origin", c.origin); err != nil {
			return err
		}
		return note(ctx, tx, "schema", c.schema)
	})
	if err != nil {
		return err
	}
	return c.makeSchema(ctx)
}

func (c *Copying) resume(ctx context.Context) error {
	for part, want := range map[string]string{"origin": c.origin, "schema": c.schema} {
		have, err := c.Noted(ctx, part)
		if err != nil {
			return err
		}
		if have != want {
			return errOther
		}
	}
	ready, err := c.Noted(ctx, "ready")
	if err != nil || ready != "" {
		return err
	}
	return c.makeSchema(ctx)
}

// makeSchema migrates and takes out what the migrations put in: the source brings those rows.
func (c *Copying) makeSchema(ctx context.Context) error {
	if err := c.target.migrate(ctx); err != nil {
		return err
	}
	return c.target.WithTx(ctx, func(tx *Tx) error {
		for _, t := range c.tables {
			if !t.seeded {
				continue
			}
			if _, err := tx.Exec(ctx, "delete from "+t.name); err != nil {
				return err
			}
		}
		return note(ctx, tx, "ready", "yes")
	})
}

func note(ctx context.Context, q Querier, part, state string) error {
	_, err := q.Exec(ctx, "insert into "+copyState+" (part, state) values ($1, $2) on conflict (part) do update set state = excluded.state", part, state)
	return err
}

// Note keeps how far a part of the copy is that is no table, for Noted in a later run.
func (c *Copying) Note(ctx context.Context, part, state string) error {
	return note(ctx, c.target, part, state)
}

// Noted gives what Note kept, or an empty text.
func (c *Copying) Noted(ctx context.Context, part string) (state string, err error) {
	err = c.target.QueryRow(ctx, "select state from "+copyState+" where part = $1", part).Scan(&state)
	if errors.Is(err, ErrNoRows) {
		return "", nil
	}
	return state, err
}

// progress is the state of a table. After is the key of the last row that is in the target.
type progress struct {
	Rows  int64    `json:"rows"`
	After []string `json:"after,omitempty"`
	Done  bool     `json:"done,omitempty"`
}

// Rows copies every table that is not complete yet, parents first.
func (c *Copying) Rows(ctx context.Context, source Querier) error {
	for _, t := range c.tables {
		if err := c.copyTable(ctx, source, t); err != nil {
			return fmt.Errorf("copy table %s: %w", t.name, err)
		}
	}
	return nil
}

func (c *Copying) copyTable(ctx context.Context, source Querier, t *table) error {
	var at progress
	if state, err := c.Noted(ctx, "table "+t.name); err != nil {
		return err
	} else if state != "" {
		if err := json.Unmarshal([]byte(state), &at); err != nil {
			return err
		}
	}
	if at.Done {
		return nil
	}
	var (
		batch [][]any
		size  int
	)
	flush := func() error {
		err := c.target.WithTx(ctx, func(tx *Tx) error { return c.writeRows(ctx, tx, t, batch, &at) })
		if err == nil {
			c.tell(t.name, at.Rows)
		}
		batch, size = batch[:0], 0
		return err
	}
	err := t.read(ctx, source, c.sourceDialect, at.After, func(values []any) error {
		batch = append(batch, values)
		size += sizeOf(values)
		if len(batch) == copyRows || len(batch)*len(t.columns) > copyParameters-len(t.columns) || size >= copyBytes {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	sequence, err := t.sequence(ctx, source, c.sourceDialect)
	if err != nil {
		return err
	}
	at.Done = true
	err = c.target.WithTx(ctx, func(tx *Tx) error {
		if err := c.writeRows(ctx, tx, t, batch, &at); err != nil {
			return err
		}
		return t.setSequence(ctx, tx, sequence)
	})
	if err == nil {
		c.tell(t.name, at.Rows)
	}
	return err
}

func sizeOf(values []any) (n int) {
	for _, v := range values {
		switch v := v.(type) {
		case string:
			n += len(v)
		case []byte:
			n += len(v)
		}
		n += 16
	}
	return n
}

// writeRows inserts a batch and notes how far the table is, in the caller's transaction.
func (c *Copying) writeRows(ctx context.Context, tx *Tx, t *table, batch [][]any, at *progress) error {
	next := *at
	if len(batch) > 0 {
		args := make([]any, 0, len(batch)*len(t.columns))
		for _, values := range batch {
			args = append(args, values...)
		}
		if _, err := tx.Exec(ctx, t.insertStatement(tx.Dialect, len(batch)), args...); err != nil {
			return err
		}
		next.Rows += int64(len(batch))
		next.After = nil
		for _, i := range t.key {
			b, err := kinds[t.columns[i].kind].canonical(batch[len(batch)-1][i])
			if err != nil {
				return err
			}
			next.After = append(next.After, string(b))
		}
	}
	state, err := json.Marshal(next)
	if err != nil {
		return err
	}
	if err := note(ctx, tx, "table "+t.name, string(state)); err != nil {
		return err
	}
	tx.AfterCommit(func() { *at = next })
	return nil
}

func (t *table) insertStatement(dialect Dialect, rows int) string {
	var b strings.Builder
	b.WriteString("insert into " + t.name + " (" + strings.Join(t.names(), ", ") + ")")
	if dialect == Postgres && t.serial() >= 0 {
		b.WriteString(" overriding system value")
	}
	b.WriteString(" values ")
	for i := range rows {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("(")
		for j, col := range t.columns {
			if j > 0 {
				b.WriteString(", ")
			}
			n := i*len(t.columns) + j + 1
			if dialect == Postgres {
				fmt.Fprintf(&b, kinds[col.kind].postgresWrite, n)
			} else {
				fmt.Fprintf(&b, "$%d", n)
			}
		}
		b.WriteString(")")
	}
	return b.String()
}

// serial gives the place of the column that the engine numbers, or -1.
func (t *table) serial() int {
	return slices.IndexFunc(t.columns, func(c column) bool { return c.kind == "serial" })
}

// read gives the rows that a copy takes along, behind a key, in the order of the primary key.
func (t *table) read(ctx context.Context, q Querier, dialect Dialect, after []string, each func(values []any) error) (err error) {
	expressions := make([]string, len(t.columns))
	for i, col := range t.columns {
		expressions[i] = col.name
		if dialect == Postgres {
			expressions[i] = fmt.Sprintf(kinds[col.kind].postgresRead, col.name)
		}
	}
	var (
		key  = make([]string, len(t.key))
		from = make([]string, len(after))
		args []any
	)
	for i, place := range t.key {
		col := t.columns[place]
		key[i] = t.name + "." + col.name // the column itself: its text would sort otherwise
		if after == nil {
			continue
		}
		from[i] = fmt.Sprintf("$%d", i+1)
		if dialect == Postgres {
			from[i] = fmt.Sprintf(kinds[col.kind].postgresWrite, i+1)
		}
		var arg any = after[i]
		if slices.Contains([]kind{"int", "bigint", "serial"}, col.kind) {
			if arg, err = strconv.ParseInt(after[i], 10, 64); err != nil {
				return err
			}
		}
		args = append(args, arg)
	}
	conditions := []string{"true"}
	if e, ok := exceptions[t.name]; ok {
		conditions = append(conditions, e.where)
	}
	if after != nil {
		conditions = append(conditions, "("+strings.Join(key, ", ")+") > ("+strings.Join(from, ", ")+")")
	}
	rows, err := q.Query(ctx, "select "+strings.Join(expressions, ", ")+" from "+t.name+" where "+strings.Join(conditions, " and ")+" order by "+strings.Join(key, ", "), args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	dest, values := make([]any, len(t.columns)), make([]func() (any, error), len(t.columns))
	for rows.Next() {
		for i, col := range t.columns {
			dest[i], values[i] = kinds[col.kind].read()
		}
		if err := rows.Scan(dest...); err != nil {
			return fmt.Errorf("read %s: %w", t.name, err)
		}
		row := make([]any, len(values))
		for i, value := range values {
			if row[i], err = value(); err == nil && dialect == Postgres && (t.columns[i].kind == "json" || t.columns[i].kind == "list") {
				row[i], err = compactJSON(row[i])
			}
			if err != nil {
				return fmt.Errorf("read %s.%s: %w", t.name, t.columns[i].name, err)
			}
		}
		if err := each(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// sequence gives the last number that was handed out, 0 for none.
func (t *table) sequence(ctx context.Context, q Querier, dialect Dialect) (last int64, err error) {
	if t.serial() < 0 {
		return 0, nil
	}
	query := "select coalesce(max(seq), 0) from sqlite_sequence where name = $1"
	if dialect == Postgres {
		query = "select coalesce(pg_sequence_last_value(pg_get_serial_sequence($1, '" + t.columns[t.serial()].name + "')::regclass), 0)"
	}
	err = q.QueryRow(ctx, query, t.name).Scan(&last)
	return last, err
}

func (t *table) setSequence(ctx context.Context, tx *Tx, last int64) error {
	if last == 0 {
		return nil
	}
	if tx.Dialect == Postgres {
		_, err := tx.Exec(ctx, "select setval(pg_get_serial_sequence($1, '"+t.columns[t.serial()].name+"')::regclass, $2)", t.name, last)
		return err
	}
	changed, err := tx.Exec(ctx, "update sqlite_sequence set seq = $2 where name = $1", t.name, last)
	if err == nil && changed == 0 {
		_, err = tx.Exec(ctx, "insert into sqlite_sequence (name, seq) values ($1, $2)", t.name, last)
	}
	return err
}

// Verify reads every table on both sides again and compares rows and hashes; it returns what it found.
func (c *Copying) Verify(ctx context.Context, source Querier) ([]TableSum, error) {
	sums := make([]TableSum, 0, len(c.tables))
	for _, t := range c.tables {
		want, err := t.sum(ctx, source, c.sourceDialect)
		if err != nil {
			return nil, fmt.Errorf("source: %w", err)
		}
		got, err := t.sum(ctx, c.target, c.target.Dialect)
		if err != nil {
			return nil, fmt.Errorf("target: %w", err)
		}
		if got.Rows != want.Rows || got.SHA256 != want.SHA256 || got.LeftOut > 0 {
			return nil, fmt.Errorf("table %s (%d rows, %d copied): %w", t.name, want.Rows, got.Rows, errDifferent)
		}
		sums = append(sums, want)
	}
	return sums, nil
}

func (t *table) sum(ctx context.Context, q Querier, dialect Dialect) (TableSum, error) {
	s, hash := TableSum{Table: t.name}, sha256.New()
	rows, err := t.dump(ctx, q, dialect, hash)
	if err != nil {
		return s, err
	}
	s.Rows, s.SHA256 = rows, hex.EncodeToString(hash.Sum(nil))
	if e, ok := exceptions[t.name]; ok {
		s.Why = e.why
		err = q.QueryRow(ctx, "select count(*) from "+t.name+" where not ("+e.where+")").Scan(&s.LeftOut)
	}
	return s, err
}

// dump writes the canonical bytes of a table and counts its rows.
func (t *table) dump(ctx context.Context, q Querier, dialect Dialect, w io.Writer) (rows int64, err error) {
	err = t.read(ctx, q, dialect, nil, func(values []any) error {
		rows++
		return t.writeCanonical(w, values)
	})
	return rows, err
}

// End takes the state away: the target is a database like any other from now on.
func (c *Copying) End(ctx context.Context) error {
	_, err := c.target.Exec(ctx, "drop table "+copyState)
	return err
}
