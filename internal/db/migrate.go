package db

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/jackc/pgx/v5/stdlib" // goose, which runs the migrations, needs a database/sql connection
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// migrationFiles are the numbered migrations (changes of the schema), which both engines share. A new migration is a new file. Where the SQL
// of the engines differs, a file contains a placeholder such as {{.uuid}}. renderMigrations replaces it by the SQL of the engine
// (placeholders in dialect.go).
//
//go:embed migrations/*.sql
var migrationFiles embed.FS

// Migrate updates the schema to the newest version with the library goose, each migration in a transaction. On PostgreSQL a lock makes
// other nodes wait while one node migrates. Migrate returns an error and changes nothing if the schema is newer than this program, or if an
// interrupted `atelie copy` has filled only a part of the database.
func (d *DB) Migrate(ctx context.Context) error {
	if found, err := d.tables(ctx); err != nil {
		return err
	} else if slices.Contains(found, copyState) {
		return errors.New("this database contains an unfinished copy: run the same atelie copy again to continue it")
	}
	return d.migrate(ctx)
}

// migrate is Migrate without the check for an unfinished copy.
func (d *DB) migrate(ctx context.Context) error {
	scripts, err := renderMigrations(placeholderSQL(d.Dialect))
	if err != nil {
		return err
	}
	migrations := make([]*goose.Migration, 0, len(scripts))
	for _, s := range scripts {
		migrations = append(migrations, goose.NewGoMigration(s.version, &goose.GoFunc{
			RunTx: func(ctx context.Context, tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, s.text)
				return err
			},
		}, nil /* no migration back */))
	}
	return d.waitForLock(ctx, func() error { return runMigrations(ctx, d, migrations) })
}

// runMigrations runs the migrations that the database does not have yet. It returns an error if the database's schema is newer
// than the newest of these migrations.
func runMigrations(ctx context.Context, d *DB, migrations []*goose.Migration) (err error) {
	var (
		conn    *sql.DB
		dialect goose.Dialect
		opts    = []goose.ProviderOption{goose.WithGoMigrations(migrations...), goose.WithDisableGlobalRegistry(true)}
	)
	switch drv := d.driver.(type) {
	case *sqliteDriver:
		dialect = goose.DialectSQLite3
		conn = drv.write
	case *postgresDriver:
		dialect = goose.DialectPostgres
		conn = stdlib.OpenDB(*drv.pool.Config().ConnConfig)
		defer func() { _ = conn.Close() }()
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 120)) // ask once a second, for two minutes
		if err != nil {
			return err
		}
		opts = append(opts, goose.WithSessionLocker(locker))
	}
	provider, err := goose.NewProvider(dialect, conn, nil /* no migration files */, opts...)
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	current, err := provider.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read schema version: %w", translate(err))
	}
	if newest := migrations[len(migrations)-1].Version; current > newest {
		return fmt.Errorf("a newer program has updated the database (its schema is %d, this program knows %d): start that program again, or restore a backup from before the upgrade", current, newest)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", translate(err))
	}
	return nil
}

// placeholderSQL maps the names of the placeholders to an engine's SQL.
func placeholderSQL(dialect Dialect) map[string]string {
	sqlOf := make(map[string]string, len(placeholders))
	for name, pair := range placeholders {
		sqlOf[name] = dialect.Choose(pair[1], pair[0])
	}
	return sqlOf
}

// script is a migration with its placeholders replaced.
type script struct {
	version int64
	text    string
}

// renderMigrations replaces the placeholders of the embedded migrations by the SQL in sqlOf, and returns the migrations ordered
// by version.
func renderMigrations(sqlOf map[string]string) ([]script, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	scripts := make([]script, 0, len(names))
	for _, name := range names {
		number, _, _ := strings.Cut(path.Base(name), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("migration %s has no number: %w", name, err)
		}
		t, err := template.New(path.Base(name)).Option("missingkey=error").ParseFS(migrationFiles, name)
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		if err := t.Execute(&text, sqlOf); err != nil {
			return nil, err
		}
		scripts = append(scripts, script{version, text.String()})
	}
	return scripts, nil
}
