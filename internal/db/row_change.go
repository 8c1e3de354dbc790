package db

import "encoding/json"

// The kinds of row changes, as the realtime client names them.
const (
	Inserted = "INSERT"
	Updated  = "UPDATE"
	Deleted  = "DELETE"
)

// RowChange records one written row for live changes. Rows are JSON objects with a member for each column.
type RowChange struct {
	Table string `json:"table"`
	Type  string `json:"type"` // Inserted, Updated or Deleted
	// Record is the new row of an insert or update.
	Record json.RawMessage `json:"record,omitempty"`
	// Old is the key that an updated or deleted row had. For a deleted row it also has the columns by which the policy decides
	// who could see the row; those are not sent to clients.
	Old json.RawMessage `json:"old,omitempty"`
	// At is the time at which the change was recorded, shortly before the commit. The publisher of the change sets it.
	At string `json:"at"`
}

// ColumnType describes a column to clients of live changes. Type is PostgreSQL's internal name of the type, such as int4.
// Key is true for the primary key.
type ColumnType struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Key  bool   `json:"-"`
}
