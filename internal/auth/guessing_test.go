//go:build !race

// This test sends thousands of requests. With the race detector it would take minutes, and find no more than with few requests.
package auth

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/test/soak"
)

// Proves A-safe-9.
//
// The test guesses passwords and codes of one account, from many IP addresses: 200 of each, or 10,000 in make soak. No guess may succeed, and
// the owner must be able to sign in afterwards by password and by link.
func TestGuessingNeitherSucceedsNorLocksTheOwnerOut(t *testing.T) {
	if testing.Short() {
		t.Skip("hashes hundreds of guesses")
	}
	guesses, rounds := soak.Size(200, 10_000), soak.Size(2, 20)
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d) // without a limit of mails a day, so that as many codes as possible are valid
		h.owner()
		thief := func(i int) header {
			return from(netip.AddrFrom4([4]byte{203, byte(i >> 12), byte(i >> 4), 9}).String())
		}
		// concurrently runs guess for the numbers from up to to, with 16 workers.
		concurrently := func(from, to int, guess func(i int) reply) {
			var wg sync.WaitGroup
			for worker := range 16 {
				wg.Go(func() {
					for i := from + worker; i < to; i += 16 {
						if r := guess(i); r.status != 400 && r.status != 403 && r.status != 429 {
							t.Errorf("guess %d: %d %s", i, r.status, r.raw)
						}
					}
				})
			}
			wg.Wait()
		}
		concurrently(0, guesses, func(i int) reply { return h.signInAs(email, fmt.Sprintf("guess number %d", i), thief(i)) })
		for round := range rounds { // new codes are requested as often as the cooldown allows
			h.clock.advance(h.cfg.MailMinInterval)
			h.expect("recover", h.post("recover", fields{"email": email}, thief(round)), 200, "")
			sent := h.mail(MailRecovery).Code
			concurrently(round*guesses/rounds, (round+1)*guesses/rounds, func(i int) reply {
				code := fmt.Sprintf("%06d", i)
				if code == sent { // leave the correct code out
					code = wrong(sent)
				}
				return h.post("verify", fields{"type": "recovery", "email": email, "token": code}, thief(i))
			})
		}
		if n := h.count("auth_sessions"); n != 0 {
			t.Fatalf("%d sessions", n)
		}
		home := from("198.51.100.20")
		h.expect("the owner's password", h.signInAs(email, password, home), 200, "")
		h.clock.advance(h.cfg.MailMinInterval)
		h.expect("recover", h.post("recover", fields{"email": email}, home), 200, "")
		hash, _ := h.linkOf(h.mail(MailRecovery))
		h.expect("the owner's link", h.post("verify", fields{"type": "recovery", "token_hash": hash}, home), 200, "")
		h.clock.advance(triesWindow)
		h.expect("recover", h.post("recover", fields{"email": email}, home), 200, "")
		h.expect("codes again, a day later", h.post("verify", fields{"type": "recovery", "email": email, "token": h.mail(MailRecovery).Code}, home), 200, "")
	})
}

// Proves A-safe-9.
func TestGuessingIsSlowAndLocksNobodyOut(t *testing.T) {
	if testing.Short() {
		t.Skip("makes thousands of guesses")
	}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, func(c *Config) { c.RateLimited, c.JWTExpiry = false, 24*time.Hour })
		a, _ := h.ownerWithFactor()
		thief := h.mustSignIn().text("access_token")
		from := func(network string) header { return header{"X-Forwarded-For", network} }
		sendRequest := func(bearer, network string) string {
			r := h.call("POST", "/auth/v1/factors/"+a.id+"/challenge", bearer, "{}", from(network))
			return r.text("id")
		}
		checked := 0
		guess := func(network string) {
			r := h.verifyFactor(thief, a.id, sendRequest(thief, network), "1111111", from(network))
			switch r.status {
			case 422:
				checked++
			case 429:
				if r.header.Get("Retry-After") == "" || r.code() != "over_request_rate_limit" {
					t.Fatalf("refusal %v %s", r.header, r.raw)
				}
			default:
				t.Fatalf("guess: %d %s", r.status, r.raw)
			}
		}
		for range 300 { // one network, 5 hours
			guess("203.0.113.7")
			h.clock.advance(time.Minute)
		}
		if checked > 20 {
			t.Errorf("%d of 300 guesses from one network were checked", checked)
		}
		checked = 0
		all := soak.Size(3*triesPerFactor, 1000)
		for i := range all { // from many networks, concurrently
			guess(fmt.Sprintf("198.51.%d.%d", i/250, i%250))
		}
		if checked > triesPerFactor {
			t.Errorf("%d of %d guesses from many networks were checked", checked, all)
		}
		checked = 0
		challenge := sendRequest(thief, "203.0.113.7")
		rest := soak.Size(100, 8700)
		for range rest { // and the rest of the ten thousand concurrently
			if r := h.verifyFactor(thief, a.id, challenge, "1111111", from("203.0.113.7")); r.status == 422 {
				checked++
			}
		}
		if checked > 1 {
			t.Errorf("%d of %d concurrent guesses were checked", checked, rest)
		}
		// From an IP address that the owner has used before, nothing is delayed. From other addresses a recovery code works.
		owner := h.mustSignIn().text("access_token")
		if r := h.step(owner, a); r.status != 200 {
			t.Errorf("the owner at home: %d %s", r.status, r.raw)
		}
		// After the maximum wait, another network gets an attempt again: the factor is not locked permanently.
		h.clock.advance(maxTryDelay)
		away := h.mustSignIn().text("access_token")
		if r := h.verifyFactor(away, a.id, sendRequest(away, "203.0.113.200"), a.code(h.clock.now()), from("203.0.113.200")); r.status != 200 {
			t.Errorf("the owner from another network: %d %s", r.status, r.raw)
		}
	})
}
