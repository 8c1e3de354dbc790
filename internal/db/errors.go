package db

import (
	"database/sql"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrNoRows is returned by Row.Scan when the query found nothing.
var ErrNoRows = errors.New("no rows")

// ConstraintError says that the database refused a row. Code is the SQLSTATE class that PostgreSQL uses for it
// (23505 unique, 23503 foreign key, 23514 check, 23502 not null), on both engines.
type ConstraintError struct {
	Code  string
	Cause error
}

func (e *ConstraintError) Error() string { return "constraint " + e.Code + ": " + e.Cause.Error() }

// Unwrap gives the driver's error.
func (e *ConstraintError) Unwrap() error { return e.Cause }

// IsConstraint tells whether err is a refusal with the given SQLSTATE.
func IsConstraint(err error, code string) bool {
	var c *ConstraintError
	return errors.As(err, &c) && c.Code == code
}

// SQLSTATE codes of refused rows.
const (
	UniqueViolation     = "23505"
	ForeignKeyViolation = "23503"
	CheckViolation      = "23514"
	NotNullViolation    = "23502"
)

// gaveWay tells that PostgreSQL ended a transaction so that others could go on (serialization_failure,
// deadlock_detected): nothing of it is stored, and it may run again.
func gaveWay(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}

// translate turns driver errors into ours at the edge, so that nobody above sees a driver.
func translate(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, pgx.ErrNoRows) {
		return ErrNoRows
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) && strings.HasPrefix(pg.Code, "23") {
		return &ConstraintError{Code: pg.Code, Cause: err}
	}
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		switch lite.Code() {
		case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
			return &ConstraintError{Code: UniqueViolation, Cause: err}
		case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
			return &ConstraintError{Code: ForeignKeyViolation, Cause: err}
		case sqlite3.SQLITE_CONSTRAINT_CHECK, sqlite3.SQLITE_CONSTRAINT_DATATYPE:
			return &ConstraintError{Code: CheckViolation, Cause: err}
		case sqlite3.SQLITE_CONSTRAINT_NOTNULL:
			return &ConstraintError{Code: NotNullViolation, Cause: err}
		}
	}
	return err
}
