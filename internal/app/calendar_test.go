package app

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// Proves CAL-who.
//
// The URL of a calendar stays valid when the password changes and all sessions end. Otherwise a calendar program would stop receiving dates,
// and the owner would not notice.
func TestACalendarOutlivesPasswordAndSessions(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newActivitySite(t, dialect)
			var response struct{ Calendar struct{ URL string } }
			rec := s.send("POST", "/functions/v1/calendar-feed", s.owner, `{"action":"create","language":"en"}`)
			if err := json.Unmarshal(rec.Body.Bytes(), &response); err != nil || rec.Code != http.StatusOK {
				t.Fatalf("status %d: %s", rec.Code, rec.Body)
			}
			calendar, err := url.Parse(response.Calendar.URL)
			if err != nil {
				t.Fatal(err)
			}
			changed := s.send("PUT", "/auth/v1/user", s.owner, `{"password":"another wall of whitewash"}`)
			if changed.Code != http.StatusOK {
				t.Fatalf("status %d: %s", changed.Code, changed.Body)
			}
			if ended := s.send("POST", "/auth/v1/logout?scope=global", s.owner, ""); ended.Code != http.StatusNoContent {
				t.Fatalf("status %d: %s", ended.Code, ended.Body)
			}
			if err := s.Auth.SetPassword(t.Context(), "ana@alvor.example", "a third wall of whitewash", true); err != nil {
				t.Fatal(err)
			}
			if refused := s.send("POST", "/functions/v1/calendar-feed", s.owner, "{}"); refused.Code != http.StatusUnauthorized && refused.Code != http.StatusForbidden {
				t.Errorf("the session has not ended: %d %s", refused.Code, refused.Body)
			}
			if rec := s.send("GET", calendar.Path, key(t, s.App, identity.Anon), ""); rec.Code != http.StatusOK {
				t.Errorf("status %d: %s", rec.Code, rec.Body)
			}
		})
	}
}
