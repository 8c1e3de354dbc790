package auth

import (
	"fmt"
	"net/netip"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Ten thousand guesses against one account, from many addresses and over some hours: none succeeds, and the owner gets
// in afterwards by password and by link.
func TestGuessingNeitherSucceedsNorLocksTheOwnerOut(t *testing.T) {
	const guesses = 10_000
	if testing.Short() {
		t.Skip("20,000 requests")
	}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newHouse(t, d)
		h.owner()
		thief := func(i int) header { return from(netip.AddrFrom4([4]byte{203, byte(i >> 12), byte(i >> 4), 9}).String()) }
		for i := range guesses {
			r := h.signInAs(email, fmt.Sprintf("guess number %d", i), thief(i))
			if r.status != 400 && r.status != 429 {
				t.Fatalf("password %d: %d %s", i, r.status, r.raw)
			}
		}
		for i := range guesses {
			if i%500 == 0 { // the thief asks for a new code as often as that is allowed
				h.clock.pass(h.cfg.MailMinInterval)
				h.expect("recover", h.post("recover", fields{"email": email}, thief(i)), 200, "")
				h.deliver()
			}
			code := fmt.Sprintf("%06d", i)
			if m := h.lastCode(); code == m {
				code = wrong(m)
			}
			r := h.post("verify", fields{"type": "recovery", "email": email, "token": code}, thief(i))
			if r.status != 403 && r.status != 429 {
				t.Fatalf("code %d: %d %s", i, r.status, r.raw)
			}
		}
		if n := h.count("auth_sessions"); n != 0 {
			t.Fatalf("%d sessions", n)
		}
		home := from("198.51.100.20")
		h.expect("the owner's password", h.signInAs(email, password, home), 200, "")
		h.clock.pass(h.cfg.MailMinInterval)
		h.settle()
		h.expect("recover", h.post("recover", fields{"email": email}, home), 200, "")
		hash, _ := h.linkOf(h.mail(MailRecovery))
		h.expect("the owner's link", h.post("verify", fields{"type": "recovery", "token_hash": hash}, home), 200, "")
		h.clock.pass(codeWindow)
		h.expect("recover", h.post("recover", fields{"email": email}, home), 200, "")
		h.expect("codes again, a day later", h.post("verify", fields{"type": "recovery", "email": email, "token": h.mail(MailRecovery).Code}, home), 200, "")
	})
}

// lastCode keeps the code of the newest mail, so that no guess hits it by chance.
func (h *house) lastCode() string {
	for {
		select {
		case m := <-h.posted:
			h.newest = m.Code
		default:
			return h.newest
		}
	}
}
