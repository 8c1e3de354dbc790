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

// activitySite is a site with two accounts: an owner, and a user who has no role.
type activitySite struct {
	*App
	t           *testing.T
	clock       time.Time
	owner, user string // access tokens of their sessions
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
		t.Fatalf("status %d: %s", rec.Code, rec.Body)
	}
	for email, token := range map[string]*string{"ana@alvor.example": &s.owner, "rui@exemplo.example": &s.user} {
		var session struct {
			AccessToken string `json:"access_token"`
		}
		rec := s.send("POST", "/auth/v1/token?grant_type=password", key(t, s.App, identity.Anon), `{"email":"`+email+`","password":"`+password+`"}`)
		if err := json.Unmarshal(rec.Body.Bytes(), &session); err != nil || session.AccessToken == "" {
			t.Fatalf("status %d: %s", rec.Code, rec.Body)
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
	var response struct {
		Entries []struct{ Action, By, Account, Subject, Table, Title string }
	}
	rec := s.send("POST", "/rest/v1/rpc/get_activity", s.owner, `{"kind":"`+kind+`"}`)
	if err := json.Unmarshal(rec.Body.Bytes(), &response); err != nil || rec.Code != http.StatusOK {
		s.t.Fatalf("status %d: %s", rec.Code, rec.Body)
	}
	for _, e := range response.Entries {
		lines = append(lines, strings.Join(strings.Fields(strings.Join([]string{e.Action, e.By, e.Account, e.Subject, e.Table, e.Title}, " ")), " "))
	}
	return lines
}

// Proves A-activity-1, A-activity-accounts, A-activity-who.
//
// TestActivityOfASite checks the entries about actions of an owner, the service key, a command, and somebody with a wrong password, all
// through the HTTP API.
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

// Proves A-activity-1, A-activity-accounts.
//
// TestEachActionOfAnOwnerIsListed performs the actions of an owner and of the service key through the HTTP API, and lists the entries
// that each of them adds. Some actions add none: a new order, a new status of a message, restoring from the quarantine, and reading.
func TestEachActionOfAnOwnerIsListed(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newActivitySite(t, dialect)
			anon, service := key(t, s.App, identity.Anon), key(t, s.App, identity.Service)
			const row = "44444444-4444-4444-8444-444444444444"
			as := func(method, target, token, body string) func() {
				return func() {
					t.Helper()
					if rec := s.send(method, target, token, body); rec.Code >= 300 {
						t.Fatalf("%s %s %s: %d %s", method, target, body, rec.Code, rec.Body)
					}
				}
			}
			one := func(query string) (text string) {
				t.Helper()
				text, err := db.One[string](t.Context(), s.DB, query)
				if err != nil {
					t.Fatalf("%s: %v", query, err)
				}
				return text
			}
			quarantine := func(action string) func() {
				return func() {
					t.Helper()
					as("POST", "/functions/v1/submit-contact", anon, `{"name":"Bot","email":"bot@exemplo.example","message":"Buy my watches now","reason":"http://watches"}`)()
					as("POST", "/functions/v1/contact-quarantine", s.owner, `{"action":"`+action+`","id":"`+one("select cast(id as text) from contact_quarantine")+`"}`)()
				}
			}
			settings := func(change string) func() {
				return func() {
					t.Helper()
					var now struct{ Version string }
					if err := json.Unmarshal(s.send("POST", "/rest/v1/rpc/get_site_settings", s.owner, `{}`).Body.Bytes(), &now); err != nil || now.Version == "" {
						t.Fatalf("%+v, %v", now, err)
					}
					as("POST", "/rest/v1/rpc/save_site_settings", s.owner, `{"version":"`+now.Version+`","settings":`+change+`}`)()
				}
			}
			signInAgain := func(end func(session string)) func() {
				return func() {
					t.Helper()
					as("POST", "/auth/v1/token?grant_type=password", anon, `{"email":"ana@alvor.example","password":"a wall of whitewash"}`)()
					end(one("select cast(id as text) from auth_sessions where user_id = (select id from auth_users where email = 'ana@alvor.example') order by created_at desc, id limit 1"))
				}
			}
			command := func(fn func() error) func() {
				return func() {
					t.Helper()
					if err := fn(); err != nil {
						t.Fatal(err)
					}
				}
			}
			const ana, rui = "account ana@alvor.example", "rui@exemplo.example"
			ruiPath := "/auth/v1/admin/users/" + one("select cast(id as text) from auth_users where email = 'rui@exemplo.example'")
			for _, c := range []struct {
				name string
				do   func()
				want []string
			}{
				{"a work", as("POST", "/rest/v1/products", s.owner, `{"id":"`+row+`","title":"Onda","artwork_type":"mural"}`), []string{"insert " + ana + " products Onda"}},
				{"its title", as("PATCH", "/rest/v1/products?id=eq."+row, s.owner, `{"title":"Maré"}`), []string{"update " + ana + " products Maré"}},
				{"a draft", as("PATCH", "/rest/v1/products?id=eq."+row, s.owner, `{"published_at":null}`), []string{"update " + ana + " products Maré"}},
				{"by the service key", as("PATCH", "/rest/v1/products?id=eq."+row, service, `{"title":"Onda"}`), []string{"update program products Onda"}},
				{"deleted", as("DELETE", "/rest/v1/products?id=eq."+row, s.owner, ""), []string{"delete " + ana + " products Onda"}},
				{"brought back", as("POST", "/rest/v1/products", s.owner, `{"id":"`+row+`","title":"Onda","artwork_type":"mural"}`), []string{"insert " + ana + " products Onda"}},
				{"a review", as("POST", "/rest/v1/reviews", s.owner, `{"id":"`+row+`","client_name":"Rui","message":"Gostei muito."}`), []string{"insert " + ana + " reviews Rui"}},
				{"its order", as("PATCH", "/rest/v1/reviews?id=eq."+row, s.owner, `{"display_order":7}`), nil},
				{"its visibility", as("PATCH", "/rest/v1/reviews?id=eq."+row, s.owner, `{"is_active":false}`), []string{"update " + ana + " reviews Rui"}},
				{"a deleted review", as("DELETE", "/rest/v1/reviews?id=eq."+row, s.owner, ""), []string{"delete " + ana + " reviews Rui"}},
				{"a cover", as("POST", "/rest/v1/cover_images", s.owner, `{"id":"`+row+`","image_url":"/a.jpg","title":"Mar"}`), []string{"insert " + ana + " cover_images Mar"}},
				{"its text", as("PATCH", "/rest/v1/cover_images?id=eq."+row, s.owner, `{"description":"Ao fim do dia"}`), []string{"update " + ana + " cover_images Mar"}},
				{"a deleted cover", as("DELETE", "/rest/v1/cover_images?id=eq."+row, s.owner, ""), []string{"delete " + ana + " cover_images Mar"}},
				{"how long messages are kept", settings(`{"site":{"messageMonths":12}}`), []string{"update " + ana + " site_settings site"}},
				{"who gets notices", settings(`{"noticeEmail":["ana@alvor.example"]}`), []string{"update " + ana + " site_settings notice.email"}},
				{"the language of mails", settings(`{"noticeLanguage":"pt"}`), []string{"update " + ana + " site_settings notice.language"}},
				{"thank-you mails", settings(`{"thanksEnabled":true}`), []string{"update " + ana + " site_settings thanks.enabled"}},
				{"the guide", as("POST", "/rest/v1/rpc/save_site_settings", s.owner, `{"guide":"dismissed"}`), nil},
				{"a message", as("POST", "/functions/v1/submit-contact", anon, `{"name":"Eva","email":"eva@exemplo.example","message":"Temos uma parede.","reason":"purchase"}`), nil},
				{"its status", as("PATCH", "/rest/v1/contact_submissions?name=eq.Eva", s.owner, `{"status":"read"}`), nil},
				{"a deleted message", as("DELETE", "/rest/v1/contact_submissions?name=eq.Eva", s.owner, ""), []string{"delete " + ana + " contact_submissions"}},
				{"deleted in quarantine", quarantine("delete"), []string{"delete " + ana + " contact_submissions"}},
				{"restored from quarantine", quarantine("restore"), nil},
				{"a test mail", as("POST", "/functions/v1/mail-test", s.owner, `{"action":"send"}`), nil},
				{"all messages", as("POST", "/functions/v1/contact-export", s.owner, `{"format":"json"}`), []string{"contact-export " + ana}},
				{"a look for an address", as("POST", "/functions/v1/address-data", s.owner, `{"address":"eva@exemplo.example"}`), nil},
				{"an exported address", as("POST", "/functions/v1/address-data", s.owner, `{"action":"export","address":"eva@exemplo.example"}`), []string{"address-data export " + ana}},
				{"an erased address", as("POST", "/functions/v1/address-data", s.owner, `{"action":"erase","address":"eva@exemplo.example"}`), []string{"address-data erase " + ana}},
				{"another session ended", signInAgain(func(session string) { as("DELETE", "/auth/v1/user/sessions/"+session, s.owner, "")() }), []string{"login " + ana, "logout " + ana}},
				{"all other sessions ended", signInAgain(func(string) { as("POST", "/auth/v1/logout?scope=others", s.owner, "")() }), []string{"login " + ana, "logout " + ana}},
				{"a second factor", func() {
					as("POST", "/auth/v1/factors", s.owner, `{"factor_type":"totp","friendly_name":"phone"}`)()
					as("DELETE", "/auth/v1/factors/"+one("select cast(id as text) from auth_factors"), s.owner, "")()
				}, []string{"factor_unenrolled " + ana}},
				{"a password", as("PUT", "/auth/v1/user", s.owner, `{"password":"another wall of whitewash"}`), []string{"user_updated_password " + ana}},
				{"the account's language", as("PUT", "/auth/v1/user", s.owner, `{"data":{"language":"pt"}}`), nil},
				{"an account", as("POST", "/auth/v1/admin/users", service, `{"email":"eva@exemplo.example","email_confirm":true}`), []string{"user_signedup key eva@exemplo.example"}},
				{"an account changed", as("PUT", ruiPath, service, `{"user_metadata":{"language":"en"}}`), []string{"user_modified key " + rui}},
				{"an owner by a command", command(func() error { return s.Auth.AddOwner(t.Context(), rui, "") }), []string{"role_given program " + rui + " user_roles admin"}},
				{"a password by a command", command(func() error { return s.Auth.SetPassword(t.Context(), rui, "a third wall of whitewash", true) }), []string{"factor_deleted command " + rui, "user_updated_password command " + rui}},
				{"no owner any more", command(func() error { return s.Auth.RemoveOwner(t.Context(), rui) }), []string{"role_removed program " + rui + " user_roles admin"}},
				{"an account deleted", as("DELETE", ruiPath, service, ""), []string{"user_deleted key"}},
				{"a key", command(func() error { _, err := s.Keys.Rotate(t.Context(), identity.Anon, true); return err }), []string{"key_made program access_keys anon", "key_revoked program access_keys anon"}},
			} {
				for _, table := range []string{"activity", "auth_audit_log"} {
					if err := db.Exec(t.Context(), s.DB, "delete from "+table); err != nil {
						t.Fatal(err)
					}
				}
				s.clock = s.clock.Add(time.Second)
				c.do()
				got := s.entries("")
				if slices.Sort(got); !slices.Equal(got, c.want) {
					t.Errorf("%s: %q, want %q", c.name, got, c.want)
				}
			}
		})
	}
}

// Proves A-activity-who.
//
// TestActivityIsHidden checks that visitors and accounts without a role can read or write the activity neither through its function nor
// as tables, and get no live changes of it.
func TestActivityIsHidden(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newActivitySite(t, dialect)
			anon := key(t, s.App, identity.Anon)
			for name, c := range map[string]struct {
				token  string
				status int
			}{"anonymous": {anon, 401}, "without a role": {s.user, 403}} {
				for _, body := range []string{`{}`, `{"kind":"sign_in"}`} {
					if rec := s.send("POST", "/rest/v1/rpc/get_activity", c.token, body); rec.Code != c.status || !strings.Contains(rec.Body.String(), `"42501"`) {
						t.Errorf("%s: %d %s", name, rec.Code, rec.Body)
					}
				}
			}
			for _, token := range []string{anon, s.user, s.owner, key(t, s.App, identity.Service)} {
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
		// Remaining entries: the owner's role, the export, the erasure and the deletion of a message.
		if n := s.count("select count(*) from activity"); n != 4 {
			t.Errorf("%d entries are left", n)
		}
	})
}
