package functions

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// noID is a valid id that no row has.
const noID = "99999999-9999-4999-8999-999999999999"

// quarantinePage is the response of the action "list".
type quarantinePage struct {
	Items []struct {
		ID, Name, Email, Message, Cause, Filled string
		CreatedAt                               time.Time `json:"created_at"`
		ExpiresAt                               time.Time `json:"expires_at"`
	}
	Total, Flood int
}

// listQuarantine calls contact-quarantine as the owner. The call must succeed.
func (s *site) listQuarantine(body string) quarantinePage {
	s.t.Helper()
	rec := s.call("admin", "contact-quarantine", body)
	var page quarantinePage
	if err := json.Unmarshal(rec.Body.Bytes(), &page); err != nil || rec.Code != 200 || !strings.HasPrefix(rec.Body.String(), `{"success":true,"items":[`) {
		s.t.Fatalf("%d %s %v", rec.Code, rec.Body, err)
	}
	return page
}

// sendSpam sends messages whose hidden field is filled in, one a minute.
func (s *site) sendSpam(n int) {
	s.t.Helper()
	for i := range n {
		s.clock = s.clock.Add(time.Minute)
		if rec := s.call("anon", "submit-contact", body(s.t, map[string]any{"name": fmt.Sprintf("Bot %d", i), "email": "bot@exemplo.pt", "message": "Buy my watches now", "reason": "http://watches"})); rec.Code != 200 {
			s.t.Fatalf("status %d: %s", rec.Code, rec.Body)
		}
	}
}

// Proves AM-quarantine-1, AM-quarantine-2, FN-quarantine-list.
func TestOwnerListsAndRestoresQuarantinedMessages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		var recordedIDs []string
		s.recorded = func(_ context.Context, _ *db.Tx, id string) error {
			recordedIDs = append(recordedIDs, id)
			return nil
		}
		if page := s.listQuarantine(""); page.Total != 0 || len(page.Items) != 0 {
			t.Errorf("got %+v", page)
		}
		s.sendSpam(3)
		page := s.listQuarantine("{}")
		if page.Total != 3 || len(page.Items) != 3 || page.Items[0].Name != "Bot 2" || page.Items[0].Filled != "http://watches" || page.Items[0].Message != "Buy my watches now" ||
			!page.Items[0].CreatedAt.Equal(s.clock) || !page.Items[0].ExpiresAt.Equal(s.clock.AddDate(0, 0, 30)) {
			t.Fatalf("got %+v", page)
		}
		if part := s.listQuarantine(`{"action":"list","from":1,"limit":1}`); part.Total != 3 || len(part.Items) != 1 || part.Items[0].Name != "Bot 1" {
			t.Errorf("got %+v", part)
		}

		// Two concurrent requests restore one message: one of them succeeds, and the inbox has the message once, unchanged.
		target := page.Items[1]
		var (
			all   sync.WaitGroup
			mu    sync.Mutex
			codes []int
		)
		for range 2 {
			all.Go(func() {
				rec := s.callFrom("203.0.113.9:1", "admin", "contact-quarantine", `{"action":"restore","id":"`+strings.ToUpper(target.ID)+`"}`)
				mu.Lock()
				defer mu.Unlock()
				codes = append(codes, rec.Code)
			})
		}
		all.Wait()
		if slices.Sort(codes); !slices.Equal(codes, []int{200, 404}) || !slices.Equal(recordedIDs, []string{target.ID}) {
			t.Errorf("%v, recordedIDs of %v", codes, recordedIDs)
		}
		if got := s.stored("contact_submissions"); len(got) != 1 || got[0] != [4]string{"Bot 1", "bot@exemplo.pt", "Buy my watches now", "general"} {
			t.Errorf("%q", got)
		}
		var (
			id, status string
			at         time.Time
		)
		if err := d.QueryRow(t.Context(), "select id, status, created_at from contact_submissions").Scan(&id, &status, &at); err != nil || id != target.ID || status != "new" || !at.Equal(target.CreatedAt) {
			t.Errorf("%s %s %s %v", id, status, at, err)
		}
		answered(t, s.call("admin", "contact-quarantine", `{"action":"delete","id":"`+page.Items[0].ID+`"}`), 200, `{"success":true,"id":"`+page.Items[0].ID+`"}`)
		if left := s.listQuarantine(""); left.Total != 1 || left.Items[0].Name != "Bot 0" {
			t.Errorf("%+v", left)
		}
		answered(t, s.call("admin", "contact-quarantine", `{"action":"delete","id":"`+noID+`"}`), 404, `{"success":false,"error":"There is no such message in quarantine"}`)
	})
}

