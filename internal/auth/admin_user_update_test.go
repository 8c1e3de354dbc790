package auth

import (
	"reflect"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves S7-admin-10, A-audit-1, W-auth-7.
func TestAdminUpdateChangesOnlyGivenFields(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		u := h.mustCreate(map[string]any{
			"email": email, "user_metadata": map[string]any{"a": 1, "b": 2}, "app_metadata": map[string]any{"c": 3, "d": 4},
		})
		id := u["id"].(string)
		if r := h.asService("PUT", "/admin/users/"+id, map[string]any{}); r.status != 200 || !reflect.DeepEqual(r.body, u) {
			t.Errorf("an empty request: %s", r.raw)
		}
		r := h.asService("PUT", "/admin/users/"+id, map[string]any{
			"user_metadata": map[string]any{"a": nil, "x": "y"}, "app_metadata": map[string]any{"d": nil, "e": []any{}}, "role": "authenticated",
		})
		h.expect("another role", h.asService("PUT", "/admin/users/"+id, map[string]any{"role": "service_role"}), 400, "validation_failed")
		own, app := r.body["user_metadata"], r.body["app_metadata"].(map[string]any)
		if !reflect.DeepEqual(own, map[string]any{"b": 2.0, "x": "y"}) || keysOf(app) != "c e provider providers" || r.text("role") != "authenticated" || r.text("email") != email {
			t.Errorf("got %s", r.raw)
		}
		if _, confirmed := r.body["email_confirmed_at"]; confirmed {
			t.Error("the address was confirmed without a link")
		}
		r = h.asService("PUT", "/admin/users/"+id, map[string]any{"email_confirm": true, "phone_confirm": true})
		if r.text("email_confirmed_at") == "" || r.text("phone_confirmed_at") != "" || r.body["user_metadata"].(map[string]any)["email_verified"] != true {
			t.Errorf("got %s", r.raw)
		}
		r = h.asService("PUT", "/admin/users/"+id, map[string]any{"email": "New@example.pt", "phone": "+351910000000", "phone_confirm": true})
		if r.text("email") != "new@example.pt" || r.text("phone") != "351910000000" || r.text("phone_confirmed_at") == "" || len(r.body["identities"].([]any)) != 2 {
			t.Errorf("got %s", r.raw)
		}
		for _, i := range r.body["identities"].([]any) {
			data := i.(map[string]any)["identity_data"].(map[string]any)
			if data["email"] != "new@example.pt" && (data["phone"] != "351910000000" || data["phone_verified"] != true) {
				t.Errorf("identity %v", data)
			}
		}
		if got := h.countAuditEntries(auditUserModified, id); got != "4" {
			t.Errorf("%s audit entries", got)
		}
		if detail := h.value("select cast(count(*) as text) from auth_audit_log where cast(detail as text) like '%example.pt%' or cast(detail as text) like '%3519%'"); detail != "0" {
			t.Error("the audit log keeps addresses")
		}
	})
}

// Proves S7-admin-10.
func TestPasswordSetByTheServiceKeyEndsSessionsAndLinks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		session := h.mustSignIn()
		id := session.body["user"].(map[string]any)["id"].(string)
		link := h.asService("POST", "/admin/generate_link", map[string]any{"type": "recovery", "email": email}).text("hashed_token")
		h.expect("weak", h.asService("PUT", "/admin/users/"+id, map[string]any{"password": "short"}), 422, "weak_password")
		h.expect("empty", h.asService("PUT", "/admin/users/"+id, map[string]any{"password": ""}), 422, "weak_password")
		h.expect("still signed in", h.user(session.text("access_token")), 200, "")
		if _, err := h.findLink(t.Context(), link); err != nil {
			t.Error(err)
		}
		h.expect("new password", h.asService("PUT", "/admin/users/"+id, map[string]any{"password": "another horse battery"}), 200, "")
		h.expect("signed out", h.user(session.text("access_token")), 403, "session_not_found")
		h.expect("no refresh", h.refreshWith(session.text("refresh_token")), 400, "refresh_token_not_found")
		if _, err := h.findLink(t.Context(), link); codeOf(err) != "otp_expired" {
			t.Errorf("the link still works: %v", err)
		}
		h.expect("old password", h.signInAs(email, password), 400, "invalid_credentials")
		h.expect("signs in", h.signInAs(email, "another horse battery"), 200, "")
	})
}

func TestNewAddressInvalidatesLinksToTheOldOne(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		session := h.mustSignIn()
		link := h.asService("POST", "/admin/generate_link", map[string]any{"type": "recovery", "email": email}).text("hashed_token")
		h.expect("moved", h.asService("PUT", "/admin/users/"+session.body["user"].(map[string]any)["id"].(string), map[string]any{"email": "moved@example.pt"}), 200, "")
		if _, err := h.findLink(t.Context(), link); codeOf(err) != "otp_expired" {
			t.Errorf("the link still works: %v", err)
		}
		h.expect("the session goes on", h.user(session.text("access_token")), 200, "")
		h.expect("signs in", h.signInAs("moved@example.pt", password), 200, "")
	})
}

// Proves S7-admin-10.
func TestAdminUpdateRefusals(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.mustCreate(map[string]any{"email": "taken@example.pt", "phone": "351910000000"})
		id := h.mustCreateID(map[string]any{"email": email})
		for name, c := range map[string]struct {
			id     string
			body   map[string]any
			status int
			code   string
		}{
			"unknown":       {newID(), map[string]any{}, 404, "user_not_found"},
			"no id":         {"seven", map[string]any{}, 404, "validation_failed"},
			"taken address": {id, map[string]any{"email": "taken@example.pt", "user_metadata": map[string]any{"a": 1}}, 422, "email_exists"},
			"taken number":  {id, map[string]any{"phone": "351910000000", "password": password}, 422, "phone_exists"},
			"no address":    {id, map[string]any{"email": "x"}, 400, "validation_failed"},
			"no number":     {id, map[string]any{"phone": "x"}, 400, "validation_failed"},
		} {
			h.expect(name, h.asService("PUT", "/admin/users/"+c.id, c.body), c.status, c.code)
		}
		r := h.asService("GET", "/admin/users/"+id, nil)
		if r.text("email") != email || len(r.body["user_metadata"].(map[string]any)) != 0 {
			t.Errorf("a refused change was kept: %s", r.raw)
		}
		h.expect("get unknown", h.asService("GET", "/admin/users/"+newID(), nil), 404, "user_not_found")
	})
}
