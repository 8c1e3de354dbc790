package auth

import (
	"context"
	"errors"
	"time"

	"atelie/internal/db"
)

// This file defines helpers for the files store_*.go, which contain the SQL of this package.

// orNull returns nil for "", so that the database stores NULL.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// userIDIn returns the SQL condition that user_id is one of userIDs, and the arguments for its placeholders from $1 on.
func userIDIn(userIDs []string) (where string, args []any) {
	list, args := db.AppendList(nil, userIDs)
	return "user_id in (" + list + ")", args
}

// sqlBool returns 1 for true and 0 for false, for a query argument that the SQL compares with 1. SQLite and PostgreSQL both accept that.
func sqlBool(b bool) int {
	if b {
		return 1
	}
	return 0
}

// inTx runs fn in a transaction and returns its result. run is db.DB.WithTx or db.DB.WithShortTx.
func inTx[T any](ctx context.Context, run func(context.Context, func(*db.Tx) error) error, fn func(*db.Tx) (T, error)) (result T, err error) {
	err = run(ctx, func(tx *db.Tx) (err error) {
		result, err = fn(tx) // the result of an earlier attempt is replaced
		return err
	})
	return result, err
}

// changeOr runs a statement and returns refusal if the statement changes no row.
func changeOr(ctx context.Context, q db.Querier, refusal error, query string, args ...any) error {
	changed, err := db.Changed(ctx, q, query, args...)
	if err == nil && !changed {
		err = refusal
	}
	return err
}

// deleteRows deletes the rows of an account in tables that have a column user_id.
func deleteRows(ctx context.Context, q db.Querier, userID string, tables ...string) (err error) {
	for _, table := range tables {
		err = errors.Join(err, db.Exec(ctx, q, "delete from "+table+" where user_id = $1", userID))
	}
	return err
}

// deleteBefore deletes the rows of a table whose time in the given column is limit or earlier. Rows without a time stay.
func deleteBefore(ctx context.Context, q db.Querier, table, column string, limit time.Time) error {
	return db.Exec(ctx, q, "delete from "+table+" where "+column+" <= $1", limit)
}
