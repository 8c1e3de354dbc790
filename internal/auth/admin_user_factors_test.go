package auth

import (
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves S7-admin-16.
func TestAdminReadsChangesAndDeletesFactors(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		id := h.mustCreateID(map[string]any{"email": email, "password": password, "email_confirm": true})
		other := h.mustCreateID(map[string]any{"email": "rui@example.pt"})
		path := "/admin/users/" + id + "/factors"
		if r := h.asService("GET", path, nil); r.status != 200 || r.raw != "[]" {
			t.Errorf("status %d: %s", r.status, r.raw)
		}
		totp, phone := newID(), newID()
		h.exec("insert into auth_factors (id, user_id, friendly_name, factor_type, status, secret, created_at, updated_at) values ($1, $2, 'app', 'totp', 'verified', 'hush', $3, $3)", totp, id, h.clock.now())
		h.exec("insert into auth_factors (id, user_id, factor_type, status, phone, created_at, updated_at) values ($1, $2, 'phone', 'verified', '351910000000', $3, $3)", phone, id, h.clock.now())
		session := h.claims(h.mustSignIn().text("access_token"))["session_id"]
		h.exec(`update auth_sessions set aal = 'aal2', amr = '[{"method":"totp","timestamp":2},{"method":"password","timestamp":1}]' where id = $1`, session)

		r := h.asService("PUT", path+"/"+totp, map[string]any{"friendly_name": "my app", "phone": "351920000000"})
		if r.status != 200 || r.text("friendly_name") != "my app" || r.text("phone") != "" || r.body["secret"] != nil {
			t.Errorf("status %d: %s", r.status, r.raw)
		}
		if r := h.asService("PUT", path+"/"+phone, map[string]any{"phone": "+351920000000"}); r.status != 200 || r.text("phone") != "351920000000" {
			t.Errorf("status %d: %s", r.status, r.raw)
		}
		h.expect("no number", h.asService("PUT", path+"/"+phone, map[string]any{"phone": "x"}), 400, "validation_failed")
		for _, method := range []string{"PUT", "DELETE"} {
			h.expect("a malformed id", h.asService(method, path+"/seven", nil), 404, "validation_failed")
			h.expect("an unknown id", h.asService(method, path+"/"+newID(), nil), 404, "mfa_factor_not_found")
			h.expect("a factor of another account", h.asService(method, "/admin/users/"+other+"/factors/"+totp, nil), 404, "mfa_factor_not_found")
			h.expect("an unknown account", h.asService(method, "/admin/users/"+newID()+"/factors/"+totp, nil), 404, "user_not_found")
		}
		h.expect("delete phone", h.asService("DELETE", path+"/"+phone, nil), 200, "")
		if aal := h.value("select aal from auth_sessions where id = $1", session); aal != "aal2" {
			t.Errorf("a session that used another factor is %s", aal)
		}
		r = h.asService("DELETE", path+"/"+totp, nil)
		if r.status != 200 || r.text("id") != totp {
			t.Errorf("status %d: %s", r.status, r.raw)
		}
		if got := h.value("select aal || ' ' || cast(amr as text) from auth_sessions where id = $1", session); got != `aal1 [{"method":"password","timestamp":1}]` && got != `aal1 [{"method": "password", "timestamp": 1}]` {
			t.Errorf("the session is %s", got)
		}
		if h.count("auth_factors") != 0 || h.countAuditEntries(auditFactorDeleted, id) != "2" || h.countAuditEntries(auditFactorUpdated, id) != "2" {
			t.Error("factors or audit entries are left or missing")
		}
	})
}
