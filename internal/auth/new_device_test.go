package auth

import (
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves A-mail-11.
func TestSignInFromANewDeviceSendsANotice(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		firefox, safari := header{"User-Agent", "Firefox"}, header{"User-Agent", "Safari"}
		h.expect("the first device", h.signInAs(email, password, firefox), 200, "")
		h.expectNoMessages("the first device")
		h.expect("the same device again", h.signInAs(email, password, firefox), 200, "")
		h.expectNoMessages("a known device")
		h.expect("a wrong password", h.signInAs(email, "not the password", safari), 400, "invalid_credentials")
		h.expectNoMessages("a wrong password")
		h.expect("a new device", h.signInAs(email, password, safari, header{"X-Forwarded-For", "203.0.113.9"}, header{"Accept-Language", "pt-PT,en;q=0.5"}), 200, "")
		m := h.mail(MailNewDevice)
		if m.To != email || m.Device != "Safari" || m.IP != "203.0.113.9" || m.Language != "pt" || !m.At.Equal(h.clock.now()) || m.Link != "" || m.Code != "" {
			t.Errorf("notice %+v", m)
		}
		h.expect("the new device again", h.signInAs(email, password, safari), 200, "")
		h.expectNoMessages("a device about which a notice was sent")
	})
}

// Proves A-mail-3.
func TestLanguageOfMails(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits)
		h.owner()
		for _, c := range []struct{ metadata, accept, want string }{
			{`{}`, "pt-BR, en;q=0.5", "pt"}, {`{}`, "", "en"}, {`{"locale":"pt-PT"}`, "en", "pt"}, {`{"locale":"en-GB"}`, "pt", "en"},
		} {
			h.exec("update auth_users set user_metadata = $1", c.metadata)
			h.expect("recover", h.post("recover", fields{"email": email}, header{"Accept-Language", c.accept}), 200, "")
			if m := h.mail(MailRecovery); m.Language != c.want {
				t.Errorf("user metadata %s, Accept-Language %q: got %s", c.metadata, c.accept, m.Language)
			}
		}
	})
}

// Proves A-set-10.
func TestLimitsCanBeSwitchedOff(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, func(c *Config) { c.RateLimited = false })
		h.owner()
		for range signInsPerAccount + 1 {
			h.expect("guess", h.signInAs(email, "not the password"), 400, "invalid_credentials")
		}
		h.clock.advance(time.Second)
		h.mustSignIn()
	})
}
