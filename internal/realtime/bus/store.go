package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelie/internal/db"
)

// This file contains the queries on the outbox (the table realtime_outbox), which has the events that every node reads.

// notifyChannel is the PostgreSQL channel on which nodes send each other wake-ups. The notifications have no payload.
const notifyChannel = "atelie_realtime"

// insertEvents writes an event for each payload to the outbox, in the order of the payloads, and sends one notification. It passes the
// payloads as one JSON array, so that the SQL is the same for any number of events.
func insertEvents(ctx context.Context, tx *db.Tx, kind string, payloads []string, now time.Time) error {
	list, err := json.Marshal(payloads)
	if err != nil {
		return err
	}
	from := "json_each($2) order by key" // one row for each element of the array
	if tx.Dialect == db.Postgres {
		from = "json_array_elements_text($2::text::json) with ordinality as given(value, position) order by position"
	}
	return errors.Join(
		db.Queue(ctx, tx, "insert into realtime_outbox (kind, payload, created_at) select $1, value, $3 from "+from, kind, string(list), now),
		notify(ctx, tx),
	)
}

// insertRowEvents writes an event for each row of a query and sends one notification. The payload of an event is prefix + the text of the
// row + suffix.
func insertRowEvents(ctx context.Context, tx *db.Tx, kind, prefix, suffix string, now time.Time, query string, args []any) error {
	n := len(args) // the query's own arguments are $1 to $n
	statement := fmt.Sprintf("with given(payload) as (%s) insert into realtime_outbox (kind, payload, created_at) select $%d, $%d || payload || $%d, $%d from given",
		query, n+1, n+2, n+3, n+4)
	return errors.Join(db.Queue(ctx, tx, statement, append(slices.Clone(args), kind, prefix, suffix, now)...), notify(ctx, tx))
}

// notify wakes the readers on all nodes after the commit.
func notify(ctx context.Context, tx *db.Tx) error {
	if tx.Dialect != db.Postgres {
		return nil
	}
	return db.Queue(ctx, tx, "select pg_notify($1, '')", notifyChannel)
}

// currentCursor returns the position in the outbox that follows all events that are committed now. On SQLite this is the highest id,
// because transactions that write run one after the other, so ids are committed in their order. On PostgreSQL ids can be committed in
// another order, so the position is a snapshot (pg_snapshot). A snapshot says exactly which transactions are visible.
func currentCursor(ctx context.Context, d *db.DB) (string, error) {
	query := "select cast(coalesce(max(id), 0) as text) from realtime_outbox"
	if d.Dialect == db.Postgres {
		query = "select pg_current_snapshot()::text"
	}
	return db.One[string](ctx, d, query)
}

// eventsAfter returns the events committed since cursor, in the order of their ids, and the next cursor. Each event is read exactly once,
// even if it is committed after events with higher ids, because it becomes visible between two successive snapshots.
func eventsAfter(ctx context.Context, d *db.DB, cursor string) (events []Event, next string, err error) {
	if d.Dialect == db.SQLite {
		return eventsAfterID(ctx, d, cursor)
	}
	events, err = db.Collect(ctx, d, func(row db.Row) (e Event, err error) {
		err = row.Scan(&next, &e.Kind, &e.Payload)
		return e, err
	}, `select pg_current_snapshot()::text, coalesce(o.kind, ''), coalesce(o.payload, '')
		from (select 1) as one left join realtime_outbox o
		on o.xact >= pg_snapshot_xmin($1::text::pg_snapshot) and not pg_visible_in_snapshot(o.xact, $1::text::pg_snapshot)
		order by o.id`, cursor)
	if len(events) == 1 && events[0].Kind == "" { // no events: the only row has just the snapshot
		events = nil
	}
	return events, next, err
}

// eventsAfterID is eventsAfter on SQLite, where the cursor is an id.
func eventsAfterID(ctx context.Context, d *db.DB, cursor string) (events []Event, next string, err error) {
	last, err := strconv.ParseInt(cursor, 10, 64)
	if err != nil {
		return nil, "", err
	}
	events, err = db.Collect(ctx, d, func(row db.Row) (e Event, err error) {
		err = row.Scan(&last, &e.Kind, &e.Payload)
		return e, err
	}, "select id, kind, payload from realtime_outbox where id > $1 order by id", last)
	return events, strconv.FormatInt(last, 10), err
}

// deleteBatch is the number of events that DeleteContaining reads at once.
const deleteBatch = 500

// DeleteContaining deletes the events whose payload contains one of these ids as a JSON string, even events that nodes have not read yet.
// It makes one pass over the events: a pass for each id would take quadratic time if many rows are deleted shortly after they were written.
func (b *Bus) DeleteContaining(ctx context.Context, tx *db.Tx, ids ...string) error {
	wanted := make(map[string]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	for last, read := int64(0), deleteBatch; read == deleteBatch; {
		var found []string // ids of events
		read = 0
		if _, err := db.Collect(ctx, tx, func(row db.Row) (none struct{}, err error) {
			var payload string
			err = row.Scan(&last, &payload)
			read++
			if slices.ContainsFunc(strings.Split(payload, `"`), func(part string) bool { return wanted[part] }) {
				found = append(found, strconv.FormatInt(last, 10))
			}
			return none, err
		}, "select id, payload from realtime_outbox where id > $1 order by id limit $2", last, deleteBatch); err != nil {
			return err
		}
		if len(found) == 0 {
			continue
		}
		if err := db.Exec(ctx, tx, "delete from realtime_outbox where id in ("+strings.Join(found, ", ")+")"); err != nil {
			return err
		}
	}
	return nil
}

// Sweep deletes events older than retention.
func (b *Bus) Sweep(ctx context.Context) error {
	return db.Exec(ctx, b.db, "delete from realtime_outbox where created_at < $1", b.now().Add(-retention))
}
