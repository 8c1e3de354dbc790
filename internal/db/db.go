// Package db opens the database by its URL and hides most differences between the two engines, SQLite and PostgreSQL. The same
// queries run on both: parameters are $1, $2 …, times are time.Time in UTC with microseconds, and lists are JSON text.
package db

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/interval"
)

// Querier runs statements. *DB and *Tx implement it.
type Querier interface {
	// Exec returns the number of rows that changed.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	Query(ctx context.Context, query string, args ...any) (Rows, error)
	// QueryRow returns the first row. Its Scan returns ErrNoRows when the query finds nothing.
	QueryRow(ctx context.Context, query string, args ...any) Row
}

// Rows is the cursor of a query. The caller must call Close; a second call does nothing.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close() error
}

// Row is the first row of a query.
type Row interface{ Scan(dest ...any) error }

// driver is implemented by both engines. Writes and reads are separate because SQLite has one writer and many readers. A caller is
// unprivileged if it is anonymous, or an account without a role.
type driver interface {
	exec(ctx context.Context, query string, args ...any) (int64, error) // writes
	reader() Querier                                                    // reads
	anonymousReader() Querier                                           // reads of unprivileged callers, for DB.AnonymousPool
	withTx(ctx context.Context, fn func(Querier) error) error           // for DB.WithTx
	withShortTx(ctx context.Context, fn func(Querier) error) error      // for DB.WithShortTx: SQLite can commit several together
	ping(ctx context.Context) error
	probe(ctx context.Context) error      // checks that a new connection can read
	probeWrite(ctx context.Context) error // checks that a new connection gets SQLite's write lock; does nothing on PostgreSQL
	resetPool()                           // drops the connections made before an outage
	pools() []PoolStats
	close() error
}

// Hooks are functions that a DB calls on events. All must be set, and none may use the database.
type Hooks struct {
	OutageBegan func(cause error)
	OutageEnded func(lasted time.Duration, refused int64) // refused is the number of statements that failed because of the outage
	// DiskFull is called when a write fails because the disk is full. If it returns true (space was freed), the write is tried once more.
	DiskFull func() (retry bool)
	// Locked is called when a write has waited for SQLite's lock in vain, because another program holds the lock. waited is how long the
	// write has waited in total. If Locked returns true, the write waits again.
	Locked func(waited time.Duration) (waitAgain bool)
	// KeepsRemains is called once, if Scrub cannot overwrite the bytes of deleted rows that remain in the database's file.
	KeepsRemains func()
}

// NoHooks is the value of Hooks for programs that do not react to these events.
var NoHooks = Hooks{
	OutageBegan: func(error) {},
	OutageEnded: func(time.Duration, int64) {},
	DiskFull:    func() bool { return false },
	Locked:      func(time.Duration) bool { return false },

	KeepsRemains: func() {},
}

// DB is an open database.
type DB struct {
	Dialect Dialect
	driver  driver
	hooks   Hooks
	outage  outage

	triedWrites  atomic.Int64  // see Writes
	storedWrites atomic.Int64  // the writes among them that succeeded
	written      chan struct{} // receives a value after writes (Written)

	scrubbing        chan struct{} // has a value while Scrub runs
	keepsRemainsOnce sync.Once     // calls Hooks.KeepsRemains only once
}

func newDB(dialect Dialect, hooks Hooks) *DB {
	return &DB{Dialect: dialect, hooks: hooks, outage: outage{stop: make(chan struct{})}, written: make(chan struct{}, 1), scrubbing: make(chan struct{}, 1)}
}

// Open connects to url, "sqlite:FILE" or "postgres://…". The caller migrates the schema (Migrate).
func Open(ctx context.Context, url string, hooks Hooks) (*DB, error) {
	d := newDB(Postgres, hooks)
	var err error
	switch {
	case strings.HasPrefix(url, "sqlite:"):
		d.Dialect = SQLite
		d.driver, err = openSQLite(ctx, strings.TrimPrefix(url, "sqlite:"))
	case strings.HasPrefix(url, "postgres://"), strings.HasPrefix(url, "postgresql://"):
		d.driver, err = openPostgres(ctx, url)
	default:
		err = errors.New("the URL must begin with sqlite: or postgres://")
	}
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	return d, nil
}

