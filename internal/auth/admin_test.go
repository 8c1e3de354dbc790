package auth

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
)

var _ = serve(func(s *Service) map[string]httpx.Handler {
	return map[string]httpx.Handler{
		"POST /auth/v1/invite": s.Invite, "GET /auth/v1/admin/users": s.AdminListUsers, "POST /auth/v1/admin/users": s.AdminCreateUser,
		"GET /auth/v1/admin/users/{user_id}": s.AdminGetUser, "PUT /auth/v1/admin/users/{user_id}": s.AdminUpdateUser,
		"DELETE /auth/v1/admin/users/{user_id}": s.AdminDeleteUser, "GET /auth/v1/admin/users/{user_id}/factors": s.AdminListFactors,
		"PUT /auth/v1/admin/users/{user_id}/factors/{factor_id}":    s.AdminUpdateFactor,
		"DELETE /auth/v1/admin/users/{user_id}/factors/{factor_id}": s.AdminDeleteFactor, "POST /auth/v1/admin/generate_link": s.GenerateLink,
	}
})

// asService sends a request with the service key.
func (h *fixture) asService(method, path string, body map[string]any) reply {
	text := ""
	if body != nil {
		text = object(body)
	}
	return h.call(method, "/auth/v1"+path, h.service, text)
}

// mustCreate makes an account with the admin API and returns it.
func (h *fixture) mustCreate(body map[string]any) map[string]any {
	h.t.Helper()
	r := h.asService("POST", "/admin/users", body)
	if r.status != 200 {
		h.t.Fatalf("create %v: %d %s", body, r.status, r.raw)
	}
	return r.body
}

func (h *fixture) mustCreateID(body map[string]any) string {
	h.t.Helper()
	id, _ := h.mustCreate(body)["id"].(string)
	return id
}

// countAuditEntries returns how many entries of the audit log say that the service key did action to the account.
func (h *fixture) countAuditEntries(action auditAction, userID string) string {
	return h.value("select cast(count(*) as text) from auth_audit_log where action = $1 and user_id = $2 and detail ->> 'actor' = 'service_role'", string(action), userID)
}

// adminCalls are the requests of the admin API. %s is replaced by the id of an account; %[1]s repeats
// that id where the id of a factor belongs.
var adminCalls = []string{
	"POST /invite", "GET /admin/users", "POST /admin/users", "GET /admin/users/%s", "PUT /admin/users/%s", "DELETE /admin/users/%s",
	"GET /admin/users/%s/factors", "PUT /admin/users/%s/factors/%[1]s", "DELETE /admin/users/%s/factors/%[1]s", "POST /admin/generate_link",
}

// Proves S6-key-1, S6-key-2.
func TestAdminEndpointsNeedTheServiceKey(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		session := h.mustSignIn()
		owner, id := session.text("access_token"), session.body["user"].(map[string]any)["id"]
		before := h.count("auth_users")
		for _, endpoint := range adminCalls {
			method, path, _ := strings.Cut(endpoint, " ")
			if strings.Contains(path, "%") {
				path = fmt.Sprintf(path, id)
			}
			body := `{"email":"stranger@example.pt","type":"signup","password":"` + password + `"}`
			h.expect(endpoint+", public key", h.call(method, "/auth/v1"+path, "", body), 403, "not_admin")
			h.expect(endpoint+", owner", h.call(method, "/auth/v1"+path, owner, body), 403, "not_admin")
			h.expect(endpoint+", owner beside the service key", h.call(method, "/auth/v1"+path, owner, body, header{"apikey", h.service}), 403, "not_admin")
			h.expect(endpoint+", nothing", h.call(method, "/auth/v1"+path, "", body, header{"apikey", ""}, header{"Authorization", ""}), 401, "no_authorization")
			for name, token := range badTokens(t, h, owner) {
				h.expect(endpoint+", "+name, h.call(method, "/auth/v1"+path, token, body), 401, "bad_jwt")
			}
		}
		if h.count("auth_users") != before || h.user(owner).status != 200 {
			t.Error("a refused call changed something")
		}
	})
}

