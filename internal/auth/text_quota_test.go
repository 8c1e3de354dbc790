package auth

import (
	"net/http"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// textsOf sends a request each minute until one is refused or sends no text message. It returns the number of text messages.
func (h *fixture) textsOf(request func() reply) (sent int, last reply) {
	h.t.Helper()
	for {
		h.clock.advance(time.Minute)
		last = request()
		h.deliver()
		select {
		case <-h.texts:
			sent++
		default:
			return sent, last
		}
	}
}

// Proves S7-recover-4.
func TestANumberGetsTenTextMessagesADay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open, func(c *Config) { c.TextsPerDay, c.JWTExpiry = 10, 100*time.Hour })
		h.owner()
		bearer := h.mustSignIn().text("access_token")
		h.exec("update auth_users set email = null, email_confirmed_at = null, phone = $1, phone_confirmed_at = $2", newcomerPhone, h.clock.now())
		h.exec("delete from user_roles") // so that no reauthentication is needed
		sendRequest := func(body fields) func() reply { return func() reply { return h.post("otp", body) } }
		expectLimit := func(what string, got int, last reply, want int) {
			t.Helper()
			h.expect(what, last, http.StatusTooManyRequests, "over_sms_send_rate_limit")
			if got != want {
				t.Errorf("%s: %d text messages were sent, want %d", what, got, want)
			}
		}
		sent, last := h.textsOf(sendRequest(fields{"phone": newcomerPhone}))
		if sent != 4 || last.status != http.StatusOK || last.raw != "{}" {
			t.Errorf("sign-in: %d text messages, then %d %s", sent, last.status, last.raw)
		}
		if sent, _ = h.textsOf(sendRequest(fields{"phone": "351900000077"})); sent != 4 {
			t.Errorf("another number: %d text messages", sent)
		}
		sent, last = h.textsOf(func() reply { return h.call("GET", "/auth/v1/reauthenticate", bearer, "") })
		expectLimit("reauthentication", sent, last, 4)
		sent, last = h.textsOf(func() reply { return h.put(bearer, fields{"phone": "351900000078"}) })
		expectLimit("a change of number", sent, last, 4)
		h.clock.advance(4 * time.Hour)
		if sent, _ = h.textsOf(sendRequest(fields{"phone": newcomerPhone})); sent != 1 {
			t.Errorf("four hours later: %d text messages", sent)
		}
		for start, total := h.clock.now(), 0; ; {
			if sent, _ = h.textsOf(sendRequest(fields{"phone": newcomerPhone})); h.clock.now().Sub(start) > day {
				break
			}
			if total += sent; total > 10 {
				t.Fatalf("%d text messages in a day", total)
			}
			h.clock.advance(19 * time.Minute)
		}
	})
}

// Proves S7-recover-4.
//
// A sign-in with a phone factor needs the password first. During an enrolment, the number may be anybody's.
func TestTextMessagesOfSecondFactorsHaveAQuota(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, phonesOn, func(c *Config) { c.TextsPerDay, c.JWTExpiry = 10, 100*time.Hour })
		h.owner()
		bearer := h.mustSignIn().text("access_token")
		enrolled := h.enrol(bearer, fields{"factor_type": "phone", "friendly_name": "mobile", "phone": newcomerPhone})
		factor := enrolled.text("id")
		sent, last := h.textsOf(func() reply { return h.challenge(bearer, factor) })
		h.expect("before it is verified", last, http.StatusTooManyRequests, "over_sms_send_rate_limit")
		if sent != 4 {
			t.Errorf("before it is verified: %d text messages", sent)
		}
		h.clock.advance(4 * time.Hour)
		challenge := h.challenge(bearer, factor)
		h.expect("verify", h.verifyFactor(bearer, factor, challenge.text("id"), h.text().Code), http.StatusOK, "")
		sent, last = h.textsOf(func() reply { return h.challenge(bearer, factor) })
		h.expect("a sign-in", last, http.StatusTooManyRequests, "over_sms_send_rate_limit")
		if sent != 20 {
			t.Errorf("sign-ins: %d text messages", sent)
		}
	})
}
