package auth

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func newID() string { return uuid.NewString() }

// Proves S3-session-2, S7-user-1.
func TestGetUserReturnsTheAccount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		session := h.mustSignIn()
		r := h.user(session.text("access_token"))
		if r.status != 200 || !reflect.DeepEqual(r.body, session.body["user"]) || r.header.Get("Cache-Control") != "no-store" {
			t.Errorf("got %d %s, signed in as %v", r.status, r.raw, session.body["user"])
		}
	})
}

func TestAccountWithoutOptionalFieldsIsComplete(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		id := newID()
		h.exec("insert into auth_users (id, created_at, updated_at) values ($1, $2, $2)", id, h.clock.now())
		r := h.user(h.sign(jwt.MapClaims{"sub": id, "role": "authenticated", "exp": h.clock.now().Add(time.Hour).Unix()}))
		want := `{"id":"` + id + `","aud":"authenticated","role":"authenticated","email":"","phone":"","app_metadata":{},"user_metadata":{},"identities":[],` +
			`"created_at":"2026-11-21T10:00:00Z","updated_at":"2026-11-21T10:00:00Z","is_anonymous":false}`
		if r.status != 200 || r.raw != want {
			t.Errorf("got %d %s", r.status, r.raw)
		}
	})
}

// Proves S7-logout-4, S7-user-1.
func TestGetUserRefusals(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		if err := h.AddOwner(t.Context(), "rui@example.pt", password); err != nil {
			t.Fatal(err)
		}
		mine := h.claims(h.mustSignIn().text("access_token"))
		theirs := h.claims(h.signInAs("rui@example.pt", password).text("access_token"))
		tokenWith := func(name string, value any) string {
			c := jwt.MapClaims{}
			for k, v := range mine {
				c[k] = v
			}
			c[name] = value
			return h.sign(c)
		}
		for _, c := range []struct {
			name, token string
			status      int
			code        string
		}{
			{"public key", "", 403, "bad_jwt"},
			{"service key", h.service, 403, "bad_jwt"},
			{"sub is no UUID", tokenWith("sub", "ines"), 400, "bad_jwt"},
			{"session_id is no UUID", tokenWith("session_id", "one"), 403, "bad_jwt"},
			{"no such user", tokenWith("sub", newID()), 403, "user_not_found"},
			{"no such session", tokenWith("session_id", newID()), 403, "session_not_found"},
			{"a stranger's session", tokenWith("session_id", theirs["session_id"]), 403, "session_not_found"},
		} {
			h.expect(c.name, h.user(c.token), c.status, c.code)
		}
	})
}

