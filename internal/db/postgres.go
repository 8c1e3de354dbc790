package db

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// postgresDriver is a pool; held is a connection that keeps a lock until the end, for OpenAlone.
type postgresDriver struct {
	pool *pgxpool.Pool
	held *pgxpool.Conn
}

// openPostgres opens the native pool with sessions in UTC, so that times print alike on both engines.
func openPostgres(ctx context.Context, url string, change ...func(*pgxpool.Config)) (*postgresDriver, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the PostgreSQL address cannot be read") // the cause would repeat the password
	}
	cfg.ConnConfig.RuntimeParams["timezone"] = "UTC"
	if _, set := cfg.ConnConfig.RuntimeParams["application_name"]; !set {
		cfg.ConnConfig.RuntimeParams["application_name"] = "atelie"
	}
	for _, fn := range change {
		fn(cfg)
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, inOneLine(err)
	}
	return &postgresDriver{pool: pool}, nil
}

// inOneLine shortens the driver's list of all that it has tried, each address with and without encryption, to the last.
func inOneLine(err error) error {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return errors.New("PostgreSQL cannot be reached: " + strings.TrimSpace(lines[len(lines)-1]))
}

func (d *postgresDriver) writer() Querier                { return pgxQuerier{d.pool} }
func (d *postgresDriver) reader() Querier                { return pgxQuerier{d.pool} }
func (d *postgresDriver) ping(ctx context.Context) error { return d.pool.Ping(ctx) }

func (d *postgresDriver) close() error {
	if d.held != nil {
		d.held.Release()
	}
	d.pool.Close()
	return nil
}

func (d *postgresDriver) withTx(ctx context.Context, fn func(Querier) error) error {
	tx, err := d.pool.Begin(ctx)
	if err != nil {
		return translate(err)
	}
	// The caller's context may be over by now; the rollback must reach the server all the same.
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = tx.Rollback(end) // after a commit this is a no-op by contract
	}()
	if err := fn(pgxQuerier{tx}); err != nil {
		return err
	}
	return translate(tx.Commit(ctx))
}

type pgxQuerier struct {
	q interface {
		Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error)
		Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
		QueryRow(ctx context.Context, query string, args ...any) pgx.Row
	}
}

func (p pgxQuerier) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	tag, err := p.q.Exec(ctx, query, args...)
	return tag.RowsAffected(), translate(err)
}

func (p pgxQuerier) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	rows, err := p.q.Query(ctx, query, args...)
	if err != nil {
		return nil, translate(err)
	}
	return pgxRows{rows}, nil
}

func (p pgxQuerier) QueryRow(ctx context.Context, query string, args ...any) Row {
	return pgxRow{p.q.QueryRow(ctx, query, args...)}
}

type pgxRows struct{ pgx.Rows }

func (r pgxRows) Scan(dest ...any) error {
	if err := r.Rows.Scan(dest...); err != nil {
		return translate(err)
	}
	utc(dest)
	return nil
}
func (r pgxRows) Err() error { return translate(r.Rows.Err()) }
func (r pgxRows) Close() error {
	r.Rows.Close()
	return nil
}

type pgxRow struct{ pgx.Row }

func (r pgxRow) Scan(dest ...any) error {
	if err := r.Row.Scan(dest...); err != nil {
		return translate(err)
	}
	utc(dest)
	return nil
}

// utc moves scanned times to UTC; pgx gives them in the machine's zone.
func utc(dest []any) {
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
}
