package auth

import (
	"testing"

	"atelie/internal/auth/oauth"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves A-surface-1.
func TestSettingsOfferEmailAlone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		r := h.call("GET", "/auth/v1/settings", "", "")
		if r.status != 200 || keysOf(r.body) != "disable_signup external mailer_autoconfirm passkeys_enabled phone_autoconfirm saml_enabled saml_private_key_next_configured sms_provider" {
			t.Fatalf("got %d %s", r.status, r.raw)
		}
		if r.body["disable_signup"] != true || r.body["saml_enabled"] != false || r.body["sms_provider"] != "" {
			t.Errorf("got %s", r.raw)
		}
		external := r.body["external"].(map[string]any)
		for name, on := range external {
			if on != (name == "email") {
				t.Errorf("%s is %v", name, on)
			}
		}
		for _, name := range []string{"email", "phone", "google", "anonymous_users"} {
			if _, named := external[name]; !named {
				t.Errorf("%s is missing", name)
			}
		}
	})
}

// Proves A-surface-2.
func TestSettingsListConfiguredProviders(t *testing.T) {
	h := newFixture(t, dbtest.Open(t, db.SQLite), func(c *Config) {
		c.SignupOpen, c.MailAutoconfirm, c.PhoneEnabled, c.PhoneAutoconfirm, c.SAML = true, true, true, true, true
		c.Providers, c.SMSProvider = map[string]*oauth.Provider{"google": nil, "parish": nil}, "webhook"
	})
	r := h.call("GET", "/auth/v1/settings", "", "")
	for name, want := range map[string]any{
		"disable_signup": false, "mailer_autoconfirm": true, "phone_autoconfirm": true, "saml_enabled": true, "sms_provider": "webhook", "passkeys_enabled": false,
	} {
		if r.body[name] != want {
			t.Errorf("%s is %v", name, r.body[name])
		}
	}
	external := r.body["external"].(map[string]any)
	for name, want := range map[string]any{"email": true, "phone": true, "google": true, "parish": true, "github": false, "anonymous_users": false} {
		if external[name] != want {
			t.Errorf("%s is %v", name, external[name])
		}
	}
}
