package functions

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	ics "github.com/arran4/golang-ical"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// addOwner inserts the account of the tests' owner, with its role, because a calendar belongs to an account.
func (s *site) addOwner() {
	s.t.Helper()
	s.exec("insert into auth_users (id, created_at, updated_at) values ($1, $2, $2)", adminID, s.clock)
	s.exec("insert into user_roles (user_id, role) values ($1, 'admin')", adminID)
}

// callFeed calls calendar-feed as the owner.
func (s *site) callFeed(body string) *ownCalendar {
	s.t.Helper()
	rec := s.call("admin", "calendar-feed", body)
	var state calendarState
	if err := json.Unmarshal(rec.Body.Bytes(), &state); err != nil || rec.Code != 200 || rec.Header().Get("Cache-Control") != "no-store" {
		s.t.Fatalf("%s: %d %s", body, rec.Code, rec.Body)
	}
	return state.Calendar
}

// subscribe requests a calendar by its URL or path, each time from another IP address, so that no rate limit applies.
func (s *site) subscribe(url string) *httptest.ResponseRecorder {
	s.calls++
	r := httptest.NewRequestWithContext(s.t.Context(), "GET", strings.TrimPrefix(url, "https://alvor.example"), nil)
	r.RemoteAddr = fmt.Sprintf("10.7.%d.%d:1", s.calls/250, s.calls%250)
	rec := httptest.NewRecorder()
	s.http.ServeHTTP(rec, r)
	return rec
}

const newCalendar = `{"action":"create","language":"en"}`

// Proves CAL-manage, CAL-secret, FN-calendar-who.
func TestAnOwnerMakesReplacesAndRemovesTheCalendarAddress(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.addOwner()
		if s.callFeed("{}") != nil {
			t.Fatal("there is a calendar before one is made")
		}
		first := s.callFeed(newCalendar)
		token := strings.TrimSuffix(strings.TrimPrefix(first.URL, "https://alvor.example/calendar/"), ".ics")
		if len(token) != 22 || first.Language != "en" || !first.CreatedAt.Equal(s.clock) {
			t.Fatalf("got %+v", first)
		}
		if again := s.callFeed(`{"action":"create","language":"pt"}`); *again != *first || *s.callFeed("") != *first {
			t.Errorf("got %+v", again)
		}
		var hash, nonce string
		s.scan(&hash, "select token_hash from calendar_feeds")
		s.scan(&nonce, "select nonce from calendar_feeds")
		if hash != hashText(token) || strings.Contains(nonce+hash, token) {
			t.Error("the database has the token")
		}
		rec := s.subscribe(first.URL)
		if rec.Code != 200 || rec.Header().Get("Content-Type") != "text/calendar; charset=utf-8" || rec.Header().Get("Cache-Control") != "no-store" ||
			rec.Header().Get("X-Robots-Tag") != "noindex" || rec.Header().Get("Referrer-Policy") != "no-referrer" || rec.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("status %d, headers %v", rec.Code, rec.Header())
		}
		second := s.callFeed(`{"action":"replace","language":"pt"}`)
		if second.URL == first.URL || second.Language != "pt" || s.subscribe(first.URL).Code != 404 || s.subscribe(second.URL).Code != 200 {
			t.Errorf("%+v", second)
		}
		// All that is no calendar has one response.
		want := s.subscribe("/calendar/x.ics")
		if want.Code != 404 {
			t.Fatalf("%d", want.Code)
		}
		for _, path := range []string{first.URL, strings.TrimSuffix(second.URL, ".ics"), second.URL + "/", second.URL + ".ics", "/calendar/", "/calendar/.ics", "/calendar/%00.ics", "/calendar/" + strings.Repeat("a", 5000) + ".ics", "/calendar/" + hash + ".ics"} {
			rec := s.subscribe(path)
			for _, h := range []*httptest.ResponseRecorder{rec, want} {
				h.Header().Del("X-Request-Id")
			}
			if rec.Code != 404 || rec.Body.String() != want.Body.String() || len(rec.Header()) != len(want.Header()) {
				t.Errorf("%.60s: %d %s %v", path, rec.Code, rec.Body, rec.Header())
			}
		}
		for range 2 { // a second call changes nothing
			if s.callFeed(`{"action":"remove"}`) != nil || s.subscribe(second.URL).Code != 404 {
				t.Error("the calendar was not removed")
			}
		}
		if actions, err := db.Collect(t.Context(), d, db.ScanOne[string], "select kind || ' ' || action || ' ' || cast(actor as text) from activity where action like 'calendar%' order by id"); err != nil || !slices.Equal(actions,
			[]string{"key calendar_made " + adminID, "key calendar_made " + adminID, "key calendar_removed " + adminID}) {
			t.Errorf("%v %q", err, actions)
		}
	})
}

