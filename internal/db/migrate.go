package db

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"text/template"

	"github.com/jackc/pgx/v5/stdlib" // goose wants database/sql
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// migrationFiles is one numbered set for both engines; the few words that differ are template names (dialect.go).
//
//go:embed migrations/*.sql
var migrationFiles embed.FS

// Migrate brings the schema up to the newest version, each step in a transaction. On PostgreSQL one node applies
// while the others wait. A database that a newer program has written is refused and left as it is.
func (d *DB) Migrate(ctx context.Context) error {
	migrations, err := loadMigrations(d.Dialect)
	if err != nil {
		return err
	}
	return migrateTo(ctx, d, migrations)
}

func migrateTo(ctx context.Context, d *DB, migrations []*goose.Migration) (err error) {
	conn, dialect, opts := (*sql.DB)(nil), goose.DialectSQLite3, []goose.ProviderOption{goose.WithGoMigrations(migrations...), goose.WithDisableGlobalRegistry(true)}
	switch drv := d.driver.(type) {
	case *sqliteDriver:
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
	provider, err := goose.NewProvider(dialect, conn, nil, opts...)
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	current, err := provider.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	if newest := migrations[len(migrations)-1].Version; current > newest {
		return fmt.Errorf("the database has schema version %d and this program knows %d: start a newer program, or restore a backup", current, newest)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// loadMigrations renders the embedded files for an engine, ordered by their number.
func loadMigrations(dialect Dialect) ([]*goose.Migration, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	column := 0
	if dialect == SQLite {
		column = 1
	}
	words := make(map[string]string, len(columnTypes))
	for name, w := range columnTypes {
		words[name] = w[column]
	}
	migrations := make([]*goose.Migration, 0, len(names))
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
		var script bytes.Buffer
		if err := t.Execute(&script, words); err != nil {
			return nil, err
		}
		migrations = append(migrations, goose.NewGoMigration(version, &goose.GoFunc{
			RunTx: func(ctx context.Context, tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, script.String())
				return err
			},
		}, nil))
	}
	return migrations, nil
}
