package db

import (
	"database/sql"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// PoolStats describes one pool of connections for the metrics: its current state, and the waits since the pool was opened.
type PoolStats struct {
	Name             string        // "write", "read" or "anonymous" on SQLite, "main" or "anonymous" on PostgreSQL
	Max, Open, InUse int           // numbers of connections
	Waits            int64         // how often a caller had to wait for a connection
	Waited           time.Duration // total time of these waits
}

// Pools returns the state of all pools. It does not use the database.
func (d *DB) Pools() []PoolStats { return d.driver.pools() }

func (d *sqliteDriver) pools() []PoolStats {
	write := sqlPoolStats("write", d.write)
	d.queue.mu.Lock() // callers wait in this queue, so the pool itself counts no waits
	write.Waits, write.Waited = d.queue.waitCount, d.queue.waitTime
	d.queue.mu.Unlock()
	return []PoolStats{write, sqlPoolStats("read", d.read), sqlPoolStats("anonymous", d.anonymous)}
}

func sqlPoolStats(name string, pool *sql.DB) PoolStats {
	s := pool.Stats()
	return PoolStats{Name: name, Max: s.MaxOpenConnections, Open: s.OpenConnections, InUse: s.InUse, Waits: s.WaitCount, Waited: s.WaitDuration}
}

func (d *postgresDriver) pools() []PoolStats {
	return []PoolStats{pgxPoolStats("main", d.pool), pgxPoolStats("anonymous", d.anonymous)}
}

func pgxPoolStats(name string, pool *pgxpool.Pool) PoolStats {
	s := pool.Stat()
	return PoolStats{
		Name: name, Max: int(s.MaxConns()), Open: int(s.TotalConns()), InUse: int(s.AcquiredConns()), Waits: s.EmptyAcquireCount(), Waited: s.EmptyAcquireWaitTime(),
	}
}
