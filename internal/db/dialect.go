package db

import (
	"fmt"
	"time"
)

// Dialect names an engine. The differences that queries meet are few and stand here and in the tables compiler.
type Dialect string

// The two engines.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// timeLayout is the text in which SQLite keeps a time: what PostgREST prints for timestamptz at UTC. With the zeros
// trimmed it still sorts as time does, because '+' < '.' < digits.
const timeLayout = "2006-01-02T15:04:05.999999+00:00"

// FormatTime gives the stored and printed form of a time, in UTC and whole microseconds.
func FormatTime(t time.Time) string { return t.UTC().Truncate(time.Microsecond).Format(timeLayout) }

// ParseTime reads what FormatTime wrote, and RFC 3339 in general.
func ParseTime(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("stored time %q: %w", s, err)
	}
	return t.UTC(), nil
}

// columnTypes are the words that the migrations leave open, in the order PostgreSQL, SQLite.
var columnTypes = map[string][2]string{
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
	"postgres":   {"yes", ""}, // for what only one engine has
	"xact":       {"xact xid8 not null default pg_current_xact_id(),", ""},
	"xact_index": {"create index realtime_outbox_xact on realtime_outbox (xact);", ""},
}
