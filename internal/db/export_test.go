package db

import (
	"bytes"
	"context"
	"strings"
)

// This file exports internals of the package to its tests.

// OwnTables are the tables that a copy leaves out.
var OwnTables = internalTables

// Columns lists the columns of the migrations by table, each with its name and its kind.
func Columns() (map[string][][2]string, error) {
	tables, err := catalogue()
	out := map[string][][2]string{}
	for _, t := range tables {
		for _, c := range t.columns {
			out[t.name] = append(out[t.name], [2]string{c.name, string(c.kind)})
		}
	}
	return out, err
}

// TableOrder lists the tables as they are copied.
func TableOrder() []string {
	tables, err := catalogue()
	if err != nil {
		panic(err)
	}
	var names []string
	for _, t := range tables {
		names = append(names, t.name)
	}
	return names
}

// Tables lists the names of all tables in the database.
func (d *DB) Tables(ctx context.Context) ([]string, error) { return d.tables(ctx) }

// MatchesCatalogue checks, as a copy does first, that the database has exactly the columns of the migrations.
func (d *DB) MatchesCatalogue(ctx context.Context) error {
	tables, err := catalogue()
	if err != nil {
		return err
	}
	return checkCatalogue(ctx, d, d.Dialect, tables)
}

// Seeded lists the tables into which the migrations insert rows.
func Seeded() (names []string) {
	tables, err := catalogue()
	if err != nil {
		panic(err)
	}
	for _, t := range tables {
		if t.seeded {
			names = append(names, t.name)
		}
	}
	return names
}

// Dump returns the canonical bytes of each table, by its name.
func (d *DB) Dump(ctx context.Context) (map[string][]byte, error) {
	tables, err := catalogue()
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, t := range tables {
		var b bytes.Buffer
		if _, err := t.dump(ctx, d, d.Dialect, &b); err != nil {
			return nil, err
		}
		out[t.name] = b.Bytes()
	}
	return out, nil
}

// PlainNumber and CanonicalJSON make the canonical forms by which values are compared.
var PlainNumber = plainNumber

func CanonicalJSON(s string) (string, error) {
	b, err := canonicalJSON(s)
	return string(b), err
}

// CopyBatch is the largest number of rows that a copy writes in one transaction.
const CopyBatch = copyRows

// ExpectedTables returns the names of the tables that CheckTables looks for.
func ExpectedTables() ([]string, error) { return expectedTables() }

// RunFirstStatement runs the first statement of one migration again.
func RunFirstStatement(ctx context.Context, d *DB, version int64) error {
	scripts, err := renderMigrations(templateWords(d.Dialect))
	if err != nil {
		return err
	}
	for _, s := range scripts {
		if s.version == version {
			first, _, _ := strings.Cut(s.text, ";\n")
			_, err = d.Exec(ctx, first)
		}
	}
	return err
}
