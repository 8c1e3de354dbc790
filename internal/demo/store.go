package demo

import (
	"context"
	"encoding/json"
	"time"

	"atelie/internal/db"
)

const loadedKey = "demo_loaded"

func isLoaded(ctx context.Context, q db.Querier) (loaded bool, err error) {
	err = q.QueryRow(ctx, "select exists (select 1 from site_settings where key = $1)", loadedKey).Scan(&loaded)
	return loaded, err
}

// markLoaded keeps the site settings of an owner who has some already.
func markLoaded(ctx context.Context, q db.Querier, site Site, now time.Time) error {
	value, err := json.Marshal(site)
	if err != nil {
		return err
	}
	if _, err := q.Exec(ctx, "insert into site_settings (key, value, updated_at) values ('site', $1, $2) on conflict (key) do nothing", string(value), now); err != nil {
		return err
	}
	_, err = q.Exec(ctx, "insert into site_settings (key, value, updated_at) values ($1, 'true', $2)", loadedKey, now)
	return err
}

// table is one of three names that the loader itself passes.
func exists(ctx context.Context, q db.Querier, table string, id any) (there bool, err error) {
	err = q.QueryRow(ctx, "select exists (select 1 from "+table+" where id = $1)", id).Scan(&there)
	return there, err
}
