package db

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// listenCheck is how often a silent connection must prove that it is alive.
const listenCheck = 15 * time.Second

// Listen holds one connection of its own that hears PostgreSQL's NOTIFY on a channel. It calls heard once when it has
// begun to listen, for what was said before, and then after each notification. It returns when ctx ends or with the error
// that lost the connection; the caller begins anew. SQLite has no notifications: errors.ErrUnsupported.
func (d *DB) Listen(ctx context.Context, channel string, heard func()) error {
	pg, ok := d.driver.(*postgresDriver)
	if !ok {
		return errors.ErrUnsupported
	}
	conn, err := pgx.ConnectConfig(ctx, pg.pool.Config().ConnConfig.Copy())
	if err != nil {
		return inOneLine(err)
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(end) // the server drops what does not say goodbye
	}()
	if _, err := conn.Exec(ctx, "listen "+pgx.Identifier{channel}.Sanitize()); err != nil {
		return err
	}
	heard()
	for {
		wait, cancel := context.WithTimeout(ctx, listenCheck)
		_, err := conn.WaitForNotification(wait)
		quiet := wait.Err() != nil
		cancel()
		switch {
		case err == nil:
			heard()
		case ctx.Err() != nil:
			return ctx.Err()
		case !quiet:
			return err
		default:
			ping, cancel := context.WithTimeout(ctx, listenCheck)
			err := conn.Ping(ping)
			cancel()
			if err != nil {
				return err
			}
		}
	}
}
