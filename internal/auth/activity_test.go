package auth

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/activity"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// TestEveryAuditActionIsActivityOrLeftOut fails if an action is in neither list: those that the owner sees, and those that are left out.
func TestEveryAuditActionIsActivityOrLeftOut(t *testing.T) {
	decided := []auditAction{
		auditTokenRefreshed, auditConfirmationRequested, auditReauthenticationRequested, auditEmailChangeRequested, auditSignUpRepeated, auditPhoneChangeRequested,
		auditChallengeCreated, auditReauthenticated, auditFactorEnrolled,
	}
	for _, actions := range activityActions {
		decided = append(decided, actions...)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`auditAction = "(\w+)"`).FindAllStringSubmatch(string(source), -1) {
			found++
			if n := len(slices.DeleteFunc(slices.Clone(decided), func(a auditAction) bool { return string(a) != m[1] })); n != 1 {
				t.Errorf("%s is listed %d times", m[1], n)
			}
		}
	}
	if found != len(decided) {
		t.Errorf("%d actions are declared, %d are listed", found, len(decided))
	}
}

// activity returns the entries of some kinds: "kind action by account subject title method".
func (h *fixture) activity(kinds ...activity.Kind) (lines []string) {
	h.t.Helper()
	list, err := h.Activity(h.t.Context(), kinds, activity.Position{At: h.clock.now().AddDate(1, 0, 0), Event: uuid.Nil.String()}, 100)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range list {
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s %s %s %s", e.Kind, e.Action, e.By, e.Account, e.Subject, e.Title, e.Method)), " "))
	}
	return lines
}

// Proves A-activity-accounts.
func TestActivityOfFactors(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		a, _ := h.ownerWithFactor()
		h.clock.advance(totpPeriod * time.Second)
		h.mustVerifyFactor(h.mustSignIn().text("access_token"), a) // only a step of a sign-in, so it adds no entry
		got := h.activity(activity.KindSecurity)
		slices.Sort(got)
		if want := []string{"key user_updated_password command " + email, "key verification_attempted account " + email}; !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
	})
}

// Proves A-activity-accounts.
func TestActivityOfAccounts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		h.clock.advance(time.Second)
		h.expect("wrong password", h.signInAs(email, "wrong"), 400, "invalid_credentials")
		h.clock.advance(time.Second)
		h.expect("unknown address", h.signInAs("nobody@example.pt", "wrong"), 400, "invalid_credentials")
		h.clock.advance(time.Second)
		token := h.mustSignIn().text("access_token")
		h.clock.advance(time.Second)
		h.expect("name", h.call("PUT", "/auth/v1/user", token, object(map[string]any{"data": map[string]any{"a": 1}})), 200, "")
		id := h.value("select cast(id as text) from auth_users")
		h.expect("email", h.asService("PUT", "/admin/users/"+id, map[string]any{"email": "new@example.pt"}), 200, "")
		h.clock.advance(time.Second)
		if err := h.SetPassword(t.Context(), "new@example.pt", "another horse battery", true); err != nil {
			t.Fatal(err)
		}
		if got, want := h.activity(activity.KindSignIn, activity.KindRefused), []string{
			"sign_in login account new@example.pt password", "refused sign_in_refused nobody password", "refused sign_in_refused account new@example.pt password",
		}; !slices.Equal(got, want) {
			t.Errorf("sign-ins: %q", got)
		}
		got := h.activity(activity.KindSecurity)
		slices.Sort(got)
		if want := []string{
			"key factor_deleted command new@example.pt", "key user_modified key new@example.pt",
			"key user_updated_password command new@example.pt", "key user_updated_password command new@example.pt",
		}; !slices.Equal(got, want) {
			t.Errorf("keys: %q", got)
		}
		for _, kind := range []activity.Kind{activity.KindChange, activity.KindExport} {
			if got := h.activity(kind); len(got) != 0 {
				t.Errorf("%s: %q", kind, got)
			}
		}
		list, err := h.Activity(t.Context(), []activity.Kind{activity.KindSignIn}, activity.Position{At: h.clock.now(), Event: uuid.Nil.String()}, 1)
		if err != nil || len(list) != 1 || list[0].IP == "" {
			t.Errorf("%+v %v", list, err)
		}
		h.exec("delete from auth_users")
		if got := h.activity(activity.KindSignIn); !slices.Equal(got, []string{"sign_in login deleted password"}) {
			t.Errorf("of a deleted account: %q", got)
		}
	})
}

// Proves A-activity-kept.
//
// TestAuditIsKeptFor400Days also checks that only the newest refused sign-ins are kept, because anybody can cause them.
func TestAuditIsKeptFor400Days(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		insert := func(action string, n int, at time.Time) {
			t.Helper()
			uuids := "substr('00000000-0000-4000-8000-000000000000', 1, 24) || substr(cast(1000000000000 + i as text), 2)"
			if d.Dialect == db.Postgres {
				uuids = "gen_random_uuid()"
			}
			h.exec("with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < $3) insert into auth_audit_log (id, action, created_at) select "+uuids+", $1, $2 from numbers", action, at, n)
		}
		purge := func() {
			t.Helper()
			if err := h.Purge(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		began := h.clock.now()
		insert("sign_in_refused", 1, began)
		h.clock.advance(400*24*time.Hour - time.Second)
		purge()
		if n := h.count("auth_audit_log"); n != 1 {
			t.Errorf("%d entries after almost 400 days", n)
		}
		h.clock.advance(time.Second)
		purge()
		if n := h.count("auth_audit_log"); n != 0 {
			t.Errorf("%d entries after 400 days", n)
		}
		insert("sign_in_refused", maxRefusedEntries, h.clock.now())
		h.exec("update auth_audit_log set action = 'login' where id in (select id from auth_audit_log order by id limit 10)")
		h.exec("insert into auth_audit_log (id, action, created_at) values ($1, 'sign_in_refused', $2)", uuid.NewString(), h.clock.now().Add(-time.Hour))
		purge()
		if n := h.count("auth_audit_log"); n != maxRefusedEntries+1 {
			t.Errorf("%d entries, although no more than the limit were refused", n)
		}
		for i := range 10 {
			h.exec("insert into auth_audit_log (id, action, created_at) values ($1, 'sign_in_refused', $2)", uuid.NewString(), h.clock.now().Add(-time.Duration(i+1)*time.Hour))
		}
		purge()
		if n := h.count("auth_audit_log where action = 'sign_in_refused'"); n != maxRefusedEntries {
			t.Errorf("%d refused sign-ins are left", n)
		}
		if n := h.count("auth_audit_log where action = 'login'"); n != 10 {
			t.Errorf("%d other entries are left", n)
		}
	})
}
