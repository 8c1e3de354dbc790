package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/config"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
	"atelie/internal/tables"
)

// activitySite is a site with an owner, an account without a role, and a session of each.
type activitySite struct {
	*App
	t              *testing.T
	clock          time.Time
	owner, visitor string // access tokens
}

func newActivitySite(t *testing.T, dialect db.Dialect) *activitySite {
	t.Helper()
	s := &activitySite{t: t, clock: time.Now()}
	cfg := configuration(t)
	cfg.Database.URL, cfg.Auth.RateLimits = dbtest.URL(t, dialect), config.Switch(false)
	s.App = newAppOf(t, cfg, func() time.Time { return s.clock })
	const password = "a wall of whitewash"
	if err := s.Auth.AddOwner(t.Context(), "ana@alvor.example", password); err != nil {
		t.Fatal(err)
	}
	if rec := s.send("POST", "/auth/v1/admin/users", key(t, s.App, identity.Service), `{"email":"rui@exemplo.example","password":"`+password+`","email_confirm":true}`); rec.Code != http.StatusOK {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	for email, token := range map[string]*string{"ana@alvor.example": &s.owner, "rui@exemplo.example": &s.visitor} {
		var session struct {
			AccessToken string `json:"access_token"`
		}
		rec := s.send("POST", "/auth/v1/token?grant_type=password", key(t, s.App, identity.Anon), `{"email":"`+email+`","password":"`+password+`"}`)
		if err := json.Unmarshal(rec.Body.Bytes(), &session); err != nil || session.AccessToken == "" {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		*token = session.AccessToken
	}
	return s
}

func (s *activitySite) send(method, target, token, body string) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	s.Handler().ServeHTTP(rec, r)
	return rec
}

// entries returns the newest entries of a kind as "action by account subject table title".
func (s *activitySite) entries(kind string) (lines []string) {
	s.t.Helper()
	var answer struct {
		Entries []struct{ Action, By, Account, Subject, Table, Title string }
	}
	rec := s.send("POST", "/rest/v1/rpc/get_activity", s.owner, `{"kind":"`+kind+`"}`)
	if err := json.Unmarshal(rec.Body.Bytes(), &answer); err != nil || rec.Code != http.StatusOK {
		s.t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	for _, e := range answer.Entries {
		lines = append(lines, strings.Join(strings.Fields(strings.Join([]string{e.Action, e.By, e.Account, e.Subject, e.Table, e.Title}, " ")), " "))
	}
	return lines
}

// Proves A-activity-1, A-activity-accounts, A-activity-who.
//
// TestActivityOfASite: what an owner, the service key, a command and somebody with a wrong password do, by the calls of the site.
func TestActivityOfASite(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newActivitySite(t, dialect)
			do := func(method, target, token, body string) {
				t.Helper()
				if rec := s.send(method, target, token, body); rec.Code >= 300 {
					t.Fatalf("%s %s: %d %s", method, target, rec.Code, rec.Body)
				}
			}
			check := func(kind string, want ...string) {
				t.Helper()
				if got := s.entries(kind); !slices.Equal(got, want) {
					t.Errorf("%s: %q, want %q", kind, got, want)
				}
			}
			anon, service := key(t, s.App, identity.Anon), key(t, s.App, identity.Service)
			s.clock = s.clock.Add(time.Second)
			if rec := s.send("POST", "/auth/v1/token?grant_type=password", anon, `{"email":"ana@alvor.example","password":"wrong"}`); rec.Code != http.StatusBadRequest {
				t.Errorf("%d %s", rec.Code, rec.Body)
			}
			do("POST", "/rest/v1/products", s.owner, `{"title":"Onda","artwork_type":"mural"}`)
			do("PATCH", "/rest/v1/products?title=eq.Onda", service, `{"title":"Maré"}`)
			do("DELETE", "/rest/v1/products?title=eq.Mar%C3%A9", s.owner, "")
			for range 2 {
				do("POST", "/functions/v1/submit-contact", anon, `{"name":"Eva","email":"eva@exemplo.example","message":"Temos uma parede.","reason":"purchase"}`)
			}
			check("change", "delete account ana@alvor.example products Maré", "update program products Maré", "insert account ana@alvor.example products Onda")
			do("DELETE", "/rest/v1/contact_submissions?name=eq.Eva", s.owner, "")
			if got := s.entries("change"); got[0] != "delete account ana@alvor.example contact_submissions" {
				t.Errorf("messages: %q", got[0])
			}
			if rec := s.send("POST", "/functions/v1/contact-export", s.owner, `{"format":"xls"}`); rec.Code != http.StatusBadRequest {
				t.Errorf("%d %s", rec.Code, rec.Body)
			}
			do("POST", "/functions/v1/contact-export", s.owner, `{"format":"csv"}`)
			s.clock = s.clock.Add(time.Second)
			do("POST", "/functions/v1/address-data", s.owner, `{"action":"find","address":"eva@exemplo.example"}`)
			do("POST", "/functions/v1/address-data", s.owner, `{"action":"export","address":"eva@exemplo.example"}`)
			s.clock = s.clock.Add(time.Second)
			do("POST", "/functions/v1/address-data", service, `{"action":"erase","address":"eva@exemplo.example"}`)
			check("export", "address-data erase program", "address-data export account ana@alvor.example", "contact-export account ana@alvor.example")
			s.clock = s.clock.Add(time.Second)
			archived, err := os.Create(filepath.Join(t.TempDir(), "site.zip"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = archived.Close() }()
			if _, err := s.Export(t.Context(), archived, func(string, int, int) {}); err != nil {
				t.Fatal(err)
			}
			if got := s.entries("export"); len(got) != 4 || got[0] != "site-export command" {
				t.Errorf("exports: %q", got)
			}
			check("refused", "sign_in_refused account ana@alvor.example")
			if got := s.entries("sign_in"); len(got) != 2 || !slices.Contains(got, "login account ana@alvor.example") || !slices.Contains(got, "login account rui@exemplo.example") {
				t.Errorf("sign-ins: %q", got)
			}
			if _, err := s.Keys.Rotate(t.Context(), identity.Service, true); err != nil {
				t.Fatal(err)
			}
			got := s.entries("key")
			slices.Sort(got)
			if want := []string{
				"key_made program access_keys service_role", "key_revoked program access_keys service_role", "role_given program ana@alvor.example user_roles admin",
				"user_signedup key rui@exemplo.example", "user_updated_password command ana@alvor.example",
			}; !slices.Equal(got, want) {
				t.Errorf("keys: %q", got)
			}
			if got := s.entries(""); len(got) != 16 {
				t.Errorf("%d entries together: %q", len(got), got)
			}
		})
	}
}

