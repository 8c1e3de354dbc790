package tables

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"atelie/internal/db"
)

// This file sets scheduled flags, which show or hide rows at a given time.

// scheduledFlag is a bool column that becomes true when the time in another column (Column.TrueFrom) has come. Some flags show the row: a
// work is shown when is_published becomes true at the time in published_at. Others hide the row, such as has_ended of a cover.
type scheduledFlag struct {
	table  *Table
	column *Column // the bool column
}

// scheduledFlags lists the scheduled flags of all tables. Their order is fixed, so that all nodes lock rows in the same order.
var scheduledFlags = func() (all []scheduledFlag) {
	for _, name := range slices.Sorted(maps.Keys(schema)) {
		for _, c := range schema[name].Columns {
			if c.TrueFrom != nil {
				all = append(all, scheduledFlag{schema[name], c})
			}
		}
	}
	return all
}()

// nextDueSQL is the query for the earliest time at which a flag that is still false must become true.
var nextDueSQL = func() string {
	parts := make([]string, len(scheduledFlags))
	for i, flag := range scheduledFlags {
		parts[i] = "select min(" + flag.column.TrueFrom.Name + ") as due from " + flag.table.Name + " where not " + flag.column.Name
	}
	return "select min(due) from (" + strings.Join(parts, " union all ") + ") as times"
}()

// ApplyScheduled shows and hides the works and covers whose scheduled time has come, and records them for live clients. To show or hide a
// row, it sets one of the row's scheduled flags, such as is_published. It returns the time of the next change, or
// the zero time if none is scheduled. Every node may call it, and each change is made only once.
func (s *Service) ApplyScheduled(ctx context.Context) (next time.Time, err error) {
	now := s.now()
	next, err = nextScheduled(ctx, s.db)
	if err != nil || next.IsZero() || next.After(now) {
		return next, err
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		changed := map[*Table][]string{}             // keys of the changed rows, by table
		var recordDerived []func() error             // functions that record the rows that triggers change (see derived.go)
		lock := tx.Dialect.Choose("", " for update") // on SQLite only one transaction at a time can write
		for _, flag := range scheduledFlags {
			due := " where not " + flag.column.Name + " and " + flag.column.TrueFrom.Name + " <= $1"
			dueKeys, err := db.Collect(ctx, tx, db.ScanOne[string], "select cast(id as text) from "+flag.table.Name+due+" order by id"+lock, now)
			if err != nil {
				return err
			}
			record, err := s.watchDerived(ctx, tx, flag.table, dueKeys)
			if err != nil {
				return err
			}
			recordDerived = append(recordDerived, record)
			// updated_at does not change: the admin area saves a form only if the row's updated_at is unchanged, and a form with such a row
			// may be open.
			keys, err := db.Collect(ctx, tx, db.ScanOne[string], "update "+flag.table.Name+" set "+flag.column.Name+" = true"+due+" returning cast(id as text)", now)
			if err != nil {
				return err
			}
			for _, key := range keys { // a cover has two flags; if both were set, its key is already in the list
				if !slices.Contains(changed[flag.table], key) {
					changed[flag.table] = append(changed[flag.table], key)
				}
			}
		}
		for t, keys := range changed {
			if err := s.recordWritten(ctx, tx, t, keys, sameKeys(keys)); err != nil {
				return err
			}
		}
		for _, record := range recordDerived {
			if err := record(); err != nil {
				return err
			}
		}
		next, err = nextScheduled(ctx, tx)
		return err
	})
	return next, err
}

// nextScheduled returns the earliest time at which a row must be shown or hidden, or the zero time if there is none. The time
// can be in the past, if that row was not changed yet.
func nextScheduled(ctx context.Context, q db.Querier) (time.Time, error) {
	at, err := db.One[*time.Time](ctx, q, nextDueSQL)
	if err != nil || at == nil {
		return time.Time{}, err
	}
	return *at, nil
}
