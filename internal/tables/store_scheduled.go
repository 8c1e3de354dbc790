package tables

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"atelie/internal/db"
)

// This file contains the queries on scheduled flags, which show or hide rows at a given time.

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

// nextScheduled returns the earliest time at which a row must be shown or hidden, or the zero time if there is none. The time
// can be in the past, if that row was not changed yet.
func nextScheduled(ctx context.Context, q db.Querier) (time.Time, error) {
	var at *time.Time
	if err := q.QueryRow(ctx, nextDueSQL).Scan(&at); err != nil || at == nil {
		return time.Time{}, err
	}
	return *at, nil
}

// lockDue returns the keys of the rows that setDue will change: their time has come and their flag is still false. On PostgreSQL it locks
// these rows. On SQLite no lock is needed, because only one transaction at a time can write.
func lockDue(ctx context.Context, tx *db.Tx, flag scheduledFlag, now time.Time) ([]string, error) {
	lock := ""
	if tx.Dialect == db.Postgres {
		lock = " for update"
	}
	return db.Collect(ctx, tx, db.ScanOne[string], "select cast(id as text) from "+flag.table.Name+
		" where not "+flag.column.Name+" and "+flag.column.TrueFrom.Name+" <= $1 order by id"+lock, now)
}

// setDue sets a column to true in the rows whose time has come, and returns their keys. It does not change updated_at: the admin
// area saves a form only if the row's updated_at is unchanged, and a form with such a row may be open.
func setDue(ctx context.Context, tx *db.Tx, flag scheduledFlag, now time.Time) ([]string, error) {
	return db.Collect(ctx, tx, db.ScanOne[string], "update "+flag.table.Name+" set "+flag.column.Name+
		" = true where not "+flag.column.Name+" and "+flag.column.TrueFrom.Name+" <= $1 returning cast(id as text)", now)
}
