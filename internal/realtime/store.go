package realtime

import (
	"context"
	"encoding/json"
	"time"

	"atelie/internal/db"
)

func insertPresence(ctx context.Context, tx *db.Tx, p present, node string, now time.Time) error {
	_, err := tx.Exec(ctx, "insert into realtime_presence (ref, node, topic, private, key, meta, seen_at) values ($1, $2, $3, $4, $5, $6, $7)",
		p.ref, node, p.topic.name, p.topic.private, p.key, string(p.meta), now)
	return err
}

const presenceColumns = "ref, key, topic, private, meta"

// deletePresence gives the presence that was there; none when ref is "" or another node has ended it.
func deletePresence(ctx context.Context, tx *db.Tx, ref string) ([]present, error) {
	if ref == "" {
		return nil, nil
	}
	return scanPresences(tx.Query(ctx, "delete from realtime_presence where ref = $1 returning "+presenceColumns, ref))
}

func deleteSilent(ctx context.Context, tx *db.Tx, before time.Time) ([]present, error) {
	return scanPresences(tx.Query(ctx, "delete from realtime_presence where seen_at < $1 returning "+presenceColumns, before))
}

func presences(ctx context.Context, d *db.DB, t topic) ([]present, error) {
	return scanPresences(d.Query(ctx, "select "+presenceColumns+" from realtime_presence where topic = $1 and private = $2 order by key, ref", t.name, t.private))
}

func scanPresences(rows db.Rows, err error) (list []present, _ error) {
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // what matters of it is in Err
	for rows.Next() {
		var (
			p    present
			meta string
		)
		if err := rows.Scan(&p.ref, &p.key, &p.topic.name, &p.topic.private, &meta); err != nil {
			return nil, err
		}
		p.meta = json.RawMessage(meta)
		list = append(list, p)
	}
	return list, rows.Err()
}

// touchPresences renews presences of this node, one statement for all.
func touchPresences(ctx context.Context, d *db.DB, refs []string, now time.Time) error {
	if len(refs) == 0 {
		return nil
	}
	among := "in (select value from json_each($1))"
	if d.Dialect == db.Postgres {
		among = "= any(array(select jsonb_array_elements_text($1::text::jsonb))::uuid[])"
	}
	_, err := d.Exec(ctx, "update realtime_presence set seen_at = $2 where ref "+among, string(toJSON(refs)), now)
	return err
}

func deleteForeignPresences(ctx context.Context, d *db.DB, node string) error {
	_, err := d.Exec(ctx, "delete from realtime_presence where node <> $1", node)
	return err
}
