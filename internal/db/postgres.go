package db

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// postgresDriver implements driver for PostgreSQL.
type postgresDriver struct {
	pool      *pgxpool.Pool // all reads and writes, except the reads of DB.AnonymousPool
	anonymous *pgxpool.Pool // for DB.AnonymousPool: reads of unprivileged callers; connects when first used
	lockConn  *pgxpool.Conn // holds the advisory lock of OpenExclusive until Close; nil after Open
}

// defaultConnectTimeout is the default timeout for connecting. Without it, a server that does not respond would block the program for
// minutes.
const defaultConnectTimeout = 5 * time.Second

// openPostgres opens the pools. Their sessions are in UTC, so that PostgreSQL prints times in the form in which SQLite stores them, with
// the offset +00:00. The functions in configure can change the configuration of the pools.
func openPostgres(ctx context.Context, url string, configure ...func(*pgxpool.Config)) (*postgresDriver, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the PostgreSQL URL cannot be read") // the cause is left out, because it contains the password
	}
	cfg.ConnConfig.RuntimeParams["timezone"] = "UTC"
	if _, set := cfg.ConnConfig.RuntimeParams["application_name"]; !set {
		cfg.ConnConfig.RuntimeParams["application_name"] = "atelie"
	}
	cfg.ConnConfig.ConnectTimeout = cmp.Or(cfg.ConnConfig.ConnectTimeout, defaultConnectTimeout)
	for _, fn := range configure {
		fn(cfg)
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, connectError(err)
	}
	anonymous, err := pgxpool.NewWithConfig(ctx, anonymousConfig(cfg))
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &postgresDriver{pool: pool, anonymous: anonymous}, nil
}

// anonymousConfig returns the configuration of the pool for anonymous callers (DB.AnonymousPool). It sets statement_timeout, because
// the server does not stop a query when its client closes the connection.
func anonymousConfig(cfg *pgxpool.Config) *pgxpool.Config {
	c := cfg.Copy()
	c.MaxConns, c.MinConns, c.MinIdleConns = AnonymousConns, 0, 0
	c.MaxConnIdleTime = anonymousIdleTime
	c.ConnConfig.RuntimeParams["statement_timeout"] = strconv.FormatInt(AnonymousTimeout.Milliseconds(), 10)
	c.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
	return c
}

// connectError returns an error with only the last line of the driver's error. The driver's error has a line for each attempt: one attempt
// with encryption and one without it for each address.
func connectError(err error) error {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return errors.New("PostgreSQL cannot be reached: " + strings.TrimSpace(lines[len(lines)-1]))
}

func (d *postgresDriver) reader() Querier                { return pgxQuerier{d.pool} }
func (d *postgresDriver) anonymousReader() Querier       { return pgxQuerier{d.anonymous} }
func (d *postgresDriver) ping(ctx context.Context) error { return d.pool.Ping(ctx) }

// probe uses a new connection, because all connections of the pool may be in use.
func (d *postgresDriver) probe(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, d.pool.Config().ConnConfig.Copy())
	if err != nil {
		return err
	}
	err = conn.Ping(ctx)
	closeConn(ctx, conn)
	return err
}

// probeWrite has nothing to check: PostgreSQL has no write lock for the whole database.
func (d *postgresDriver) probeWrite(context.Context) error { return nil }

func (d *postgresDriver) resetPool() {
	d.pool.Reset()
	d.anonymous.Reset()
}

func (d *postgresDriver) close() error {
	if d.lockConn != nil {
		d.lockConn.Release()
	}
	d.anonymous.Close()
	d.pool.Close()
	return nil
}

func (d *postgresDriver) exec(ctx context.Context, query string, args ...any) (int64, error) {
	return pgxQuerier{d.pool}.Exec(ctx, query, args...)
}

// withShortTx is withTx: PostgreSQL itself makes commits that wait together in one write to the disk.
func (d *postgresDriver) withShortTx(ctx context.Context, fn func(Querier) error) error {
	return d.withTx(ctx, fn)
}

func (d *postgresDriver) withTx(ctx context.Context, fn func(Querier) error) error {
	tx := &postgresTx{pool: d.pool, actor: actorOf(ctx)}
	defer tx.end(ctx)
	if err := fn(tx); err != nil {
		return err
	}
	return tx.commit(ctx)
}

type statementTimeoutKey struct{}

// WithStatementTimeout returns a context for work without a time limit of its own, such as the transfer of a file. A PostgreSQL
// server that does not respond then delays each statement, with the wait for its connection, for at most timeout. On SQLite
// statements are not limited: they call no server.
func WithStatementTimeout(ctx context.Context, timeout time.Duration) context.Context {
	return context.WithValue(ctx, statementTimeoutKey{}, timeout)
}

// statementContext returns the context of one statement. cancel must be called when the statement has ended.
func statementContext(ctx context.Context) (statement context.Context, cancel context.CancelFunc) {
	if timeout, ok := ctx.Value(statementTimeoutKey{}).(time.Duration); ok {
		return context.WithTimeout(ctx, timeout)
	}
	return ctx, func() {}
}

type pgxQuerier struct {
	q interface {
		Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error)
		Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
		QueryRow(ctx context.Context, query string, args ...any) pgx.Row
	}
}

func (p pgxQuerier) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	ctx, cancel := statementContext(ctx)
	defer cancel()
	tag, err := p.q.Exec(ctx, query, args...)
	return tag.RowsAffected(), translate(err)
}

func (p pgxQuerier) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	ctx, cancel := statementContext(ctx)
	rows, err := p.q.Query(ctx, query, args...)
	if err != nil {
		cancel()
		return nil, translate(err)
	}
	return pgxRows{rows, cancel}, nil
}

func (p pgxQuerier) QueryRow(ctx context.Context, query string, args ...any) Row {
	ctx, cancel := statementContext(ctx)
	return pgxRow{p.q.QueryRow(ctx, query, args...), cancel}
}

type pgxRows struct {
	pgx.Rows
	cancel context.CancelFunc // cancels the statement's context
}

func (r pgxRows) Scan(dest ...any) error { return scanUTC(r.Rows, dest) }
func (r pgxRows) Err() error             { return translate(r.Rows.Err()) }
func (r pgxRows) Close() error {
	r.Rows.Close()
	r.cancel()
	return nil
}

type pgxRow struct {
	pgx.Row
	cancel context.CancelFunc
}

func (r pgxRow) Scan(dest ...any) error {
	defer r.cancel()
	return scanUTC(r.Row, dest)
}

// scanUTC scans a row and converts its times to UTC, because pgx returns them in the machine's time zone.
func scanUTC(row pgx.Row, dest []any) error {
	if err := row.Scan(dest...); err != nil {
		return translate(err)
	}
	for _, d := range dest {
		switch v := d.(type) {
		case *time.Time:
			*v = v.UTC()
		case **time.Time:
			if *v != nil {
				t := (*v).UTC()
				*v = &t
			}
		}
	}
	return nil
}
