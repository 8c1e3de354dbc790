package tables

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"atelie/internal/httpx"
)

// This file reads the body of a write (JSON, CSV or a form) and converts it to rows with the values to store.

// Limits of a request body. A body over one of them gets status 413.
const (
	maxBody       = 4 << 20 // bytes
	maxInsertRows = 1000    // rows of one insert
)

// row contains the values of a row to store, by column, in the Go types of values.go; nil means null.
type row map[*Column]any

// serverTime is the value of a Timestamp column for which the body has the string "now", PostgreSQL's notation for the current time. The
// method complete of row replaces it with the current time.
type serverTime struct{}

// payload contains the rows of a write. newPayload makes it from the decoded body. Then the values that the server sets are added, by the
// method fill for an insert and by the method change for an update.
type payload struct {
	columns []*Column // the columns that the write sets, in the table's order
	rows    []row     // before fill or change, a row lacks the columns that are missing in the body
}

// readBody reads a body and returns it with its media type. The media type must be one of accepted. A body without a Content-Type is JSON.
func readBody(w http.ResponseWriter, r *http.Request, accepted ...string) (body []byte, media string, err error) {
	media = jsonMedia
	if contentType := r.Header.Get("Content-Type"); contentType != "" {
		if media, _, err = mime.ParseMediaType(contentType); err != nil || !slices.Contains(accepted, media) {
			return nil, "", errBody("Content-Type not acceptable: "+truncate(contentType), "").Because(err)
		}
	}
	body, err = httpx.ReadBody(w, r, maxBody)
	return body, media, err
}

// formMedia is the media type of a form. respond.go has the other media types.
const formMedia = "application/x-www-form-urlencoded"

// readPayload reads the rows of a body. The body is JSON, CSV with column names in its first line, or a form with one row.
func readPayload(w http.ResponseWriter, r *http.Request, q *Query) (*payload, error) {
	body, media, err := readBody(w, r, jsonMedia, objectMedia, "application/vnd.pgrst.array+json", csvMedia, formMedia)
	if err != nil {
		return nil, err
	}
	objects := []map[string]any{nil}
	switch media {
	case csvMedia:
		objects, err = parseCSV(body)
	case formMedia:
		objects[0], err = parseForm(body)
	default:
		objects, err = parseJSON(body)
	}
	if err != nil {
		return nil, err
	}
	return newPayload(q.Table, objects, q.Columns)
}

// parseCSV reads CSV (RFC 4180). As in PostgREST, the field NULL means null, and every other field is a text.
func parseCSV(body []byte) ([]map[string]any, error) {
	if err := checkText("The body", string(body)); err != nil {
		return nil, err
	}
	c := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(body, []byte("\ufeff")))) // without a byte order mark
	c.ReuseRecord = true
	header, err := c.Read()
	if err != nil {
		return nil, errBody("Empty or invalid CSV", "").Because(err)
	}
	names := slices.Clone(header)
	objects := []map[string]any{}
	for {
		record, err := c.Read()
		switch {
		case errors.Is(err, io.EOF):
			return objects, nil
		case errors.Is(err, csv.ErrFieldCount):
			return nil, errBody("All lines must have same number of fields", "").Because(err)
		case err != nil:
			return nil, errBody("Empty or invalid CSV", "").Because(err)
		case len(objects) == maxInsertRows:
			return nil, errTooManyRows()
		}
		object := make(map[string]any, len(names))
		for i, name := range names {
			object[name] = record[i]
			if record[i] == "NULL" {
				object[name] = nil
			}
		}
		objects = append(objects, object)
	}
}

// parseForm reads a form. Every field is a text; of repeated fields the last one counts.
func parseForm(body []byte) (map[string]any, error) {
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, errBody("Empty or invalid form", "").Because(err)
	}
	object := make(map[string]any, len(values))
	for name, texts := range values {
		if err := checkText("The body", name); err != nil {
			return nil, err
		}
		object[name] = texts[len(texts)-1]
	}
	return object, nil
}

