package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// Proves A-set-response.
//
// TestThePageTellsTheMeasuredResponseTime marks messages as answered. The cached pages must be replaced when the text about the response
// time changes, and only then.
func TestThePageTellsTheMeasuredResponseTime(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newNoticeSite(t, dialect, false)
			withoutRendering(t, s.App)
			s.clock.Store(time.Now().UnixMicro()) // the database sets the time at which a message was answered
			for n := range 12 {
				s.exec("insert into contact_submissions (id, name, email, message, created_at) values ($1, 'Rui', 'rui@example.com', 'How large is it?', $2)", messageID(n), s.now().Add(-150*time.Minute))
			}
			page := func(target string) string {
				t.Helper()
				rec := sendRequest(s.App, "GET", target, "")
				if rec.Code != http.StatusOK {
					t.Fatalf("status %d: %s", rec.Code, rec.Body)
				}
				return rec.Body.String()
			}
			patch := func(role identity.Role, n int, status string) int {
				t.Helper()
				r := httptest.NewRequestWithContext(t.Context(), "PATCH", "/rest/v1/contact_submissions?id=eq."+messageID(n), strings.NewReader(`{"status":"`+status+`"}`))
				r.Header.Set("Authorization", "Bearer "+key(t, s.App, role))
				rec := httptest.NewRecorder()
				s.Handler().ServeHTTP(rec, r)
				return rec.Code
			}
			const written, measured, inPortuguese = "I usually reply within 24 hours", "Usually answered within 3 hours", "Costumo responder no prazo de 3 horas"
			before := page("/")
			if status, response := s.saveSettings(`{"site":{"responseTime":"measured"}}`); status != http.StatusOK {
				t.Fatalf("%d %+v", status, response)
			}
			for n := range 9 {
				if status := patch(identity.Service, n, "replied"); status != http.StatusNoContent {
					t.Fatal(status)
				}
			}
			if after := page("/"); after != before || !strings.Contains(after, written) {
				t.Error("nine answered messages change the page")
			}
			if status := patch(identity.Anon, 9, "replied"); status != http.StatusUnauthorized {
				t.Errorf("a visitor: %d", status)
			}
			patch(identity.Service, 9, "replied")
			if text := page("/"); strings.Contains(text, written) || !strings.Contains(text, measured) || !strings.Contains(text, inPortuguese) || strings.Contains(text, "responseTime\":\"measured") {
				t.Error("ten answered messages do not change the page")
			}
			if !strings.Contains(page("/gallery/all?lang=pt"), inPortuguese) {
				t.Error("another page has the old text")
			}
			edited := func() (n int64) {
				t.Helper()
				if err := s.DB.QueryRow(t.Context(), "select version from content_version").Scan(&n); err != nil {
					t.Fatal(err)
				}
				return n
			}
			version := edited()
			patch(identity.Service, 10, "replied")
			patch(identity.Service, 11, "read")
			if got := edited(); got != version {
				t.Errorf("an answer that leaves the text raises the version from %d to %d", version, got)
			}
			// The owner sets two messages back to unanswered: nine answers are left.
			patch(identity.Service, 0, "read")
			patch(identity.Service, 1, "read")
			if text := page("/"); text != before {
				t.Error("with nine answers the page is not the old one")
			}
			// Maintenance measures again after a deletion.
			patch(identity.Service, 0, "replied")
			patch(identity.Service, 1, "replied")
			s.exec(fmt.Sprintf("delete from contact_submissions where id in ('%s', '%s', '%s')", messageID(0), messageID(1), messageID(2)))
			s.maintain(t.Context())
			if text := page("/"); text != before {
				t.Error("after a deletion the page is not the old one")
			}
		})
	}
}

func messageID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }
