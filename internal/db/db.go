// Package db opens the database by its URL and hides the short list of differences between SQLite and PostgreSQL.
// One set of queries serves both: $1 placeholders, times as time.Time (UTC, microseconds), lists as JSON text.
package db

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Querier runs statements; *DB and *Tx both are one.
type Querier interface {
	// Exec returns the number of rows that changed.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	Query(ctx context.Context, query string, args ...any) (Rows, error)
	// QueryRow's Scan returns ErrNoRows when there is none.
	QueryRow(ctx context.Context, query string, args ...any) Row
}

// Rows is the cursor of a query; Close is safe to call twice.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close() error
}

// Row is the first row of a query.
type Row interface{ Scan(dest ...any) error }

// driver is what an engine must bring. Writes and reads are apart because SQLite has one writer and many readers.
type driver interface {
	writer() Querier
	reader() Querier
	withTx(ctx context.Context, fn func(Querier) error) error
	ping(ctx context.Context) error
	close() error
}

// DB is an open database.
type DB struct {
	Dialect Dialect
	driver  driver
	wrote   []func()
}

// Open connects to url: "sqlite:FILE" or "postgres://…". It does not migrate.
func Open(ctx context.Context, url string) (*DB, error) {
	var (
		d   = &DB{}
		err error
	)
	switch {
	case strings.HasPrefix(url, "sqlite:"):
		d.Dialect = SQLite
		d.driver, err = openSQLite(ctx, strings.TrimPrefix(url, "sqlite:"))
	case strings.HasPrefix(url, "postgres://"), strings.HasPrefix(url, "postgresql://"):
		d.Dialect = Postgres
		d.driver, err = openPostgres(ctx, url)
	default:
		err = errors.New("the address must start with sqlite: or postgres://")
	}
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	return d, nil
}

// Close ends all connections.
func (d *DB) Close() error { return d.driver.close() }

// Ping checks that a connection answers.
func (d *DB) Ping(ctx context.Context) error { return d.driver.ping(ctx) }

// OnWrite calls fn after every write that this process has tried, before its caller learns how it ended: one that failed
// may be on disk all the same. fn must not block. It is for wiring, before the first write.
func (d *DB) OnWrite(fn func()) { d.wrote = append(d.wrote, fn) }

func (d *DB) written() {
	for _, fn := range d.wrote {
		fn()
	}
}

// Exec runs a single writing statement in its own transaction.
func (d *DB) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	defer d.written()
	return d.driver.writer().Exec(ctx, query, args...)
}

// Query reads rows. Writing statements with RETURNING belong into WithTx.
func (d *DB) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	return d.driver.reader().Query(ctx, query, args...)
}

// QueryRow reads one row.
func (d *DB) QueryRow(ctx context.Context, query string, args ...any) Row {
	return d.driver.reader().QueryRow(ctx, query, args...)
}

// Tx is a running transaction. Nothing slow and nothing outside the database may happen while it is open.
type Tx struct {
	Querier
	Dialect Dialect
	after   []func()
}

// AfterCommit keeps fn for the moment when the transaction is on disk; a rollback drops it.
func (t *Tx) AfterCommit(fn func()) { t.after = append(t.after, fn) }

// txTries is how often a transaction runs that PostgreSQL ends for the sake of another one.
const txTries = 5

// WithTx runs fn in one writing transaction: committed when fn returns nil, rolled back otherwise.
// When it returns nil, what fn wrote is on disk. After a deadlock fn runs again, a few times at most: it must begin
// anew and keep nothing of an earlier run.
func (d *DB) WithTx(ctx context.Context, fn func(*Tx) error) error {
	tx := &Tx{Dialect: d.Dialect}
	if err := d.transact(ctx, tx, fn); err != nil {
		return err
	}
	for _, fn := range tx.after {
		fn()
	}
	return nil
}

// transact runs fn until it is committed, or refused for good.
func (d *DB) transact(ctx context.Context, tx *Tx, fn func(*Tx) error) error {
	defer d.written()
	for try := 1; ; try++ {
		err := d.driver.withTx(ctx, func(q Querier) error {
			tx.Querier = q
			tx.after = nil
			return fn(tx)
		})
		if err == nil {
			return nil
		}
		if try == txTries || !gaveWay(err) {
			return err
		}
		select { // not in step with the other one
		case <-time.After(time.Duration(try) * (5*time.Millisecond + rand.N(20*time.Millisecond))):
		case <-ctx.Done():
			return err
		}
	}
}
