package pages

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"atelie/internal/db"
)

// Site is what the owner says about the site. Empty fields and empty texts are left out of the pages.
type Site struct {
	Name         string    `json:"name"`
	Instagram    string    `json:"instagram,omitempty"`
	Facebook     string    `json:"facebook,omitempty"`
	WhatsApp     string    `json:"whatsapp,omitempty"`
	Email        string    `json:"email,omitempty"`
	Portrait     string    `json:"portrait,omitempty"` // URL
	PrivacySince string    `json:"privacySince"`       // YYYY-MM-DD, the day the privacy text came into force
	Texts        SiteTexts `json:"texts"`
}

// SiteTexts holds the owner's texts in both languages; lib/site-text.ts reads them.
type SiteTexts struct {
	EN Texts `json:"en"`
	PT Texts `json:"pt"`
}

// Texts are the sentences that only the owner can say, under the keys of the locales. None is omitted when empty:
// a missing text means the seed's, an empty one means none.
type Texts struct {
	AboutTitle          string `json:"about.title"`
	AboutDescription    string `json:"about.description"`
	AboutDescription2   string `json:"about.description2"`
	PortraitAlt         string `json:"about.portraitAlt"`
	TrustedBy           string `json:"testimonials.trustedBy"`
	ContactResponseTime string `json:"contact.responseTime"`
	ContactSuccessBody  string `json:"contact.success.body"`
}

// seed is what a new site says until its owner changes it: nothing personal is compiled in (READING §3.24).
//
//go:embed seed.json
var seed []byte

const siteKey = "site"

// LoadSite reads the settings; what they do not say comes from the seed.
func LoadSite(ctx context.Context, q db.Querier) (Site, error) {
	rows, err := q.Query(ctx, "select value from site_settings where key = $1", siteKey)
	if err != nil {
		return Site{}, err
	}
	defer func() { _ = rows.Close() }()
	var site Site
	if err := json.Unmarshal(seed, &site); err != nil {
		return Site{}, fmt.Errorf("seed: %w", err)
	}
	if rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			return Site{}, err
		}
		if err := json.Unmarshal([]byte(value), &site); err != nil { // over the seed
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
