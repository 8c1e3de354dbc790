package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"time"

	_ "modernc.org/sqlite" // registers the driver
)

type sqliteDriver struct {
	write, read *sql.DB
	statements  *statements
}

// openSQLite opens one writing connection and a pool of readers on a WAL database. synchronous=FULL costs about
// 0.6 ms a commit and keeps an acknowledged message through a power cut.
func openSQLite(ctx context.Context, file string) (*sqliteDriver, error) {
	dsn := func(extra url.Values) string {
		q := url.Values{"_pragma": {
			"busy_timeout(5000)", "journal_mode(wal)", "synchronous(full)", "foreign_keys(on)",
			"case_sensitive_like(on)", "temp_store(memory)",
		}}
		for k, v := range extra {
			q[k] = append(q[k], v...)
		}
		return "file:" + (&url.URL{Path: file}).EscapedPath() + "?" + q.Encode()
	}
	write, err := sql.Open("sqlite", dsn(url.Values{"_txlock": {"immediate"}}))
	if err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	read, err := sql.Open("sqlite", dsn(url.Values{"_pragma": {"query_only(on)"}}))
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	read.SetMaxOpenConns(max(4, runtime.NumCPU()*2))
	read.SetMaxIdleConns(max(4, runtime.NumCPU()*2))
	d := &sqliteDriver{write: write, read: read, statements: newStatements(read)}
	// The writer goes first: it creates the file and switches it to WAL, which a reader cannot.
	if err := write.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", file, err), d.close())
	}
	return d, nil
}

func (d *sqliteDriver) writer() Querier { return stdQuerier{d.write} }
func (d *sqliteDriver) reader() Querier { return preparedQuerier{stdQuerier{d.read}, d.statements} }

func (d *sqliteDriver) ping(ctx context.Context) error {
	var one int
	return d.read.QueryRowContext(ctx, "select 1 from sqlite_master limit 1").Scan(&one)
}

func (d *sqliteDriver) close() error { return errors.Join(d.read.Close(), d.write.Close()) }

func (d *sqliteDriver) withTx(ctx context.Context, fn func(Querier) error) error {
	tx, err := d.write.BeginTx(ctx, nil)
	if err != nil {
		return translate(err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit this is a no-op by contract
	if err := fn(stdQuerier{tx}); err != nil {
		return err
	}
	return translate(tx.Commit())
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

// sqliteArgs writes times in the stored form.
func sqliteArgs(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch v := a.(type) {
		case time.Time:
			out[i] = FormatTime(v)
		case *time.Time:
			if v == nil {
				out[i] = nil
			} else {
				out[i] = FormatTime(*v)
			}
		default:
			out[i] = a
		}
	}
	return out
}

// sqliteDest lets times be scanned from their text.
func sqliteDest(dest []any) []any {
	out := make([]any, len(dest))
	for i, d := range dest {
		switch v := d.(type) {
		case *time.Time:
			out[i] = timeScanner{set: func(t *time.Time) {
				if t != nil {
					*v = *t
				}
			}}
		case **time.Time:
			out[i] = timeScanner{set: func(t *time.Time) { *v = t }, nullable: true}
		default:
			out[i] = d
		}
	}
	return out
}

type timeScanner struct {
	set      func(*time.Time)
	nullable bool
}

func (s timeScanner) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		if !s.nullable {
			return errors.New("null in a time that cannot be null")
		}
		s.set(nil)
	case string:
		t, err := ParseTime(v)
		if err != nil {
			return err
		}
		s.set(&t)
	case time.Time:
		u := v.UTC()
		s.set(&u)
	default:
		return fmt.Errorf("cannot read a time from %T", src)
	}
	return nil
}
