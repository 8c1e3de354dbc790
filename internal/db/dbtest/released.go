package dbtest

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"atelie/internal/db"
)

// Release is a version of the program that was given out, with the number of the newest migration that it had.
type Release struct {
	Version string
	Schema  int64
}

// Releases are the released versions. Each has its empty database as SQL text in the folder released, for both engines.
var Releases = []Release{{"1.0.0", 28}}

//go:embed released/*.sql
var released embed.FS

// Script returns the SQL text that makes an empty database as the release made it.
func (r Release) Script(dialect db.Dialect) (string, error) {
	text, err := released.ReadFile("released/" + r.Version + "." + string(dialect) + ".sql")
	return string(text), err
}

// Database makes an empty database as the release made it, and returns its address. With SQLite it is atelie.db in dir.
func (r Release) Database(t testing.TB, dialect db.Dialect, dir string) (address string) {
	t.Helper()
	text, err := r.Script(dialect)
	if err != nil {
		t.Fatal(err)
	}
	if dialect == db.SQLite {
		file := filepath.Join(dir, "atelie.db")
		address = "sqlite:" + file
		err = runScript(t.Context(), file, text)
	} else {
		address = URL(t, dialect)
		err = replaceSchema(t.Context(), address, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func runScript(ctx context.Context, file, text string) (err error) {
	conn, err := sql.Open("sqlite", file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	_, err = conn.ExecContext(ctx, text)
	return err
}

func replaceSchema(ctx context.Context, address, text string) (err error) {
	cfg, err := pgxpool.ParseConfig(address) // the address has settings of a pool
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, "drop schema public cascade; create schema public; "+text)
	return err
}
