package db

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// postgresTx is a transaction that needs few round trips: it queues statements, and sends them as one batch when the caller needs a
// result. "begin" is in the first batch, "commit" in the last. If the caller needs no result, there is only one batch, without "begin"
// and "commit": PostgreSQL runs a batch as one transaction.
type postgresTx struct {
	pool   *pgxpool.Pool
	actor  string        // id of the account that makes the changes, or ""
	conn   *pgxpool.Conn // nil before the first statement is sent
	queued []queuedStatement
}

// queuedStatement is a statement that was not sent yet.
type queuedStatement struct {
	query string
	args  []any
	scan  func(Row) error // called for each row of the result; if nil, the result is ignored
}

// errRolledBack is the error of a commit that PostgreSQL turned into a rollback, because the caller had ignored the error of a statement.
var errRolledBack = errors.New("the transaction was rolled back: one of its statements has failed")

// rollbackTimeout limits a rollback after the caller's context has ended.
const rollbackTimeout = 5 * time.Second

// setActor is an SQL statement. It tells the triggers of the history which account makes the changes. true limits the setting to the
// transaction.
const setActor = "select set_config('atelie.actor', $1, true)"

// queue adds a statement to the next batch.
func (t *postgresTx) queue(scan func(Row) error, query string, args []any) {
	t.queued = append(t.queued, queuedStatement{query, args, scan})
}

// send sends the queued statements and then the statements in last, as one batch. It reads the results of the queued ones; the caller
// reads the results of last. The caller must close the returned BatchResults even if send returns an error. If begin is true, send begins
// the transaction unless it has begun.
func (t *postgresTx) send(ctx context.Context, begin bool, last ...queuedStatement) (pgx.BatchResults, error) {
	ctx, cancel := statementContext(ctx)
	isFirst := t.conn == nil
	if isFirst {
		var err error
		if t.conn, err = t.pool.Acquire(ctx); err != nil {
			cancel()
			return pgx.FailedBatchResults(&pgx.Batch{}, err), translate(err)
		}
	}
	b := &pgx.Batch{}
	statements := t.queued
	t.queued = nil
	if isFirst && begin {
		b.Queue("begin")
	}
	if isFirst && t.actor != "" {
		b.Queue(setActor, t.actor)
	}
	addedCount := b.Len() // of "begin" and setActor
	for _, s := range append(statements, last...) {
		b.Queue(s.query, s.args...)
	}
	results := limitedResults{t.conn.SendBatch(ctx, b), cancel}
	for range addedCount {
		if _, err := results.Exec(); err != nil {
			return results, translate(err)
		}
	}
	for _, s := range statements {
		if err := s.read(results); err != nil {
			return results, err
		}
	}
	return results, nil
}

// read reads the next result, which must be the result of s.
func (s queuedStatement) read(results pgx.BatchResults) error {
	if s.scan == nil {
		_, err := results.Exec()
		return translate(err)
	}
	rows, err := results.Query()
	if err != nil {
		return translate(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := s.scan(pgxRow{rows, noCancel}); err != nil {
			return err
		}
	}
	return translate(rows.Err())
}

// isOpen reports whether the transaction has begun and nothing is queued, so that a statement can be sent alone.
func (t *postgresTx) isOpen() bool { return t.conn != nil && len(t.queued) == 0 }

func (t *postgresTx) Exec(ctx context.Context, query string, args ...any) (n int64, err error) {
	if t.isOpen() {
		return pgxQuerier{t.conn}.Exec(ctx, query, args...)
	}
	results, err := t.send(ctx, true, queuedStatement{query: query, args: args})
	defer func() { err = errors.Join(err, closeResults(results, err)) }()
	if err != nil {
		return 0, err
	}
	tag, err := results.Exec()
	return tag.RowsAffected(), translate(err)
}

func (t *postgresTx) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	if t.isOpen() {
		return pgxQuerier{t.conn}.Query(ctx, query, args...)
	}
	results, err := t.send(ctx, true, queuedStatement{query: query, args: args})
	if err != nil {
		_ = results.Close() // returns err again
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		_ = results.Close() // as above
		return nil, translate(err)
	}
	return batchRows{pgxRows{rows, noCancel}, results}, nil
}

func (t *postgresTx) QueryRow(ctx context.Context, query string, args ...any) Row {
	if t.isOpen() {
		return pgxQuerier{t.conn}.QueryRow(ctx, query, args...)
	}
	results, err := t.send(ctx, true, queuedStatement{query: query, args: args})
	if err != nil {
		_ = results.Close() // returns err again
		return failedRow{err}
	}
	return batchRow{pgxRow{results.QueryRow(), noCancel}, results}
}

// limitedResults are the results of a batch with a time limit of its own, which ends when they are closed.
type limitedResults struct {
	pgx.BatchResults
	cancel context.CancelFunc
}

func (r limitedResults) Close() error {
	defer r.cancel()
	return r.BatchResults.Close()
}

// noCancel is the cancel function for rows of a batch. Their time limit ends when the batch's results are closed (limitedResults).
func noCancel() {}

// batchRows are the rows of the last statement of a batch.
type batchRows struct {
	pgxRows
	results pgx.BatchResults
}

func (r batchRows) Close() error {
	r.Rows.Close()
	return closeResults(r.results, r.Rows.Err())
}

// batchRow is the row of the last statement of a batch.
type batchRow struct {
	pgxRow
	results pgx.BatchResults
}

func (r batchRow) Scan(dest ...any) error {
	err := r.pgxRow.Scan(dest...)
	return errors.Join(err, closeResults(r.results, err))
}

// closeResults closes the results of a batch. It returns an error only if known, the error of an earlier result, is nil: the results
// repeat their first error.
func closeResults(results pgx.BatchResults, known error) error {
	if err := results.Close(); known == nil {
		return translate(err)
	}
	return nil
}

// commit sends the queued statements and ends the transaction.
func (t *postgresTx) commit(ctx context.Context) (err error) {
	if t.conn == nil {
		return t.sendWhole(ctx)
	}
	var tag pgconn.CommandTag
	if len(t.queued) == 0 {
		limited, cancel := statementContext(ctx)
		tag, err = t.conn.Exec(limited, "commit")
		cancel()
		err = translate(err)
	} else {
		var results pgx.BatchResults
		if results, err = t.send(ctx, true, queuedStatement{query: "commit"}); err == nil {
			tag, err = results.Exec()
			err = translate(err)
		}
		err = errors.Join(err, closeResults(results, err))
	}
	if err == nil && tag.String() == "ROLLBACK" {
		err = errRolledBack
	}
	return err
}

// sendWhole sends all statements of a transaction in one batch without "begin" and "commit". No statement may have been sent before.
func (t *postgresTx) sendWhole(ctx context.Context) error {
	if len(t.queued) == 0 {
		return nil
	}
	results, err := t.send(ctx, false)
	return errors.Join(err, closeResults(results, err))
}

// end gives the connection back to the pool. It rolls back a transaction that was not committed, also if the caller's context has
// ended.
func (t *postgresTx) end(ctx context.Context) {
	if t.conn == nil {
		return
	}
	if c := t.conn.Conn().PgConn(); !c.IsClosed() && c.TxStatus() != 'I' {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
		_, _ = t.conn.Exec(end, "rollback") // a connection for which this fails is closed by Release
		cancel()
	}
	t.conn.Release()
}
