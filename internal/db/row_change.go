package db

import "encoding/json"

// This file defines the row changes that package tables records and package realtime sends to clients.

// The kinds of row changes, as the realtime client names them.
const (
	Inserted = "INSERT"
	Updated  = "UPDATE"
	Deleted  = "DELETE"
)

// RowChange records one written row for live changes, the changes that clients receive over a WebSocket. Record and Old are JSON objects
// whose members are columns.
type RowChange struct {
	Table string `json:"table"`
	Type  string `json:"type"` // Inserted, Updated or Deleted
	// Record is the whole row after an insert or update; nil for a deleted row.
	Record json.RawMessage `json:"record,omitempty"`
	// Old has the primary key that an updated or deleted row had. For a deleted row it also has the columns that decide
	// who could see the row; clients do not get these columns. Old is nil for an inserted row.
	Old json.RawMessage `json:"old,omitempty"`
	// At is the time at which the change was recorded, shortly before the commit. The publisher of the change sets it.
	At string `json:"at"`
}

// ColumnType describes a column to clients of live changes.
type ColumnType struct {
	Name string `json:"name"`
	Type string `json:"type"` // PostgreSQL's internal name of the type, such as int4
	Key  bool   `json:"-"`    // the column is the primary key
}
