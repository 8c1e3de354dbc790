package pages

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"atelie/internal/db"
)

// Site is what the owner says about the site. Empty fields are left out of the pages.
type Site struct {
	Name      string `json:"name"`
	Instagram string `json:"instagram,omitempty"`
	Facebook  string `json:"facebook,omitempty"`
	WhatsApp  string `json:"whatsapp,omitempty"`
	Email     string `json:"email,omitempty"`
	Portrait  string `json:"portrait,omitempty"` // URL
}

// seed is what a new site says until its owner changes it: nothing personal is compiled in (READING §3.24).
var seed = Site{Name: "Ateliê"}

const siteKey = "site"

// LoadSite reads the settings, or the seed when there are none yet.
func LoadSite(ctx context.Context, q db.Querier) (Site, error) {
	rows, err := q.Query(ctx, "select value from site_settings where key = $1", siteKey)
	if err != nil {
		return Site{}, err
	}
	defer func() { _ = rows.Close() }()
	site := seed
	if rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			return Site{}, err
		}
		if err := json.Unmarshal([]byte(value), &site); err != nil {
			return Site{}, fmt.Errorf("site settings: %w", err)
		}
	}
	return site, rows.Err()
}

// SaveSite replaces the settings.
func SaveSite(ctx context.Context, q db.Querier, site Site, now time.Time) error {
	value, err := json.Marshal(site)
	if err != nil {
		return err
	}
	_, err = q.Exec(ctx, `insert into site_settings (key, value, updated_at) values ($1, $2, $3)
		on conflict (key) do update set value = excluded.value, updated_at = excluded.updated_at`, siteKey, string(value), now)
	return err
}
