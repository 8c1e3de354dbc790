package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// While no notification comes, the connection is pinged every pingInterval. A ping without an answer in pingTimeout means that
// the connection is lost.
const (
	pingInterval = 15 * time.Second
	pingTimeout  = 15 * time.Second
)

// Listen opens a connection and listens on a channel of PostgreSQL's NOTIFY. It calls notified once when it starts, because it can
// have missed earlier notifications, and then for each notification. It returns an error when ctx ends or the connection is lost;
// after a loss the caller must call Listen again. On SQLite, which has no notifications, it returns errors.ErrUnsupported.
func (d *DB) Listen(ctx context.Context, channel string, notified func()) error {
	pg, ok := d.driver.(*postgresDriver)
	if !ok {
		return errors.ErrUnsupported
	}
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
