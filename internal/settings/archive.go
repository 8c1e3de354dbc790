package settings

import (
	"encoding/json"
	"fmt"
	"slices"

	"atelie/internal/i18n"
)

// This file decides which settings an archive contains (the zip file of the command atelie export), and checks them before an import.

// archivedChecks maps each key of site_settings that an archive contains to a function that checks the value. An archive does not contain
// the URL of the webhook for new messages, because everyone who knows this URL can send messages to it.
var archivedChecks = map[string]func(value json.RawMessage) error{
	SiteKey: func(value json.RawMessage) error {
		var s Settings
		var err error
		if s.Site, err = siteOf(map[string]string{SiteKey: string(value)}); err != nil {
			return err
		}
		// Earlier versions of the program stored WhatsApp numbers without a country code. normalizeAndCheck accepts such a number only if it is
		// unchanged. There are no other settings to compare with here, so the same settings are passed as those before the change.
		before := s
		return s.normalizeAndCheck(before)
	},
	noticeEmailKey: func(value json.RawMessage) error { // recipients of the mails about new messages
		var s Settings
		if err := json.Unmarshal(value, &s.NoticeEmail); err != nil {
			return err
		}
		return s.normalizeAndCheckNotice()
	},
	noticeLanguageKey: checkChoice("", string(i18n.EN), string(i18n.PT)),
	thanksKey:         checkBool,                   // whether visitors get a thank-you mail
	guideKey:          checkChoice(guideStates...), // state of the guide for new owners
	"demo_loaded":     checkBool,                   // stored by package demo
}

// checkBool returns an error unless value is a boolean or null. Null is read as false.
func checkBool(value json.RawMessage) error {
	var b bool
	return json.Unmarshal(value, &b)
}

// checkChoice returns a function that returns an error unless a value is one of the strings in choices.
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
func InArchive(key string) bool { return archivedChecks[key] != nil }

// CheckArchived returns an error unless an archive may contain this row of site_settings. It checks values by the rules of Save,
// but accepts any WhatsApp number.
func CheckArchived(key string, value json.RawMessage) error {
	check := archivedChecks[key]
	if check == nil {
		return fmt.Errorf("setting %q: unknown", key)
	}
	if err := check(value); err != nil {
		return fmt.Errorf("setting %s: %w", key, err)
	}
	return nil
}
