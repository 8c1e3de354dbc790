package db

import (
	"context"
	"errors"
	"strconv"
	"strings"
)

// This file defines short forms of frequent queries and statements.

// Collect runs a query, calls scan for each row, and returns the results in the order of the rows. If the query finds no rows, the list is
// empty but not nil. The cursor is closed on return, because a transaction can have only one open cursor.
func Collect[T any](ctx context.Context, q Querier, scan func(Row) (T, error), query string, args ...any) (list []T, err error) {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	list = []T{}
	for rows.Next() {
		item, err := scan(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, rows.Err()
}

// ScanOne is a scan function for rows of a single column.
func ScanOne[T any](row Row) (value T, err error) {
	err = row.Scan(&value)
	return value, err
}

// One runs a query and returns the single column of its first row, or ErrNoRows.
func One[T any](ctx context.Context, q Querier, query string, args ...any) (T, error) {
	return ScanOne[T](q.QueryRow(ctx, query, args...))
}

// NoRowsAs returns other in place of ErrNoRows, and any other err unchanged.
func NoRowsAs(err, other error) error {
	if errors.Is(err, ErrNoRows) {
		return other
	}
	return err
}

// Exec runs a statement and ignores the number of changed rows.
func Exec(ctx context.Context, q Querier, query string, args ...any) error {
	_, err := q.Exec(ctx, query, args...)
	return err
}

// Queue is Exec for a statement of a transaction if the caller does not need its result before the end of the transaction. On PostgreSQL
// the statement is sent together with the next one that has a result, or with the commit, so that it costs no round trip (a message to the
// server and the wait for its response). The later statement or the commit returns the error. On SQLite, and outside of a transaction,
// Queue executes the statement immediately.
func Queue(ctx context.Context, q Querier, query string, args ...any) error {
	if t, ok := q.(*Tx); ok {
		if tx, ok := t.Querier.(*postgresTx); ok {
			tx.queue(nil, query, args)
			return nil
		}
	}
	return Exec(ctx, q, query, args...)
}

// Changed runs a statement and reports whether it changed any row.
func Changed(ctx context.Context, q Querier, query string, args ...any) (bool, error) {
	n, err := q.Exec(ctx, query, args...)
	return n > 0, err
}

// LockTable keeps other transactions from writing to a table until tx ends. The next statement of tx has the lock (Queue). On SQLite
// LockTable does nothing, because there only one transaction writes at a time.
func LockTable(ctx context.Context, tx *Tx, table string) error {
	if tx.Dialect != Postgres {
		return nil
	}
	return Queue(ctx, tx, "lock table "+table+" in share row exclusive mode")
}

// AppendList appends values to the arguments of a query. It returns their placeholders for an SQL list, such as "$3, $4", and all
// arguments.
func AppendList[T ~string](args []any, values []T) (placeholders string, all []any) {
	list := make([]string, len(values))
	for i, value := range values {
		args = append(args, string(value))
		list[i] = "$" + strconv.Itoa(len(args))
	}
	return strings.Join(list, ", "), args
}
