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

// Releases lists the published releases. For each release and engine, the folder released has a script: the SQL that creates the database
// of a new site as that release created it.
var Releases = []Release{{Version: "1.0.0", Schema: 28}}

//go:embed released/*.sql
var scripts embed.FS

// Script returns the release's script for an engine.
func (r Release) Script(dialect db.Dialect) (string, error) {
	text, err := scripts.ReadFile("released/" + r.Version + "." + string(dialect) + ".sql")
	return string(text), err
}

// CreateDatabase creates a database with the release's script and returns its URL. On SQLite it is the file atelie.db in dir;
// on PostgreSQL dir is not used.
func (r Release) CreateDatabase(t testing.TB, dialect db.Dialect, dir string) (databaseURL string) {
	t.Helper()
	text, err := r.Script(dialect)
	if err != nil {
		t.Fatal(err)
	}
	if dialect == db.SQLite {
		file := filepath.Join(dir, "atelie.db")
		databaseURL = "sqlite:" + file
		err = runScript(t.Context(), file, text)
	} else {
		databaseURL = URL(t, dialect)
		err = replaceSchema(t.Context(), databaseURL, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return databaseURL
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

func replaceSchema(ctx context.Context, databaseURL, text string) (err error) {
	cfg, err := pgxpool.ParseConfig(databaseURL) // the URL contains settings of a pool
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
