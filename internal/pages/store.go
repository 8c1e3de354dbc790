package pages

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
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
	Privacy      Privacy   `json:"privacy,omitzero"`
	Texts        SiteTexts `json:"texts"`
}

// Privacy holds the bodies of the privacy page's eight sections (spec §2), in Portuguese alone. An empty one means the
// text that comes with the program.
type Privacy struct {
	Information string `json:"information,omitempty"`
	Use         string `json:"use,omitempty"`
	Sharing     string `json:"sharing,omitempty"`
	Security    string `json:"security,omitempty"`
	Cookies     string `json:"cookies,omitempty"`
	Rights      string `json:"rights,omitempty"`
	Contact     string `json:"contact,omitempty"`
	Changes     string `json:"changes,omitempty"`
}

// SiteTexts holds the owner's texts in both languages; lib/site-text.ts reads them.
type SiteTexts struct {
	EN Texts `json:"en"`
	PT Texts `json:"pt"`
}

// Texts are the sentences that only the owner can say, under the keys of the locales. None is omitted when empty:
// a missing text means the seed's, an empty one means the other language's, and when both are empty there is none.
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

// The rows of site_settings. All but the first are for the owner alone and never part of a page.
const (
	siteKey           = "site"
	noticeEmailKey    = "notice.email"    // a list of addresses that hear of new messages
	noticeWebhookKey  = "notice.webhook"  // an address, or ""
	noticeLanguageKey = "notice.language" // "en", "pt", or ""
	thanksKey         = "thanks.enabled"  // whether visitors get a thank-you mail
)

// LoadSite reads what pages show; what the settings do not say comes from the seed.
func LoadSite(ctx context.Context, q db.Querier) (Site, error) {
	rows, err := settingsRows(ctx, q, siteKey)
	if err != nil {
		return Site{}, err
	}
	return siteOf(rows)
}

func siteOf(rows map[string]string) (Site, error) {
	var site Site
	if err := json.Unmarshal(seed, &site); err != nil {
		return Site{}, fmt.Errorf("seed: %w", err)
	}
	if value, ok := rows[siteKey]; ok {
		if err := json.Unmarshal([]byte(value), &site); err != nil { // over the seed
			return Site{}, fmt.Errorf("site settings: %w", err)
		}
	}
	return site, nil
}

// siteChanged is when what pages show was last saved; zero when it never was.
func siteChanged(ctx context.Context, q db.Querier) (at time.Time, err error) {
	err = q.QueryRow(ctx, "select updated_at from site_settings where key = $1", siteKey).Scan(&at)
	if errors.Is(err, db.ErrNoRows) {
		return time.Time{}, nil
	}
	return at, err
}

// SaveSite replaces what pages show.
func SaveSite(ctx context.Context, q db.Querier, site Site, now time.Time) error {
	return saveSetting(ctx, q, siteKey, site, now)
}

// loadSettings reads everything that the owner may say.
func loadSettings(ctx context.Context, q db.Querier) (Settings, error) {
	rows, err := settingsRows(ctx, q, siteKey, noticeEmailKey, noticeWebhookKey, noticeLanguageKey, thanksKey)
	if err != nil {
		return Settings{}, err
	}
	s := Settings{NoticeEmail: []string{}}
	if s.Site, err = siteOf(rows); err != nil {
		return Settings{}, err
	}
	for key, dst := range map[string]any{noticeEmailKey: &s.NoticeEmail, noticeWebhookKey: &s.NoticeWebhook, noticeLanguageKey: &s.NoticeLanguage, thanksKey: &s.ThanksEnabled} {
		if value, ok := rows[key]; ok {
			if err := json.Unmarshal([]byte(value), dst); err != nil {
				return Settings{}, fmt.Errorf("setting %s: %w", key, err)
			}
		}
	}
	return s, nil
}

func saveSettings(ctx context.Context, q db.Querier, s Settings, now time.Time) error {
	for _, row := range []struct {
		key   string
		value any
	}{{siteKey, s.Site}, {noticeEmailKey, s.NoticeEmail}, {noticeWebhookKey, s.NoticeWebhook}, {noticeLanguageKey, s.NoticeLanguage}, {thanksKey, s.ThanksEnabled}} {
		if err := saveSetting(ctx, q, row.key, row.value, now); err != nil {
			return err
		}
	}
	return nil
}

// lockSettings holds up other savers until the transaction ends. SQLite has one writer anyway; on PostgreSQL rows that are
// not there yet cannot be locked, so it is the table. Readers go on.
func lockSettings(ctx context.Context, tx *db.Tx) error {
	if tx.Dialect != db.Postgres {
		return nil
	}
	_, err := tx.Exec(ctx, "lock table site_settings in share row exclusive mode")
	return err
}

func settingsRows(ctx context.Context, q db.Querier, keys ...string) (map[string]string, error) {
	marks, args := make([]string, len(keys)), make([]any, len(keys))
	for i, key := range keys {
		marks[i], args[i] = "$"+strconv.Itoa(i+1), key
	}
	rows, err := q.Query(ctx, "select key, value from site_settings where key in ("+strings.Join(marks, ", ")+")", args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	found := map[string]string{}
	for rows.Next() {
		var key, value string
		if err := rows.Scan(&key, &value); err != nil {
			return nil, err
		}
		found[key] = value
	}
	return found, rows.Err()
}

func saveSetting(ctx context.Context, q db.Querier, key string, setting any, now time.Time) error {
	value, err := json.Marshal(setting)
	if err != nil {
		return err
	}
	_, err = q.Exec(ctx, `insert into site_settings (key, value, updated_at) values ($1, $2, $3)
		on conflict (key) do update set value = excluded.value, updated_at = excluded.updated_at`, key, string(value), now)
	return err
}
