package db

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// This file reads and inserts rows of any table as JSON, for the archive of a site (commands export and import).

// TableNames lists the tables that contain a site's data, sorted so that each table follows the tables to which it refers.
func TableNames() ([]string, error) {
	tables, err := catalogue()
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.name
	}
	return names, err
}

func findTable(name string) (*table, error) {
	tables, err := catalogue()
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(tables, func(t *table) bool { return t.name == name }); i >= 0 {
		return tables[i], nil
	}
	return nil, fmt.Errorf("no table %s", name)
}

// ReadJSON calls the function each with every row of a table, in the order of the primary key. A row is a JSON object whose members have
// the order of the columns. Both engines give the same text: times as FormatTime writes them, bytes in base64, and the values of JSON
// columns with their members sorted by name.
func ReadJSON(ctx context.Context, q Querier, dialect Dialect, name string, each func(row json.RawMessage) error) error {
	t, err := findTable(name)
	if err != nil {
		return err
	}
	return t.read(ctx, q, dialect, nil /* from the first row */, func(values []any) error {
		b := bytes.NewBufferString("{")
		for i, v := range values {
			value, err := t.columns[i].asJSON(v)
			if err != nil {
				return fmt.Errorf("%s.%s: %w", t.name, t.columns[i].name, err)
			}
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(b, "%q:%s", t.columns[i].name, value)
		}
		b.WriteByte('}')
		return each(b.Bytes())
	})
}

// asJSON returns the JSON text of a value of the column, as table.read returns it.
func (c column) asJSON(v any) (json.RawMessage, error) {
	switch {
	case v == nil:
		return json.RawMessage("null"), nil
	case c.kind == "json" || c.kind == "list": // parsed, so that Encode sorts the members: PostgreSQL's jsonb has another order
		d := json.NewDecoder(strings.NewReader(v.(string)))
		d.UseNumber()
		v = nil
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
	case c.kind == "timestamp":
		v = FormatTime(v.(time.Time))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// InsertJSON inserts a row that ReadJSON has written. A column that the row does not have gets its default, because an earlier
// version of the program may have written the row. Errors name the column of an invalid value.
func InsertJSON(ctx context.Context, tx *Tx, name string, row map[string]json.RawMessage) error {
	t, err := findTable(name)
	if err != nil {
		return err
	}
	present := &table{name: t.name} // has only the columns of the row
	var args []any
	for _, c := range t.columns {
		text, ok := row[c.name]
		if !ok {
			continue
		}
		value, err := c.fromJSON(text)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", t.name, c.name, err)
		}
		present.columns, args = append(present.columns, c), append(args, value)
	}
	if len(present.columns) != len(row) {
		return fmt.Errorf("%s: a row has members that are not columns of this program's table", t.name)
	}
	return Exec(ctx, tx, present.insertStatement(tx.Dialect, 1), args...)
}

// fromJSON returns the value of asJSON's text for a parameter of a statement. It accepts only what both engines can store.
func (c column) fromJSON(text json.RawMessage) (any, error) {
	if string(bytes.TrimSpace(text)) == "null" {
		return nil, nil
	}
	switch c.kind {
	case "json":
		if !storableJSON(text) {
			return nil, errors.New("not JSON that a database can store")
		}
		return compactJSON(string(text))
	case "list":
		var list []*string
		if err := json.Unmarshal(text, &list); err != nil || slices.Contains(list, nil) || !storableJSON(text) {
			return nil, errors.New("not a list of texts")
		}
		return compactJSON(string(text))
	case "bool":
		return valueOf[bool](text)
	case "int", "bigint", "serial":
		return valueOf[int64](text)
	case "real":
		return valueOf[float64](text)
	}
	var s string
	if err := json.Unmarshal(text, &s); err != nil || strings.ContainsRune(s, 0) {
		return nil, errors.New("not a text that a database can store")
	}
	switch c.kind {
	case "uuid":
		return canonicalUUID(s)
	case "date":
		_, err := time.Parse(time.DateOnly, s)
		return s, err
	case "timestamp":
		return ParseTime(s)
	case "bytes":
		return base64.StdEncoding.DecodeString(s)
	}
	return s, nil
}

func valueOf[T any](text json.RawMessage) (any, error) {
	var v T
	err := json.Unmarshal(text, &v)
	return v, err
}

// storableJSON reports whether text is JSON without U+0000, which PostgreSQL's jsonb refuses.
func storableJSON(text json.RawMessage) bool {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return false
	}
	var plain func(v any) bool
	plain = func(v any) bool {
		switch v := v.(type) {
		case string:
			return !strings.ContainsRune(v, 0)
		case []any:
			return !slices.ContainsFunc(v, func(inner any) bool { return !plain(inner) })
		case map[string]any:
			for name, inner := range v {
				if !plain(name) || !plain(inner) {
					return false
				}
			}
		}
		return true
	}
	return plain(v)
}
