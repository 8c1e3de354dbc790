package tables

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// This file records the rows that a write inserts, updates or deletes, for live clients (clients that have subscribed to changes). Package
// realtime implements Recorder and InsertRecorder, and sends the recorded rows to the clients.

// Recorder stores row changes for live clients, in the transaction that makes the changes.
type Recorder func(ctx context.Context, tx *db.Tx, changes []db.RowChange) error

// InsertRecorder is a Recorder for inserted rows of a table. Instead of the rows it gets a query that returns each row as a JSON object. The
// database runs the query and records the rows, without sending them to the program.
type InsertRecorder func(ctx context.Context, tx *db.Tx, table, query string, args ...any) error

// RecordInserted records the rows with the given keys as inserted. It is for other packages that insert rows of a table
// themselves, in the transaction tx.
func (s *Service) RecordInserted(ctx context.Context, tx *db.Tx, table string, keys []string) error {
	t := schema[table]
	if t == nil {
		return errUnknownTable(table)
	}
	return s.recordInsertedRows(ctx, tx, t, keys)
}

// RecordUpdated records the rows with the given keys as updated. The update must not have changed the keys.
func (s *Service) RecordUpdated(ctx context.Context, tx *db.Tx, table string, keys []string) error {
	t := schema[table]
	if t == nil {
		return errUnknownTable(table)
	}
	return s.recordWritten(ctx, tx, t, keys, sameKeys(keys))
}

// RecordDeleted records the rows with the given keys as deleted. Call it before they are deleted, because it reads them.
func (s *Service) RecordDeleted(ctx context.Context, tx *db.Tx, table string, keys []string) error {
	t := schema[table]
	if t == nil {
		return errUnknownTable(table)
	}
	return s.recordDeleted(ctx, tx, t, keys)
}

// ColumnTypes returns the columns that live clients get, by the name of the table. These are the columns that the policy lets visitors
// read, without the columns that select=* leaves out.
func ColumnTypes() map[string][]db.ColumnType {
	// PostgreSQL's internal names of the types; _text is an array of texts.
	typeNames := map[Kind]string{UUID: "uuid", Text: "text", Bool: "bool", Int: "int4", Timestamp: "timestamptz", Date: "date", List: "_text", AltTexts: "json"}
	all := make(map[string][]db.ColumnType, len(schema))
	for name, t := range schema {
		for _, field := range changeFields(t) {
			c := field.Column
			all[name] = append(all[name], db.ColumnType{Name: c.Name, Type: typeNames[c.Kind], Key: c == t.Key})
		}
	}
	return all
}

// changeFields returns the fields of a recorded row. All live clients get the same fields, so these are fields that anonymous callers may
// read.
func changeFields(t *Table) []Field {
	return everyField(readableBy(identity.Caller{Role: identity.Anon}, t))
}

// recordInsertedRows records the rows with the given keys as inserted. Unlike recordWritten, it does not read the rows: the database copies
// them into the events.
func (s *Service) recordInsertedRows(ctx context.Context, tx *db.Tx, t *Table, keys []string) error {
	rows := renderKeyed(tx.Dialect, t, changeFields(t), keys, nil /* in the order of keys */, always)
	return s.recordInserted(ctx, tx, t.Name, rows.sql, rows.args...)
}

// recordWritten records inserts and updates of the rows with the given keys. before maps the key of each updated row to its key
// before the update; a row that is not in before was inserted.
func (s *Service) recordWritten(ctx context.Context, tx *db.Tx, t *Table, keys []string, before map[string]string) error {
	if len(keys) == 0 {
		return nil
	}
	records, err := readRecords(ctx, tx, t, keys)
	if err != nil {
		return err
	}
	if len(records) != len(keys) {
		return errors.New("a written row cannot be read back")
	}
	changes := make([]db.RowChange, len(keys))
	for i, key := range keys {
		changes[i] = db.RowChange{Table: t.Name, Type: db.Inserted, Record: json.RawMessage(records[i])}
		if old, ok := before[key]; ok {
			changes[i].Type, changes[i].Old = db.Updated, json.RawMessage("{"+jsonText(t.Key.Name)+":"+jsonText(old)+"}")
		}
	}
	return s.record(ctx, tx, changes)
}

// recordDeleted records rows that are about to be deleted, and the rows of other tables that the database deletes with them.
func (s *Service) recordDeleted(ctx context.Context, tx *db.Tx, t *Table, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	rows, err := queryTexts(ctx, tx, renderKeyed(tx.Dialect, t, fieldsOf(policyColumns(t)), keys, nil, always))
	if err != nil {
		return err
	}
	changes := make([]db.RowChange, len(rows))
	for i, row := range rows {
		changes[i] = db.RowChange{Table: t.Name, Type: db.Deleted, Old: json.RawMessage(row)}
	}
	// The dependent rows come after the row: for a message, the Recorder removes the events recorded so far that contain its id, and the
	// deletions of the commission and the review contain it.
	if err := s.record(ctx, tx, changes); err != nil {
		return err
	}
	for _, d := range t.Dependents {
		dependent, err := queryTexts(ctx, tx, renderValue(tx.Dialect, d.Table, d.Table.Key, In{d.Column, asValues(keys)}))
		if err != nil {
			return err
		}
		if err := s.recordDeleted(ctx, tx, d.Table, dependent); err != nil {
			return err
		}
	}
	return nil
}

// policyColumns returns the key and the columns by which the policy decides who may see a row.
func policyColumns(t *Table) []*Column {
	columns := []*Column{t.Key}
	for _, role := range []identity.Role{identity.Anon, identity.Authenticated} {
		for _, condition := range policy.Table(identity.Caller{Role: role}, t.Name, policy.Select).Rows {
			if c := t.byName[condition.Column]; !slices.Contains(columns, c) {
				columns = append(columns, c)
			}
		}
	}
	return columns
}

func fieldsOf(columns []*Column) []Field {
	fields := make([]Field, len(columns))
	for i, c := range columns {
		fields[i] = Field{Name: c.Name, Column: c}
	}
	return fields
}

// sameKeys returns the argument before of recordWritten for updated rows whose keys have not changed.
func sameKeys(keys []string) map[string]string {
	before := make(map[string]string, len(keys))
	for _, key := range keys {
		before[key] = key
	}
	return before
}
