package db

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"atelie/internal/interval"
)

// This file makes sure that all nodes (servers) of a PostgreSQL database accept each other's tokens. They do if their current secrets are
// equal. During a rotation of the secret, two nodes also accept each other if the current secret of each is the previous secret of the
// other. Each node holds a claim: advisory locks (PostgreSQL's locks on numbers) whose numbers it derives from its secrets. A node that
// finds the claim of a node with another secret does not start.

// ErrClaimed is returned by Claim while a running node with another secret holds a claim.
var ErrClaimed = errors.New("another node serves this database with another secret")

// An advisory lock is named by two numbers: a class for its purpose, and a key.
const (
	currentClass = 0x61746c // class of ClaimKeys.Current; "atl" in ASCII
	pairClass    = 0x61746d // class of ClaimKeys.Pair; "atm" in ASCII
)

// A claim whose connection was lost is acquired again in several attempts.
const (
	claimTimeout = 15 * time.Second // timeout of one attempt
	claimRetry   = time.Second      // wait between two attempts
)

// ClaimKeys are numbers that a node derives from its secrets, so that nodes can compare their secrets without revealing them. Nodes
// with the same Current can run together. During a rotation, two nodes that both have a previous secret can also run together: the
// Current of each is the Previous of the other, so both derive the same Pair.
type ClaimKeys struct {
	Current     int32 // derived from the current secret
	Previous    int32 // derived from the previous secret; used only with HasPrevious
	Pair        int32 // derived from both secrets in any order; used only with HasPrevious
	HasPrevious bool  // the node has a previous secret
}

// Claim acquires this node's claim and holds it until release is called or the process ends. It returns ErrClaimed while a node with
// another secret holds a claim. If the connection that holds the claim is lost, a goroutine calls onChange with the cause and acquires the
// claim again. Then the goroutine calls onChange with nil, or with ErrClaimed if a node with another secret has acquired a claim in between.
// On SQLite, Claim does nothing, because only one node serves the database.
func (d *DB) Claim(ctx context.Context, keys ClaimKeys, onChange func(error)) (release func(), err error) {
	pg, ok := d.driver.(*postgresDriver)
	if !ok {
		return func() {}, nil
	}
	conn, err := pg.claim(ctx, keys)
	if err != nil {
		closeConn(ctx, conn)
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var renewal sync.WaitGroup
	renewal.Go(func() {
		for ctx.Err() == nil {
			var err error
			for err == nil { // until the connection is lost: nothing sends notifications to it
				err = waitForNotification(ctx, conn)
			}
			if ctx.Err() == nil {
				onChange(d.classifyConnLoss(ctx, connectError(err)))
				closeConn(ctx, conn)
				conn = pg.claimAgain(ctx, keys, onChange)
			}
		}
		closeConn(ctx, conn)
	})
	return func() { cancel(); renewal.Wait() }, nil
}

// claim opens a connection and acquires the claim with it. The connection is not one of the pool, because the locks last only as long
// as their session. claim may return a connection together with an error: it can hold locks then, and the caller must close it.
func (pg *postgresDriver) claim(ctx context.Context, keys ClaimKeys) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, pg.pool.Config().ConnConfig.Copy())
	if err != nil {
		return nil, connectError(err)
	}
	return conn, acquireClaim(ctx, conn, keys)
}

// claimAgain acquires the claim again after its connection was lost. It tries until an attempt succeeds or returns ErrClaimed, and calls
// onChange with that result. After ErrClaimed this node keeps running beside the other node, and both hold their locks. If ctx ends first,
// claimAgain returns nil.
func (pg *postgresDriver) claimAgain(ctx context.Context, keys ClaimKeys, onChange func(error)) *pgx.Conn {
	for {
		claimCtx, stop := context.WithTimeout(ctx, claimTimeout)
		conn, err := pg.claim(claimCtx, keys)
		stop()
		if err == nil || errors.Is(err, ErrClaimed) {
			onChange(err)
			return conn
		}
		closeConn(ctx, conn)
		if interval.Sleep(ctx, claimRetry) != nil {
			return nil
		}
	}
}

// closeTimeout limits the closing of a connection.
const closeTimeout = time.Second

// closeConn closes a connection that does not belong to a pool (Claim, Listen), and releases its locks. conn may be nil.
func closeConn(ctx context.Context, conn *pgx.Conn) {
	if conn == nil {
		return
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	// Unlock first: the session ends a moment after its connection, and until then its locks would refuse the next claim.
	_, _ = conn.Exec(end, "select pg_advisory_unlock_all()")
	_ = conn.Close(end)
}

// acquireClaim takes shared locks on Current and, with HasPrevious, on Pair. Then it returns ErrClaimed if a session holds a lock of
// currentClass on another number. There is one exception: that number is this node's Previous, and the session holds the same Pair,
// so that its node accepts this node's Current.
func acquireClaim(ctx context.Context, conn *pgx.Conn, keys ClaimKeys) error {
	if keys.HasPrevious {
		if _, err := conn.Exec(ctx, "select pg_advisory_lock_shared($1, $2)", int32(pairClass), keys.Pair); err != nil {
			return translate(err)
		}
	}
	if _, err := conn.Exec(ctx, "select pg_advisory_lock_shared($1, $2)", int32(currentClass), keys.Current); err != nil {
		return translate(err)
	}
	var claimed bool
	// pg_locks lists the keys of locks as unsigned numbers.
	err := conn.QueryRow(ctx, `with held as (select pid, classid::bigint as class, objid::bigint as value from pg_locks where locktype = 'advisory'
			and objsubid = 2 and granted and database = (select oid from pg_database where datname = current_database()))
		select exists (select from held where class = $1 and value <> $2 and not ($3 and value = $4
			and exists (select from held p where p.pid = held.pid and p.class = $5 and p.value = $6)))`,
		int64(currentClass), unsigned(keys.Current), keys.HasPrevious, unsigned(keys.Previous), int64(pairClass), unsigned(keys.Pair)).Scan(&claimed)
	if err == nil && claimed {
		err = ErrClaimed
	}
	return err
}

func unsigned(n int32) int64 { return int64(uint32(n)) }
