package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // registers the driver
)

// sqliteDriver writes through one connection and reads through a pool, because SQLite allows one writer at a time. In a copy
// (OpenSource, OpenExclusive) write and read are the same connection, and of the fields below only queue is set.
type sqliteDriver struct {
	write, read *sql.DB
	queue       *writeQueue                   // lets transactions use write one after the other
	changes     *changeCounter                // tells DB.Changes whether anything was committed
	anonymous   *sql.DB                       // used only by anonymousReader
	dsn         func(extra url.Values) string // returns the data source name of the file with extra options
	file        string                        // path of the database
	opened      os.FileInfo                   // identifies the file that was opened, to notice if it is replaced
	// restartLog moves the write-ahead log into the database and restarts the log. It is set while another part of the program runs the
	// checkpoints, which move the log (DelegateCheckpoints); otherwise it is nil.
	restartLog atomic.Pointer[func(context.Context) error]
}

// busyTimeout is how long SQLite waits for the lock of another connection.
const busyTimeout = 5 * time.Second

// openSQLite opens a database with a write-ahead log (WAL). synchronous=FULL costs about 0.6 ms for each commit, but a
// committed row then survives a power cut. secure_delete overwrites deleted content with zeros.
func openSQLite(ctx context.Context, file string) (*sqliteDriver, error) {
	dsn := func(extra url.Values) string {
		pragmas := []string{
			fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "journal_mode(wal)", "synchronous(full)", "foreign_keys(on)",
			"case_sensitive_like(on)", "temp_store(memory)", "secure_delete(on)",
		}
		// A pragma in extra replaces the default one, because the driver does not run pragmas in the order of the URL.
		for _, pragma := range extra["_pragma"] {
			name, _, _ := strings.Cut(pragma, "(")
			pragmas = slices.DeleteFunc(pragmas, func(p string) bool { return strings.HasPrefix(p, name+"(") })
		}
		q := url.Values{"_pragma": append(pragmas, extra["_pragma"]...)}
		for k, v := range extra {
			if k != "_pragma" {
				q[k] = v
			}
		}
		return "file:" + (&url.URL{Path: file}).EscapedPath() + "?" + q.Encode()
	}
	if err := createFile(file); err != nil {
		return nil, err
	}
	opened, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	d := &sqliteDriver{dsn: dsn, file: file, opened: opened}
	readOnly := url.Values{"_pragma": {"query_only(on)"}}
	immediate := url.Values{"_txlock": {"immediate"}} // a transaction takes the write lock when it begins
	for _, pool := range []struct {
		to      **sql.DB
		open    func(dsn string) (*sql.DB, error)
		options url.Values
		conns   int
	}{
		{&d.write, openStatementPool, immediate, 1},
		{&d.read, openStatementPool, readOnly, max(4, runtime.NumCPU()*2)},
		// This pool does not keep prepared statements, because unprivileged callers can send any number of different ones.
		{&d.anonymous, func(dsn string) (*sql.DB, error) { return sql.Open("sqlite", dsn) }, readOnly, AnonymousConns},
	} {
		if *pool.to, err = pool.open(dsn(pool.options)); err != nil {
			return nil, errors.Join(err, d.close())
		}
		(*pool.to).SetMaxOpenConns(pool.conns)
		(*pool.to).SetMaxIdleConns(pool.conns)
	}
	d.anonymous.SetConnMaxIdleTime(anonymousIdleTime)
	d.queue = &writeQueue{pool: d.write}
	d.changes = &changeCounter{dsn: dsn(readOnly)}
	// The writer connects before the readers, because only it can switch a new file to WAL.
	if err := d.write.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", file, err), d.close())
	}
	return d, nil
}

