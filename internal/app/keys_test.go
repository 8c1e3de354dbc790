package app

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
)

// statusWithKey returns the HTTP status of a surface's response to a request with the key.
func statusWithKey(a *App, surface, key string) int {
	methodAndURL := surfaces[surface]
	r := httptest.NewRequest(methodAndURL[0], methodAndURL[1], strings.NewReader("{}"))
	r.Header.Set("apikey", key)
	r.Header.Set("Authorization", "Bearer "+key)
	rec := httptest.NewRecorder()
	a.Handler().ServeHTTP(rec, r)
	return rec.Code
}

// Proves A-keys-5.
func TestRevokedKeyIsRefusedOnEverySurface(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newApp(t, dialect)
			for _, role := range []identity.Role{identity.Anon, identity.Service} {
				original := key(t, a, role)
				for surface := range surfaces {
					if status := statusWithKey(a, surface, original); status == http.StatusUnauthorized {
						t.Errorf("%s refuses the original %s key", surface, role)
					}
				}
				number, err := a.Keys.Rotate(t.Context(), role, false)
				if err != nil || number != 2 {
					t.Fatal(number, err)
				}
				second, err := a.Tokens.KeyOf(role, number)
				if err != nil || second == original {
					t.Fatal(second, err)
				}
				neverIssued, err := a.Tokens.KeyOf(role, 9)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := a.Keys.Revoke(t.Context(), role, 1); err != nil {
					t.Fatal(err)
				}
				for surface := range surfaces {
					if status := statusWithKey(a, surface, original); status != http.StatusUnauthorized {
						t.Errorf("%s responds to the revoked %s key with %d", surface, role, status)
					}
					if status := statusWithKey(a, surface, neverIssued); status != http.StatusUnauthorized {
						t.Errorf("%s responds to a %s key that was never issued with %d", surface, role, status)
					}
					if status := statusWithKey(a, surface, second); status == http.StatusUnauthorized {
						t.Errorf("%s refuses the new %s key", surface, role)
					}
				}
			}
		})
	}
}

// Proves A-keys-6.
//
// When another process revokes the public key, this process drops its cached responses to that key, and its pages contain the new key.
func TestPagesAndCachedResponsesFollowThePublicKey(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newApp(t, dialect)
			other, err := New(t.Context(), a.cfg, a.log, a.now)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = other.Close() })
			original := key(t, a, identity.Anon)
			products := func(key string) int {
				r := httptest.NewRequest("GET", "/rest/v1/products", nil)
				r.Header.Set("apikey", key)
				rec := httptest.NewRecorder()
				a.Handler().ServeHTTP(rec, r)
				return rec.Code
			}
			if first, kept := products(original), products(original); first != 200 || kept != 200 { // the second response comes from the cache
				t.Fatal("the original key is refused")
			}
			page := sendRequest(a, "GET", "/", "")
			built := page.Code == 200 // not in a checkout without its site
			if built && !strings.Contains(page.Body.String(), original) {
				t.Error("the page does not hold the public key")
			}
			added, err := other.Keys.Revoke(t.Context(), identity.Anon, 1)
			if err != nil || added != 2 {
				t.Fatal(added, err)
			}
			deadline := time.Now().Add(time.Second)
			for begun := time.Now(); products(original) != http.StatusUnauthorized; begun = time.Now() {
				if begun.After(deadline) { // a request that began before the deadline may end later
					t.Fatal("a second later the revoked key still reads")
				}
			}
			second, err := a.Keys.AnonKey(t.Context())
			if err != nil || second == original || products(second) != 200 {
				t.Errorf("the new key: %v, %d", err, products(second))
			}
			if page := sendRequest(a, "GET", "/", ""); built && (strings.Contains(page.Body.String(), original) || !strings.Contains(page.Body.String(), second)) {
				t.Error("the page does not follow the key")
			}
		})
	}
}

// Proves A-keys-7.
func TestIssuerAndAudienceAreChecked(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newApp(t, dialect)
			token := func(claims jwt.MapClaims) string {
				claims["exp"] = time.Now().Add(time.Hour).Unix()
				s, err := a.Tokens.Sign(claims)
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			person := func(iss, aud any) string {
				claims := jwt.MapClaims{"sub": "00000000-0000-4000-8000-000000000001", "role": "authenticated"}
				if iss != nil {
					claims["iss"] = iss
				}
				if aud != nil {
					claims["aud"] = aud
				}
				return token(claims)
			}
			const own = "http://site.example/auth/v1"
			for _, c := range []struct {
				name, token string
				want        bool
			}{
				{"ours", person(own, "authenticated"), true},
				{"aud in a list", person(own, []string{"authenticated"}), true},
				{"no iss", person(nil, "authenticated"), false},
				{"another site's", person("https://other.example/auth/v1", "authenticated"), false},
				{"no aud", person(own, nil), false},
				{"another aud", person(own, "storage:download"), false},
				{"the reference's key", token(jwt.MapClaims{"role": "anon", "iss": "supabase"}), true},
				{"the reference's demo key", token(jwt.MapClaims{"role": "service_role", "iss": "supabase-demo"}), true},
				{"a key with iss of a session", token(jwt.MapClaims{"role": "service_role", "iss": own}), false},
				{"a key without iss", token(jwt.MapClaims{"role": "service_role"}), false},
				{"a key for something else", token(jwt.MapClaims{"role": "service_role", "iss": "supabase", "aud": "storage:download"}), false},
			} {
				if _, err := a.Tokens.Verify(c.token); (err == nil) != c.want {
					t.Errorf("%s: %v", c.name, err)
				}
			}
		})
	}
}

// Proves A-keys-8.
//
// After a change of the site's URL, people stay signed in: their tokens are valid until they expire.
func TestSessionsSurviveAChangedSiteURL(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			at := time.Now()
			now := func() time.Time { return at }
			cfg := configuration(t)
			cfg.Database.URL = dbtest.URL(t, dialect)
			open := func(address string) *App {
				cfg.Server.APIURL = address
				a, err := New(t.Context(), cfg, slog.New(slog.DiscardHandler), now)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = a.Close() })
				return a
			}
			before := open("http://old.example")
			token, err := before.Tokens.Sign(jwt.MapClaims{"sub": "u", "role": "authenticated", "aud": "authenticated", "iss": "http://old.example/auth/v1", "exp": at.AddDate(1, 0, 0).Unix()})
			if err != nil {
				t.Fatal(err)
			}
			after := open("http://new.example")
			if _, err := after.Tokens.Verify(token); err != nil {
				t.Errorf("a token of the old address: %v", err)
			}
			// A node that started earlier reads the new issuer when it gets the first token with it.
			fresh, err := after.Tokens.Sign(jwt.MapClaims{"sub": "u", "role": "authenticated", "aud": "authenticated", "iss": "http://new.example/auth/v1", "exp": at.AddDate(1, 0, 0).Unix()})
			if err != nil {
				t.Fatal(err)
			}
			at = at.Add(5 * time.Second)
			if _, err := before.Tokens.Verify(fresh); err != nil {
				t.Errorf("a token of the new address on an older node: %v", err)
			}
			at = at.Add(9 * 24 * time.Hour)
			if err := after.Auth.Purge(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := open("http://new.example").Tokens.Verify(token); err == nil {
				t.Error("the old address is an issuer for ever")
			}
		})
	}
}
