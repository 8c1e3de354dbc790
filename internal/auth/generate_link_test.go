package auth

import (
	"net/url"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves S7-admin-2, S7-admin-3, W-auth-6.
func TestGenerateLinkOfEveryType(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		known := h.mustCreateID(map[string]any{"email": email, "email_confirm": true})
		for _, c := range []struct {
			body   map[string]any
			answer string // verification_type in the response
			verify string // type in the link
			kind   tokenKind
			sentTo string
		}{
			{map[string]any{"type": "signup", "email": "a@example.pt", "password": password, "data": map[string]any{"name": "A"}}, "signup", "signup", tokenConfirmation, "a@example.pt"},
			{map[string]any{"type": "signup", "email": "a@example.pt", "password": "another horse battery", "data": map[string]any{"more": 1}}, "signup", "signup", tokenConfirmation, "a@example.pt"},
			{map[string]any{"type": "invite", "email": "b@example.pt", "data": map[string]any{"name": "B"}}, "invite", "invite", tokenConfirmation, "b@example.pt"},
			{map[string]any{"type": "invite", "email": "b@example.pt"}, "invite", "invite", tokenConfirmation, "b@example.pt"},
			{map[string]any{"type": "magiclink", "email": email}, "magiclink", "magiclink", tokenRecovery, email},
			{map[string]any{"type": "magiclink", "email": "c@example.pt"}, "signup", "signup", tokenConfirmation, "c@example.pt"},
			{map[string]any{"type": "recovery", "email": email}, "recovery", "recovery", tokenRecovery, email},
			{map[string]any{"type": "email_change_current", "email": email, "new_email": "New@example.pt"}, "email_change_current", "email_change", tokenEmailCurrent, email},
			{map[string]any{"type": "email_change_new", "email": email, "new_email": "New@example.pt"}, "email_change_new", "email_change", tokenEmailNew, "new@example.pt"},
		} {
			c.body["redirect_to"] = "https://ines.example/next"
			r := h.asService("POST", "/admin/generate_link", c.body)
			if r.status != 200 {
				t.Errorf("%v: %d %s", c.body, r.status, r.raw)
				continue
			}
			link, err := url.Parse(r.text("action_link"))
			if err != nil {
				t.Fatal(err)
			}
			q := link.Query()
			if want := "https://ines.example/auth/v1/verify?token=" + r.text("hashed_token") + "&type=" + c.verify + "&redirect_to=https%3A%2F%2Fines.example%2Fnext"; r.text("action_link") != want {
				t.Errorf("link %s, want %s", r.text("action_link"), want)
			}
			if r.text("verification_type") != c.answer || r.text("redirect_to") != "https://ines.example/next" || len(r.text("email_otp")) != 6 ||
				q.Get("token") != r.text("hashed_token") || q.Get("type") != c.verify || q.Get("redirect_to") != "https://ines.example/next" || link.Host != "ines.example" || link.Path != "/auth/v1/verify" {
				t.Errorf("%v: %s", c.body, r.raw)
			}
			token, err := h.findLink(t.Context(), r.text("hashed_token"))
			if err != nil || token.kind != c.kind || token.sentTo != c.sentTo || token.userID != r.text("id") {
				t.Errorf("%v: %+v, %v", c.body, token, err)
			}
			if _, err := h.checkCode(t.Context(), r.text("id"), r.text("email_otp"), c.kind); err != nil {
				t.Errorf("%v: %v", c.body, err)
			}
			action := h.linkTypes()[c.answer].action
			if action == "" {
				action = auditUserInvited
			}
			if got := h.countAuditEntries(action, r.text("id")); got == "0" {
				t.Errorf("%v: no audit entry", c.body)
			}
		}
		u := h.asService("GET", "/admin/users/"+known, nil)
		if u.text("new_email") != "new@example.pt" || u.text("email") != email || u.text("recovery_sent_at") == "" {
			t.Error(u.raw)
		}
		h.exec("update auth_users set email_confirmed_at = $1 where email = 'a@example.pt'", h.clock.now())
		if r := h.signInAs("a@example.pt", "another horse battery"); r.status != 200 || keysOf(r.body["user"].(map[string]any)["user_metadata"].(map[string]any)) != "more name" {
			t.Errorf("status %d: %s", r.status, r.raw)
		}
		h.deliver()
		if len(h.mails) != 0 {
			t.Error("a mail was sent")
		}
	})
}

func TestLinkForAnotherAddressIsInvalid(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.mustCreate(map[string]any{"email": email, "email_confirm": true})
		first := h.asService("POST", "/admin/generate_link", map[string]any{"type": "email_change_current", "email": email, "new_email": "one@example.pt"}).text("hashed_token")
		h.asService("POST", "/admin/generate_link", map[string]any{"type": "email_change_new", "email": email, "new_email": "two@example.pt"})
		if _, err := h.findLink(t.Context(), first); codeOf(err) != "otp_expired" {
			t.Errorf("got %v", err)
		}
	})
}

// Proves S7-admin-6.
func TestGenerateLinkRefusals(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.mustCreate(map[string]any{"email": email, "email_confirm": true})
		h.mustCreate(map[string]any{"email": "taken@example.pt"})
		for name, c := range map[string]struct {
			body   map[string]any
			status int
			code   string
		}{
			"no type":             {map[string]any{"email": email}, 400, "validation_failed"},
			"unknown type":        {map[string]any{"email": email, "type": "sms"}, 400, "validation_failed"},
			"no address":          {map[string]any{"type": "recovery"}, 400, "validation_failed"},
			"confirmed sign-up":   {map[string]any{"type": "signup", "email": email, "password": password}, 422, "email_exists"},
			"confirmed invite":    {map[string]any{"type": "invite", "email": email}, 422, "email_exists"},
			"no password":         {map[string]any{"type": "signup", "email": "x@example.pt"}, 400, "validation_failed"},
			"weak password":       {map[string]any{"type": "signup", "email": "x@example.pt", "password": "short"}, 422, "weak_password"},
			"unknown recovery":    {map[string]any{"type": "recovery", "email": "x@example.pt"}, 404, "user_not_found"},
			"unknown change":      {map[string]any{"type": "email_change_new", "email": "x@example.pt", "new_email": "y@example.pt"}, 404, "user_not_found"},
			"change to nothing":   {map[string]any{"type": "email_change_current", "email": email}, 400, "validation_failed"},
			"change to the same":  {map[string]any{"type": "email_change_current", "email": email, "new_email": email}, 422, "email_exists"},
			"change to another's": {map[string]any{"type": "email_change_new", "email": email, "new_email": "taken@example.pt"}, 422, "email_exists"},
			"too much data":       {map[string]any{"type": "invite", "email": "x@example.pt", "data": nested(100)}, 400, "validation_failed"},
		} {
			h.expect(name, h.asService("POST", "/admin/generate_link", c.body), c.status, c.code)
		}
		if n := h.count("auth_users"); n != 2 {
			t.Errorf("%d accounts", n)
		}
		r := h.asService("POST", "/admin/generate_link", map[string]any{"type": "recovery", "email": email, "redirect_to": "https://evil.example/"})
		if r.text("redirect_to") != "https://ines.example" {
			t.Error(r.raw)
		}
	})
}
