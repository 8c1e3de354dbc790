package db

import (
	"fmt"
	"time"
)

// This file describes differences of the two engines: their dialects of SQL, the text in which SQLite stores a time, and the SQL that
// replaces the placeholders in the migrations.

// Dialect names a database engine and its dialect of SQL. Code branches on it where the engines need different SQL.
type Dialect string

// The dialects of the two engines.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// Choose returns the SQL for this engine.
func (d Dialect) Choose(sqlite, postgres string) string {
	if d == Postgres {
		return postgres
	}
	return sqlite
}

// timeLayout is the text form in which SQLite stores a time, such as 2026-03-01T10:00:00.25+00:00. PostgREST, the program behind Supabase's
// /rest/v1, prints a timestamptz in UTC in the same form. Zeros at the end of the fraction are left out. The texts nevertheless sort by
// time, because '+' < '.' < digits.
const timeLayout = "2006-01-02T15:04:05.999999+00:00"

// FormatTime returns the stored and printed form of a time, in UTC and rounded down to microseconds.
func FormatTime(t time.Time) string { return t.UTC().Truncate(time.Microsecond).Format(timeLayout) }

// ParseTime reads a time in any form of RFC 3339, such as a result of FormatTime.
func ParseTime(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("stored time %q: %w", s, err)
	}
	return t.UTC(), nil
}

// placeholders maps the names of the placeholders in the migrations, such as uuid for {{.uuid}}, to the SQL that replaces them:
// first PostgreSQL's, then SQLite's.
var placeholders = map[string][2]string{
	"uuid":       {"uuid", "text"},
	"text":       {`text collate "C"`, "text"},
	"timestamp":  {"timestamptz", "text"},
	"date":       {"date", "text"},
	"bool":       {"boolean", "integer"},
	"true":       {"true", "1"},
	"false":      {"false", "0"},
	"int":        {"integer", "integer"},
	"bigint":     {"bigint", "integer"},
	"json":       {"jsonb", "text"},
	"list":       {"text[]", "text"},
	"empty_list": {"'{}'", "'[]'"},
	"bytes":      {"bytea", "blob"},
	"real":       {"double precision", "real"},
	"strict":     {"", "strict"},
	"serial":     {"bigint generated always as identity primary key", "integer primary key autoincrement"},
	"postgres":   {"yes", ""}, // a condition: {{if .postgres}} begins SQL for PostgreSQL only
	// The column of realtime_outbox with the transaction that wrote the row, and its index (migration 10).
	"xact":       {"xact xid8 not null default pg_current_xact_id(),", ""},
	"xact_index": {"create index realtime_outbox_xact on realtime_outbox (xact);", ""},
}
