package settings

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"atelie/internal/db"
	"atelie/internal/i18n"
)

// This file reads and writes the site_settings table. Its rows have a key, and a value in JSON.

// seed is the public part of the settings of a new site, in JSON. Stored settings override it field by field.
//
//go:embed seed.json
var seed []byte

// Keys of the rows of site_settings. Only the row SiteKey is public: pages contain nothing of the other rows.
const (
	SiteKey           = "site"            // the public part of the settings (Site)
	noticeEmailKey    = "notice.email"    // a list of e-mail addresses
	noticeWebhookKey  = "notice.webhook"  // URL, or "" for none
	noticeLanguageKey = "notice.language" // "en", "pt", or "" for the language of each owner's account
	thanksKey         = "thanks.enabled"  // whether visitors get a thank-you mail
	guideKey          = "guide"           // one of guideStates
)

// LoadSite reads the public part of the settings. A field that is not stored has the seed's value.
func LoadSite(ctx context.Context, q db.Querier) (Site, error) {
	rows, err := readRows(ctx, q, SiteKey)
	if err != nil {
		return Site{}, err
	}
	return siteOf(rows)
}

// siteOf returns the public part of the settings: the seed, overridden field by field by the row SiteKey. rows contains values by key.
func siteOf(rows map[string]string) (Site, error) {
	var site Site
	if err := json.Unmarshal(seed, &site); err != nil {
		return Site{}, fmt.Errorf("seed: %w", err)
	}
	if value, ok := rows[SiteKey]; ok {
		seedGallery := site.Gallery
		seedGallery.Types = slices.Clone(seedGallery.Types)          // Unmarshal writes into the slice that it finds
		if err := json.Unmarshal([]byte(value), &site); err != nil { // keeps the seed's value for a missing field
			return Site{}, fmt.Errorf("site settings: %w", err)
		}
		site.Gallery = site.Gallery.withDefaults(seedGallery)
	}
	return site, nil
}

// SiteChanged returns when the public part of the settings was last saved, or the zero time if it never was.
func SiteChanged(ctx context.Context, q db.Querier) (at time.Time, err error) {
	at, err = db.One[time.Time](ctx, q, "select updated_at from site_settings where key = $1", SiteKey)
	return at, db.NoRowsAs(err, nil)
}

