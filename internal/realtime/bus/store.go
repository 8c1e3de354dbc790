package bus

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"atelie/internal/db"
)

// channel is what PostgreSQL's nodes notify each other on; a notification carries nothing.
const channel = "atelie_realtime"

// insertEvents writes events in one statement, in their order, and notifies once. The payloads travel as one JSON list.
func insertEvents(ctx context.Context, tx *db.Tx, kind string, payloads []string, now time.Time) error {
	list, err := json.Marshal(payloads)
	if err != nil {
		return err
	}
	from := "json_each($2) order by key"
	if tx.Dialect == db.Postgres {
		from = "json_array_elements_text($2::text::json) with ordinality as given(value, position) order by position"
	}
	if _, err := tx.Exec(ctx, "insert into realtime_outbox (kind, payload, created_at) select $1, value, $3 from "+from, kind, string(list), now); err != nil {
		return err
	}
	if tx.Dialect != db.Postgres {
		return nil
	}
	_, err = tx.Exec(ctx, "select pg_notify($1, '')", channel)
	return err
}

// position gives the cursor behind which all is known: on SQLite the last id, for its one writer commits in that order;
// on PostgreSQL the snapshot, which says exactly which transactions were seen.
func position(ctx context.Context, d *db.DB) (cursor string, err error) {
	query := "select cast(coalesce(max(id), 0) as text) from realtime_outbox"
	if d.Dialect == db.Postgres {
		query = "select pg_current_snapshot()::text"
	}
	err = d.QueryRow(ctx, query).Scan(&cursor)
	return cursor, err
}

// after reads what was committed since cursor, in the order of ids, and gives the next cursor. A row's transaction is
// either seen in the old snapshot or in the new one: none is read twice, none is lost however late it commits.
func after(ctx context.Context, d *db.DB, cursor string) (events []Event, next string, err error) {
	if d.Dialect == db.SQLite {
		return afterID(ctx, d, cursor)
	}
	rows, err := d.Query(ctx, `select pg_current_snapshot()::text, coalesce(o.id, 0), coalesce(o.kind, ''), coalesce(o.payload, '')
		from (select 1) as one left join realtime_outbox o
		on o.xact >= pg_snapshot_xmin($1::text::pg_snapshot) and not pg_visible_in_snapshot(o.xact, $1::text::pg_snapshot)
		order by o.id`, cursor)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = rows.Close() }() // what matters of it is in Err
	for rows.Next() {
		var (
			id            int64
			kind, payload string
		)
		if err := rows.Scan(&next, &id, &kind, &payload); err != nil {
			return nil, "", err
		}
		if id != 0 {
			events = append(events, Event{Kind: kind, Payload: []byte(payload)})
		}
	}
	return events, next, rows.Err()
}

func afterID(ctx context.Context, d *db.DB, cursor string) (events []Event, next string, err error) {
	last, err := strconv.ParseInt(cursor, 10, 64)
	if err != nil {
		return nil, "", err
	}
	rows, err := d.Query(ctx, "select id, kind, payload from realtime_outbox where id > $1 order by id", last)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = rows.Close() }() // what matters of it is in Err
	for rows.Next() {
		var kind, payload string
		if err := rows.Scan(&last, &kind, &payload); err != nil {
			return nil, "", err
		}
		events = append(events, Event{Kind: kind, Payload: []byte(payload)})
	}
	return events, strconv.FormatInt(last, 10), rows.Err()
}

func deleteBefore(ctx context.Context, d *db.DB, before time.Time) error {
	_, err := d.Exec(ctx, "delete from realtime_outbox where created_at < $1", before)
	return err
}
