package db

import (
	"context"
	"errors"
)

// sqliteTx is the guard of the statements of a transaction on SQLite. After a statement has failed, it refuses all later ones, like
// PostgreSQL. This is necessary because SQLite itself rolls back on some errors, such as a full disk, and would then commit each later
// statement on its own.
type sqliteTx struct {
	interruptible bool  // a statement is interrupted when its context ends
	failed        error // error of the first statement that failed; nil if none has failed
}

func (t *sqliteTx) before(ctx context.Context) (context.Context, error) {
	if !t.interruptible {
		ctx = context.WithoutCancel(ctx)
	}
	return ctx, t.failed
}

func (t *sqliteTx) after(_ context.Context, err error) error {
	if err != nil && !errors.Is(err, ErrNoRows) && t.failed == nil {
		t.failed = err
	}
	return err
}