// createFile creates a missing file with mode 0600, because SQLite itself would use the umask. SQLite gives the log and its
// index the mode of the database.
func createFile(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// ErrFileGone is returned by Ready when the file of an open SQLite database was removed or replaced.
var ErrFileGone = errors.New("the database file was removed or replaced while the program runs: what is written now is lost; stop the program and restore the file")

// checkFile returns ErrFileGone if the file was deleted or replaced. Writes still succeed then, but are lost at the next
// start.
func (d *sqliteDriver) checkFile() error {
	now, err := os.Stat(d.file)
	if err != nil || !os.SameFile(now, d.opened) {
		return fmt.Errorf("%s: %w", d.file, ErrFileGone)
	}
	return nil
}

func (d *sqliteDriver) reader() Querier          { return stdQuerier{d.read} }
func (d *sqliteDriver) anonymousReader() Querier { return stdQuerier{d.anonymous} }

func (d *sqliteDriver) ping(ctx context.Context) error {
	var one int
	return d.read.QueryRowContext(ctx, "select 1 from sqlite_master limit 1").Scan(&one)
}

// probe opens the file again, because an open connection still reads a file that was moved away.
func (d *sqliteDriver) probe(ctx context.Context) error {
	return d.onNewConn(url.Values{"_pragma": {"query_only(on)"}}, func(conn *sql.DB) error {
		var n int
		return conn.QueryRowContext(ctx, "select count(*) from sqlite_master").Scan(&n)
	})
}

func (d *sqliteDriver) probeWrite(ctx context.Context) error {
	return d.onNewConn(url.Values{"_txlock": {"immediate"}}, func(conn *sql.DB) error {
		tx, err := conn.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		return tx.Rollback()
	})
}

// onNewConn runs fn on a new connection to an existing file. The connection waits at most half of probeTimeout for a lock.
func (d *sqliteDriver) onNewConn(q url.Values, fn func(*sql.DB) error) (err error) {
	q.Set("mode", "rw")
	q["_pragma"] = append(q["_pragma"], fmt.Sprintf("busy_timeout(%d)", probeTimeout.Milliseconds()/2))
	conn, err := sql.Open("sqlite", "file:"+(&url.URL{Path: d.file}).EscapedPath()+"?"+q.Encode())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return fn(conn)
}

func (d *sqliteDriver) resetPool() {} // SQLite's connections recover by themselves

func (d *sqliteDriver) close() (err error) {
	if d.changes != nil {
		err = d.changes.close()
	}
	for _, pool := range []*sql.DB{d.anonymous, d.read, d.write} {
		if pool != nil {
			err = errors.Join(err, pool.Close())
		}
	}
	return err
}

// File returns the path of an SQLite database. It returns "" on PostgreSQL, and for a database that was opened for a copy.
func (d *DB) File() string {
	if s, ok := d.driver.(*sqliteDriver); ok {
		return s.file
	}
	return ""
}

// DelegateCheckpoints makes the caller responsible for SQLite's checkpoints until it calls release: the program's own connection
// does none, and Scrub calls restart, which must move the write-ahead log into the database and have a write begin it again.
func (d *DB) DelegateCheckpoints(ctx context.Context, restart func(context.Context) error) (release func(context.Context) error, err error) {
	s, ok := d.driver.(*sqliteDriver)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	if _, err := s.write.ExecContext(ctx, "pragma wal_autocheckpoint(0)"); err != nil {
		return nil, translate(err)
	}
	s.restartLog.Store(&restart)
	return func(ctx context.Context) error {
		s.restartLog.Store(nil)
		_, err := s.write.ExecContext(context.WithoutCancel(ctx), "pragma wal_autocheckpoint(1000)")
		return translate(err)
	}, nil
}

func (d *sqliteDriver) exec(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = d.queue.runAlone(ctx, func() error {
		n, err = stdQuerier{d.write}.Exec(ctx, query, args...)
		return err
	})
	return n, err
}

func (d *sqliteDriver) withTx(ctx context.Context, fn func(Querier) error) error {
	return d.queue.runAlone(ctx, func() error {
		tx, err := d.write.BeginTx(ctx, nil)
		if err != nil {
			return translate(err)
		}
		defer func() { _ = tx.Rollback() }() // after a commit this is a no-op by contract
		state := &sqliteTx{interruptible: true}
		if err := asActor(ctx, guardedQuerier{state, stdQuerier{tx}}, fn); err != nil {
			return err
		}
		if state.failed != nil { // fn has ignored the error
			return state.failed
		}
		return translate(tx.Commit())
	})
}

func (d *sqliteDriver) withShortTx(ctx context.Context, fn func(Querier) error) error {
	err := d.queue.runShort(ctx, fn)
	if errors.Is(err, errGroupRolledBack) {
		return d.withTx(ctx, fn)
	}
	return err
}

// asActor runs fn with the actor of ctx in history_actor, where the triggers of the history read it.
func asActor(ctx context.Context, q Querier, fn func(Querier) error) error {
	actor := actorOf(ctx)
	if actor == "" {
		return fn(q)
	}
	if err := storeActor(ctx, q, actor); err != nil {
		return err
	}
	if err := fn(q); err != nil {
		return err
	}
	return storeActor(ctx, q, "")
}

// storeActor replaces the actor in history_actor; "" removes it. There is none when a transaction ends.
func storeActor(ctx context.Context, q Querier, actor string) error {
	if actor == "" {
		return Exec(ctx, q, "delete from history_actor")
	}
	return Exec(ctx, q, "insert into history_actor (id, actor) values (1, $1) on conflict (id) do update set actor = excluded.actor", actor)
}

// stdQuerier adapts database/sql, for *sql.DB and *sql.Tx.
type stdQuerier struct {
	q interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
		QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	}
}