// TestTwoCallsMakeOneCalendar checks that of calendars that are made at once all callers get the same URL, and that it is valid.
func TestTwoCallsMakeOneCalendar(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.addOwner()
		responses := make([]*httptest.ResponseRecorder, 8)
		var calls sync.WaitGroup
		for i := range responses {
			calls.Go(func() { responses[i] = s.callFrom("198.51.100.7:1", "admin", "calendar-feed", newCalendar) })
		}
		calls.Wait()
		url := s.callFeed("").URL
		for _, rec := range responses {
			var state calendarState
			if err := json.Unmarshal(rec.Body.Bytes(), &state); err != nil || rec.Code != 200 || state.Calendar == nil || state.Calendar.URL != url {
				t.Errorf("%v %d %s, want %s", err, rec.Code, rec.Body, url)
			}
		}
		if rec := s.subscribe(url); rec.Code != 200 {
			t.Errorf("%d", rec.Code)
		}
	})
}

// Proves CAL-who, FN-calendar-who.
func TestACalendarEndsWithTheRole(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for who, want := range map[string]int{"anon": 403, "user": 403, "admin": 403, "service": 400, "nobody": 401, "forged": 401, "expired": 401} { // the admin has no account yet
			if rec := s.call(who, "calendar-feed", newCalendar); rec.Code != want {
				t.Errorf("%s: %d %s", who, rec.Code, rec.Body)
			}
		}
		s.addOwner()
		for _, body := range []string{`[`, `{"action":"burn"}`, `{"action":"create"}`, `{"action":"create","language":"fr"}`, `{"action":"replace"}`, `{"language":7}`} {
			if rec := s.call("admin", "calendar-feed", body); rec.Code != 400 {
				t.Errorf("%s: %d %s", body, rec.Code, rec.Body)
			}
		}
		url := s.callFeed(newCalendar).URL
		s.exec("update auth_users set banned_until = $2 where id = $1", adminID, s.clock.Add(time.Hour))
		if s.subscribe(url).Code != 404 {
			t.Error("a banned account has a calendar")
		}
		s.clock = s.clock.Add(2 * time.Hour)
		if s.subscribe(url).Code != 200 {
			t.Error("the ban has ended")
		}
		s.exec("update user_roles set role = 'editor' where user_id = $1", adminID)
		if s.subscribe(url).Code != 404 {
			t.Error("an account with another role has a calendar")
		}
		s.exec("delete from user_roles where user_id = $1", adminID)
		s.exec("insert into user_roles (user_id, role) values ($1, 'admin')", adminID)
		if s.subscribe(url).Code != 404 || s.callFeed("") != nil {
			t.Error("the calendar has outlived the role")
		}
		// A new secret ends no calendar; only its address is not shown any more.
		url = s.callFeed(newCalendar).URL
		s.cfg.PreviousLinkKey, s.cfg.LinkKey = s.cfg.LinkKey, []byte("another key")
		if s.callFeed("").URL != url {
			t.Error("the previous key does not derive the token")
		}
		s.cfg.PreviousLinkKey = nil
		if s.callFeed("").URL != "" || s.subscribe(url).Code != 200 {
			t.Error("the new secret has ended the calendar")
		}
	})
}

// Proves CAL-limit.
func TestCalendarsAreLimitedByAddress(t *testing.T) {
	s := newSite(t, dbtest.Open(t, db.SQLite))
	s.addOwner()
	url := strings.TrimPrefix(s.callFeed(newCalendar).URL, "https://alvor.example")
	for i := range calendarRequestsPerMinute + 1 {
		rec := httptest.NewRecorder()
		s.http.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "GET", []string{url, "/calendar/none.ics"}[i%2], nil))
		if last := i == calendarRequestsPerMinute; last != (rec.Code == 429) || last && rec.Header().Get("Retry-After") == "" {
			t.Fatalf("%d: %d", i, rec.Code)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		rec := httptest.NewRecorder()
		s.http.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), method, url, nil))
		if rec.Code != 405 || rec.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d", method, rec.Code)
		}
	}
}

