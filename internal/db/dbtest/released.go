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

// This file creates databases as published releases of the program created them, so that tests can migrate them to the newest schema.

// Release is a published version of the program.
type Release struct {
	Version string
	Schema  int64 // number of the newest migration that the release had
}

// Releases lists the published releases. For each release and engine, the folder "released" contains an SQL script. The script creates the
// database of a new site as that release created it.
var Releases = []Release{{Version: "1.0.0", Schema: 28}}

//go:embed released/*.sql
var scripts embed.FS

// Script returns the release's script for an engine.
func (r Release) Script(dialect db.Dialect) (string, error) {
	script, err := scripts.ReadFile("released/" + r.Version + "." + string(dialect) + ".sql")
	return string(script), err
}

// CreateDatabase creates a database with the release's script and returns the database's URL. An SQLite database is the file atelie.db in dir.
// A PostgreSQL database does not use dir.
func (r Release) CreateDatabase(t testing.TB, dialect db.Dialect, dir string) (databaseURL string) {
	t.Helper()
	script, err := r.Script(dialect)
	if err != nil {
		t.Fatal(err)
	}
	if dialect == db.SQLite {
		file := filepath.Join(dir, "atelie.db")
		databaseURL = "sqlite:" + file
		err = runScript(t.Context(), file, script)
	} else {
		databaseURL = URL(t, dialect) // with the newest schema, which the script's schema replaces
		err = replaceSchema(t.Context(), databaseURL, script)
	}
	if err != nil {
		t.Fatal(err)
	}
	return databaseURL
}

func runScript(ctx context.Context, file, script string) (err error) {
	conn, err := sql.Open("sqlite", file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	_, err = conn.ExecContext(ctx, script)
	return err
}

func replaceSchema(ctx context.Context, databaseURL, script string) (err error) {
	cfg, err := pgxpool.ParseConfig(databaseURL) // pgx.ParseConfig does not know the URL's settings of a connection pool
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, "drop schema public cascade; create schema public; "+script)
	return err
}
