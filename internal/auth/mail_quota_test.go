package auth

import (
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves S7-recover-3.
//
// Somebody requests a recovery of the owner's account every minute for three days. The owner gets at most 28 mails a day, and never waits
// longer for the next mail than a link is valid. Other addresses and kinds of mail are not delayed.
func TestOneRequestAMinuteSendsFewMailsADay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, func(c *Config) { c.MailsPerDay = 28 })
		sendRequest := func(kind cooldownKind, addresses ...string) (wait time.Duration) {
			err := h.db.WithTx(t.Context(), func(tx *db.Tx) (err error) {
				wait, err = h.spendQuota(t.Context(), tx, kind, h.mailQuota(), addresses...)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return wait
		}
		var sent []time.Time // times of the mails
		minutes := 3 * 24 * 60
		if d.Dialect == db.Postgres { // one day, because PostgreSQL is slower
			minutes = 24 * 60
		}
		for range minutes {
			h.clock.advance(time.Minute)
			if sendRequest(cooldownRecovery, email) == 0 {
				sent = append(sent, h.clock.now())
			}
		}
		for i, first := range sent {
			n := 0
			for _, at := range sent[i:] {
				if at.Sub(first) < day {
					n++
				}
			}
			if n > 28 {
				t.Errorf("%d mails in the day from %s", n, first)
			}
			if i > 0 && first.Sub(sent[i-1]) >= linkLife {
				t.Errorf("no mail for %s", first.Sub(sent[i-1]))
			}
		}
		t.Logf("%d mails for %d requests", len(sent), minutes)
		if sendRequest(cooldownConfirmation, email) != 0 || sendRequest(cooldownRecovery, newcomer) != 0 {
			t.Error("another kind or address has to wait")
		}
		if wait := sendRequest(cooldownRecovery, newcomer, email); wait <= 0 || wait > linkLife {
			t.Errorf("one of two addresses has used its quota, and the wait is %s", wait)
		}
		h.clock.advance(-72 * time.Hour) // a wrong clock is corrected
		if sendRequest(cooldownRecovery, email) != 0 {
			t.Error("a time from the future counts")
		}
	})
}

// Proves S7-recover-2, S7-recover-3.
//
// The owner requests a link once, and somebody else requests links every four minutes for six hours. A link is valid for exactly an hour,
// the mailbox always has a valid link, and all responses are equal.
func TestRequestsDoNotInvalidateLinks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, func(c *Config) { c.MailsPerDay = 28 })
		h.owner()
		type received struct {
			Mail
			hash string
			at   time.Time
		}
		var mailbox []received
		for start := h.clock.now(); h.clock.now().Sub(start) < 6*time.Hour; h.clock.advance(4 * time.Minute) {
			if r := h.post("recover", fields{"email": email}); r.status != 200 || r.raw != "{}" {
				t.Fatalf("got %d %s", r.status, r.raw)
			}
			h.deliver()
			select {
			case m := <-h.mails:
				hash, _ := h.linkOf(m)
				mailbox = append(mailbox, received{m, hash, h.clock.now()})
			default:
			}
			var valid int
			for i, m := range mailbox {
				_, err := h.findLink(t.Context(), m.hash)
				works := err == nil
				if fresh := h.clock.now().Sub(m.at) < linkLife; works != fresh {
					t.Errorf("after %s: link %d, %s old, works: %v", h.clock.now().Sub(start), i, h.clock.now().Sub(m.at), works)
				}
				if works {
					valid++
				}
			}
			if valid == 0 {
				t.Errorf("after %s no link of %d works", h.clock.now().Sub(start), len(mailbox))
			}
		}
		if len(mailbox) > 10 {
			t.Errorf("%d mails in six hours", len(mailbox))
		}
	})
}

