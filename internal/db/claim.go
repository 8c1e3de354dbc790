package db

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrClaimed means that a running program holds another claim on the database.
var ErrClaimed = errors.New("another program serves this database with other settings")

// claimClass keeps our advisory locks apart from those of others in the database.
const claimClass = 0x61746c // "atl"

// Claim says what all programs that serve this database at once must have in common, as a number; release takes it back,
// and so does the program's death. ErrClaimed when one of them says otherwise. On SQLite, which one program serves, it
// does nothing.
func (d *DB) Claim(ctx context.Context, common int32) (release func(), err error) {
	pg, ok := d.driver.(*postgresDriver)
	if !ok {
		return func() {}, nil
	}
	// A connection of its own: the lock lives as long as its session.
	conn, err := pgx.ConnectConfig(ctx, pg.pool.Config().ConnConfig.Copy())
	if err != nil {
		return nil, inOneLine(err)
	}
	release = func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(end) // the server drops what does not say goodbye
	}
	if _, err := conn.Exec(ctx, "select pg_advisory_lock_shared($1, $2)", int32(claimClass), common); err != nil {
		release()
		return nil, translate(err)
	}
	var others bool
	// Locks are listed with unsigned numbers.
	err = conn.QueryRow(ctx, `select exists (select from pg_locks where locktype = 'advisory' and objsubid = 2 and granted
		and database = (select oid from pg_database where datname = current_database()) and classid = $1::bigint::oid and objid <> $2::bigint::oid)`,
		int64(claimClass), int64(uint32(common))).Scan(&others)
	if err == nil && others {
		err = ErrClaimed
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}
