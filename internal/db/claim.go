package db

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrClaimed means that a running program holds another claim on the database.
var ErrClaimed = errors.New("another program serves this database with other settings")

// claimClass keeps our advisory locks apart from those of others in the database.
const claimClass = 0x61746c // "atl"

// claimCheck is how often a claim's silent connection must prove that it is alive, claimRetry how long a lost one waits
// between two tries to be made anew.
const (
	claimCheck = 15 * time.Second
	claimRetry = time.Second
)

// Claim says what all programs that serve this database at once must have in common, as a number; release takes it back,
// and so does the program's death. ErrClaimed when one of them says otherwise. A claim whose connection is lost is made
// anew until release; told hears the cause of the loss, then nil, or ErrClaimed when somebody came in between who says
// otherwise. On SQLite, which one program serves, Claim does nothing.
func (d *DB) Claim(ctx context.Context, common int32, told func(error)) (release func(), err error) {
	pg, ok := d.driver.(*postgresDriver)
	if !ok {
		return func() {}, nil
	}
	claim := func(ctx context.Context) (*pgx.Conn, error) {
		// A connection of its own: the lock lives as long as its session.
		conn, err := pgx.ConnectConfig(ctx, pg.pool.Config().ConnConfig.Copy())
		if err != nil {
			return nil, inOneLine(err)
		}
		return conn, takeClaim(ctx, conn, common)
	}
	conn, err := claim(ctx)
	if err != nil {
		letGo(ctx, conn)
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var keeping sync.WaitGroup
	keeping.Go(func() {
		defer func() { letGo(ctx, conn) }()
		for {
			err := watch(ctx, conn)
			if ctx.Err() != nil {
				return
			}
			told(inOneLine(err))
			for {
				letGo(ctx, conn)
				trying, stop := context.WithTimeout(ctx, claimCheck)
				conn, err = claim(trying)
				stop()
				if err == nil || errors.Is(err, ErrClaimed) { // it is ours too, and keeps further ones away
					told(err)
					break
				}
				select {
				case <-ctx.Done():
					return
				case <-time.After(claimRetry):
				}
			}
		}
	})
	return func() { cancel(); keeping.Wait() }, nil
}

// watch returns what has ended the connection, or ctx's end.
func watch(ctx context.Context, conn *pgx.Conn) error {
	for {
		wait, cancel := context.WithTimeout(ctx, claimCheck)
		_, err := conn.WaitForNotification(wait)
		quiet := wait.Err() != nil
		cancel()
		if ctx.Err() != nil || err != nil && !quiet {
			return err
		}
		ping, cancel := context.WithTimeout(ctx, claimCheck)
		err = conn.Ping(ping)
		cancel()
		if err != nil {
			return err
		}
	}
}

func letGo(ctx context.Context, conn *pgx.Conn) {
	if conn == nil {
		return
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = conn.Close(end) // the server drops what does not say goodbye
}

func takeClaim(ctx context.Context, conn *pgx.Conn, common int32) error {
	if _, err := conn.Exec(ctx, "select pg_advisory_lock_shared($1, $2)", int32(claimClass), common); err != nil {
		return translate(err)
	}
	var others bool
	// Locks are listed with unsigned numbers.
	err := conn.QueryRow(ctx, `select exists (select from pg_locks where locktype = 'advisory' and objsubid = 2 and granted
		and database = (select oid from pg_database where datname = current_database()) and classid = $1::bigint::oid and objid <> $2::bigint::oid)`,
		int64(claimClass), int64(uint32(common))).Scan(&others)
	if err == nil && others {
		err = ErrClaimed
	}
	return err
}
