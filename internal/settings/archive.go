package settings

import (
	"encoding/json"
	"fmt"
	"slices"

	"atelie/internal/i18n"
)

// archived checks the values of the rows of site_settings that an archive of the site contains, by key. Rows with other keys stay
// with the site: a webhook's URL is often a secret, for whoever knows it can write there.
var archived = map[string]func(value json.RawMessage) error{
	SiteKey: func(value json.RawMessage) error {
		var s Settings
		if err := json.Unmarshal(seed, &s.Site); err != nil {
			return err
		}
		if err := json.Unmarshal(value, &s.Site); err != nil {
			return err
		}
		return s.normalize(s)
	},
	noticeEmailKey: func(value json.RawMessage) error {
		var s Settings
		if err := json.Unmarshal(value, &s.NoticeEmail); err != nil {
			return err
		}
		return s.normalizeNotice()
	},
	noticeLanguageKey: checkChoice("", string(i18n.EN), string(i18n.PT)),
	thanksKey:         checkBool,
	guideKey:          checkChoice(guideStates...),
	"demo_loaded":     checkBool, // package demo
}

func checkBool(value json.RawMessage) error {
	var b bool
	return json.Unmarshal(value, &b)
}

func checkChoice(choices ...string) func(json.RawMessage) error {
	return func(value json.RawMessage) error {
		var s string
		if err := json.Unmarshal(value, &s); err != nil {
			return err
		}
		if !slices.Contains(choices, s) {
			return fmt.Errorf("%q is not one of %q", s, choices)
		}
		return nil
	}
}

// InArchive reports whether an archive contains the row of site_settings with this key.
func InArchive(key string) bool { return archived[key] != nil }

// CheckArchived returns an error unless an archive may contain this row of site_settings. It has the rules of Save.
func CheckArchived(key string, value json.RawMessage) error {
	check := archived[key]
	if check == nil {
		return fmt.Errorf("setting %q: unknown", key)
	}
	if err := check(value); err != nil {
		return fmt.Errorf("setting %s: %w", key, err)
	}
	return nil
}
