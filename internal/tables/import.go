package tables

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/imported"
)

// This file inserts the rows of a Supabase project into the site's tables. Package supabase runs the import and calls ImportRows.

// errImportKey is the error for an imported row without a primary key.
var errImportKey = apperr.New(http.StatusBadRequest, db.NotNullViolation, "The row has no key")

// errImportDiffers is the error for an imported row if the site has a row with the same key and with other values in these columns.
func errImportDiffers(columns []string) *apperr.Error {
	return apperr.New(http.StatusConflict, db.UniqueViolation, "The site already has this row with other values ("+strings.Join(columns, ", ")+"): it stays unchanged")
}

// ImportRows inserts rows of another site, by the rules of an insert with the service key (the API key with full rights). It never changes
// an existing row. If the table has a row with the same primary key and different content, the result for the imported row is an error. The
// results are in the order of rows.
//
// rows has at most 1000 rows. Their values are JSON values, with numbers as json.Number, or strings in PostgreSQL's notation. Columns that
// the table does not have are left out. newURLOf returns the URL on this site for the old URL of a file. If write is false, ImportRows only
// checks the rows, without their references to other tables.
func (s *Service) ImportRows(ctx context.Context, table string, rows []map[string]any, newURLOf func(oldURL string) string, write bool) ([]imported.RowResult, error) {
	t := schema[table]
	if t == nil {
		return nil, errUnknownTable(table)
	}
	results := make([]imported.RowResult, len(rows))
	parsed := make([]row, len(rows)) // nil for a row with an error
	var keys []string
	for i, r := range rows {
		values, leftOut, err := importedValues(t, r, newURLOf)
		results[i].LeftOut = leftOut
		if key, ok := values[t.Key].(string); ok {
			results[i].Key = key
		} else if err == nil {
			err = errImportKey
		}
		if err == nil {
			const withDefaults = true
			checked := payload{rows: []row{maps.Clone(values)}} // a clone, because fill also adds defaults
			err = checked.fill(t, s.now(), withDefaults)
		}
		results[i].Err = refusalOf(err)
		if err != nil && results[i].Err == nil { // the cause is not the row, but for example the database
			return nil, err
		}
		if err != nil {
			continue
		}
		if !slices.Contains(keys, results[i].Key) {
			keys = append(keys, results[i].Key)
		}
		parsed[i] = values
	}
	if len(keys) == 0 {
		return results, nil
	}
	existing, err := s.rowsByKey(ctx, t, keys)
	if err != nil {
		return nil, err
	}
	var missing []int
	for i, values := range parsed {
		if values == nil {
			continue
		}
		if known, ok := existing[results[i].Key]; ok {
			if differing := differences(t, known, values); len(differing) > 0 {
				results[i].Err = errImportDiffers(differing)
			}
			continue
		}
		existing[results[i].Key] = values // a second row with this key is compared with the first
		missing = append(missing, i)
	}
	if write && len(missing) > 0 {
		if err := s.insertImported(ctx, t, parsed, missing, results); err != nil {
			return nil, err
		}
	}
	for _, i := range missing {
		results[i].Added = results[i].Err == nil
	}
	return results, nil
}

// insertImported inserts the rows with the given indexes in one transaction, or one by one if the database refuses one of them.
func (s *Service) insertImported(ctx context.Context, t *Table, parsed []row, missing []int, results []imported.RowResult) error {
	err := s.insertParsed(ctx, t, parsed, missing)
	if refusalOf(err) == nil {
		return err
	}
	for _, i := range missing {
		err := s.insertParsed(ctx, t, parsed, []int{i})
		if results[i].Err = refusalOf(err); err != nil && results[i].Err == nil {
			return err
		}
	}
	return nil
}

func (s *Service) insertParsed(ctx context.Context, t *Table, parsed []row, indexes []int) error {
	p := &payload{rows: make([]row, len(indexes))}
	p.columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c *Column) bool { return c.Derived })
	for n, i := range indexes {
		p.rows[n] = withPublication(t, parsed[i], s.now())
		maps.DeleteFunc(p.rows[n], func(c *Column, _ any) bool { return c.Derived })
	}
	return s.insertForServer(ctx, identity.Caller{Role: identity.Service}, t, p)
}

