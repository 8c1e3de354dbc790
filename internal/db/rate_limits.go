package db

import (
	"context"
	"time"
)

// This file counts attempts for rate limits, in the table rate_limits. Attempts are counted in windows of a fixed length, such as an hour.
// The column bucket_start is the time at which the window of a counter begins, in Unix seconds.

// Hit counts one attempt against the rate limit with the given name and returns the number of attempts in the current window.
// subject is who makes the attempt, for example an IP address or an account. The counters are in the database, so that they
// survive restarts and all nodes share them.
func (d *DB) Hit(ctx context.Context, name, subject string, window time.Duration, now time.Time) (hits int, err error) {
	query, args, _ := hit(name, subject, window, now)
	err = d.WithShortTx(ctx, func(tx *Tx) error {
		return tx.QueueRows(ctx, func(row Row) error { return row.Scan(&hits) }, query, args...)
	})
	return hits, err
}

// Hit is DB.Hit within a transaction: the attempt is counted only if the transaction commits.
func (t *Tx) Hit(ctx context.Context, name, subject string, window time.Duration, now time.Time) (hits int, err error) {
	query, args, _ := hit(name, subject, window, now)
	return One[int](ctx, t, query, args...)
}

// QueueHit counts an attempt as Hit does, but does not return the number of attempts. Later statements of the transaction can read the
// number in the table rate_limits, in the row with the returned bucketStart.
func (t *Tx) QueueHit(ctx context.Context, name, subject string, window time.Duration, now time.Time) (bucketStart int64, err error) {
	query, args, bucketStart := hit(name, subject, window, now)
	return bucketStart, t.QueueRows(ctx, func(Row) error { return nil }, query, args...)
}

// hit returns the statement that counts an attempt and returns the number of attempts, and the time at which the current window has begun,
// in Unix seconds.
func hit(name, subject string, window time.Duration, now time.Time) (query string, args []any, bucketStart int64) {
	bucketStart = now.Unix() - now.Unix()%int64(window.Seconds())
	return `insert into rate_limits (name, subject, bucket_start, hits) values ($1, $2, $3, 1)
		on conflict (name, subject, bucket_start) do update set hits = rate_limits.hits + 1 returning hits`, []any{name, subject, bucketStart}, bucketStart
}

// PurgeHits deletes the counters of windows that began before the given time, and of windows so far in the future that a
// node's clock must have been ahead.
func (d *DB) PurgeHits(ctx context.Context, before, now time.Time) error {
	return Exec(ctx, d, "delete from rate_limits where bucket_start < $1 or bucket_start > $2", before.Unix(), LatestPlausible(now, 0).Unix())
}