// Proves A-activity-1.
//
// TestDeletingInQuarantineIsInTheActivity expects an entry with the number of messages and who deleted them, for an account and for the
// service key. Restored messages, expired messages and missing messages add no entry.
func TestDeletingInQuarantineIsInTheActivity(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.sendSpam(5)
		items := s.listQuarantine("").Items
		for i, c := range []struct{ who, action string }{{"admin", "restore"}, {"admin", "delete"}, {"admin", "delete"}, {"service", "delete"}} {
			if rec := s.call(c.who, "contact-quarantine", `{"action":"`+c.action+`","id":"`+items[i].ID+`"}`); rec.Code != 200 {
				t.Fatalf("%d %s", rec.Code, rec.Body)
			}
		}
		if rec := s.call("admin", "contact-quarantine", `{"action":"delete","id":"`+noID+`"}`); rec.Code != 404 {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
		deleted := s.clock
		s.clock = s.clock.AddDate(0, 0, 31)
		if err := s.PurgeQuarantine(t.Context()); err != nil || len(s.stored("contact_quarantine")) != 0 {
			t.Errorf("%v", err)
		}
		got, err := db.Collect(t.Context(), d, func(row db.Row) (line string, err error) {
			var (
				at     time.Time
				number int
			)
			err = row.Scan(&at, &line, &number)
			return fmt.Sprintf("%t %s %d", at.Equal(deleted), line, number), err
		}, "select created_at, kind || ' ' || action || ' ' || table_name || ' ' || coalesce(cast(actor as text), '-') || coalesce(title, ''), number from activity order by id")
		want := []string{"true change delete contact_submissions " + adminID + " 2", "true change delete contact_submissions - 1"}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	})
}

// Proves A-set-key, AM-quarantine-1, FN-admin-who, FN-mail-send.
//
// TestMessageFunctionsNeedAnAdministrator calls the functions with every kind of caller.
func TestMessageFunctionsNeedAnAdministrator(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.sendSpam(1)
		for who, want := range map[string]int{"anon": 403, "user": 403, "admin": 200, "service": 200, "expired": 401, "forged": 401, "nobody": 401} {
			for name, body := range map[string]string{"contact-quarantine": `{}`, "contact-notices": `{"ids":["` + noID + `"]}`, "mail-test": `{}`, "contact-export": `{"format":"json"}`, "address-data": `{"address":"bot@exemplo.pt"}`} {
				rec := s.call(who, name, body)
				if rec.Code != want || (want != 200 && strings.Contains(rec.Body.String(), "watches")) {
					t.Errorf("%s by %s: %d %s", name, who, rec.Code, rec.Body)
				}
			}
			if want != 200 {
				for _, body := range []string{`{"action":"restore","id":"` + noID + `"}`, `{"action":"delete","id":"` + noID + `"}`} {
					if rec := s.call(who, "contact-quarantine", body); rec.Code != want {
						t.Errorf("%s by %s: %d", body, who, rec.Code)
					}
				}
				for _, action := range []string{"find", "export", "erase"} {
					if rec := s.call(who, "address-data", `{"action":"`+action+`","address":"bot@exemplo.pt"}`); rec.Code != want || strings.Contains(rec.Body.String(), "bot@") {
						t.Errorf("%s of an address by %s: %d %s", action, who, rec.Code, rec.Body)
					}
				}
				if rec := s.call(who, "mail-test", `{"action":"send"}`); rec.Code != want {
					t.Errorf("a test mail by %s: %d", who, rec.Code)
				}
			}
		}
		if len(s.stored("contact_quarantine")) != 1 {
			t.Error("somebody has removed it")
		}
	})
}

// Proves FN-admin-bad.
func TestInvalidRequestsAboutMessages(t *testing.T) {
	s := newSite(t, dbtest.Open(t, db.SQLite))
	for _, c := range []struct{ name, body string }{
		{"contact-quarantine", `[`},
		{"contact-quarantine", `[1]`},
		{"contact-quarantine", `{"action":"burn"}`},
		{"contact-quarantine", `{"action":"restore"}`},
		{"contact-quarantine", `{"action":"delete","id":"1 or 1=1"}`},
		{"contact-quarantine", `{"from":-1}`},
		{"contact-quarantine", `{"from":2000000000}`},
		{"contact-quarantine", `{"from":99999999999999999999}`},
		{"contact-quarantine", `{"limit":101}`},
		{"contact-quarantine", `{"limit":-1}`},
		{"contact-notices", ``},
		{"mail-test", `{"action":"burn"}`},
		{"mail-test", `[`},
		{"address-data", `{}`},
		{"address-data", `{"address":"ana"}`},
		{"address-data", `{"address":"@exemplo.pt"}`},
		{"address-data", `{"address":"ana @exemplo.pt"}`},
		{"address-data", `{"address":["ana@exemplo.pt"]}`},
		{"address-data", `{"address":"` + strings.Repeat("a", 250) + `@exemplo.pt"}`},
		{"address-data", `{"address":"ana@exemplo.pt","action":"burn"}`},
		{"contact-export", `{}`},
		{"contact-export", `{"format":"xlsx"}`},
		{"contact-export", `{"format":7}`},
		{"contact-notices", `{"ids":[]}`},
		{"contact-notices", `{"ids":["x"]}`},
		{"contact-notices", `{"action":"burn","ids":["` + noID + `"]}`},
		{"contact-notices", `{"ids":["` + strings.Repeat(noID+`","`, 100) + noID + `"]}`},
	} {
		if rec := s.call("admin", c.name, c.body); rec.Code != 400 || !strings.Contains(rec.Body.String(), `"success":false`) {
			t.Errorf("%s %s: %d %s", c.name, c.body, rec.Code, rec.Body)
		}
	}
	answered(t, s.call("admin", "contact-notices", `{"action":"retry","ids":["`+noID+`"]}`), 200, `{"success":true,"items":[]}`)
}