// decodeJSON reads a body that must hold exactly one JSON value. Numbers become json.Number.
func decodeJSON(body []byte) (any, error) {
	bad := errBody("Empty or invalid json", "")
	if !utf8.Valid(body) {
		return nil, bad.Becausef("invalid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, bad.Because(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, bad.Becausef("more than one value")
	}
	return v, nil
}

// parseJSON reads one object or an array of objects.
func parseJSON(body []byte) ([]map[string]any, error) {
	v, err := decodeJSON(body)
	if err != nil {
		return nil, err
	}
	var objects []map[string]any
	switch v := v.(type) {
	case map[string]any:
		objects = append(objects, v)
	case []any:
		if len(v) > maxInsertRows {
			return nil, errTooManyRows()
		}
		for _, element := range v {
			object, ok := element.(map[string]any)
			if !ok {
				return nil, errBody("All object keys must match", "every element of the array must be an object")
			}
			objects = append(objects, object)
		}
	default:
		return nil, errBody("Empty or invalid json", "the body must be an object or an array of objects")
	}
	return objects, nil
}

// newPayload converts the objects of a body to rows with values of the columns' kinds. columns are those of the parameter
// columns=, and other keys are ignored. With nil columns all objects must have the same keys, and each key must be a column.
func newPayload(t *Table, objects []map[string]any, columns []*Column) (p *payload, err error) {
	if columns == nil && len(objects) > 0 {
		if columns, err = commonColumns(t, objects); err != nil {
			return nil, err
		}
	}
	p = &payload{rows: make([]row, len(objects))}
	for _, c := range t.Columns {
		if slices.Contains(columns, c) && !c.Derived {
			p.columns = append(p.columns, c)
		}
	}
	for i, object := range objects {
		p.rows[i] = make(row, len(p.columns))
		for _, c := range p.columns {
			value, sent := object[c.Name]
			if text, isText := value.(string); isText && c.Kind == Timestamp && strings.EqualFold(strings.TrimSpace(text), "now") {
				value = serverTime{}
			} else if sent && value != nil {
				if value, err = fromJSON(c.Kind, value); err != nil {
					return nil, err
				}
			}
			if sent {
				p.rows[i][c] = value
			}
		}
	}
	return p, nil
}

// commonColumns returns the columns that the objects name, and an error unless all objects name the same ones.
func commonColumns(t *Table, objects []map[string]any) ([]*Column, error) {
	names := slices.Sorted(maps.Keys(objects[0]))
	columns := make([]*Column, 0, len(names))
	for _, name := range names {
		c := t.byName[name]
		if c == nil {
			return nil, errUnknownField(t, name)
		}
		columns = append(columns, c)
	}
	for _, object := range objects[1:] {
		if !maps.EqualFunc(object, objects[0], func(any, any) bool { return true }) {
			return nil, errBody("All object keys must match", "")
		}
	}
	return columns, nil
}

// fill completes the rows for an insert and checks their values. A column that is not in p.columns gets its default. A column
// of p.columns that a row leaves out gets null, or its default if defaults is true (Prefer: missing=default).
func (p *payload) fill(t *Table, now time.Time, defaults bool) error {
	for i, r := range p.rows {
		for _, c := range t.Columns {
			if err := r.complete(t, c, now, defaults || !slices.Contains(p.columns, c)); err != nil {
				return err
			}
		}
		if c := t.OrderKey; c != nil && r[c] == "" {
			created, id := r[t.byName["created_at"]].(time.Time), r[t.Key].(string)
			if r[c] = orderKeyOf(created, id); t.NewLast {
				r[c] = lastOrderKeyOf(created.UnixMicro()+int64(i), id) // rows of one request keep their order
			}
		}
	}
	return nil
}

// complete sets a column that the body left out or that the server decides, and checks the resulting value.
func (r row) complete(t *Table, c *Column, now time.Time, defaults bool) error {
	if _, sent := r[c]; !sent {
		r[c] = nil
		if defaults && c.Default != nil {
			r[c] = c.Default(now)
		}
	}
	if _, ok := r[c].(serverTime); ok {
		r[c] = storedTime(now)
	}
	if c.Forced != nil {
		r[c] = c.Forced
	}
	if c.Stamp {
		r[c] = storedTime(now)
	}
	if c.TrueFrom != nil {
		at, isSet := r[c.TrueFrom].(time.Time)
		r[c] = !isSet && c.OrNull || isSet && !at.After(now)
	}
	return checkValue(t, c, r[c])
}

// change returns the values that an update sets. It completes and checks only the payload's columns, the column with the time of
// the last write if there is anything to set, and the columns that depend on a time that the payload sets.
func (p *payload) change(t *Table, now time.Time, defaults bool) (row, error) {
	if len(p.rows) != 1 {
		return nil, errBody("All object keys must match", "an update takes one object")
	}
	r := p.rows[0]
	for _, c := range t.Columns {
		if c.TrueFrom != nil && !slices.Contains(p.columns, c.TrueFrom) {
			delete(r, c) // it changes only with the time
			continue
		}
		stamped := c.Stamp && len(p.columns) > 0 // nothing to set changes no row
		if !stamped && c.TrueFrom == nil && !slices.Contains(p.columns, c) {
			continue
		}
		if err := r.complete(t, c, now, defaults); err != nil {
			return nil, err
		}
	}
	return r, nil
}
