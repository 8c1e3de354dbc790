package app

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"atelie/internal/config"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
	"atelie/internal/storage/storagetest"
)

// Proves E-link-1.
//
// TestLinksThatDoNotExistCostTheSame compares statements instead of times, which vary: requests for unknown, malformed, expired, replaced and
// erased links must send the same statements to the database, in the same round trips, and get the same bytes.
func TestLinksThatDoNotExistCostTheSame(t *testing.T) {
	proxy := dbtest.CountRoundTrips(t)
	s := newNoticeSite(t, db.Postgres, false, func(c *config.Config) { c.Database.URL = proxy.URL })
	s.set("site", `{"name":"Alvor","enquiryLinks":true}`)
	expired, renewed, erased := s.sendMessageWithLink("Ana", "ana@exemplo.example", "pt"), s.sendMessageWithLink("Rui", "rui@exemplo.example", "pt"), s.sendMessageWithLink("Eva", "eva@exemplo.example", "pt")
	if rec := s.send(expired, "", []string{"text=See"}, storagetest.JPEG(30, 20)); rec.Code != http.StatusSeeOther {
		t.Fatal(rec.Code)
	}
	var picture, message string
	for query, to := range map[string]*string{"select id from contact_pictures": &picture, "select id from contact_submissions where name = 'Rui'": &message} {
		if err := s.DB.QueryRow(t.Context(), query).Scan(to); err != nil {
			t.Fatal(err)
		}
	}
	s.exec("update contact_links set expires_at = $1 where message_id = (select id from contact_submissions where name = 'Ana')", s.now())
	s.call(identity.Service, "contact-reply", `{"action":"renew","message_id":"`+message+`"}`)
	browseLink(t, s.App, erased, "action", "erase", "confirm", "yes")

	contentType, pictures := pictureForm(t, []string{"text=See"}, storagetest.JPEG(30, 20))
	form := func(fields ...string) string {
		values := url.Values{}
		for i := 0; i < len(fields); i += 2 {
			values.Set(fields[i], fields[i+1])
		}
		return values.Encode()
	}
	handler, calls := s.Handler(), 0
	// send sends a request three times, so that all statements are prepared, and returns what the last one has sent and received.
	send := func(method, target, contentType, body string) (got string, trips []string) {
		t.Helper()
		for range 3 {
			s.clock.Add(time.Minute.Microseconds()) // so that the rate limits of a link do not apply
			r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
			calls++
			r.RemoteAddr = fmt.Sprintf("198.18.%d.%d:1", calls/250, calls%250)
			r.Header.Set("Content-Type", contentType)
			r.Header.Set("Accept", "text/html")
			rec := httptest.NewRecorder()
			trips = proxy.During(func() { handler.ServeHTTP(rec, r) })
			rec.Header().Del("X-Request-Id")
			var head bytes.Buffer
			if err := rec.Header().Write(&head); err != nil {
				t.Fatal(err)
			}
			got = fmt.Sprintf("%d\n%s\n%s", rec.Code, head.String(), rec.Body)
		}
		// On a slow machine these are read again, see TestRoundTripsToPostgres.
		return got, slices.DeleteFunc(trips, func(trip string) bool {
			return strings.Contains(trip, "from content_version") || strings.Contains(trip, "from access_keys") || strings.Contains(trip, "-- ping")
		})
	}
	for _, request := range []struct{ method, below, contentType, body string }{
		{"GET", "", "", ""},
		{"HEAD", "", "", ""},
		{"GET", "?lang=pt", "", ""},
		{"POST", "", "application/x-www-form-urlencoded", form("text", "Olá?", "id", "a")},
		{"POST", "", "application/x-www-form-urlencoded", form("action", "erase")},
		{"POST", "", "application/x-www-form-urlencoded", form("action", "erase", "confirm", "yes")},
		{"POST", "", "application/x-www-form-urlencoded", form("action", "answer", "answer", "accepted", "offer", picture, "name", "Ana")},
		{"POST", "", "application/json", "{}"},
		{"POST", "", contentType, string(pictures)},
		{"GET", "/picture/" + picture, "", ""},
		{"GET", "/picture/" + picture + "/small", "", ""},
		{"GET", "/picture/11111111-1111-4111-8111-111111111111", "", ""},
	} {
		name := fmt.Sprintf("%s %q %s %.60q", request.method, request.below, request.contentType, request.body)
		want, wantTrips := send(request.method, "/enquiry/AAAAAAAAAAAAAAAAAAAAAA"+request.below, request.contentType, request.body)
		if len(wantTrips) == 0 || !strings.HasPrefix(want, "404") {
			t.Fatalf("%s: %s\n%q", name, want, wantTrips)
		}
		for kind, path := range map[string]string{"expired": expired, "renewed": renewed, "erased": erased, "malformed": "/enquiry/x", "of another case": strings.ToLower(expired)} {
			got, trips := send(request.method, path+request.below, request.contentType, request.body)
			if got != want {
				t.Errorf("%s, %s: %s\nwant %s", name, kind, got, want)
			}
			if !slices.Equal(trips, wantTrips) {
				t.Errorf("%s, %s: %d round trips, an unknown link has %d:\n%s\n--\n%s", name, kind, len(trips), len(wantTrips), strings.Join(trips, "\n"), strings.Join(wantTrips, "\n"))
			}
		}
	}
}