// Proves A-activity-who.
//
// TestActivityIsHidden: from visitors and accounts without a role, by its function and as tables, for reading, writing and live.
func TestActivityIsHidden(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newActivitySite(t, dialect)
			anon := key(t, s.App, identity.Anon)
			for name, c := range map[string]struct {
				token  string
				status int
			}{"anonymous": {anon, 401}, "without a role": {s.visitor, 403}} {
				for _, body := range []string{`{}`, `{"kind":"sign_in"}`} {
					if rec := s.send("POST", "/rest/v1/rpc/get_activity", c.token, body); rec.Code != c.status || !strings.Contains(rec.Body.String(), `"42501"`) {
						t.Errorf("%s: %d %s", name, rec.Code, rec.Body)
					}
				}
			}
			for _, token := range []string{anon, s.visitor, s.owner, key(t, s.App, identity.Service)} {
				for _, table := range []string{"activity", "auth_audit_log"} {
					for method, body := range map[string]string{"GET": "", "POST": `{"kind":"change","action":"insert"}`, "PATCH": `{"action":"x"}`, "DELETE": ""} {
						if rec := s.send(method, "/rest/v1/"+table+"?id=gt.0", token, body); rec.Code != http.StatusNotFound {
							t.Errorf("%s %s: %d %s", method, table, rec.Code, rec.Body)
						}
					}
					if _, live := tables.ColumnTypes()[table]; live {
						t.Errorf("%s has live changes", table)
					}
				}
				if rec := s.send("GET", "/rest/v1/rpc/get_activity", token, ""); rec.Code < 400 || rec.Code > 499 {
					t.Errorf("GET: %d %s", rec.Code, rec.Body)
				}
			}
			if rec := s.send("POST", "/rest/v1/products", s.owner, `{"title":"Onda","artwork_type":"mural"}`); rec.Code >= 300 {
				t.Fatalf("%d %s", rec.Code, rec.Body)
			}
			if n, err := db.One[int](t.Context(), s.DB, "select count(*) from realtime_outbox where cast(payload as text) like '%activity%'"); err != nil || n != 0 {
				t.Errorf("%d events about the activity, %v", n, err)
			}
		})
	}
}

// Proves A-activity-erased.
func TestAnErasedAddressIsNotInTheActivity(t *testing.T) {
	eachNoticeSite(t, false, func(t *testing.T, s *noticeSite) {
		s.owner("11111111-1111-4111-8111-111111111111", "ana@alvor.example", "pt")
		s.post2xx("/auth/v1/admin/users", `{"email":"canary@exemplo.example","password":"a wall of whitewash","email_confirm":true}`)
		s.post2xx("/auth/v1/token?grant_type=password", `{"email":"canary@exemplo.example","password":"a wall of whitewash"}`)
		s.exec("insert into user_roles (user_id, role) select id, 'admin' from auth_users where email = 'canary@exemplo.example'")
		s.exec("delete from user_roles where user_id in (select id from auth_users where email = 'canary@exemplo.example')")
		s.write("Canary", "canary@exemplo.example", "en")
		s.exec("insert into reviews (id, client_name, message, created_at) values ($1, 'Canary (canary@exemplo.example)', 'Gostei.', $2)", uuid.NewString(), s.now())
		s.exec("delete from reviews")
		const want = "messages 1, quarantine 0, notices 1, revisions 1, activity 4, sign_ins 2, accounts 1, queued_mails 0, filed_mails 0"
		if got := s.addressPlacesOf("find", "canary@exemplo.example"); got != want {
			t.Errorf("found %s", got)
		}
		if file := string(s.call(identity.Service, "address-data", `{"action":"export","address":"canary@exemplo.example"}`)); !json.Valid([]byte(file)) || !strings.Contains(file, `"action":"role_removed"`) {
			t.Errorf("%s", file)
		}
		if got := s.addressPlacesOf("erase", "canary@exemplo.example"); got != want {
			t.Errorf("erased %s", got)
		}
		if left := s.tablesWith("canary"); len(left) > 0 {
			t.Errorf("still in %q", left)
		}
		// What is left: the owner's role, the export, the erasure and the deletion of a message.
		if n := s.count("select count(*) from activity"); n != 4 {
			t.Errorf("%d entries are left", n)
		}
	})
}
