package auth

import (
	"net/http"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// ahead is how far the clock is wrong in these tests, until it is corrected. The times that were stored meanwhile must not block anything
// afterwards.
const ahead = 26 * time.Hour

func TestAClockThatWasAheadLocksNobodyOut(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.clock.advance(ahead)
		factor, _ := h.ownerWithFactor() // marks the time step of a TOTP code as used, and counts an attempt
		recover := func() int {
			return h.call("POST", "/auth/v1/recover", h.anon, object(map[string]any{"email": email})).status
		}
		if got := recover(); got != http.StatusOK {
			t.Fatalf("recovery while the clock is ahead: %d", got)
		}
		if got := recover(); got != http.StatusTooManyRequests {
			t.Fatalf("a second one at once: %d", got)
		}
		h.clock.advance(-ahead)
		if got := recover(); got != http.StatusOK {
			t.Errorf("recovery when the clock is right again: %d", got)
		}
		if got := recover(); got != http.StatusTooManyRequests {
			t.Errorf("the wait between two mails must count again: %d", got)
		}
		bearer := h.mustSignIn().text("access_token")
		h.mustVerifyFactor(bearer, factor)
		if again := h.step(h.mustSignIn().text("access_token"), factor); again.status == http.StatusOK {
			t.Error("a code was accepted twice after the clock was corrected")
		}
	})
}

func TestTOTPStepUsedOnANodeAheadStaysUsed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.clock.advance(time.Minute) // less than the allowed difference between two clocks
		factor, _ := h.ownerWithFactor()
		h.clock.advance(-2 * time.Minute)
		if r := h.step(h.mustSignIn().text("access_token"), factor); r.status == http.StatusOK {
			t.Errorf("a step before the last one used: %d %s", r.status, r.raw)
		}
	})
}

func TestAPhoneIsChallengedAgainAfterTheClockWasAhead(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, phonesOn)
		h.owner()
		h.clock.advance(ahead)
		bearer := h.mustSignIn().text("access_token")
		id := h.call("POST", "/auth/v1/factors", bearer, object(map[string]any{"factor_type": "phone", "friendly_name": "mobile", "phone": "+351 910 000 000"})).text("id")
		if r := h.challenge(bearer, id); r.status != http.StatusOK {
			t.Fatalf("status %d: %s", r.status, r.raw)
		}
		h.clock.advance(-ahead)
		bearer = h.mustSignIn().text("access_token")
		if r := h.challenge(bearer, id); r.status != http.StatusOK {
			t.Errorf("status %d: %s", r.status, r.raw)
		}
		if r := h.challenge(bearer, id); r.status != http.StatusTooManyRequests {
			t.Errorf("at once again: %d %s", r.status, r.raw)
		}
	})
}

func TestSigningKeyOfAClockAheadIsReplaced(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, func(c *Config) { c.ES256 = true })
		h.clock.advance(ahead)
		if err := h.EnsureSigningKey(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.clock.advance(-ahead)
		if err := h.EnsureSigningKey(t.Context()); err != nil {
			t.Fatal(err)
		}
		keys, err := h.SigningKeys(t.Context())
		if err != nil || len(keys) != 2 || keys[0].SignFrom.After(h.clock.now()) {
			t.Errorf("no key signs now: %+v, %v", keys, err)
		}
		if _, _, err := h.RotateSigningKey(t.Context()); err != nil {
			t.Errorf("rotate: %v", err)
		}
	})
}
