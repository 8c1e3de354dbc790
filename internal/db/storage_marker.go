package db

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"
)

// ReadMarker returns the database's marker, or "" if the database has none yet. The marker is an id that the file store of the site contains
// too. The program compares both at its start, so that it notices when database and file store do not belong together.
func ReadMarker(ctx context.Context, q Querier) (string, error) {
	marker, err := One[string](ctx, q, "select marker from storage_marker where id = 1")
	return marker, NoRowsAs(err, nil)
}

// EnsureMarker stores a marker unless the database has one, and returns the stored marker. If marker is "", EnsureMarker makes a new id.
func (d *DB) EnsureMarker(ctx context.Context, marker string, now time.Time) (string, error) {
	marker = cmp.Or(marker, uuid.NewString())
	if err := Exec(ctx, d, "insert into storage_marker (id, marker, created_at) values (1, $1, $2) on conflict (id) do nothing", marker, now); err != nil {
		return "", err
	}
	return ReadMarker(ctx, d)
}