// Proves S5-rule-10.
func TestAdminCallsSurviveHostileBodies(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		id := h.mustCreateID(map[string]any{"email": email})
		deep := strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)
		for name, body := range map[string]string{
			"nothing": "", "an empty object": "{}", "null": "null", "a list": "[]", "a number": "7", "cut off": `{"email":"`, "raw bytes": "\xff\xfe\x00",
			"invalid UTF-8":       "{\"email\":\"x@example.pt\",\"user_metadata\":{\"a\":\"\xff\"},\"data\":{\"a\":\"\xff\"},\"type\":\"invite\"}",
			"NUL in metadata":     `{"email":"n1@example.pt","user_metadata":{"a":"\u0000"},"app_metadata":{"\u0000":1},"data":{"a\u0000":1},"type":"invite"}`,
			"NUL in an address":   `{"email":"a\u0000@example.pt","phone":"1\u00002","new_email":"\u0000@example.pt","type":"invite"}`,
			"NUL elsewhere":       `{"email":"n2@example.pt","id":"\u0000","ban_duration":"\u0000","password_hash":"\u0000","type":"\u0000","friendly_name":"\u0000"}`,
			"a lone surrogate":    `{"email":"n3@example.pt","user_metadata":{"a":"\ud800"},"data":{"a":"\udfff"},"type":"signup","friendly_name":"\ud800"}`,
			"deep metadata":       `{"email":"n4@example.pt","user_metadata":` + deep + `,"type":"invite","data":` + deep + `}`,
			"deeper than Go":      `{"email":"n5@example.pt","data":` + strings.Repeat("[", 30000) + strings.Repeat("]", 30000) + `}`,
			"large metadata":      `{"email":"n6@example.pt","user_metadata":{"a":"` + strings.Repeat("a", 20<<10) + `"}}`,
			"too large":           `{"email":"n7@example.pt","user_metadata":{"a":"` + strings.Repeat("a", 70<<10) + `"}}`,
			"huge number":         `{"email":"n8@example.pt","user_metadata":{"a":1e999}}`,
			"wrong kinds":         `{"email":["a"],"phone":{},"password":1,"user_metadata":"x","ban_duration":3,"should_soft_delete":"yes"}`,
			"a long address":      `{"email":"` + strings.Repeat("a", 300) + `@example.pt"}`,
			"a ban without end":   `{"email":"n9@example.pt","ban_duration":"999999999999h"}`,
			"a long password":     `{"email":"n10@example.pt","password":"` + strings.Repeat("a", 2000) + `","type":"signup"}`,
			"an id that is taken": `{"email":"n11@example.pt","id":"` + id + `"}`,
		} {
			for _, endpoint := range adminCalls {
				method, path, _ := strings.Cut(endpoint, " ")
				if method == "DELETE" && !strings.Contains(path, "factors") {
					continue // this request is valid and would succeed
				}
				if strings.Contains(path, "%") {
					path = fmt.Sprintf(path, id)
				}
				r := h.call(method, "/auth/v1"+path, h.service, body)
				if r.status >= 500 || r.status >= 400 && r.code() == "" {
					t.Errorf("%s with %s: %d %s", endpoint, name, r.status, r.raw)
				}
			}
		}
		for _, path := range []string{"/admin/users/%00", "/admin/users/x", "/admin/users/" + id + "/factors/x", "/admin/users?filter=%00", "/admin/users?filter=%ff",
			"/admin/users?page=-1", "/admin/users?page=1e3", "/admin/users?per_page=0", "/admin/users?sort=email", "/admin/users?sort=created_at+up"} {
			if r := h.call("GET", "/auth/v1"+path, h.service, ""); r.status < 400 || r.status >= 500 {
				t.Errorf("GET %s: %d %s", path, r.status, r.raw)
			}
		}
		for _, path := range []string{"/admin/users?page=99999999999999999", "/admin/users?per_page=18446744073709551615", "/admin/users?page=0", "/admin/users?page=&per_page=",
			"/admin/users?filter=%25%5C_'", "/admin/users?filter=" + strings.Repeat("%25", maxMetadataBytes), "/admin/users?filter=" + strings.Repeat("%25", maxMetadataBytes+1),
			"/admin/users?filter=" + strings.Repeat("x", 50_001)} {
			if r := h.call("GET", "/auth/v1"+path, h.service, ""); r.status != 200 {
				t.Errorf("GET %s: %d %s", path, r.status, r.raw)
			}
		}
	})
}

