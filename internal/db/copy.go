package db

import (
	"bytes"
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

// CopyJob copies one snapshot of a database to another database, for the command atelie copy. A copy can resume after an interruption. The
// caller calls BeginCopy, CopyRows, Verify and Finish in this order. If Outdated reports that the source has changed since an interrupted
// run, the caller calls Restart before CopyRows. Before Verify the caller can copy files, and store its own progress with SetProgress.
type CopyJob struct {
	// Resumed is true when the job continues an earlier, interrupted run.
	Resumed bool

	target        *DB
	tables        []*table
	sourceDialect Dialect
	onProgress    func(table string, rows int64)
	origin        string // the caller's name for the source; an unfinished copy of another origin is not resumed
	schema        string // this program's schema version, in decimal
}

// copyState is the name of a table in the target. The table contains the progress of the copy and exists only while the copy is unfinished.
// Migrate rejects a database with this table.
const copyState = "atelie_copy"

// activityPaused is the name of a table on SQLite. While it has a row, the triggers do not write to the table activity (the log of who did
// what). A copy inserts a row, so that its own writes are not logged. On PostgreSQL the triggers check whether copyState exists.
const activityPaused = "activity_paused"

// Limits of one batch. Each batch of rows is inserted with one statement.
const (
	maxBatchRows       = 500
	maxBatchBytes      = 1 << 20
	maxBatchParameters = 30_000 // parameters of the statement; SQLite allows 32,766
)

// exclusion says which rows of a table are not copied.
type exclusion struct {
	copied string // SQL condition that is true for the rows that are copied
	why    string // why the other rows are not copied; shown to the operator (who runs the program)
}

// exclusions maps the name of each table that is not copied completely to its exclusion. In the table storage_uploads, the boolean column
// finished is the condition.
var exclusions = map[string]exclusion{
	"storage_uploads": {copied: "finished", why: "the parts of an unfinished upload cannot be read from every kind of file store; its client starts the upload again"},
}

// Errors of a copy that cannot begin or has failed. The operator reads their texts, so these say what to do.
var (
	errNotEmpty    = errors.New("the target is not empty: copy into a new database and an empty file store")
	errOtherCopy   = errors.New("the target contains an unfinished copy of something else: copy into a new database and an empty file store")
	errCopyDiffers = errors.New("the copy differs from the source: the target was changed during the copy, or it is damaged. The source is not affected; empty the target and copy again")
)

// TableChecksum describes the copied rows of a table: their number, and the SHA-256 of their canonical bytes in the order
// of the primary key, equal on both engines.
type TableChecksum struct {
	Table  string
	Rows   int64
	SHA256 string
	// LeftOut is the number of rows that are not copied. Why is the reason; it is empty if all rows are copied.
	LeftOut int64
	Why     string
}

// BeginCopy checks that source, a snapshot, can be copied into target: source must have this program's schema version, and
// target must be empty or hold an unfinished copy of the same origin. For an empty target it also calls checkEmpty, to
// check what is stored outside the database. onProgress is called after each batch with the rows of the table copied so far.
func BeginCopy(
	ctx context.Context, source Querier, sourceDialect Dialect, target *DB, origin string,
	checkEmpty func(context.Context) error, onProgress func(table string, rows int64),
) (*CopyJob, error) {
	tables, err := catalogue()
	if err != nil {
		return nil, err
	}
	c := &CopyJob{target: target, tables: tables, sourceDialect: sourceDialect, onProgress: onProgress, origin: origin}
	newest, err := SchemaVersion()
	if err != nil {
		return nil, err
	}
	c.schema = strconv.FormatInt(newest, 10)
	if err := c.checkSource(ctx, source, newest); err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	if err := c.prepareTarget(ctx, newest, checkEmpty); err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	return c, nil
}

// SchemaVersion returns the schema version of this program's migrations.
func SchemaVersion() (newest int64, err error) {
	scripts, err := renderMigrations(placeholderSQL(SQLite))
	if err == nil {
		newest = scripts[len(scripts)-1].version
	}
	return newest, err
}

func (c *CopyJob) checkSource(ctx context.Context, source Querier, newest int64) error {
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
	return checkCatalogue(ctx, source, c.sourceDialect, c.tables)
}

func checkVersion(ctx context.Context, q Querier, newest int64, older string) error {
	version, err := One[int64](ctx, q, "select coalesce(max(version_id), 0) from goose_db_version")
	switch {
	case err != nil:
		return err
	case version > newest:
		return fmt.Errorf("it has schema version %d and this program knows %d: use the newer program", version, newest)
	case version < newest:
		return fmt.Errorf("it has schema version %d, this program %d: %s", version, newest, older)
	}
	return nil
}

// prepareTarget prepares a new target, or resumes an earlier run. It writes the copy's state before it makes the schema, so
// that an interrupted preparation can be resumed too.
func (c *CopyJob) prepareTarget(ctx context.Context, newest int64, checkEmpty func(context.Context) error) error {
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
		if err := checkVersion(ctx, c.target, newest, "empty it, the copy makes its tables itself"); err != nil {
			return err
		}
		if err := checkCatalogue(ctx, c.target, c.target.Dialect, c.tables); err != nil {
			return err
		}
		for _, t := range c.tables {
			some, err := One[bool](ctx, c.target, "select exists (select 1 from "+t.name+")")
			if err != nil {
				return err
			}
			if some && !t.seeded {
				return errNotEmpty
			}
		}
	}
	if err := checkEmpty(ctx); err != nil {
		return err
	}
	err = c.target.WithTx(ctx, func(tx *Tx) error {
		if err := Exec(ctx, tx, "create table "+copyState+" (part text primary key not null, state text not null)"); err != nil {
			return err
		}
		if err := setCopyState(ctx, tx, "origin", c.origin); err != nil {
			return err
		}
		return setCopyState(ctx, tx, "schema", c.schema)
	})
	if err != nil {
		return err
	}
	return c.makeSchema(ctx)
}

