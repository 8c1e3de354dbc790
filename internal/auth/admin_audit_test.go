package auth

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// auditLog returns the entries that match a query.
func (h *fixture) auditLog(query string) (list []auditLogEntry, r reply) {
	h.t.Helper()
	r = h.call("GET", "/auth/v1/admin/audit"+query, h.service, "")
	if r.status == 200 {
		if err := json.Unmarshal([]byte(r.raw), &list); err != nil {
			h.t.Fatal(err)
		}
	}
	return list, r
}

// Proves S6-key-1, A-audit-1, W-auth-8, W-auth-9.
func TestAuditLog(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		_, raised := h.ownerWithFactor()
		userID := raised.body["user"].(map[string]any)["id"].(string)
		h.clock.advance(time.Minute)
		h.expect("wrong password", h.signInAs(email, "not the password", header{"User-Agent", "Thief"}), 400, "invalid_credentials")
		list, r := h.auditLog("")
		if r.status != 200 || len(list) == 0 || r.header.Get("X-Total-Count") != fmt.Sprint(len(list)) || r.header.Get("Link") != `</auth/v1/admin/audit?page=1>; rel="last"` {
			t.Fatalf("got %d %v %s", r.status, r.header, r.raw)
		}
		newest := list[0]
		if newest.Payload.Action != "sign_in_refused" || newest.Payload.ActorUsername != email || *newest.Payload.ActorID != userID || newest.Payload.LogType != "account" ||
			newest.UserAgent != "Thief" || newest.IPAddress == "" || !newest.CreatedAt.Equal(h.clock.now()) || string(newest.Payload.Traits) == "" {
			t.Errorf("newest %+v", newest)
		}
		seen := map[string]bool{}
		for _, e := range list {
			seen[e.Payload.Action] = true
		}
		for _, action := range []string{"login", "factor_in_progress", "challenge_created", "verification_attempted"} {
			if !seen[action] {
				t.Errorf("no %s in %v", action, seen)
			}
		}

		first, r := h.auditLog("?per_page=2&page=1")
		last := (len(list) + 1) / 2
		if want := fmt.Sprintf(`</auth/v1/admin/audit?page=2&per_page=2>; rel="next", </auth/v1/admin/audit?page=%d&per_page=2>; rel="last"`, last); len(first) != 2 || r.header.Get("Link") != want {
			t.Errorf("%d entries, %s", len(first), r.header.Get("Link"))
		}
		if second, _ := h.auditLog("?per_page=2&page=2"); len(second) == 0 || second[0].ID != list[2].ID {
			t.Errorf("second page %+v", second)
		}
		if none, r := h.auditLog("?page=99"); len(none) != 0 || r.raw != "[]" {
			t.Errorf("past the end: %s", r.raw)
		}
		if found, _ := h.auditLog("?query=action:verification_attempted"); len(found) != 1 {
			t.Errorf("by action: %+v", found)
		}
		if found, _ := h.auditLog("?query=author:" + userID); len(found) != len(list) {
			t.Errorf("by author: %+v", found)
		}
		for _, query := range []string{"?page=x", "?page=-1", "?per_page=99999999999", "?query=x", "?query=action:%00", "?query=action:%ff", "?query=author:x", "?query=secret:x"} {
			_, r := h.auditLog(query)
			h.expect(query, r, 400, "validation_failed")
		}
		h.expect("owner's token", h.call("GET", "/auth/v1/admin/audit", raised.text("access_token"), ""), 403, "not_admin")
		h.expect("public key", h.call("GET", "/auth/v1/admin/audit", "", ""), 403, "not_admin")
	})
}

// Proves W-auth-8, W-auth-9.
//
// TestAuditActionsHaveTheReferencesNames performs actions on an account and checks their names in the audit log.
func TestAuditActionsHaveTheReferencesNames(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, func(c *Config) { c.SignupOpen = true })
		actions := func(what string, want ...string) {
			t.Helper()
			list, _ := h.auditLog("?per_page=1000")
			got := []string{}
			for _, e := range list {
				got = append(got, e.Payload.LogType+"/"+e.Payload.Action)
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
			h.exec("delete from auth_audit_log")
		}
		h.expect("sign-up", h.call("POST", "/auth/v1/signup", "", object(map[string]any{"email": email, "password": password})), 200, "")
		confirm := h.mail(MailConfirmation)
		actions("sign-up", "user/user_confirmation_requested")
		h.expect("again", h.call("POST", "/auth/v1/signup", "", object(map[string]any{"email": email, "password": password})), 429, "over_email_send_rate_limit")
		h.clock.advance(time.Minute)
		h.expect("confirmed", h.call("POST", "/auth/v1/verify", "", object(map[string]any{"type": "email", "email": email, "token": confirm.Code})), 200, "")
		actions("confirmation", "team/user_signedup", "account/login")
		session := h.mustSignIn()
		token := session.text("access_token")
		h.expect("refresh", h.refreshWith(session.text("refresh_token")), 200, "")
		h.expect("refresh again with the same token", h.refreshWith(session.text("refresh_token")), 200, "")
		actions("sign-in and refresh", "account/login", "token/token_refreshed")
		h.expect("recovery", h.call("POST", "/auth/v1/recover", "", object(map[string]any{"email": email})), 200, "")
		h.deliver()
		actions("recovery", "user/user_recovery_requested")
		h.expect("reauthentication", h.call("GET", "/auth/v1/reauthenticate", token, ""), 200, "")
		actions("reauthentication", "user/user_reauthenticate_requested")
		h.expect("password", h.call("PUT", "/auth/v1/user", token, object(map[string]any{"password": "another horse battery"})), 200, "")
		actions("password", "user/user_updated_password", "user/user_modified")
		for kind, action := range map[string]string{"recovery": "user/user_recovery_requested", "email_change_new": "user/link_generated"} {
			h.expect(kind, h.asService("POST", "/admin/generate_link", map[string]any{"type": kind, "email": email, "new_email": "other@example.pt"}), 200, "")
			actions(kind, action)
		}
		h.expect("logout", h.call("POST", "/auth/v1/logout", token, ""), 204, "")
		actions("logout", "account/logout")
	})
}
