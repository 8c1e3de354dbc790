package db

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// This file checks whether an open database is usable: that it responds, is complete and is not damaged. /health/ready and the start of the
// program call these checks.

// MissingTables is the error of Ready and CheckTables for a database that lacks some of its tables. Its elements are the
// names of these tables.
type MissingTables []string

func (m MissingTables) Error() string {
	return "the database lacks " + strings.Join(m, ", ") + ": restore it from a backup"
}

// CheckTables returns MissingTables unless every table of the migrations exists.
func (d *DB) CheckTables(ctx context.Context) error {
	expected, err := expectedTables[d.Dialect]()
	if err != nil {
		return err
	}
	found, err := d.tables(ctx)
	if err != nil {
		return err
	}
	if missing := slices.DeleteFunc(slices.Clone(expected), func(name string) bool { return slices.Contains(found, name) }); len(missing) > 0 {
		return MissingTables(missing)
	}
	return nil
}

// Ready checks that the database responds, that writes are possible, that SQLite's file has not been removed or replaced, and
// that every table exists.
func (d *DB) Ready(ctx context.Context) error {
	if err := d.Ping(ctx); err != nil {
		return fmt.Errorf("the database does not respond: %w", err)
	}
	if err := d.checkWritable(); err != nil {
		return fmt.Errorf("the database is locked: %w", err)
	}
	if lite, ok := d.driver.(*sqliteDriver); ok {
		if err := lite.checkFile(); err != nil {
			return err
		}
	}
	return d.CheckTables(ctx)
}

// tableStatement matches the statements of a migration that create or drop tables.
var tableStatement = regexp.MustCompile(`(?m)^\s*(create|drop) table (?:if exists )?(\w+)`)

// expectedTables has the functions that return the names of the tables that all migrations together create in a dialect, sorted.
var expectedTables = map[Dialect]func() ([]string, error){
	SQLite:   sync.OnceValues(func() ([]string, error) { return createdTables(SQLite) }),
	Postgres: sync.OnceValues(func() ([]string, error) { return createdTables(Postgres) }),
}

// createdTables reads the names of the tables from the texts of the migrations.
func createdTables(dialect Dialect) ([]string, error) {
	scripts, err := renderMigrations(placeholderSQL(dialect))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range scripts {
		for _, m := range tableStatement.FindAllStringSubmatch(s.text, -1) {
			if m[1] == "create" {
				names = append(names, m[2])
			} else {
				names = slices.DeleteFunc(names, func(n string) bool { return n == m[2] })
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil // a table that a later migration recreates is listed twice
}

// CheckIntegrity reads a whole SQLite database and returns an error for the first damage that SQLite finds: damaged pages, indexes
// that differ from their tables, or rows that refer to missing rows. On PostgreSQL it returns errors.ErrUnsupported.
func (d *DB) CheckIntegrity(ctx context.Context) error {
	if d.Dialect != SQLite {
		return errors.ErrUnsupported
	}
	found, err := One[string](ctx, d, "pragma integrity_check(1)")
	if err != nil {
		return fmt.Errorf("integrity check: %w", err)
	}
	if found != "ok" {
		return fmt.Errorf("integrity check: %s", found)
	}
	tables, err := collectTexts(ctx, d, `select "table" from pragma_foreign_key_check limit 1`)
	if err == nil && len(tables) > 0 {
		err = fmt.Errorf("integrity check: a row of %s refers to one that is missing", tables[0])
	}
	return err
}