// Proves S5-rule-10.
func TestMetadataMustFitIntoAToken(t *testing.T) {
	for name, c := range map[string]struct {
		value map[string]any
		code  string
	}{
		"nothing": {nil, ""}, "some": {map[string]any{"a": []any{map[string]any{"b": 1}}}, ""}, "an escaped backslash": {map[string]any{"a": `\u0000`}, ""},
		"NUL": {map[string]any{"a": "\x00"}, "validation_failed"}, "NUL in a name": {map[string]any{"\x00": 1}, "validation_failed"},
		"large": {map[string]any{"a": strings.Repeat("a", maxMetadataBytes)}, "validation_failed"}, "deep": {nested(maxMetadataDepth + 1), "validation_failed"},
		"just not deep": {nested(maxMetadataDepth), ""},
	} {
		_, err := encodeMetadata(c.value)
		if got := codeOf(err); got != c.code {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func nested(levels int) map[string]any {
	m := map[string]any{}
	for range levels {
		m = map[string]any{"a": m}
	}
	return m
}

// Proves S6-role-4, S7-admin-10.
func TestBannedAccountIsRefusedUntilTheBanEnds(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		session := h.mustSignIn()
		token, id := session.text("access_token"), session.body["user"].(map[string]any)["id"].(string)
		caller := h.claims(token)
		admin := func() bool {
			ok, err := h.IsAdmin(t.Context(), id, caller["session_id"].(string))
			bare, err2 := h.IsAdmin(t.Context(), id, "")
			if err != nil || err2 != nil || ok != bare {
				t.Fatal(ok, bare, err, err2)
			}
			return ok
		}
		if !admin() {
			t.Error("no administrator before the ban")
		}
		r := h.asService("PUT", "/admin/users/"+id, map[string]any{"ban_duration": "10m"})
		if r.status != 200 || r.text("banned_until") != h.clock.now().Add(10*time.Minute).Format(time.RFC3339) {
			t.Errorf("%d %s", r.status, r.raw)
		}
		h.expect("sign-in", h.signInAs(email, password), 400, "user_banned")
		refused := h.refreshWith(session.text("refresh_token"))
		h.expect("refresh", refused, 400, "user_banned")
		if refused.text("msg") != "Invalid Refresh Token: User Banned" {
			t.Error(refused.raw)
		}
		h.expect("user", h.user(token), 403, "user_banned")
		if admin() {
			t.Error("a banned account is an administrator")
		}
		h.clock.advance(10 * time.Minute)
		h.expect("after the ban", h.user(token), 200, "")
		h.expect("refresh after the ban", h.refreshWith(session.text("refresh_token")), 200, "")
		if !admin() {
			t.Error("no administrator after the ban")
		}
		h.asService("PUT", "/admin/users/"+id, map[string]any{"ban_duration": "876000h"})
		h.expect("for long", h.signInAs(email, password), 400, "user_banned")
		r = h.asService("PUT", "/admin/users/"+id, map[string]any{"ban_duration": "none"})
		if _, banned := r.body["banned_until"]; r.status != 200 || banned {
			t.Error(r.raw)
		}
		h.expect("lifted", h.signInAs(email, password), 200, "")
		h.expect("no duration", h.asService("PUT", "/admin/users/"+id, map[string]any{"ban_duration": "a while"}), 400, "validation_failed")
	})
}

// codeOf returns the code of an error response, or "" for a success.
func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return apperr.From(err).Code
}
