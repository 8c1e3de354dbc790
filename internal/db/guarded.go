package db

import "context"

// guard watches the statements of a guardedQuerier.
type guard interface {
	// before is called before each statement. The statement runs with the returned context. After an error it does not run.
	before(ctx context.Context) (context.Context, error)
	// after gets each error of a statement, its rows and its row, or nil, and returns the error for the caller.
	after(ctx context.Context, err error) error
}

// guardedQuerier runs statements that a guard watches.
type guardedQuerier struct {
	guard guard
	q     Querier
}

func (g guardedQuerier) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	ctx, err := g.guard.before(ctx)
	if err != nil {
		return 0, err
	}
	n, err := g.q.Exec(ctx, query, args...)
	return n, g.guard.after(ctx, err)
}

func (g guardedQuerier) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	ctx, err := g.guard.before(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := g.q.Query(ctx, query, args...)
	if err != nil {
		return nil, g.guard.after(ctx, err)
	}
	return guardedRows{rows, g.guard, ctx}, nil
}

func (g guardedQuerier) QueryRow(ctx context.Context, query string, args ...any) Row {
	ctx, err := g.guard.before(ctx)
	if err != nil {
		return failedRow{err}
	}
	return guardedRow{g.q.QueryRow(ctx, query, args...), g.guard, ctx}
}

type guardedRows struct {
	Rows
	guard guard
	ctx   context.Context // the query's, for the check of its error
}

func (r guardedRows) Err() error { return r.guard.after(r.ctx, r.Rows.Err()) }

type guardedRow struct {
	Row
	guard guard
	ctx   context.Context // lives from QueryRow to Scan
}

func (r guardedRow) Scan(dest ...any) error { return r.guard.after(r.ctx, r.Row.Scan(dest...)) }

type failedRow struct{ err error }

func (r failedRow) Scan(...any) error { return r.err }
