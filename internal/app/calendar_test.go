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
// A calendar program would receive nothing any more, and say nothing, if the URL ended with a password.
func TestACalendarOutlivesPasswordAndSessions(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newActivitySite(t, dialect)
			var made struct{ Calendar struct{ URL string } }
			rec := s.send("POST", "/functions/v1/calendar-feed", s.owner, `{"action":"create","language":"en"}`)
			if err := json.Unmarshal(rec.Body.Bytes(), &made); err != nil || rec.Code != http.StatusOK {
				t.Fatalf("%d %s", rec.Code, rec.Body)
			}
			calendar, err := url.Parse(made.Calendar.URL)
			if err != nil {
				t.Fatal(err)
			}
			changed := s.send("PUT", "/auth/v1/user", s.owner, `{"password":"another wall of whitewash"}`)
			if changed.Code != http.StatusOK {
				t.Fatalf("%d %s", changed.Code, changed.Body)
			}
			if ended := s.send("POST", "/auth/v1/logout?scope=global", s.owner, ""); ended.Code != http.StatusNoContent {
				t.Fatalf("%d %s", ended.Code, ended.Body)
			}
			if err := s.Auth.SetPassword(t.Context(), "ana@alvor.example", "a third wall of whitewash", true); err != nil {
				t.Fatal(err)
			}
			if refused := s.send("POST", "/functions/v1/calendar-feed", s.owner, "{}"); refused.Code != http.StatusUnauthorized && refused.Code != http.StatusForbidden {
				t.Errorf("the session goes on: %d %s", refused.Code, refused.Body)
			}
			if rec := s.send("GET", calendar.Path, key(t, s.App, identity.Anon), ""); rec.Code != http.StatusOK {
				t.Errorf("%d %s", rec.Code, rec.Body)
			}
		})
	}
}
