package functions

import (
	"net/http"
	"net/url"
	"testing"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves F-disk-full.
//
// On a full disk an owner can read and delete, and nothing is stored.
func TestFunctionsOnAFullDisk(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		answered(t, s.call("anon", "submit-contact", good), 200, success)
		id := s.messageID()
		s.sendSpam(1)
		var spam string
		s.scan(&spam, "select id from contact_quarantine")
		s.space = apperr.NoSpace
		for _, c := range []struct {
			name, body string
			status     int
		}{
			{"contact-reply", `{"message_id":"` + id + `"}`, 200},
			{"contact-reply", `{"action":"reply","message_id":"` + id + `","text":"Thank you","id":"` + adminID + `"}`, 507},
			{"contact-reply", `{"action":"done","message_id":"` + id + `"}`, 507},
			{"commission", `{"action":"state","message_id":"` + id + `"}`, 200},
			{"commission", `{"action":"stage","stage":"accepted","message_id":"` + id + `"}`, 507},
			{"commission-review", `{"message_id":"` + id + `"}`, 200},
			{"commission-review", `{"action":"approve","message_id":"` + id + `"}`, 507},
			{"commission-board", `{}`, 200},
			{"contact-notices", `{"ids":["` + id + `"]}`, 200},
			{"contact-notices", `{"action":"retry","ids":["` + id + `"]}`, 507},
			{"contact-quarantine", `{}`, 200},
			{"contact-quarantine", `{"action":"restore","id":"` + spam + `"}`, 507},
			{"contact-quarantine", `{"action":"delete","id":"` + spam + `"}`, 200},
			{"contact-export", `{"format":"csv"}`, 200},
			{"calendar-feed", `{"action":"create","language":"en"}`, 507},
			{"calendar-feed", `{"action":"remove"}`, 200},
			{"mail-test", `{}`, 200},
			{"mail-test", `{"action":"send"}`, 507},
			{"submit-contact", good, 507},
			{"address-data", `{"action":"find","address":"ines@exemplo.pt"}`, 200},
			{"address-data", `{"action":"erase","address":"ines@exemplo.pt"}`, 200},
		} {
			if rec := s.call("admin", c.name, c.body); rec.Code != c.status {
				t.Errorf("%s %s: got %d %s, want %d", c.name, c.body, rec.Code, rec.Body, c.status)
			}
		}
		for _, table := range []string{"contact_submissions", "contact_quarantine", "contact_replies", "commissions", "calendar_feeds"} {
			if n := s.count("select count(*) from " + table); n != 0 {
				t.Errorf("%s has %d rows", table, n)
			}
		}
	})
}

// Proves FN-page-wrong.
func TestTheFormKeepsItsTextOnAFullDisk(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.space = apperr.NoSpace
		expectPage(t, s.browse("GET", contactAddress, "", ""), 200, "Get in Touch")
		fields := url.Values{"name": {"Inês"}, "email": {"ines@exemplo.pt"}, "message": {"Gosto muito do mural."}}
		expectPage(t, s.browse("POST", contactAddress, urlencoded, fields.Encode()), http.StatusInsufficientStorage, "Gosto muito do mural.", "ines@exemplo.pt")
		s.space = nil
		expectPage(t, s.browse("POST", contactAddress, urlencoded, fields.Encode()), 200, "Message Sent Successfully!")
	})
}