// Proves S7-recover-2, S7-recover-3.
//
// After somebody has requested as many mails as can be sent immediately, the first link and its code still work. Using one invalidates the
// others.
func TestTheFirstLinkWorksAfterABurst(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, byCode := range []bool{false, true} {
			h := newFixture(t, d, func(c *Config) { c.MailsPerDay = 28 })
			h.exec("delete from auth_users")
			h.exec("delete from auth_last_sent")
			h.owner()
			var mails []Mail
			for range 3 {
				h.clock.advance(time.Minute)
				h.expect("recover", h.post("recover", fields{"email": email}), 200, "")
				mails = append(mails, h.mail(MailRecovery))
			}
			for range 3 { // beyond the quota: no mail is sent, no link becomes invalid, and the response is the same
				h.clock.advance(time.Minute)
				if r := h.post("recover", fields{"email": email}); r.status != 200 || r.raw != "{}" {
					t.Errorf("got %d %s", r.status, r.raw)
				}
				h.expectNoMessages("recover, beyond the quota")
			}
			hash := func(i int) string { token, _ := h.linkOf(mails[i]); return token }
			if byCode {
				h.expect("the first code", h.post("verify", fields{"type": "recovery", "email": email, "token": mails[0].Code}), 200, "")
			} else {
				h.expect("the first link", h.post("verify", fields{"type": "recovery", "token_hash": hash(0)}), 200, "")
			}
			for i := range mails {
				h.expect("another link", h.post("verify", fields{"type": "recovery", "token_hash": hash(i)}), 403, "otp_expired")
			}
			if n := h.count("auth_one_time_tokens"); n != 0 {
				t.Errorf("%d links are left", n)
			}
		}
	})
}

// Proves S7-recover-2.
//
// Without a quota, the number of valid links is limited, and only the codes of the newest five work.
func TestOnlyTheNewestCodesWork(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, func(c *Config) { c.MailsPerDay = 0 })
		h.owner()
		var mails []Mail
		for range maxCodes + 1 {
			h.clock.advance(time.Minute)
			h.expect("recover", h.post("recover", fields{"email": email}), 200, "")
			mails = append(mails, h.mail(MailRecovery))
		}
		verify := func(i int) reply {
			return h.post("verify", fields{"type": "recovery", "email": email, "token": mails[i].Code})
		}
		h.expect("the code before the newest five", verify(0), 403, "otp_expired")
		h.expect("the oldest of the newest five", verify(1), 200, "")
	})
}

// Proves S7-recover-2.
//
// Two links that were sent to the same mailbox are not the two confirmations that a change of address needs.
func TestTwoLinksToOneMailboxChangeNoAddress(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits)
		h.owner()
		bearer := h.mustSignIn().text("access_token")
		var hashes []string
		for range 2 {
			h.expect("change", h.put(bearer, fields{"email": newAddress}), 200, "")
			token, _ := h.linkOf(h.mail(MailEmailChange))
			hashes = append(hashes, token)
			h.discardMessages()
		}
		h.expect("the older", h.post("verify", fields{"type": "email_change", "token_hash": hashes[0]}), 200, "200")
		h.expect("the newer", h.post("verify", fields{"type": "email_change", "token_hash": hashes[1]}), 403, "otp_expired")
		if got := h.value("select email from auth_users"); got != email {
			t.Errorf("the address is now %s", got)
		}
	})
}

// Proves S7-recover-2.
//
// A change to another address invalidates the confirmations of the previous change.
func TestEmailChangeLinkFitsOneAddress(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits)
		h.owner()
		bearer := h.mustSignIn().text("access_token")
		h.expect("change", h.put(bearer, fields{"email": newAddress}), 200, "")
		token, _ := h.linkOf(h.mail(MailEmailChange))
		h.expect("a thief's change", h.put(bearer, fields{"email": "thief@example.com"}), 200, "")
		h.expect("the owner's link", h.post("verify", fields{"type": "email_change", "token_hash": token}), 403, "otp_expired")
	})
}

// Proves S7-recover-3.
//
// A signed-in caller gets an error about the quota, because there is nothing to hide from them.
func TestSignedInCallersGetAnErrorBeyondTheMailQuota(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, func(c *Config) { c.MailsPerDay, c.MailMinInterval = 1, 0 })
		h.owner()
		bearer := h.mustSignIn().text("access_token")
		h.expect("change", h.put(bearer, fields{"email": newAddress}), 200, "")
		h.expect("change again", h.put(bearer, fields{"email": newAddress}), 429, "over_email_send_rate_limit")
		h.expect("code", h.call("GET", "/auth/v1/reauthenticate", bearer, ""), 200, "")
		h.expect("code again", h.call("GET", "/auth/v1/reauthenticate", bearer, ""), 429, "over_email_send_rate_limit")
		h.discardMessages()
		h.expect("resend", h.post("resend", fields{"type": "email_change", "email": email}), 200, "")
		h.expectNoMessages("resend")
	})
}
