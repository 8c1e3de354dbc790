package auth

import (
	"strings"
	"sync"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves S7-admin-13.
func TestHardDeleteLeavesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		id := h.mustCreateID(map[string]any{"email": email, "password": password, "email_confirm": true})
		token := h.mustSignIn().text("access_token")
		h.asService("POST", "/admin/generate_link", map[string]any{"type": "recovery", "email": email})
		r := h.asService("DELETE", "/admin/users/"+id, nil)
		if r.status != 200 || r.raw != "{}" {
			t.Errorf("status %d: %s", r.status, r.raw)
		}
		for _, table := range []string{"auth_users", "auth_identities", "auth_sessions", "auth_refresh_tokens", "auth_one_time_tokens", "auth_known_devices"} {
			if n := h.count(table); n != 0 {
				t.Errorf("%d rows in %s", n, table)
			}
		}
		h.expect("its token", h.user(token), 403, "user_not_found")
		h.expect("again", h.asService("DELETE", "/admin/users/"+id, nil), 404, "user_not_found")
		h.mustCreate(map[string]any{"email": email})
		if got := h.countAuditEntries(auditUserDeleted, id); got != "1" {
			t.Errorf("%s audit entries", got)
		}
	})
}

// Proves S7-admin-10, S7-admin-14.
func TestSoftDeleteFreesTheAddressesAndKeepsHashes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		id := h.mustCreateID(map[string]any{
			"email": email, "phone": "351910000000", "password": password, "email_confirm": true, "user_metadata": map[string]any{"full_name": "Inês"},
		})
		session := h.mustSignIn()
		link := h.asService("POST", "/admin/generate_link", map[string]any{"type": "email_change_current", "email": email, "new_email": "later@example.pt"}).text("hashed_token")
		h.exec("insert into auth_factors (id, user_id, factor_type, status, created_at, updated_at) values ($1, $2, 'totp', 'verified', $3, $3)", newID(), id, h.clock.now())
		soft := map[string]any{"should_soft_delete": true}
		h.expect("deleted", h.asService("DELETE", "/admin/users/"+id, soft), 200, "")
		h.expect("its token", h.user(session.text("access_token")), 403, "user_not_found")
		h.expect("its refresh token", h.refreshWith(session.text("refresh_token")), 400, "refresh_token_not_found")
		h.expect("its password", h.signInAs(email, password), 400, "invalid_credentials")
		if _, err := h.findLink(t.Context(), link); codeOf(err) != "otp_expired" {
			t.Errorf("its link: %v", err)
		}
		r := h.asService("GET", "/admin/users/"+id, nil)
		if r.status != 200 || r.text("deleted_at") == "" || len(r.text("email")) != 43 || len(r.text("phone")) != anonymizedPhoneLength || r.body["factors"] != nil {
			t.Errorf("status %d: %s", r.status, r.raw)
		}
		for _, trace := range []string{"example.pt", "351910000000", "Inês", "later"} {
			if strings.Contains(r.raw, trace) {
				t.Errorf("%q is left in %s", trace, r.raw)
			}
		}
		deleted := r.raw
		h.expect("again", h.asService("DELETE", "/admin/users/"+id, soft), 200, "")
		if again := h.asService("GET", "/admin/users/"+id, nil); again.raw != deleted {
			t.Errorf("the second time changed %s to %s", deleted, again.raw)
		}
		h.expect("no change of a deleted account", h.asService("PUT", "/admin/users/"+id, map[string]any{"email": "back@example.pt"}), 404, "user_not_found")
		other := h.mustCreateID(map[string]any{"email": email, "phone": "351910000000"})
		h.expect("the new one goes the same way", h.asService("DELETE", "/admin/users/"+other, soft), 200, "")
		h.expect("and for good", h.asService("DELETE", "/admin/users/"+id, nil), 200, "")
		if n := h.count("auth_users"); n != 1 {
			t.Errorf("%d accounts", n)
		}
	})
}

// Proves S7-admin-15.
func TestLastOwnerCannotBeDeleted(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		if err := h.AddOwner(t.Context(), "rui@example.pt", password); err != nil {
			t.Fatal(err)
		}
		ids := []string{}
		for _, u := range h.asService("GET", "/admin/users", nil).body["users"].([]any) {
			ids = append(ids, u.(map[string]any)["id"].(string))
		}
		// Both are deleted concurrently: each request sees the other owner as the remaining one.
		answers := make([]reply, len(ids))
		var all sync.WaitGroup
		for i, id := range ids {
			all.Go(func() {
				answers[i] = h.asService("DELETE", "/admin/users/"+id, map[string]any{"should_soft_delete": i == 0})
			})
		}
		all.Wait()
		left := ids[0]
		if answers[0].status == 200 {
			left, answers[0], answers[1] = ids[1], answers[1], answers[0]
		}
		h.expect("one stays", answers[0], 409, "conflict")
		h.expect("one goes", answers[1], 200, "")
		for _, soft := range []bool{false, true} {
			h.expect("the last one", h.asService("DELETE", "/admin/users/"+left, map[string]any{"should_soft_delete": soft}), 409, "conflict")
		}
		if n := h.count("user_roles"); n != 1 {
			t.Errorf("%d owners", n)
		}
	})
}
