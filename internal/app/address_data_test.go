package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/jobs"
)

// post2xx sends JSON with the service key, and expects success.
func (s *noticeSite) post2xx(target, body string) {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), "POST", target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+key(s.t, s.App, identity.Service))
	r.Header.Set("apikey", key(s.t, s.App, identity.Service))
	rec := httptest.NewRecorder()
	s.Handler().ServeHTTP(rec, r)
	if rec.Code/100 != 2 {
		s.t.Fatalf("%s: %d %s", target, rec.Code, rec.Body)
	}
}

// addressPlacesOf calls the function address-data, and returns the places in its response as "name count, name count".
func (s *noticeSite) addressPlacesOf(action, address string) string {
	s.t.Helper()
	var response struct {
		Places []struct {
			Name  string
			Count int
		}
	}
	if err := json.Unmarshal(s.call(identity.Service, "address-data", `{"action":"`+action+`","address":"`+address+`"}`), &response); err != nil {
		s.t.Fatal(err)
	}
	var list []string
	for _, p := range response.Places {
		list = append(list, fmt.Sprintf("%s %d", p.Name, p.Count))
	}
	return strings.Join(list, ", ")
}

// tablesWith returns the tables that have a row with the text in any column.
func (s *noticeSite) tablesWith(text string) (found []string) {
	s.t.Helper()
	query := "select name from sqlite_master where type = 'table'"
	if s.DB.Dialect == db.Postgres {
		query = "select table_name from information_schema.tables where table_schema = current_schema()"
	}
	names, err := db.Collect(s.t.Context(), s.DB, db.ScanOne[string], query)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, name := range names {
		row := "cast(t as text)" // SQL for the values of all columns as one text
		if s.DB.Dialect == db.SQLite {
			columns, err := db.Collect(s.t.Context(), s.DB, db.ScanOne[string], "select name from pragma_table_info('"+name+"')")
			if err != nil {
				s.t.Fatal(err)
			}
			row = "concat(t." + strings.Join(columns, ", ' ', t.") + ")"
		}
		n, err := db.One[int](s.t.Context(), s.DB, "select count(*) from "+name+" t where lower("+row+") like '%"+text+"%'")
		if err != nil {
			s.t.Fatal(err)
		}
		if n > 0 {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// Proves AM-address-1, AM-address-2, FN-address-role.
//
// TestEraseDeletesAllDataOfAnAddress covers messages, quarantine, revisions, an account without a role with its sessions and sign-ins, limits
// and queued mails, on both databases. The data of a similar address must stay.
func TestEraseDeletesAllDataOfAnAddress(t *testing.T) {
	eachNoticeSite(t, false, func(t *testing.T, s *noticeSite) {
		s.owner("11111111-1111-4111-8111-111111111111", "ana@alvor.example", "pt")
		for _, email := range []string{"canary@exemplo.example", "acanary@exemplo.example"} {
			s.post2xx("/auth/v1/admin/users", `{"email":"`+email+`","password":"a wall of whitewash","email_confirm":true,"user_metadata":{"nick":"`+email+`"}}`)
			s.post2xx("/auth/v1/token?grant_type=password", `{"email":"`+email+`","password":"a wall of whitewash"}`)
			s.post2xx("/auth/v1/recover", `{"email":"`+email+`"}`)
			s.write("Name of "+email, strings.ToUpper(email[:1])+email[1:], "en")
			s.call(identity.Anon, "submit-contact", `{"name":"Aside","email":"`+email+`","message":"Temos uma parede.","reason":"http://watches"}`)
			for _, statement := range []string{
				"insert into reviews (id, client_name, message, created_at) values ($1, 'Rui', 'Write to " + strings.ToUpper(email) + ".', $2)",
				"delete from reviews where id = $1 and created_at <= $2",
			} {
				if err := db.Exec(t.Context(), s.DB, statement, uuid.NewSHA1(uuid.Nil, []byte(email)).String(), time.Now()); err != nil {
					t.Fatal(err)
				}
			}
		}
		before := s.tablesWith("canary@")
		if want := []string{"auth_identities", "auth_users", "contact_quarantine", "contact_submissions", "realtime_outbox", "row_history"}; !slices.Equal(before, want) {
			t.Errorf("before it is in %q, not in %q", before, want)
		}
		const want = "messages 1, quarantine 1, notices 1, revisions 1, activity 0, sign_ins 2, accounts 1, queued_mails 1, filed_mails 0"
		if got := s.addressPlacesOf("find", "Canary@exemplo.example"); got != want {
			t.Errorf("found %s", got)
		}
		file := string(s.call(identity.Service, "address-data", `{"action":"export","address":"canary@exemplo.example"}`))
		if !json.Valid([]byte(file)) || strings.Contains(file, "acanary@") || strings.Contains(file, "token") || !strings.Contains(file, `"action":"login"`) || !strings.Contains(file, `"aal":"aal1"`) {
			t.Errorf("%s", file)
		}
		if got := s.addressPlacesOf("erase", "CANARY@exemplo.example"); got != want {
			t.Errorf("erased %s", got)
		}
		if left := s.tablesWith("canary@"); !slices.Equal(left, before) {
			t.Errorf("the other address is in %q alone", left)
		}
		for _, table := range s.tablesWith(" canary@") { // columns are separated by blanks on SQLite
			t.Errorf("it is still in %s", table)
		}
		for query, want := range map[string]int{
			"select count(*) from auth_users":                               2,
			"select count(*) from auth_sessions":                            1,
			"select count(*) from contact_submissions":                      1,
			"select count(*) from contact_quarantine":                       1,
			"select count(*) from auth_audit_log where action = 'login'":    1,
			"select count(*) from jobs where kind = 'auth.asked'":           1,
			"select count(*) from auth_identities where provider = 'email'": 1,
		} {
			if n := s.count(query); n != want {
				t.Errorf("%s: %d", query, n)
			}
		}
		if got := s.addressPlacesOf("find", "acanary@exemplo.example"); got != want {
			t.Errorf("the other address: %s", got)
		}

		// An account has only a pending change to the address: the account stays, and the change is cancelled.
		s.exec("update auth_users set email_change = 'canary@exemplo.example' where email = 'acanary@exemplo.example'")
		if got := s.addressPlacesOf("erase", "canary@exemplo.example"); !strings.Contains(got, "accounts 1") {
			t.Error(got)
		}
		if n := s.count("select count(*) from auth_users where email = 'acanary@exemplo.example' and email_change is null"); n != 1 {
			t.Error("the change is not cancelled")
		}

		// An owner's address is refused, and so is the new address of an owner's pending change.
		s.exec("update auth_users set email_change = 'new@alvor.example' where email = 'ana@alvor.example'")
		for _, address := range []string{"Ana@alvor.example", "new@alvor.example"} {
			for _, action := range []string{"find", "export", "erase"} {
				r := httptest.NewRequestWithContext(t.Context(), "POST", "/functions/v1/address-data", strings.NewReader(`{"action":"`+action+`","address":"`+address+`"}`))
				r.Header.Set("Authorization", "Bearer "+key(t, s.App, identity.Service))
				rec := httptest.NewRecorder()
				s.Handler().ServeHTTP(rec, r)
				if rec.Code != http.StatusConflict || !strings.Contains(rec.Body.String(), "Take the role away first") {
					t.Errorf("%s of %s: %d %s", action, address, rec.Code, rec.Body)
				}
			}
		}
	})
}

// Proves AM-address-1.
//
// TestErasedAddressLeavesNoCopyInTheDataFolder searches the database's file, and the mails that were stored as files.
func TestErasedAddressLeavesNoCopyInTheDataFolder(t *testing.T) {
	cfg := configuration(t)
	s := &noticeSite{t: t}
	s.clock.Store(time.Now().UnixMicro())
	s.App = newAppOf(t, cfg, s.now)
	s.owner("11111111-1111-4111-8111-111111111111", "ana@alvor.example", "pt")
	s.set("thanks.enabled", "true")
	s.post2xx("/auth/v1/admin/users", `{"email":"canary@exemplo.example","password":"a wall of whitewash","email_confirm":true}`)
	serve(t, s.App)
	s.post2xx("/auth/v1/recover", `{"email":"canary@exemplo.example"}`)
	s.write("Canary", "canary@exemplo.example", "pt")
	s.write("Somebody Else", "else@exemplo.example", "pt")
	waitForState(t, s.App, "", jobs.State{})
	const want = "messages 1, quarantine 0, notices 2, revisions 0, activity 0, sign_ins 2, accounts 1, queued_mails 0, filed_mails 3" // notice, thanks, recovery
	if got := s.addressPlacesOf("find", "canary@exemplo.example"); got != want {
		t.Errorf("found %s", got)
	}
	file := string(s.call(identity.Service, "address-data", `{"action":"export","address":"canary@exemplo.example"}`))
	if strings.Contains(file, "token") || strings.Count(file, `.eml"`) != 3 {
		t.Errorf("%s", file)
	}
	if got := s.addressPlacesOf("erase", "canary@exemplo.example"); got != want {
		t.Errorf("erased %s", got)
	}
	s.waitFor("the data of the address is deleted", func() bool {
		if s.idle() {
			s.clock.Add(time.Second.Microseconds())
		}
		return s.count("select count(*) from jobs") == 0
	})
	if left := filesContaining(t, cfg.Server.DataDir, "Canary", "canary@"); len(left) > 0 {
		t.Errorf("still there: %q", left)
	}
	if len(filesContaining(t, cfg.Server.DataDir, "else@exemplo.example")) < 3 {
		t.Error("another visitor's mails are gone too")
	}
}