// Close ends all connections.
func (d *DB) Close() error {
	d.outage.stopProbing()
	return d.driver.close()
}

// Ping checks that the database responds.
func (d *DB) Ping(ctx context.Context) error {
	if err := d.checkReadable(); err != nil {
		return err
	}
	if err := d.driver.ping(ctx); err != nil {
		return d.classify(ctx, translate(err))
	}
	return nil
}

// Scrub removes the bytes of deleted rows that are left in SQLite's files. It returns ErrLogInUse while a reader needs the write-ahead log;
// a later call may succeed. In a database of 64 GB or more, or with auto_vacuum, it only empties the log. On PostgreSQL it does nothing.
func (d *DB) Scrub(ctx context.Context) error {
	s, ok := d.driver.(*sqliteDriver)
	if !ok {
		return nil
	}
	select {
	case d.scrubbing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-d.scrubbing }()
	complete, err := s.scrub(ctx)
	if err == nil && !complete {
		d.keepsRemainsOnce.Do(d.hooks.KeepsRemains)
	}
	return err
}

// Writes returns how many writes this process has tried, and how many of them succeeded and are on disk. Both numbers
// include a write before its caller gets the result. A write that failed may still have been stored, for example when the
// connection was lost during the commit.
func (d *DB) Writes() (tried, stored int64) { return d.triedWrites.Load(), d.storedWrites.Load() }

// Written returns a channel that receives a signal after writes. Several writes may cause only one signal, and each signal reaches only
// one receiver.
func (d *DB) Written() <-chan struct{} { return d.written }

func (d *DB) countWrite(stored bool) {
	if stored {
		d.storedWrites.Add(1)
	}
	d.triedWrites.Add(1)
	select {
	case d.written <- struct{}{}:
	default: // a signal is pending
	}
}

// freeSpaceAfter calls the hook DiskFull if err means that the disk is full. It reports whether the hook has freed space, so that
// the write may be retried.
func (d *DB) freeSpaceAfter(err error) bool {
	return errors.Is(err, apperr.NoSpace) && d.hooks.DiskFull()
}

// waitForLock runs a write. It runs the write again for as long as another program has SQLite's lock and the hook Locked returns true.
func (d *DB) waitForLock(ctx context.Context, write func() error) error {
	for began := time.Now(); ; {
		err := write()
		if !busy(err) || ctx.Err() != nil || !d.hooks.Locked(time.Since(began)) {
			return err
		}
	}
}

// Exec runs a single writing statement in its own transaction.
func (d *DB) Exec(ctx context.Context, query string, args ...any) (n int64, err error) {
	if err := d.checkWritable(); err != nil {
		return 0, err
	}
	defer func() { d.countWrite(err == nil) }()
	write := func() (err error) {
		n, err = d.driver.exec(ctx, query, args...)
		return err
	}
	err = d.waitForLock(ctx, write)
	if d.freeSpaceAfter(err) {
		err = write()
	}
	return n, d.classify(ctx, err)
}

// Query reads rows. A statement that writes and returns rows (RETURNING) needs WithTx: on SQLite Query can only read.
func (d *DB) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	return guardedQuerier{d, d.driver.reader()}.Query(ctx, query, args...)
}

// QueryRow reads one row.
func (d *DB) QueryRow(ctx context.Context, query string, args ...any) Row {
	return guardedQuerier{d, d.driver.reader()}.QueryRow(ctx, query, args...)
}

// Limits of AnonymousPool: connections, time of a statement, and time until an idle connection is closed.
const (
	AnonymousConns    = 2
	AnonymousTimeout  = 2 * time.Second
	anonymousIdleTime = 30 * time.Second
)