func (c *CopyJob) resume(ctx context.Context) error {
	for part, want := range map[string]string{"origin": c.origin, "schema": c.schema} {
		have, err := c.Progress(ctx, part)
		if err != nil {
			return err
		}
		if have != want {
			return errOtherCopy
		}
	}
	ready, err := c.Progress(ctx, "ready")
	if err != nil || ready != "" {
		return err
	}
	return c.makeSchema(ctx)
}

// makeSchema runs the migrations on the target and deletes the rows that they insert, because those come from the source.
func (c *CopyJob) makeSchema(ctx context.Context) error {
	if err := c.target.migrate(ctx); err != nil {
		return err
	}
	return c.target.WithTx(ctx, func(tx *Tx) error {
		if tx.Dialect == SQLite {
			if err := Exec(ctx, tx, "insert into "+activityPaused+" (id) values (1) on conflict do nothing"); err != nil { // migrations may have inserted it
				return err
			}
		}
		for _, t := range c.tables {
			if !t.seeded {
				continue
			}
			if err := Exec(ctx, tx, "delete from "+t.name); err != nil {
				return err
			}
		}
		return setCopyState(ctx, tx, "ready", "yes")
	})
}

func setCopyState(ctx context.Context, q Querier, part, state string) error {
	return Exec(ctx, q, "insert into "+copyState+" (part, state) values ($1, $2) on conflict (part) do update set state = excluded.state", part, state)
}

// SetProgress stores the caller's own progress under a name, so that Progress returns it in a later run. The names "origin",
// "schema" and "ready", and those that begin with "table ", belong to the job itself.
func (c *CopyJob) SetProgress(ctx context.Context, part, state string) error {
	return setCopyState(ctx, c.target, part, state)
}

// Progress returns what SetProgress stored under the name, or "" for nothing.
func (c *CopyJob) Progress(ctx context.Context, part string) (state string, err error) {
	state, err = One[string](ctx, c.target, "select state from "+copyState+" where part = $1", part)
	return state, NoRowsAs(err, nil)
}

