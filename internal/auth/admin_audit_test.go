package auth

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func (h *house) auditLog(query string) (list []auditBody, r reply) {
	h.t.Helper()
	r = h.call("GET", "/auth/v1/admin/audit"+query, h.service, "")
	if r.status == 200 {
		if err := json.Unmarshal([]byte(r.raw), &list); err != nil {
			h.t.Fatal(err)
		}
	}
	return list, r
}

func TestAuditLog(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newHouse(t, d)
		_, raised := h.secured()
		userID := raised.body["user"].(map[string]any)["id"].(string)
		h.clock.pass(time.Minute)
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
		for _, action := range []string{"signed_in", "factor_in_progress", "challenge_created", "factor_verified"} {
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
		if some, _ := h.auditLog("?query=action:factor_verified"); len(some) != 1 {
			t.Errorf("by action: %+v", some)
		}
		if some, _ := h.auditLog("?query=author:" + userID); len(some) != len(list) {
			t.Errorf("by author: %+v", some)
		}
		for _, query := range []string{"?page=x", "?page=-1", "?per_page=99999999999", "?query=x", "?query=action:%00", "?query=action:%ff", "?query=author:x", "?query=secret:x"} {
			_, r := h.auditLog(query)
			h.expect(query, r, 400, "validation_failed")
		}
		h.expect("owner's token", h.call("GET", "/auth/v1/admin/audit", raised.text("access_token"), ""), 403, "not_admin")
		h.expect("public key", h.call("GET", "/auth/v1/admin/audit", "", ""), 403, "not_admin")
	})
}
