package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"atelie/internal/interval"
)

// This file opens the two databases of the command atelie copy. OpenSource opens the source, which is read. OpenExclusive opens the target,
// which is written. No server may use the target during the copy.

// ErrInUse is returned by OpenExclusive while another program has the database open.
var ErrInUse = errors.New("a server or another copy uses this database: stop it first")

// copyLock is the number of the advisory lock that a copy holds on a PostgreSQL target ("atelie" in ASCII).
const copyLock = 0x6174656c6965

// copyAppName is the application_name of the PostgreSQL sessions of a copy.
const copyAppName = "atelie copy"

// If the database seems to be in use, OpenExclusive waits before it returns ErrInUse, because the program that used the database may have
// just ended.
const (
	// fileTimeout is the maximum wait for the lock of an SQLite file. The operating system releases the lock when the process ends.
	fileTimeout = time.Second
	// sessionTimeout is the maximum wait for the end of another program's sessions on PostgreSQL. The database server notices the end of
	// a process with a delay, which can be seconds on a busy machine. sessionPoll is the interval at which the sessions are checked.
	sessionTimeout = 5 * time.Second
	sessionPoll    = 100 * time.Millisecond
)

// OpenSource opens a database as the source of a copy. Servers may use it at the same time; writes through the returned DB fail.
// The error is fs.ErrNotExist if the file of an SQLite database is missing. For SQLite the returned DB has only one connection, so the
// caller must close the rows of a query before the next statement.
func OpenSource(ctx context.Context, databaseURL string) (*DB, error) {
	d := newDB(Postgres, NoHooks)
	var err error
	if file, ok := strings.CutPrefix(databaseURL, "sqlite:"); ok {
		d.Dialect = SQLite
		d.driver, err = openSQLiteSource(ctx, file)
		// The low byte of SQLite's extended code is the primary code.
		if lite, ok := errors.AsType[*sqlite.Error](err); ok && slices.Contains([]int{sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}, lite.Code()&0xff) {
			// On a read-only disk SQLite cannot create the shared index of the write-ahead log. In exclusive mode it needs no such index.
			d.driver, err = openSQLiteExclusive(ctx, file, true /* read-only */)
		}
	} else {
		d.driver, err = openPostgresSession(ctx, databaseURL, true /* read-only */)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

func openSQLiteSource(ctx context.Context, file string) (*sqliteDriver, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	options := url.Values{"mode": {"rw"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "case_sensitive_like(on)", "temp_store(memory)", "query_only(on)",
	}}
	return openSQLiteConn(ctx, file, options)
}

// openSQLiteConn opens a database file with a single connection.
func openSQLiteConn(ctx context.Context, file string, options url.Values) (*sqliteDriver, error) {
	conn, err := openStatementPool("file:" + (&url.URL{Path: file}).EscapedPath() + "?" + options.Encode())
	if err != nil {
		return nil, err
	}
	conn.SetMaxOpenConns(1)
	conn.SetConnMaxLifetime(0)
	d := &sqliteDriver{write: conn, read: conn, queue: &writeQueue{pool: conn}}
	if err := d.ping(ctx); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, errors.Join(fmt.Errorf("%s: %w", file, err), d.close())
	}
	return d, nil
}

// OpenExclusive opens a database as the target of a copy. It returns ErrInUse while a server or another copy uses the database.
// An SQLite file is locked until Close. On PostgreSQL an advisory lock excludes other copies until Close, but servers, which are
// found by their application_name, are excluded only while OpenExclusive runs. If readOnly is true, writes fail, and a missing
// file is an error. SQLite has one connection here, so the caller must close the rows of a query before the next statement.
func OpenExclusive(ctx context.Context, databaseURL string, readOnly bool) (*DB, error) {
	d := newDB(Postgres, NoHooks)
	var err error
	if file, ok := strings.CutPrefix(databaseURL, "sqlite:"); ok {
		d.Dialect = SQLite
		d.driver, err = openSQLiteExclusive(ctx, file, readOnly)
	} else {
		d.driver, err = openPostgresExclusive(ctx, databaseURL, readOnly)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

func openSQLiteExclusive(ctx context.Context, file string, readOnly bool) (*sqliteDriver, error) {
	pragmas := []string{fmt.Sprintf("busy_timeout(%d)", fileTimeout.Milliseconds()), "locking_mode(exclusive)", "foreign_keys(on)", "case_sensitive_like(on)", "temp_store(memory)"}
	options := url.Values{}
	if readOnly {
		if _, err := os.Stat(file); err != nil {
			return nil, err
		}
		pragmas = append(pragmas, "query_only(on)")
	} else {
		if err := createFile(file); err != nil {
			return nil, err
		}
		pragmas = append(pragmas, "synchronous(full)")
		options.Set("_txlock", "immediate")
	}
	options["_pragma"] = pragmas
	// In exclusive mode the first read locks a WAL database against every other connection. Setting journal_mode does not
	// count as a read, so openSQLiteConn reads first.
	d, err := openSQLiteConn(ctx, file, options)
	if err == nil && !readOnly {
		if _, err = d.write.ExecContext(ctx, "pragma journal_mode(wal)"); err != nil {
			err = errors.Join(fmt.Errorf("%s: %w", file, err), d.close())
		}
	}
	if busy(err) {
		err = fmt.Errorf("%s: %w", file, ErrInUse)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

func busy(err error) bool {
	lite, ok := errors.AsType[*sqlite.Error](err)
	return ok && (lite.Code()&0xff == sqlite3.SQLITE_BUSY || lite.Code()&0xff == sqlite3.SQLITE_LOCKED)
}

// openPostgresSession opens a pool whose sessions have no time limits.
func openPostgresSession(ctx context.Context, databaseURL string, readOnly bool) (*postgresDriver, error) {
	return openPostgres(ctx, databaseURL, func(cfg *pgxpool.Config) {
		cfg.ConnConfig.RuntimeParams["application_name"] = copyAppName
		settings := "set statement_timeout = 0; set idle_in_transaction_session_timeout = 0" // copying a large file may take long
		if readOnly {
			settings += "; set default_transaction_read_only = on"
		}
		cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, settings)
			return err
		}
		cfg.MaxConns = max(cfg.MaxConns, 3)
	})
}

func openPostgresExclusive(ctx context.Context, databaseURL string, readOnly bool) (_ *postgresDriver, err error) {
	d, err := openPostgresSession(ctx, databaseURL, readOnly)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	if d.lockConn, err = d.pool.Acquire(ctx); err != nil {
		return nil, connectError(err)
	}
	for deadline := time.Now().Add(sessionTimeout); ; {
		var locked, served bool
		err = d.lockConn.QueryRow(ctx, `select pg_try_advisory_lock($1), exists (
			select from pg_stat_activity where datname = current_database() and application_name = 'atelie')`, int64(copyLock)).Scan(&locked, &served)
		if err != nil || locked && !served {
			return d, err
		}
		if time.Now().After(deadline) {
			return d, ErrInUse
		}
		if interval.Sleep(ctx, sessionPoll) != nil {
			return d, ctx.Err()
		}
	}
}

// Snapshot runs fn in a transaction that is rolled back at the end. All queries of fn see the same state of the database.
func (d *DB) Snapshot(ctx context.Context, fn func(Querier) error) (err error) {
	switch drv := d.driver.(type) {
	case *sqliteDriver:
		tx, err := drv.read.BeginTx(ctx, nil)
		if err != nil {
			return translate(err)
		}
		return errors.Join(fn(stdQuerier{tx}), ignoreCancelled(ctx, tx.Rollback()))
	case *postgresDriver:
		tx, err := drv.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
		if err != nil {
			return translate(err)
		}
		// The transaction is idle while fn reads files or renders pages, and a table may be large.
		_, err = tx.Exec(ctx, "select set_config('idle_in_transaction_session_timeout', '0', true), set_config('statement_timeout', '0', true)")
		if err = translate(err); err == nil {
			err = fn(pgxQuerier{tx})
		}
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
		defer cancel()
		return errors.Join(err, ignoreCancelled(ctx, tx.Rollback(end)))
	}
	return errors.ErrUnsupported
}

// ignoreCancelled drops the error of a rollback if the context has ended: the driver has rolled back by then.
func ignoreCancelled(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// Label returns the URL of a database without user, password and options, for messages and comparisons.
func Label(databaseURL string) (string, error) {
	if file, ok := strings.CutPrefix(databaseURL, "sqlite:"); ok {
		file, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		if real, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil { // a folder that does not exist yet has no links
			file = filepath.Join(real, filepath.Base(file))
		}
		return "sqlite:" + file, nil
	}
	cfg, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return "", errors.New("the PostgreSQL URL cannot be read") // the cause is left out, because it contains the password
	}
	return fmt.Sprintf("postgres://%s:%d/%s", cfg.Host, cfg.Port, cfg.Database), nil
}
