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

// The kinds of changes, as the realtime client names them.
const (
	Inserted = "INSERT"
	Updated  = "UPDATE"
	Deleted  = "DELETE"
)

// Change is one changed row, as JSON objects by column. Record is the new row of an insert or update. Old is the key of a
// row that was updated; of a deleted one also what policy must know to tell who could see it.
type Change struct {
	Table  string
	Type   string
	Record json.RawMessage
	Old    json.RawMessage
}

// Recorder writes changes down in the transaction that makes them.
type Recorder func(ctx context.Context, tx *db.Tx, changes []Change) error

// SetRecorder sets what writes every change of a row down. It is for wiring, before the first request.
func (s *Service) SetRecorder(fn Recorder) { s.record = fn }

// RecordInserted records rows that another part of the program has inserted in this transaction.
func (s *Service) RecordInserted(ctx context.Context, tx *db.Tx, table string, keys []string) error {
	t := schema[table]
	if t == nil {
		return errUnknownTable(table)
	}
	return s.recordWritten(ctx, tx, t, keys, nil)
}

// ColumnType describes a column to clients of live changes: Type is PostgreSQL's internal name of it.
type ColumnType struct {
	Name string
	Type string
	Key  bool
}

// ColumnTypes gives the columns of every table.
func ColumnTypes() map[string][]ColumnType {
	names := map[Kind]string{UUID: "uuid", Text: "text", Bool: "bool", Int: "int4", Timestamp: "timestamptz", Date: "date", List: "_text"}
	all := make(map[string][]ColumnType, len(schema))
	for name, t := range schema {
		for _, c := range t.Columns {
			if c.Stamp {
				continue
			}
			all[name] = append(all[name], ColumnType{Name: c.Name, Type: names[c.Kind], Key: c == t.Key})
		}
	}
	return all
}

// recordWritten records rows by their keys: as updated those that before names by their key of then, as inserted the rest.
func (s *Service) recordWritten(ctx context.Context, tx *db.Tx, t *Table, keys []string, before map[string]string) error {
	if len(keys) == 0 {
		return nil
	}
	records, err := texts(ctx, tx, renderKeyed(tx.Dialect, t, everyField(t), keys, nil, always))
	if err != nil {
		return err
	}
	if len(records) != len(keys) {
		return errors.New("a written row cannot be read back")
	}
	changes := make([]Change, len(keys))
	for i, key := range keys {
		changes[i] = Change{Table: t.Name, Type: Inserted, Record: json.RawMessage(records[i])}
		if old, ok := before[key]; ok {
			changes[i].Type, changes[i].Old = Updated, json.RawMessage("{"+jsonText(t.Key.Name)+":"+jsonText(old)+"}")
		}
	}
	return s.record(ctx, tx, changes)
}

// recordDeleted records rows that are about to be deleted.
func (s *Service) recordDeleted(ctx context.Context, tx *db.Tx, t *Table, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	rows, err := texts(ctx, tx, renderKeyed(tx.Dialect, t, fieldsOf(judged(t)), keys, nil, always))
	if err != nil {
		return err
	}
	changes := make([]Change, len(rows))
	for i, row := range rows {
		changes[i] = Change{Table: t.Name, Type: Deleted, Old: json.RawMessage(row)}
	}
	return s.record(ctx, tx, changes)
}

// judged gives the key and the columns by which policy tells who sees a row.
func judged(t *Table) []*Column {
	columns := []*Column{t.Key}
	for _, role := range []identity.Role{identity.Anon, identity.Authenticated} {
		c := t.byName[policy.Table(identity.Caller{Role: role}, t.Name, policy.Select).Rows.Column]
		if c != nil && !slices.Contains(columns, c) {
			columns = append(columns, c)
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

// same tells that rows keep their keys when they are written.
func same(keys []string) map[string]string {
	before := make(map[string]string, len(keys))
	for _, key := range keys {
		before[key] = key
	}
	return before
}