// load reads all settings. Unlike LoadNotices, it returns an error for an unreadable value.
func load(ctx context.Context, q db.Querier) (Settings, error) {
	rows, err := readRows(ctx, q, SiteKey, noticeEmailKey, noticeWebhookKey, noticeLanguageKey, thanksKey)
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

// loadGuide reads the state of the first-run guide, one of guideStates.
func loadGuide(ctx context.Context, q db.Querier) (state string, err error) {
	rows, err := readRows(ctx, q, guideKey)
	if err != nil || rows[guideKey] == "" {
		return "", err
	}
	if err := json.Unmarshal([]byte(rows[guideKey]), &state); err != nil {
		return "", fmt.Errorf("setting %s: %w", guideKey, err)
	}
	return state, nil
}

// Notices are the settings of notices about new messages. The zero value is that of a new site.
type Notices struct {
	Emails   []string      // recipients; empty: the owners' own addresses
	Webhook  string        // URL; "" for none
	Language i18n.Language // "" for the language of each owner's account
	Thanks   bool          // whether visitors get a thank-you mail
}

// LoadNotices reads the settings of notices. An unreadable value is treated as not set: an error would stop all notices.
func LoadNotices(ctx context.Context, q db.Querier) (n Notices, err error) {
	rows, err := readRows(ctx, q, noticeEmailKey, noticeWebhookKey, noticeLanguageKey, thanksKey)
	if err != nil {
		return n, err
	}
	n = Notices{
		Emails: valueOf[[]string](rows[noticeEmailKey]), Webhook: strings.TrimSpace(valueOf[string](rows[noticeWebhookKey])),
		Language: valueOf[i18n.Language](rows[noticeLanguageKey]), Thanks: valueOf[bool](rows[thanksKey]),
	}
	if !slices.Contains(i18n.Languages, n.Language) {
		n.Language = ""
	}
	return n, nil
}

// valueOf parses JSON. It returns the zero value when text is not a T.
func valueOf[T any](text string) T {
	var v, zero T
	if json.Unmarshal([]byte(text), &v) != nil {
		return zero
	}
	return v
}

func saveAll(ctx context.Context, q db.Querier, s Settings, now time.Time) error {
	for _, row := range []struct {
		key   string
		value any
	}{{SiteKey, s.Site}, {noticeEmailKey, s.NoticeEmail}, {noticeWebhookKey, s.NoticeWebhook}, {noticeLanguageKey, s.NoticeLanguage}, {thanksKey, s.ThanksEnabled}} {
		if err := save(ctx, q, row.key, row.value, now); err != nil {
			return err
		}
	}
	return nil
}

// Exists reports whether site_settings has a row with this key.
func Exists(ctx context.Context, q db.Querier, key string) (bool, error) {
	return db.One[bool](ctx, q, "select exists (select 1 from site_settings where key = $1)", key)
}

// ExistsOther reports whether a setting with another key than these is stored.
func ExistsOther(ctx context.Context, q db.Querier, keys ...string) (bool, error) {
	list, args := db.AppendList(nil, keys)
	return db.One[bool](ctx, q, "select exists (select 1 from site_settings where key not in ("+list+"))", args...)
}

// Value returns a stored setting as JSON, or "".
func Value(ctx context.Context, q db.Querier, key string) (string, error) {
	rows, err := readRows(ctx, q, key)
	return rows[key], err
}

// Delete deletes a setting.
func Delete(ctx context.Context, q db.Querier, key string) error {
	return db.Exec(ctx, q, "delete from site_settings where key = $1", key)
}

// Insert stores a setting as JSON. It changes nothing when there is a row with this key already.
func Insert(ctx context.Context, q db.Querier, key string, setting any, now time.Time) error {
	return insert(ctx, q, key, setting, now, "nothing")
}

func readRows(ctx context.Context, q db.Querier, keys ...string) (map[string]string, error) {
	list, args := db.AppendList(nil, keys)
	found := map[string]string{}
	_, err := db.Collect(ctx, q, func(row db.Row) (none struct{}, err error) {
		var key, value string
		err = row.Scan(&key, &value)
		found[key] = value
		return none, err
	}, "select key, value from site_settings where key in ("+list+")", args...)
	return found, err
}

func save(ctx context.Context, q db.Querier, key string, setting any, now time.Time) error {
	return insert(ctx, q, key, setting, now, "update set value = excluded.value, updated_at = excluded.updated_at")
}

func insert(ctx context.Context, q db.Querier, key string, setting any, now time.Time, onConflict string) error {
	value, err := json.Marshal(setting)
	if err != nil {
		return err
	}
	return db.Exec(ctx, q, "insert into site_settings (key, value, updated_at) values ($1, $2, $3) on conflict (key) do "+onConflict, key, string(value), now)
}

// onlyProducts reports whether products has at least one row, and no row with an id that is not in ids.
func onlyProducts(ctx context.Context, q db.Querier, ids []string) (bool, error) {
	if len(ids) == 0 {
		return false, nil
	}
	list, args := db.AppendList(nil, ids)
	return db.One[bool](ctx, q, "select count(*) > 0 and count(*) = count(case when id in ("+list+") then 1 end) from products", args...)
}

// TakenSlots counts the commissions that take a slot: those that are accepted or in progress. Triggers raise the content version when
// this number changes.
func TakenSlots(ctx context.Context, q db.Querier) (int, error) {
	return db.One[int](ctx, q, "select count(*) from commissions where stage in ('accepted', 'in_progress')")
}
