package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"atelie/internal/interval"
)

// This file receives the notifications of PostgreSQL (NOTIFY) by which nodes wake each other.

// While no notification comes, the connection is pinged every pingInterval. A ping without a response within pingTimeout means that
// the connection is lost.
const (
	pingInterval = 15 * time.Second
	pingTimeout  = 15 * time.Second
)

// Listen waits before it opens a lost connection again: first for shortestListenWait, then each time twice as long, up to
// longestListenWait.
const (
	shortestListenWait = 50 * time.Millisecond
	longestListenWait  = 5 * time.Second
)

// Listen listens on a channel of PostgreSQL's NOTIFY until ctx ends. It calls notified for each notification. It also calls notified each
// time it has opened a connection, because notifications can have been missed before. When the connection is lost, Listen calls lost with
// the cause and the wait before the next connection. It must not be called on SQLite, because SQLite has no notifications.
func (d *DB) Listen(ctx context.Context, channel string, notified func(), lost func(wait time.Duration, cause error)) {
	pg := d.driver.(*postgresDriver)
	wait := shortestListenWait
	for ctx.Err() == nil {
		err := d.listenOnce(ctx, pg, channel, func() {
			wait = shortestListenWait
			notified()
		})
		if ctx.Err() != nil {
			return
		}
		lost(wait, err)
		_ = interval.Sleep(ctx, wait) // an error means that ctx has ended
		wait = min(2*wait, longestListenWait)
	}
}

// listenOnce is Listen with one connection. It returns an error when the connection is lost or ctx ends.
func (d *DB) listenOnce(ctx context.Context, pg *postgresDriver, channel string, notified func()) error {
	config := pg.pool.Config().ConnConfig.Copy()
	config.RuntimeParams["application_name"] = "atelie listen" // shown in pg_stat_activity
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return d.classifyConnLoss(ctx, connectError(err))
	}
	defer closeConn(ctx, conn)
	if _, err := conn.Exec(ctx, "listen "+pgx.Identifier{channel}.Sanitize()); err != nil {
		return d.classifyConnLoss(ctx, err)
	}
	for {
		notified()
		if err := waitForNotification(ctx, conn); err != nil {
			return d.classifyConnLoss(ctx, err)
		}
	}
}

// waitForNotification returns nil after a notification, and an error when the connection is lost or ctx ends.
func waitForNotification(ctx context.Context, conn *pgx.Conn) error {
	for {
		waitCtx, cancel := context.WithTimeout(ctx, pingInterval)
		_, err := conn.WaitForNotification(waitCtx)
		timedOut := waitCtx.Err() != nil
		cancel()
		if err == nil || ctx.Err() != nil || !timedOut {
			return err
		}
		pingCtx, cancel := context.WithTimeout(ctx, pingTimeout)
		err = conn.Ping(pingCtx)
		cancel()
		if err != nil {
			return err
		}
	}
}

// classifyConnLoss checks for an outage (classify) after the loss of a connection that does not belong to a pool.
func (d *DB) classifyConnLoss(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return d.classify(ctx, fmt.Errorf("%w: %w", ErrUnavailable, err))
}