// AnonymousPool returns a Querier that reads through AnonymousConns separate connections, so that the queries of
// unprivileged callers do not delay pages and sign-ins. The caller must limit each context to AnonymousTimeout, because only
// PostgreSQL enforces that timeout itself.
func (d *DB) AnonymousPool() Querier { return guardedQuerier{d, d.driver.anonymousReader()} }

// Tx is a running transaction. Code within it must be quick and must not wait for anything outside the database: on SQLite
// all other writes wait until the transaction ends.
type Tx struct {
	Querier
	Dialect Dialect
	after   []func() // run after the commit
}

// QueueRows runs a statement whose result decides nothing in the transaction, and calls scan for each row of the result. On PostgreSQL
// the statement is sent with the next one whose result is awaited, or with the commit, so that it costs no round trip. Then that
// statement or the commit returns its error, and scan may be called after the commit: an error of scan does not undo it.
func (t *Tx) QueueRows(ctx context.Context, scan func(Row) error, query string, args ...any) error {
	if tx, ok := t.Querier.(*postgresTx); ok {
		tx.queue(scan, query, args)
		return nil
	}
	_, err := Collect(ctx, t.Querier, func(row Row) (struct{}, error) { return struct{}{}, scan(row) }, query, args...)
	return err
}

// AfterCommit calls fn after the commit, and never if the transaction is rolled back.
func (t *Tx) AfterCommit(fn func()) { t.after = append(t.after, fn) }

// maxTxTries is the number of attempts of a transaction that PostgreSQL aborts because of a concurrent one.
const maxTxTries = 5

// WithTx runs fn in one writing transaction, which is committed if fn returns nil and rolled back otherwise. When WithTx
// returns nil, what fn wrote is on disk. fn may run several times, after a deadlock up to maxTxTries times, so it must not
// keep any state of an earlier run.
func (d *DB) WithTx(ctx context.Context, fn func(*Tx) error) error {
	return d.runTx(ctx, d.driver.withTx, fn)
}

// WithShortTx is WithTx for transactions that change few rows and take a few milliseconds. On SQLite, short transactions that wait for
// the writer share one commit, and the end of ctx does not interrupt fn once it has begun.
func (d *DB) WithShortTx(ctx context.Context, fn func(*Tx) error) error {
	return d.runTx(ctx, d.driver.withShortTx, fn)
}

// txRunner is withTx or withShortTx of a driver.
type txRunner func(ctx context.Context, fn func(Querier) error) error

func (d *DB) runTx(ctx context.Context, run txRunner, fn func(*Tx) error) error {
	if err := d.checkWritable(); err != nil {
		return err
	}
	tx := &Tx{Dialect: d.Dialect}
	if err := d.transact(ctx, run, tx, fn); err != nil {
		return d.classify(ctx, err)
	}
	for _, fn := range tx.after {
		fn()
	}
	return nil
}

// transact runs fn in a transaction. After an error that another attempt may avoid, it tries again, at most maxTxTries times in all.
func (d *DB) transact(ctx context.Context, run txRunner, tx *Tx, fn func(*Tx) error) (err error) {
	defer func() { d.countWrite(err == nil) }()
	for try := 1; ; try++ {
		err = d.waitForLock(ctx, func() error {
			return run(ctx, func(q Querier) error {
				tx.Querier = q
				tx.after = nil
				return fn(tx)
			})
		})
		if err == nil {
			return nil
		}
		if try == 1 && d.freeSpaceAfter(err) {
			continue
		}
		if try == maxTxTries || !isRetryable(err) {
			return err
		}
		// The wait is random, so that the two transactions do not collide again.
		if interval.Sleep(ctx, time.Duration(try)*(5*time.Millisecond+rand.N(20*time.Millisecond))) != nil {
			return err
		}
	}
}