// Outdated reports whether the rows that earlier runs have copied are not those of source any more, because it has changed since.
func (c *CopyJob) Outdated(ctx context.Context, source Querier) (bool, error) {
	if !c.Resumed {
		return false, nil
	}
	for _, t := range c.tables {
		at, err := c.tableProgress(ctx, t)
		if err != nil {
			return false, err
		}
		same, err := c.isBeginning(ctx, source, t, at)
		if err != nil || !same {
			return !same, err
		}
	}
	return false, nil
}

// isBeginning reports whether the target's rows of a table are the first at.Rows rows of the source, or all of them if at.Done.
func (c *CopyJob) isBeginning(ctx context.Context, source Querier, t *table, at progress) (bool, error) {
	if at.Rows == 0 && !at.Done {
		return true, nil
	}
	want, rows := sha256.New(), int64(0)
	err := t.read(ctx, source, c.sourceDialect, nil, func(values []any) error {
		if rows++; rows > at.Rows {
			return errEnough
		}
		return t.writeCanonical(want, values)
	})
	if err != nil && !errors.Is(err, errEnough) {
		return false, err
	}
	if rows < at.Rows || at.Done && rows > at.Rows {
		return false, nil
	}
	got := sha256.New()
	if _, err := t.dump(ctx, c.target, c.target.Dialect, got); err != nil {
		return false, err
	}
	if !bytes.Equal(got.Sum(nil), want.Sum(nil)) || !at.Done {
		return bytes.Equal(got.Sum(nil), want.Sum(nil)), nil
	}
	theirs, err := t.sequence(ctx, source, c.sourceDialect)
	if err != nil {
		return false, err
	}
	ours, err := t.sequence(ctx, c.target, c.target.Dialect)
	return ours >= theirs, err
}

// errEnough ends a read of isBeginning.
var errEnough = errors.New("enough rows were read")

// Restart deletes all rows of the target, so that CopyRows begins again. The caller's own progress stays.
func (c *CopyJob) Restart(ctx context.Context) error {
	names := make([]string, len(c.tables))
	for i, t := range c.tables {
		names[len(names)-1-i] = t.name // children first
	}
	return c.target.WithTx(ctx, func(tx *Tx) error {
		if tx.Dialect == Postgres {
			if err := Exec(ctx, tx, "truncate "+strings.Join(names, ", ")); err != nil {
				return err
			}
		} else {
			for _, name := range slices.Concat(names, names) { // again, because triggers on the first deletions write rows
				if err := Exec(ctx, tx, "delete from "+name); err != nil {
					return err
				}
			}
		}
		return Exec(ctx, tx, "delete from "+copyState+" where part like 'table %'")
	})
}

// Target returns the target's rows as earlier runs have left them.
func (c *CopyJob) Target() Querier { return c.target }

// progress is the state of copying a table. After is the primary key of the last copied row.
type progress struct {
	Rows  int64    `json:"rows"`
	After []string `json:"after,omitempty"`
	Done  bool     `json:"done,omitempty"`
}

func (c *CopyJob) tableProgress(ctx context.Context, t *table) (at progress, err error) {
	state, err := c.Progress(ctx, "table "+t.name)
	if err == nil && state != "" {
		err = json.Unmarshal([]byte(state), &at)
	}
	return at, err
}

// CopyRows copies every table that is not complete yet, parents first.
func (c *CopyJob) CopyRows(ctx context.Context, source Querier) error {
	for _, t := range c.tables {
		if err := c.copyTable(ctx, source, t); err != nil {
			return fmt.Errorf("copy table %s: %w", t.name, err)
		}
	}
	return nil
}

