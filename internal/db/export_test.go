package db

import (
	"bytes"
	"context"
)

// What copy_test needs of the inside.

// OwnTables are those that a copy leaves to each database.
var OwnTables = ownTables

// Columns lists table.column of what the migrations make, with its kind.
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

// Tables lists what stands in a database.
func (d *DB) Tables(ctx context.Context) ([]string, error) { return d.tables(ctx) }

// MatchesCatalogue is what a copy asks first.
func (d *DB) MatchesCatalogue(ctx context.Context) error {
	tables, err := catalogue()
	if err != nil {
		return err
	}
	return matchesCatalogue(ctx, d, d.Dialect, tables)
}

// Seeded lists the tables that the migrations put rows in.
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

// Dump gives the canonical bytes of each table.
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

// PlainNumber and CanonicalJSON are what values are compared by.
var PlainNumber = plainNumber

func CanonicalJSON(s string) (string, error) {
	b, err := canonicalJSON(s)
	return string(b), err
}

// CopyBatch is the most rows of one transaction.
const CopyBatch = copyRows
