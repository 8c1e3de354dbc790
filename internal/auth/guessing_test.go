package auth

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Ten thousand guesses against one account, from many addresses and over some hours: none succeeds, and the owner gets
// in afterwards by password and by link.
func TestGuessingNeitherSucceedsNorLocksTheOwnerOut(t *testing.T) {
	const guesses, rounds = 10_000, 20
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newHouse(t, d)
		h.owner()
		thief := func(i int) header {
			return from(netip.AddrFrom4([4]byte{203, byte(i >> 12), byte(i >> 4), 9}).String())
		}
		together := func(from, to int, guess func(i int) reply) {
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
		together(0, guesses, func(i int) reply { return h.signInAs(email, fmt.Sprintf("guess number %d", i), thief(i)) })
		for round := range rounds { // the thief asks for new codes as often as that is allowed
			h.clock.pass(h.cfg.MailMinInterval)
			h.expect("recover", h.post("recover", fields{"email": email}, thief(round)), 200, "")
			sent := h.mail(MailRecovery).Code
			together(round*guesses/rounds, (round+1)*guesses/rounds, func(i int) reply {
				code := fmt.Sprintf("%06d", i)
				if code == sent { // no guess hits by chance
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
		h.clock.pass(h.cfg.MailMinInterval)
		h.expect("recover", h.post("recover", fields{"email": email}, home), 200, "")
		hash, _ := h.linkOf(h.mail(MailRecovery))
		h.expect("the owner's link", h.post("verify", fields{"type": "recovery", "token_hash": hash}, home), 200, "")
		h.clock.pass(codeWindow)
		h.expect("recover", h.post("recover", fields{"email": email}, home), 200, "")
		h.expect("codes again, a day later", h.post("verify", fields{"type": "recovery", "email": email, "token": h.mail(MailRecovery).Code}, home), 200, "")
	})
}
