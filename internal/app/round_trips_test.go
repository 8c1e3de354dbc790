package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
)

// Proves H-round-trips.
//
// A small write needs one round trip to PostgreSQL, and so does the check of a session.
func TestRoundTripsToPostgres(t *testing.T) {
	proxy := dbtest.CountRoundTrips(t)
	cfg := configuration(t)
	cfg.Database.URL = proxy.URL
	cfg.Mail.MessagesPerHour = 60
	a := newAppOf(t, cfg, time.Now)
	const email, password = "ana@alvor.example", "a wall of whitewash"
	if err := a.Auth.AddOwner(t.Context(), email, password); err != nil {
		t.Fatal(err)
	}
	handler := a.Handler()
	anon, service := key(t, a, identity.Anon), key(t, a, identity.Service)
	var session struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	// send sends a request three times, so that all statements are prepared, and returns what the last one has sent.
	send := func(method, target, bearer string, body func() any, header ...string) (trips []string) {
		t.Helper()
		for range 3 {
			text, err := json.Marshal(body())
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest(method, target, strings.NewReader(string(text)))
			r.Header.Set("apikey", anon)
			r.Header.Set("Authorization", "Bearer "+bearer)
			for i := 0; i < len(header); i += 2 {
				r.Header.Set(header[i], header[i+1])
			}
			rec := httptest.NewRecorder()
			trips = proxy.During(func() { handler.ServeHTTP(rec, r) })
			if rec.Code >= http.StatusMultipleChoices {
				t.Fatalf("%s %s: %d %s", method, target, rec.Code, rec.Body)
			}
			if strings.Contains(target, "grant_type") {
				if err := json.Unmarshal(rec.Body.Bytes(), &session); err != nil {
					t.Fatal(err)
				}
			}
		}
		// On a slow machine, other statements can be among them: the content version and the valid keys are read again after a while, and
		// a connection that was idle for a second is checked.
		return slices.DeleteFunc(trips, func(trip string) bool {
			return strings.Contains(trip, "from content_version") || strings.Contains(trip, "from access_keys") || strings.Contains(trip, "-- ping")
		})
	}
	fixed := func(body any) func() any { return func() any { return body } }
	send("POST", "/auth/v1/token?grant_type=password", anon, fixed(map[string]string{"email": email, "password": password}))
	work, review := map[string]any{"title": "Roofs"}, map[string]any{"client_name": "Rui", "message": "Good work"}
	message := map[string]string{"name": "Rui", "email": "rui@example.com", "message": "How large is the mural on the corner?"}
	for _, c := range []struct {
		name, method, target, bearer string
		body                         func() any
		header                       []string
		want                         []int // the numbers of statements of each round trip
	}{
		{"own user", "GET", "/auth/v1/user", session.Access, fixed(nil), nil, []int{1}},
		{"a refresh", "POST", "/auth/v1/token?grant_type=refresh_token", anon, func() any { return map[string]string{"refresh_token": session.Refresh} }, nil, []int{1}},
		{"a row, by key", "POST", "/rest/v1/products", service, fixed(work), nil, []int{3}},
		{"a row, and read back", "POST", "/rest/v1/products", service, fixed(work), []string{"Prefer", "return=representation"}, []int{4}},
		{"a row, by an owner", "POST", "/rest/v1/products", session.Access, fixed(work), nil, []int{1, 4}},                           // the role; the actor is set
		{"a numbered row", "POST", "/rest/v1/reviews", service, fixed(review), nil, []int{3, 4}},                                     // begin, lock, last number
		{"a change", "PATCH", "/rest/v1/reviews?client_name=eq.Rui&display_order=eq.1", service, fixed(review), nil, []int{2, 1, 3}}, // begin; the written row; commit
		{"a message", "POST", "/functions/v1/submit-contact", anon, fixed(message), nil, []int{1, 7}},                                // the limit of the visitor's address
	} {
		trips := send(c.method, c.target, c.bearer, c.body, c.header...)
		var got []int
		for _, trip := range trips {
			got = append(got, strings.Count(trip, ";\n")+1)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v instead of %v:\n%s", c.name, got, c.want, strings.Join(trips, "\n--\n"))
		}
	}
}
