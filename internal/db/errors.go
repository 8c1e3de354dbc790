package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"atelie/internal/apperr"
)

// This file defines errors of the database, and converts the errors of the two drivers to them.

// ErrNoRows is returned by Row.Scan when the query found nothing.
var ErrNoRows = errors.New("no rows")

// errInterrupted is the error for a statement or transaction on SQLite that was interrupted because its context had ended.
var errInterrupted = errors.New("interrupted")

// ConstraintError is the error for a row that was not stored because it violates a constraint. On both engines Code is PostgreSQL's
// SQLSTATE (an error code of five characters) of the violation, such as UniqueViolation.
type ConstraintError struct {
	Code  string
	Cause error
}

func (e *ConstraintError) Error() string { return "constraint " + e.Code + ": " + e.Cause.Error() }

// Unwrap returns the driver's error.
func (e *ConstraintError) Unwrap() error { return e.Cause }

// IsConstraint reports whether err is a ConstraintError with the given SQLSTATE code.
func IsConstraint(err error, code string) bool {
	c, ok := errors.AsType[*ConstraintError](err)
	return ok && c.Code == code
}

// SQLSTATE codes of constraint violations.
const (
	UniqueViolation     = "23505"
	ForeignKeyViolation = "23503"
	CheckViolation      = "23514"
	NotNullViolation    = "23502"
)

// isRetryable reports whether PostgreSQL aborted a transaction because of a concurrent one (serialization_failure,
// deadlock_detected). Such a transaction has stored nothing, so the caller can run it again.
func isRetryable(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == "40001" || pg.Code == "40P01")
}

// translate converts the errors of both drivers to those of this package, so that no other package depends on a driver.
func translate(err error) error {
	pg, isPostgres := errors.AsType[*pgconn.PgError](err)
	lite, isSQLite := errors.AsType[*sqlite.Error](err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows), errors.Is(err, pgx.ErrNoRows):
		return ErrNoRows
	case errors.Is(err, sql.ErrTxDone): // database/sql has rolled the transaction back, because its context has ended
		return fmt.Errorf("%w: %w", errInterrupted, err)
	case isPostgres && strings.HasPrefix(pg.Code, "23"):
		return &ConstraintError{Code: pg.Code, Cause: err}
	case isPostgres && pg.Code == "53100": // disk_full
		return apperr.NoSpace.Because(err)
	case isPostgres && pg.Code == "57014": // query_canceled, by statement_timeout
		return apperr.Timeout.Because(err)
	case isConnectionFailure(err, pg):
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	case isSQLite:
		return translateSQLite(lite.Code(), err)
	}
	return err
}

// sqliteConstraints maps SQLite's extended result codes to SQLSTATE.
var sqliteConstraints = map[int]string{
	sqlite3.SQLITE_CONSTRAINT_UNIQUE:     UniqueViolation,
	sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY: UniqueViolation,
	sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY: ForeignKeyViolation,
	sqlite3.SQLITE_CONSTRAINT_CHECK:      CheckViolation,
	sqlite3.SQLITE_CONSTRAINT_DATATYPE:   CheckViolation,
	sqlite3.SQLITE_CONSTRAINT_NOTNULL:    NotNullViolation,
}

func translateSQLite(code int, err error) error {
	if state, ok := sqliteConstraints[code]; ok {
		return &ConstraintError{Code: state, Cause: err}
	}
	if code == sqlite3.SQLITE_FULL || code == sqlite3.SQLITE_IOERR_SHMSIZE {
		return apperr.NoSpace.Because(err)
	}
	switch code & 0xff { // the primary result code
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("%w: %w", errLocked, err)
	case sqlite3.SQLITE_INTERRUPT:
		return fmt.Errorf("%w: %w", errInterrupted, err)
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// isConnectionFailure reports whether PostgreSQL could not be reached or has closed the connection, for example because it
// starts, stops, or has reached its limit of connections.
func isConnectionFailure(err error, pg *pgconn.PgError) bool {
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	_, network := errors.AsType[*net.OpError](err)
	switch {
	case errors.Is(err, context.Canceled):
		return false // the caller cancelled the request
	case connecting:
		return true
	case errors.Is(err, context.DeadlineExceeded):
		return false
	case pg != nil:
		return strings.HasPrefix(pg.Code, "08") || slices.Contains([]string{"57P01", "57P02", "57P03", "53300"}, pg.Code)
	}
	return network || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, pgconn.ErrConnClosed)
}