// Proves CAL-events, CAL-text.
//
// The text is read by another program's rules: lines of at most 75 octets that end in CRLF, one VEVENT for each promised date, and nothing
// of a hostile name that begins a line.
func TestACalendarHasThePromisedDates(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.addOwner()
		s.setSite(map[string]any{})
		url := s.callFeed(newCalendar).URL
		if text := s.subscribe(url).Body.String(); strings.Contains(text, "VEVENT") || !strings.Contains(text, "BEGIN:VTIMEZONE\r\n") {
			t.Errorf("empty: %s", text)
		}
		hostile := "Ana\r\nEND:VCALENDAR\r\nBEGIN:VEVENT\u2028\u202e\u2067;,:\\\"<b>\x07" + strings.Repeat("ã", 40)
		first := s.addCommission(hostile, "commission", "in_progress", "2026-12-31")
		second := s.addCommission("Rui", "general", "finished", "2026-02-28")
		s.addCommission("None", "commission", "accepted", "")
		s.addCommission("Gone", "commission", "declined", "2026-05-05")
		s.addCommission("Open", "commission", "offer", "2026-05-06")
		work := "99999999-9999-4999-8999-999999999999"
		s.exec("insert into products (id, title, title_pt, created_at) values ($1, 'Blue, deep; sea', 'Azul', $2)", work, s.clock)
		s.exec("update contact_submissions set artwork_id = $2 where id = $1", first, work)
		text := s.subscribe(url).Body.String()
		if !utf8.ValidString(text) || !strings.HasSuffix(text, "\r\nEND:VCALENDAR\r\n") {
			t.Errorf("%q", text)
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(text, "\r\n"), "\r\n") {
			if len(line) > 75 || strings.ContainsAny(line, "\r\n\x07\u2028\u202e\u2067") || !utf8.ValidString(line) {
				t.Errorf("line %q", line)
			}
		}
		read, err := ics.ParseCalendar(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		value := func(e *ics.VEvent, name ics.ComponentProperty) string {
			p := e.GetProperty(name)
			if p == nil {
				return ""
			}
			return p.Value
		}
		events := read.Events()
		if len(events) != 2 {
			t.Fatalf("%d events: %s", len(events), text)
		}
		page := "https://alvor.example/admin/contact-messages?message="
		for i, want := range []map[ics.ComponentProperty]string{
			{"UID": first, "DTSTART": "20261231", "DTEND": "20270101", "URL": page + first, "DESCRIPTION": "In progress\n" + page + first,
				"SUMMARY": "Ana END:VCALENDAR BEGIN:VEVENT ;,:\\\"<b>" + strings.Repeat("ã", 40) + ": Blue, deep; sea"},
			{"UID": second, "DTSTART": "20260228", "DTEND": "20260301", "URL": page + second, "SUMMARY": "Finished: Rui: commission", "TRANSP": "TRANSPARENT"},
		} {
			for name, text := range want {
				if got := value(events[i], name); got != text {
					t.Errorf("%d %s: %q", i, name, got)
				}
			}
			if stamp, err := events[i].GetDtStampTime(); err != nil || !stamp.Equal(s.clock.Truncate(time.Second)) {
				t.Errorf("%v %v", stamp, err)
			}
		}
		if !strings.Contains(text, "DTSTART;VALUE=DATE:20261231\r\n") || !strings.Contains(text, "X-WR-CALNAME:Alvor: commissions\r\n") || !strings.Contains(text, "VERSION:2.0\r\n") {
			t.Errorf("%s", text)
		}
		// In Portuguese, with the work's title in it; the UIDs stay.
		text = s.subscribe(s.callFeed(`{"action":"replace","language":"pt"}`).URL).Body.String()
		for _, want := range []string{": Azul", "SUMMARY:Concluída: Rui: encomenda\r\n", "UID:" + first, "X-WR-CALNAME:Alvor: encomendas\r\n"} {
			if !strings.Contains(strings.ReplaceAll(text, "\r\n ", ""), want) {
				t.Errorf("not %q: %s", want, text)
			}
		}
	})
}