func (c *CopyJob) copyTable(ctx context.Context, source Querier, t *table) error {
	at, err := c.tableProgress(ctx, t)
	if err != nil || at.Done {
		return err
	}
	var (
		batch    [][]any
		size     int
		sequence int64 // 0 until the last batch
	)
	flush := func() error {
		err := c.target.WithTx(ctx, func(tx *Tx) error {
			if err := c.writeRows(ctx, tx, t, batch, &at); err != nil {
				return err
			}
			return t.setSequence(ctx, tx, sequence)
		})
		if err == nil {
			c.onProgress(t.name, at.Rows)
		}
		batch, size = batch[:0], 0
		return err
	}
	err = t.read(ctx, source, c.sourceDialect, at.After, func(values []any) error {
		batch = append(batch, values)
		size += rowSize(values)
		if len(batch) == maxBatchRows || len(batch)*len(t.columns) > maxBatchParameters-len(t.columns) || size >= maxBatchBytes {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	if sequence, err = t.sequence(ctx, source, c.sourceDialect); err != nil {
		return err
	}
	at.Done = true
	return flush()
}

func rowSize(values []any) (n int) {
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

// writeRows inserts a batch and stores the progress, in the caller's transaction.
func (c *CopyJob) writeRows(ctx context.Context, tx *Tx, t *table, batch [][]any, at *progress) error {
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
	if err := setCopyState(ctx, tx, "table "+t.name, string(state)); err != nil {
		return err
	}
	tx.AfterCommit(func() { *at = next })
	return nil
}

func (t *table) insertStatement(dialect Dialect, rows int) string {
	system := ""
	if dialect == Postgres && t.serial() >= 0 {
		system = " overriding system value"
	}
	names, parameters, tuples := make([]string, len(t.columns)), make([]string, len(t.columns)), make([]string, rows)
	for i := range tuples {
		for j, col := range t.columns {
			names[j], parameters[j] = col.name, col.parameter(dialect, i*len(t.columns)+j+1)
		}
		tuples[i] = "(" + strings.Join(parameters, ", ") + ")"
	}
	return "insert into " + t.name + " (" + strings.Join(names, ", ") + ")" + system + " values " + strings.Join(tuples, ", ")
}

// parameter returns the SQL expression that converts the nth parameter of a statement to the column's type.
func (c column) parameter(dialect Dialect, n int) string {
	if dialect == Postgres {
		return fmt.Sprintf(kinds[c.kind].postgresWrite, n)
	}
	return fmt.Sprintf("$%d", n)
}

// serial returns the index of the column that the engine numbers by itself, or -1 if there is none.
func (t *table) serial() int {
	return slices.IndexFunc(t.columns, func(c column) bool { return c.kind == "serial" })
}

// read calls each for every row to copy, in the order of the primary key. With after, which holds a primary key, it begins
// with the row that follows that key.
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
		key[i] = t.name + "." + col.name // the column, not its text in the select list, which sorts differently
		if after == nil {
			continue
		}
		from[i] = col.parameter(dialect, i+1)
		var arg any = after[i]
		if slices.Contains([]kind{"int", "bigint", "serial"}, col.kind) {
			if arg, err = strconv.ParseInt(after[i], 10, 64); err != nil {
				return err
			}
		}
		args = append(args, arg)
	}
	conditions := []string{"true"}
	if e, ok := exclusions[t.name]; ok {
		conditions = append(conditions, e.copied)
	}
	if after != nil {
		conditions = append(conditions, "("+strings.Join(key, ", ")+") > ("+strings.Join(from, ", ")+")")
	}
	rows, err := q.Query(ctx, "select "+strings.Join(expressions, ", ")+" from "+t.name+" where "+strings.Join(conditions, " and ")+" order by "+strings.Join(key, ", "), args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	dest, values := make([]any, len(t.columns)), make([]func() any, len(t.columns))
	for rows.Next() {
		for i, col := range t.columns {
			dest[i], values[i] = kinds[col.kind].read()
		}
		if err := rows.Scan(dest...); err != nil {
			return fmt.Errorf("read %s: %w", t.name, err)
		}
		row := make([]any, len(values))
		for i, value := range values {
			row[i] = value()
			text, isText := row[i].(string)
			switch kind := t.columns[i].kind; {
			case isText && kind == "uuid":
				row[i], err = canonicalUUID(text)
			case isText && dialect == Postgres && (kind == "json" || kind == "list"):
				row[i], err = compactJSON(text)
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

// sequence returns the last number that the engine has given to the serial column, or 0 if there is none.
func (t *table) sequence(ctx context.Context, q Querier, dialect Dialect) (int64, error) {
	if t.serial() < 0 {
		return 0, nil
	}
	return One[int64](ctx, q, dialect.Choose("select coalesce(max(seq), 0) from sqlite_sequence where name = $1",
		"select coalesce(pg_sequence_last_value(pg_get_serial_sequence($1, '"+t.columns[t.serial()].name+"')::regclass), 0)"), t.name)
}

func (t *table) setSequence(ctx context.Context, tx *Tx, last int64) error {
	if last == 0 {
		return nil
	}
	if tx.Dialect == Postgres {
		return Exec(ctx, tx, "select setval(pg_get_serial_sequence($1, '"+t.columns[t.serial()].name+"')::regclass, $2)", t.name, last)
	}
	changed, err := Changed(ctx, tx, "update sqlite_sequence set seq = $2 where name = $1", t.name, last)
	if err == nil && !changed {
		err = Exec(ctx, tx, "insert into sqlite_sequence (name, seq) values ($1, $2)", t.name, last)
	}
	return err
}

// Verify reads every table of both databases again and compares row counts and hashes. It returns the checksums, or
// errCopyDiffers for the first table that differs.
func (c *CopyJob) Verify(ctx context.Context, source Querier) ([]TableChecksum, error) {
	sums := make([]TableChecksum, 0, len(c.tables))
	for _, t := range c.tables {
		want, err := t.checksum(ctx, source, c.sourceDialect)
		if err != nil {
			return nil, fmt.Errorf("source: %w", err)
		}
		got, err := t.checksum(ctx, c.target, c.target.Dialect)
		if err != nil {
			return nil, fmt.Errorf("target: %w", err)
		}
		if got.Rows != want.Rows || got.SHA256 != want.SHA256 || got.LeftOut > 0 {
			return nil, fmt.Errorf("table %s (%d rows, %d copied): %w", t.name, want.Rows, got.Rows, errCopyDiffers)
		}
		sums = append(sums, want)
	}
	return sums, nil
}

// Checksums describes the rows of all tables. q is a snapshot, or a database that nobody writes.
func Checksums(ctx context.Context, q Querier, dialect Dialect) ([]TableChecksum, error) {
	tables, err := catalogue()
	if err != nil {
		return nil, err
	}
	sums := make([]TableChecksum, 0, len(tables))
	for _, t := range tables {
		s, err := t.checksum(ctx, q, dialect)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.name, err)
		}
		sums = append(sums, s)
	}
	return sums, nil
}

func (t *table) checksum(ctx context.Context, q Querier, dialect Dialect) (TableChecksum, error) {
	s, hash := TableChecksum{Table: t.name}, sha256.New()
	rows, err := t.dump(ctx, q, dialect, hash)
	if err != nil {
		return s, err
	}
	s.Rows, s.SHA256 = rows, hex.EncodeToString(hash.Sum(nil))
	if e, ok := exclusions[t.name]; ok {
		s.Why = e.why
		err = q.QueryRow(ctx, "select count(*) from "+t.name+" where not ("+e.copied+")").Scan(&s.LeftOut)
	}
	return s, err
}

// dump writes the canonical bytes of all rows to copy, and returns their number.
func (t *table) dump(ctx context.Context, q Querier, dialect Dialect, w io.Writer) (rows int64, err error) {
	err = t.read(ctx, q, dialect, nil, func(values []any) error {
		rows++
		return t.writeCanonical(w, values)
	})
	return rows, err
}

// Finish removes the copy's state. From then on the target is an ordinary database, which a server may use.
func (c *CopyJob) Finish(ctx context.Context) error {
	return c.target.WithTx(ctx, func(tx *Tx) error {
		if tx.Dialect == SQLite {
			if err := Exec(ctx, tx, "delete from "+activityPaused); err != nil {
				return err
			}
		}
		return Exec(ctx, tx, "drop table "+copyState)
	})
}