// badTokens are tokens that every endpoint must refuse with 401.
func badTokens(t *testing.T, h *fixture, good string) map[string]string {
	t.Helper()
	claims := h.claims(good)
	unsigned, err := jwt.NewWithClaims(jwt.SigningMethodNone, claims).SignedString(jwt.UnsafeAllowNoneSignatureType)
	if err != nil {
		t.Fatal(err)
	}
	forged, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte("another secret"))
	if err != nil {
		t.Fatal(err)
	}
	otherAlgorithm, err := jwt.NewWithClaims(jwt.SigningMethodHS512, claims).SignedString([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	expired := jwt.MapClaims{}
	for k, v := range claims {
		expired[k] = v
	}
	expired["exp"] = h.clock.now().Add(-time.Second).Unix()
	endless := jwt.MapClaims{"sub": claims["sub"], "role": "authenticated"}
	parts := strings.Split(good, ".")
	return map[string]string{
		"forged": forged, "unsigned": unsigned, "HS512": otherAlgorithm, "expired": h.sign(expired), "without end": h.sign(endless),
		"garbage": "garbage", "signature cut off": parts[0] + "." + parts[1] + ".", "unknown role": h.sign(jwt.MapClaims{"role": "admin", "exp": h.clock.now().Add(time.Hour).Unix()}),
	}
}

// Proves S6-key-3, W-auth-3.
func TestBadTokensAreRefusedOnEveryEndpoint(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		good := h.mustSignIn().text("access_token")
		for _, endpoint := range []string{"GET /auth/v1/user", "POST /auth/v1/logout", "POST /auth/v1/token?grant_type=password", "POST /auth/v1/token?grant_type=refresh_token",
			"POST /auth/v1/setup", "GET /auth/v1/settings", "GET /auth/v1/health"} {
			method, path, _ := strings.Cut(endpoint, " ")
			for name, token := range badTokens(t, h, good) {
				h.expect(endpoint+", "+name, h.call(method, path, token, "{}"), 401, "bad_jwt")
				r := h.call(method, path, token, "{}", header{versionHeader, version2024})
				h.expect(endpoint+", "+name, r, 401, "bad_jwt")
				if text := r.text("message"); !strings.HasPrefix(text, "invalid JWT: unable to parse or verify signature, token ") || r.header.Get(versionHeader) != version2024 {
					t.Errorf("%s, %s: %s", endpoint, name, r.raw)
				}
			}
			h.expect(endpoint+", bad apikey", h.call(method, path, good, "{}", header{"apikey", "garbage"}), 401, "bad_jwt")
			h.expect(endpoint+", nothing", h.call(method, path, "", "{}", header{"apikey", ""}, header{"Authorization", ""}), 401, "no_authorization")
		}
		h.expect("nothing came of it", h.user(good), 200, "")
	})
}

func TestTimesInJSONAreRFC3339(t *testing.T) {
	at := time.Date(2026, 11, 21, 10, 0, 0, 123456000, time.UTC)
	b, err := json.Marshal(User{CreatedAt: at})
	if err != nil || !strings.Contains(string(b), `"created_at":"2026-11-21T10:00:00.123456Z"`) || strings.Contains(string(b), "confirmed_at") {
		t.Errorf("got %s, %v", b, err)
	}
}

// Proves W-auth-1.
func TestAPIKeyWithoutBearerIsRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		owner := h.mustSignIn().text("access_token")
		id := newID()
		for _, endpoint := range append([]string{
			"GET /user", "PUT /user", "POST /logout", "GET /reauthenticate", "GET /user/identities/authorize?provider=house", "DELETE /user/identities/%s",
			"POST /factors", "POST /factors/%s/challenge", "POST /factors/%s/verify", "DELETE /factors/%s", "GET /user/sessions", "DELETE /user/sessions/%s",
			"POST /factors/recovery_codes", "GET /factors/recovery_codes", "POST /factors/recovery_codes/verify",
			"GET /admin/audit", "GET /admin/sso/providers", "POST /admin/sso/providers", "GET /admin/sso/providers/%s", "PUT /admin/sso/providers/%s", "DELETE /admin/sso/providers/%s",
		}, adminCalls...) {
			method, path, _ := strings.Cut(strings.ReplaceAll(strings.ReplaceAll(endpoint, "%[1]s", id), "%s", id), " ")
			for _, c := range []struct{ name, key, authorization string }{{"public key", h.anon, ""}, {"service key", h.service, ""}, {"a user's token", owner, ""}, {"another scheme", h.service, "Basic eDp5"}} {
				r := h.call(method, "/auth/v1"+path, "", "{}", header{"apikey", c.key}, header{"Authorization", c.authorization})
				h.expect(endpoint+", "+c.name, r, 401, "no_authorization")
				if r.text("msg") != "This endpoint requires a valid Bearer token" {
					t.Errorf("%s: %s", endpoint, r.raw)
				}
			}
		}
		withoutBearer := header{"Authorization", ""}
		h.expect("settings", h.call("GET", "/auth/v1/settings", "", "", withoutBearer), 200, "")
		h.expect("sign-in", h.signInAs(email, password, withoutBearer), 200, "")
	})
}