// withPublication returns a copy of the values of a new row with published_at, if the table has this column and the source does not: the
// time at which the row was created, or now if that is in the future. The default would be the time of the import, and make all works
// equally new.
func withPublication(t *Table, values row, now time.Time) row {
	values = maps.Clone(values)
	created, ok := values[t.byName["created_at"]].(time.Time)
	if _, known := values[publishedAt]; known || !ok || !slices.Contains(t.Columns, publishedAt) {
		return values
	}
	if created.After(now) {
		created = now.Truncate(time.Microsecond) // the precision of stored times
	}
	values[publishedAt] = created
	return values
}

// importedValues converts the values of a row, and returns the names of the columns that are left out.
func importedValues(t *Table, r map[string]any, newURLOf func(oldURL string) string) (values row, leftOut []string, err error) {
	values = row{}
	for name, v := range r {
		c := t.byName[name]
		if v == nil {
			if c != nil && (!c.NotNull || c.Default == nil) {
				values[c] = nil
			}
			continue
		}
		if c == nil {
			if !slices.Contains(unimported[t.Name], name) {
				leftOut = append(leftOut, name)
			}
			continue
		}
		if c.isWrittenByServer() {
			continue
		}
		if c.Forced != nil {
			if n, err := strconv.ParseFloat(fmt.Sprint(v), 64); err != nil || any(int64(n)) != c.Forced || n != math.Trunc(n) {
				leftOut = append(leftOut, name)
			}
			continue
		}
		value, convertErr := importedValue(c, v)
		if convertErr != nil {
			err = errors.Join(err, convertErr)
			continue
		}
		if slices.Contains(mediaColumns[t.Name], name) {
			switch v := value.(type) {
			case string:
				value = newURLOf(v)
			case []string:
				for i, u := range v {
					v[i] = newURLOf(u)
				}
			}
		}
		values[c] = value
	}
	slices.Sort(leftOut)
	return values, leftOut, err
}

// unimported lists, by table, columns of other sites that mean nothing here.
var unimported = map[string][]string{
	"user_roles": {"id", "created_at"}, // the account is the key of a role
}

// importedValue converts one value. A list may also be a JSON array in a text, as a dump has it of a jsonb column.
func importedValue(c *Column, v any) (any, error) {
	if text, ok := v.(string); ok && c.Kind == List && strings.HasPrefix(strings.TrimSpace(text), "[") {
		var list []any
		d := json.NewDecoder(bytes.NewReader([]byte(text)))
		d.UseNumber()
		if err := d.Decode(&list); err != nil {
			return nil, errBadList(text).Because(err)
		}
		v = list
	}
	return fromJSON(c.Kind, v)
}

// rowsByKey returns the rows with the given keys.
func (s *Service) rowsByKey(ctx context.Context, t *Table, keys []string) (map[string]row, error) {
	q := &Query{Table: t, Where: hasKey(t, keys), Select: fieldsOf(t.Columns)}
	page, err := s.readPage(ctx, readSlot{querier: s.db, maxBytes: ownerBytes}, q, int64(len(keys)), 0, withoutTotal)
	if err != nil {
		return nil, err
	}
	found := make(map[string]row, len(page.rows))
	for _, text := range page.rows {
		object, err := decodeJSON([]byte(text))
		if err != nil {
			return nil, err
		}
		values := row{}
		for name, v := range object.(map[string]any) {
			c := t.byName[name]
			if v == nil {
				values[c] = nil
			} else if values[c], err = fromJSON(c.Kind, v); err != nil {
				return nil, err
			}
		}
		found[values[t.Key].(string)] = values
	}
	return found, nil
}

// differences returns the names of the columns of an imported row whose value is another one here. A row without a value for the
// table's counter has got one here.
func differences(t *Table, known, imported row) (columns []string) {
	for _, c := range t.Columns {
		value, present := imported[c]
		if !present || (c == t.Counter && value == nil) {
			continue
		}
		if !sameValue(known[c], value) {
			columns = append(columns, c.Name)
		}
	}
	return columns
}

func sameValue(a, b any) bool {
	at, isTime := a.(time.Time)
	other, areTimes := b.(time.Time)
	return isTime && areTimes && at.Equal(other) || reflect.DeepEqual(a, b)
}

// refusalOf returns err if the row itself cannot be imported, or nil if err has another cause than the row.
func refusalOf(err error) *apperr.Error {
	if known, ok := errors.AsType[*apperr.Error](err); ok && known.Status < http.StatusInternalServerError {
		return known
	}
	return nil
}
