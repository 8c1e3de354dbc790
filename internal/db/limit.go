package db

import (
	"context"
	"time"
)

// Hit counts one attempt of subject under a limit's name and returns how many fell into the current window of the given
// length. The counters live in the database, so that they hold over restarts and over several nodes.
func (d *DB) Hit(ctx context.Context, name, subject string, window time.Duration, now time.Time) (hits int, err error) {
	start := now.Unix() - now.Unix()%int64(window.Seconds())
	err = d.WithTx(ctx, func(tx *Tx) error {
		return tx.QueryRow(ctx, `insert into rate_limits (name, subject, bucket_start, hits) values ($1, $2, $3, 1)
			on conflict (name, subject, bucket_start) do update set hits = rate_limits.hits + 1 returning hits`, name, subject, start).Scan(&hits)
	})
	return hits, err
}

// ForgetHits drops counters whose window began before the given moment.
func (d *DB) ForgetHits(ctx context.Context, before time.Time) error {
	_, err := d.Exec(ctx, "delete from rate_limits where bucket_start < $1", before.Unix())
	return err
}
