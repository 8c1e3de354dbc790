package functions

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves AM-quarantine-4, FN-contact-flood.
//
// TestFloodIsQuarantinedAndRestored checks that messages beyond the limit get the usual response, are listed as a flood and not as spam,
// and keep their reason when they are restored. In the next hour messages are accepted again.
func TestFloodIsQuarantinedAndRestored(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSiteWith(t, d, Config{MessagesPerHour: 2})
		write := func(i int, reason string) string {
			rec := s.callFrom(fmt.Sprintf("192.0.2.%d:1", i+1), "anon", "submit-contact",
				fmt.Sprintf(`{"name":"Visitor %d","email":"v@exemplo.pt","message":"Temos uma parede.","reason":%q}`, i, reason))
			if rec.Code != http.StatusOK {
				t.Fatalf("status %d: %s", rec.Code, rec.Body)
			}
			return rec.Body.String()
		}
		s.sendSpam(3) // messages that look like spam do not count for the limit
		first := write(0, "commission")
		for i := 1; i < 4; i++ {
			if got := write(i, "purchase"); got != first {
				t.Errorf("the response to message %d is %s", i, got)
			}
		}
		page := s.listQuarantine("{}")
		if page.Total != 5 || page.Flood != 2 || len(s.stored("contact_submissions")) != 2 {
			t.Fatalf("got %+v", page)
		}
		for _, item := range page.Items {
			if flood := item.Cause == causeFlood; flood == (item.Filled != "") || flood != (item.Name == "Visitor 2" || item.Name == "Visitor 3") {
				t.Errorf("got %+v", item)
			}
			if item.Name == "Visitor 2" {
				answered(t, s.call("admin", "contact-quarantine", `{"action":"restore","id":"`+item.ID+`"}`), 200, `{"success":true,"id":"`+item.ID+`"}`)
			}
		}
		var reason string
		if err := d.QueryRow(t.Context(), "select reason from contact_submissions where name = 'Visitor 2'").Scan(&reason); err != nil || reason != "purchase" {
			t.Errorf("restored as %q: %v", reason, err)
		}
		if page = s.listQuarantine("{}"); page.Flood != 1 {
			t.Errorf("got %+v", page)
		}
		s.clock = s.clock.Truncate(time.Hour).Add(time.Hour)
		write(4, "purchase")
		if page = s.listQuarantine("{}"); page.Flood != 1 {
			t.Errorf("the next hour is not free: %+v", page)
		}
	})
}