func (s stdQuerier) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	res, err := s.q.ExecContext(ctx, query, sqliteArgs(args)...)
	if err != nil {
		return 0, translate(err)
	}
	return res.RowsAffected()
}

func (s stdQuerier) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	rows, err := s.q.QueryContext(ctx, query, sqliteArgs(args)...) //nolint:rowserrcheck // the caller reads the rows and asks Err
	if err != nil {
		return nil, translate(err)
	}
	return stdRows{rows}, nil
}

func (s stdQuerier) QueryRow(ctx context.Context, query string, args ...any) Row {
	return stdRow{s.q.QueryRowContext(ctx, query, sqliteArgs(args)...)}
}

type stdRows struct{ *sql.Rows }

func (r stdRows) Scan(dest ...any) error { return translate(r.Rows.Scan(sqliteDest(dest)...)) }
func (r stdRows) Err() error             { return translate(r.Rows.Err()) }

type stdRow struct{ *sql.Row }

func (r stdRow) Scan(dest ...any) error { return translate(r.Row.Scan(sqliteDest(dest)...)) }

// sqliteArgs converts times to the text that is stored. Other arguments stay as they are.
func sqliteArgs(args []any) []any {
	out := slices.Clone(args)
	for i, a := range args {
		switch v := a.(type) {
		case time.Time:
			out[i] = FormatTime(v)
		case *time.Time:
			if out[i] = nil; v != nil {
				out[i] = FormatTime(*v)
			}
		}
	}
	return out
}

// sqliteDest replaces destinations of times by scanners that read the stored text.
func sqliteDest(dest []any) []any {
	out := slices.Clone(dest)
	for i, d := range dest {
		switch v := d.(type) {
		case *time.Time:
			out[i] = timeScanner{v}
		case **time.Time:
			out[i] = nullTimeScanner{v}
		}
	}
	return out
}

type timeScanner struct{ to *time.Time }

func (s timeScanner) Scan(src any) (err error) {
	switch v := src.(type) {
	case string:
		*s.to, err = ParseTime(v)
	case time.Time:
		*s.to = v.UTC()
	default:
		err = fmt.Errorf("cannot read a time from %T", src)
	}
	return err
}

type nullTimeScanner struct{ to **time.Time }

func (s nullTimeScanner) Scan(src any) error {
	if *s.to = nil; src == nil {
		return nil
	}
	*s.to = new(time.Time)
	return timeScanner{*s.to}.Scan(src)
}
