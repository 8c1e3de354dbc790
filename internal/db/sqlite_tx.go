package db

import (
	"context"
	"errors"
)

// txQuerier runs the statements of a transaction on SQLite. After a statement has failed, it refuses all later ones, like PostgreSQL.
// This is necessary because SQLite itself rolls back on some errors, such as a full disk, and would then commit each later statement on
// its own.
type txQuerier struct {
	stdQuerier
	interruptible bool  // a statement is interrupted when its context ends
	failed        error // error of the first statement that failed; nil if none has failed
}

// statementContext returns the context with which a statement runs.
func (t *txQuerier) statementContext(ctx context.Context) context.Context {
	if t.interruptible {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

// recordFailure returns err. It sets failed if err is the first error of a statement.
func (t *txQuerier) recordFailure(err error) error {
	if err != nil && !errors.Is(err, ErrNoRows) && t.failed == nil {
		t.failed = err
	}
	return err
}

func (t *txQuerier) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	if t.failed != nil {
		return 0, t.failed
	}
	n, err := t.stdQuerier.Exec(t.statementContext(ctx), query, args...)
	return n, t.recordFailure(err)
}

func (t *txQuerier) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	if t.failed != nil {
		return nil, t.failed
	}
	rows, err := t.stdQuerier.Query(t.statementContext(ctx), query, args...)
	if err != nil {
		return nil, t.recordFailure(err)
	}
	return txRows{rows, t}, nil
}

func (t *txQuerier) QueryRow(ctx context.Context, query string, args ...any) Row {
	if t.failed != nil {
		return failedRow{t.failed}
	}
	return txRow{t.stdQuerier.QueryRow(t.statementContext(ctx), query, args...), t}
}

// txRows records an error of the cursor as a failure of the transaction.
type txRows struct {
	Rows
	tx *txQuerier
}

func (r txRows) Err() error { return r.tx.recordFailure(r.Rows.Err()) }

// txRow records an error of Scan as a failure of the transaction.
type txRow struct {
	Row
	tx *txQuerier
}

func (r txRow) Scan(dest ...any) error { return r.tx.recordFailure(r.Row.Scan(dest...)) }
