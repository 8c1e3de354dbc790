package auth

import (
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func TestSettingsOfferEmailAlone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newHouse(t, d)
		r := h.call("GET", "/auth/v1/settings", "", "")
		if r.status != 200 || keysOf(r.body) != "disable_signup external mailer_autoconfirm passkeys_enabled phone_autoconfirm saml_enabled sms_provider" {
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
