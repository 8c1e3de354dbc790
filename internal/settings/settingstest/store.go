// Package settingstest stores settings for tests of other packages.
package settingstest

import (
	"context"
	"encoding/json"
	"time"

	"atelie/internal/db"
	"atelie/internal/settings"
)

// SaveSite replaces the public part of the settings, without the checks of rpc/save_site_settings.
func SaveSite(ctx context.Context, q db.Querier, site settings.Site, now time.Time) error {
	value, err := json.Marshal(site)
	if err != nil {
		return err
	}
	return db.Exec(ctx, q, `insert into site_settings (key, value, updated_at) values ($1, $2, $3)
		on conflict (key) do update set value = excluded.value, updated_at = excluded.updated_at`, settings.SiteKey, string(value), now)
}
