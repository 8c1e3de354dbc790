package tables

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"atelie/internal/db"
)

// This file records changes that triggers of the database make. In the tables series and series_works, triggers compute the derived columns
// (Column.Derived) from other rows, for example whether visitors see a work in a series. The changes are recorded for live clients as
// updates.

// derivedSources lists, by table, the columns from which triggers compute derived columns of other rows. If a new trigger reads another
// column, the column needs an entry in this map. If the trigger reads another table, the table also needs a case in findDerived.
var derivedSources = map[string][]string{
	"products":     {"artwork_type", "image_url", "published_at"},
	"series":       {"is_published"},
	"series_works": {"series_id", "product_id", "position"},
}

// feedsDerived reports whether derived columns of other rows depend on at least one of the given columns of t.
func (t *Table) feedsDerived(columns []*Column) bool {
	return slices.ContainsFunc(columns, func(c *Column) bool { return slices.Contains(derivedSources[t.Name], c.Name) })
}

// derivedKeys are the primary keys of the rows whose derived columns may change.
type derivedKeys struct {
	pairs  []string // of rows of series_works; each is a pair of one work and one series
	series []string // of rows of series
}

// findDerived returns the keys of the rows whose derived columns depend on the rows of t with the given keys.
func findDerived(ctx context.Context, tx *db.Tx, t *Table, keys []string) (found derivedKeys, err error) {
	if len(keys) == 0 || derivedSources[t.Name] == nil {
		return found, nil
	}
	pairs, series := schema["series_works"], schema["series"]
	seriesOf := pairs.byName["series_id"]
	values := asValues(keys)
	switch t.Name {
	case "products": // the table of works
		ofWork := In{pairs.byName["product_id"], values}
		if found.pairs, err = queryTexts(ctx, tx, renderValue(tx.Dialect, pairs, pairs.Key, ofWork)); err != nil {
			return found, err
		}
		if len(found.pairs) > 0 {
			if found.series, err = queryTexts(ctx, tx, renderValue(tx.Dialect, pairs, seriesOf, ofWork)); err != nil {
				return found, err
			}
		}
		coveredByWork := In{series.byName["cover_id"], values} // cover_id is the work whose picture stands for the series
		covered, err := queryTexts(ctx, tx, renderValue(tx.Dialect, series, series.Key, coveredByWork))
		if err != nil {
			return found, err
		}
		found.series = append(found.series, covered...)
	case "series":
		found.pairs, err = queryTexts(ctx, tx, renderValue(tx.Dialect, pairs, pairs.Key, In{seriesOf, values}))
	case "series_works":
		found.series, err = queryTexts(ctx, tx, renderValue(tx.Dialect, pairs, seriesOf, hasKey(pairs, keys)))
	}
	return found, err
}

// watchDerived calls watchRows for the rows whose derived columns a write may change. The write changes the rows of t with the given keys.
func (s *Service) watchDerived(ctx context.Context, tx *db.Tx, t *Table, keys []string) (record func() error, err error) {
	watched, err := findDerived(ctx, tx, t, keys)
	if err != nil {
		return nil, err
	}
	return s.watchRows(ctx, tx, watched)
}

// watchRows reads rows with derived columns before a write. The returned function records those that the write has changed.
func (s *Service) watchRows(ctx context.Context, tx *db.Tx, watched derivedKeys) (record func() error, err error) {
	tables, keys := []*Table{schema["series_works"], schema["series"]}, [][]string{watched.pairs, watched.series}
	before := map[string]bool{} // the rows as readRecords returns them; rows of two tables always differ
	for i, t := range tables {
		slices.Sort(keys[i]) // two nodes read and record the same rows in the same order
		keys[i] = slices.Compact(keys[i])
		rows, err := readRecords(ctx, tx, t, keys[i])
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			before[row] = true
		}
	}
	return func() error {
		for i, t := range tables {
			current, err := readRecords(ctx, tx, t, keys[i])
			if err != nil {
				return err
			}
			var changes []db.RowChange
			for _, record := range current {
				if before[record] {
					continue
				}
				var row struct{ ID string }
				if err := json.Unmarshal([]byte(record), &row); err != nil {
					return err
				}
				changes = append(changes, db.RowChange{Table: t.Name, Type: db.Updated, Record: json.RawMessage(record), Old: json.RawMessage(`{"id":` + jsonText(row.ID) + "}")})
			}
			if len(changes) == 0 {
				continue
			}
			if err := s.record(ctx, tx, changes); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// watchUpdate is watchRows for an update that sets the columns of change in the rows of q.
func (s *Service) watchUpdate(ctx context.Context, tx *db.Tx, q *Query, change row) (record func() error, err error) {
	var watched derivedKeys
	if q.Table.feedsDerived(slices.Collect(maps.Keys(change))) {
		keys, err := queryTexts(ctx, tx, renderKeys(tx.Dialect, q))
		if err != nil {
			return nil, err
		}
		if watched, err = findDerived(ctx, tx, q.Table, keys); err != nil {
			return nil, err
		}
		if c := q.Table.byName["series_id"]; c != nil {
			watched.series = append(watched.series, textsOf([]row{change}, c)...)
		}
	}
	return s.watchRows(ctx, tx, watched)
}

// watchInserted is watchRows for an insert into t of rows with the given keys, or an upsert.
func (s *Service) watchInserted(ctx context.Context, tx *db.Tx, t *Table, keys []string, rows []row, u *upsert) (record func() error, err error) {
	var watched derivedKeys
	if u != nil && t.feedsDerived(u.merge) {
		if watched, err = findDerived(ctx, tx, t, keys); err != nil {
			return nil, err
		}
	}
	if c := t.byName["series_id"]; c != nil {
		watched.series = append(watched.series, textsOf(rows, c)...)
	}
	return s.watchRows(ctx, tx, watched)
}

// textsOf returns the texts that rows have in a column.
func textsOf(rows []row, c *Column) (texts []string) {
	for _, r := range rows {
		if text, ok := r[c].(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// readRecords returns the rows with the given keys that exist, in the order of keys, as live clients get them.
func readRecords(ctx context.Context, tx *db.Tx, t *Table, keys []string) ([]string, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	return queryTexts(ctx, tx, renderKeyed(tx.Dialect, t, changeFields(t), keys, nil, always))
}
