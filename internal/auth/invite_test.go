package auth

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves S7-admin-1.
func TestInviteMakesAnAccountAndAMail(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		invite := func(to string) reply {
			return h.asService("POST", "/invite?redirect_to="+url.QueryEscape(to), map[string]any{"email": "Rui@example.pt", "data": map[string]any{"locale": "pt-PT"}})
		}
		r := invite("https://ines.example/welcome")
		if r.status != 200 || r.text("email") != "rui@example.pt" || r.text("invited_at") == "" || r.text("confirmation_sent_at") == "" || r.body["email_confirmed_at"] != nil ||
			len(r.body["identities"].([]any)) != 1 {
			t.Fatalf("status %d: %s", r.status, r.raw)
		}
		mail := h.mail(MailInvite)
		link, err := url.Parse(mail.Link)
		if err != nil {
			t.Fatal(err)
		}
		q := link.Query()
		if mail.To != "rui@example.pt" || mail.Language != "pt" || len(mail.Code) != 6 || link.Path != "/auth/v1/verify" || q.Get("type") != "invite" || q.Get("redirect_to") != "https://ines.example/welcome" {
			t.Errorf("mail %+v", mail)
		}
		token, err := h.findLink(t.Context(), q.Get("token"))
		if err != nil || token.userID != r.text("id") || token.kind != tokenConfirmation || token.sentTo != "rui@example.pt" {
			t.Errorf("token %+v, %v", token, err)
		}
		h.expect("without a password", h.signInAs("rui@example.pt", password), 400, "invalid_credentials")

		h.clock.advance(time.Minute)
		again := invite("https://evil.example/")
		if again.status != 200 || again.text("id") != r.text("id") || again.text("invited_at") == r.text("invited_at") {
			t.Errorf("status %d: %s", again.status, again.raw)
		}
		if _, err := h.findLink(t.Context(), q.Get("token")); codeOf(err) != "otp_expired" {
			t.Errorf("the first link still works: %v", err)
		}
		second, err := url.Parse(h.mail(MailInvite).Link)
		if err != nil || second.Query().Get("redirect_to") != "https://ines.example" {
			t.Errorf("got %v, error %v", second, err)
		}
		h.asService("PUT", "/admin/users/"+r.text("id"), map[string]any{"email_confirm": true})
		h.expect("confirmed", invite(""), 422, "email_exists")
		h.expect("no address", h.asService("POST", "/invite", map[string]any{"email": "x"}), 400, "validation_failed")
		if got := h.countAuditEntries(auditUserInvited, r.text("id")); got != "2" {
			t.Errorf("%s audit entries", got)
		}
	})
}

// Proves A-safe-12.
//
// TestLinkByTheServiceKeyRemovesAnotherPersonsPassword signs up with somebody else's address, and then waits until the owner of the address
// follows a link that the service key has created.
func TestLinkByTheServiceKeyRemovesAnotherPersonsPassword(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		for i, link := range []map[string]any{
			{"type": "invite"}, {"type": "signup"}, {"type": "signup", "password": "the owner's own choice"}, {"type": "magiclink"}, {"type": "recovery"},
		} {
			address := fmt.Sprintf("u%d@example.pt", i)
			h.mustCreate(map[string]any{"email": address, "password": password})
			link["email"] = address
			r := h.asService("POST", "/admin/generate_link", link)
			token, err := h.findLink(t.Context(), r.text("hashed_token"))
			if err != nil {
				t.Fatal(r.raw, err)
			}
			if _, err := h.redeemToken(t.Context(), clientInfo{}, token, false); err != nil {
				t.Fatal(err)
			}
			h.expect(fmt.Sprint(link), h.signInAs(address, password), 400, "invalid_credentials")
			if own, given := link["password"].(string); given {
				h.expect("the given one", h.signInAs(address, own), 200, "")
			}
		}
	})
}
