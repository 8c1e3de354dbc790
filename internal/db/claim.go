package db

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrClaimed is returned by Claim while another running program has claimed the database with different keys.
var ErrClaimed = errors.New("another program serves this database with other settings")

// A PostgreSQL advisory lock is named by two numbers. The first is currentClass for a lock on ClaimKeys.Current, and pairClass
// for a lock on ClaimKeys.Pair. The second number is the key itself.
const (
	currentClass = 0x61746c // "atl" in ASCII
	pairClass    = 0x61746d
)

// claimTimeout is the timeout of one attempt to renew a claim whose connection was lost. claimRetry is the wait between two
// attempts.
const (
	claimTimeout = 15 * time.Second
	claimRetry   = time.Second
)

// ClaimKeys are numbers that a program derives from its secrets, so that programs that serve one database can compare them
// without showing the secrets. Programs with the same Current can run together. Two programs with HasPrevious can also run
// together if the Current of each one equals the Previous of the other one; then both have the same Pair.
type ClaimKeys struct {
	Current     int32 // derived from the current secret
	Previous    int32 // derived from the previous secret; used only with HasPrevious
	Pair        int32 // derived from both secrets, whatever their order; used only with HasPrevious
	HasPrevious bool  // the program has a previous secret
}

// Claim takes a shared lock on the keys and keeps it until release is called or the process ends. It returns ErrClaimed while
// another program holds different keys. When the connection that holds the lock is lost, Claim calls changed with the cause and
// takes the lock again. Then it calls changed with nil, or with ErrClaimed if another program has claimed the database in between.
// On SQLite, which only one program serves, Claim does nothing.
func (d *DB) Claim(ctx context.Context, keys ClaimKeys, changed func(error)) (release func(), err error) {
	pg, ok := d.driver.(*postgresDriver)
	if !ok {
		return func() {}, nil
	}
	claim := func(ctx context.Context) (*pgx.Conn, error) {
		// A separate connection, not one of the pool: the lock needs its session for as long as the program runs.
		conn, err := pgx.ConnectConfig(ctx, pg.pool.Config().ConnConfig.Copy())
		if err != nil {
			return nil, connectError(err)
		}
		return conn, acquireClaim(ctx, conn, keys)
	}
	conn, err := claim(ctx)
	if err != nil {
		closeConn(ctx, conn)
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var renewal sync.WaitGroup
	renewal.Go(func() {
		defer func() { closeConn(ctx, conn) }()
		for {
			var err error
			for err == nil { // the call returns only when the connection is lost or ctx ends: nothing notifies it
				err = waitForNotification(ctx, conn)
			}
			if ctx.Err() != nil {
				return
			}
			changed(d.classifyConnLoss(ctx, connectError(err)))
			for {
				closeConn(ctx, conn)
				claimCtx, stop := context.WithTimeout(ctx, claimTimeout)
				conn, err = claim(claimCtx)
				stop()
				if err == nil || errors.Is(err, ErrClaimed) { // with ErrClaimed this program holds its locks too
					changed(err)
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
	return func() { cancel(); renewal.Wait() }, nil
}

func closeConn(ctx context.Context, conn *pgx.Conn) {
	if conn == nil {
		return
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	// Unlock first: the session ends a moment after its connection, and until then its locks would refuse the next claim.
	_, _ = conn.Exec(end, "select pg_advisory_unlock_all()")
	_ = conn.Close(end)
}

// acquireClaim locks Current, and with HasPrevious also Pair. Another program may hold the same Current. One that holds Previous
// as its Current must hold Pair too, otherwise it would not accept this program's Current.
func acquireClaim(ctx context.Context, conn *pgx.Conn, keys ClaimKeys) error {
	if keys.HasPrevious {
		if _, err := conn.Exec(ctx, "select pg_advisory_lock_shared($1, $2)", int32(pairClass), keys.Pair); err != nil {
			return translate(err)
		}
	}
	if _, err := conn.Exec(ctx, "select pg_advisory_lock_shared($1, $2)", int32(currentClass), keys.Current); err != nil {
		return translate(err)
	}
	var others bool
	// pg_locks lists the keys of locks as unsigned numbers.
	err := conn.QueryRow(ctx, `with held as (select pid, classid::bigint as class, objid::bigint as value from pg_locks where locktype = 'advisory'
			and objsubid = 2 and granted and database = (select oid from pg_database where datname = current_database()))
		select exists (select from held where class = $1 and value <> $2 and not ($3 and value = $4
			and exists (select from held p where p.pid = held.pid and p.class = $5 and p.value = $6)))`,
		int64(currentClass), unsigned(keys.Current), keys.HasPrevious, unsigned(keys.Previous), int64(pairClass), unsigned(keys.Pair)).Scan(&others)
	if err == nil && others {
		err = ErrClaimed
	}
	return err
}

func unsigned(n int32) int64 { return int64(uint32(n)) }
