package realtime

import (
	"context"
	"encoding/json"
	"time"

	"atelie/internal/db"
)

// This file has the queries on realtime_presence. A row (called a presence) stands for a client that has announced itself on a channel. The
// client can be connected to any node (server of the site).

// insertPresence adds the presence of a client. node is the id of the node to which the client is connected.
func insertPresence(ctx context.Context, tx *db.Tx, p presenceRow, node string, now time.Time) error {
	return db.Exec(ctx, tx, "insert into realtime_presence (ref, node, topic, private, key, meta, seen_at) values ($1, $2, $3, $4, $5, $6, $7)",
		p.ref, node, p.topic.name, p.topic.private, p.key, string(p.meta), now)
}

// presenceColumns are the columns of realtime_presence that scanPresence reads.
const presenceColumns = "ref, key, topic, private, meta"

// deletePresence deletes the presence with the given ref and returns it. The list is empty if ref is "" or there is no such presence.
func deletePresence(ctx context.Context, tx *db.Tx, ref string) ([]presenceRow, error) {
	if ref == "" {
		return nil, nil
	}
	return db.Collect(ctx, tx, scanPresence, "delete from realtime_presence where ref = $1 returning "+presenceColumns, ref)
}

// deleteExpiredPresences deletes and returns the presences whose most recent renewal was before oldest or after latest. A renewal after
// latest was written by a node with a wrong clock.
func deleteExpiredPresences(ctx context.Context, tx *db.Tx, oldest, latest time.Time) ([]presenceRow, error) {
	return db.Collect(ctx, tx, scanPresence, "delete from realtime_presence where seen_at < $1 or seen_at > $2 returning "+presenceColumns, oldest, latest)
}

// listPresences returns the presences of the clients of all nodes on a channel.
func listPresences(ctx context.Context, d *db.DB, t topic) ([]presenceRow, error) {
	return db.Collect(ctx, d, scanPresence, "select "+presenceColumns+" from realtime_presence where topic = $1 and private = $2 order by key, ref", t.name, t.private)
}

func scanPresence(row db.Row) (p presenceRow, err error) {
	var meta string
	err = row.Scan(&p.ref, &p.key, &p.topic.name, &p.topic.private, &meta)
	p.meta = json.RawMessage(meta)
	return p, err
}

// renewPresences renews the presences with the given refs, in one statement.
func renewPresences(ctx context.Context, d *db.DB, refs []string, now time.Time) error {
	if len(refs) == 0 {
		return nil
	}
	among := "in (select value from json_each($1))" // $1 is a JSON array
	if d.Dialect == db.Postgres {
		among = "= any(array(select jsonb_array_elements_text($1::text::jsonb))::uuid[])"
	}
	return db.Exec(ctx, d, "update realtime_presence set seen_at = $2 where ref "+among, string(toJSON(refs)), now)
}

// deletePresencesOfOtherNodes deletes all presences except those of the clients of node.
func deletePresencesOfOtherNodes(ctx context.Context, d *db.DB, node string) error {
	return db.Exec(ctx, d, "delete from realtime_presence where node <> $1", node)
}
