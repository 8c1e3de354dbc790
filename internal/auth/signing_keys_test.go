package auth

import (
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
)

var _ = serve(func(s *Service) map[string]httpx.Handler {
	return map[string]httpx.Handler{"public GET /auth/v1/.well-known/jwks.json": s.JWKS}
})

func withES256(c *Config) { c.ES256 = true }

// es256 returns a fixture that signs with the keys of the database, connected as package app does it.
func es256(t *testing.T, d *db.DB) *fixture {
	t.Helper()
	h := newFixture(t, d, withES256)
	if err := h.EnsureSigningKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := h.tokens.Load(); err != nil {
		t.Fatal(err)
	}
	return h
}

// jwks returns the ids of the published signing keys. It checks the other members of each key.
func (h *fixture) jwks() (ids []string) {
	h.t.Helper()
	r := h.call("GET", "/auth/v1/.well-known/jwks.json", "", "")
	var body jwksResponse
	if err := json.Unmarshal([]byte(r.raw), &body); err != nil || r.status != 200 || body.Keys == nil || r.header.Get("Cache-Control") != "public, max-age=600" {
		h.t.Fatalf("jwks: %d %v %s", r.status, r.header, r.raw)
	}
	for _, k := range body.Keys {
		ids = append(ids, k.ID)
		if k.KeyType != "EC" || k.Curve != "P-256" || k.Algorithm != "ES256" || k.Use != "sig" || len(k.X) != 43 || len(k.Y) != 43 || len(k.Operations) != 1 || k.Operations[0] != "verify" {
			h.t.Errorf("key %+v", k)
		}
	}
	return ids
}

// kid returns the id of the key that signed a token, or "" if the token does not name a key.
func (h *fixture) kid(token string) string {
	h.t.Helper()
	parsed, _, err := jwt.NewParser().ParseUnverified(token, jwt.MapClaims{})
	if err != nil {
		h.t.Fatal(err)
	}
	id, _ := parsed.Header["kid"].(string)
	return id
}

// Proves A-surface-1, A-keys-1.
func TestHS256PublishesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		r := h.call("GET", "/auth/v1/.well-known/jwks.json", "", "")
		if r.status != 200 || r.raw != `{"keys":[]}` || r.header.Get("Cache-Control") != "public, max-age=600" {
			t.Errorf("got %d %v %s", r.status, r.header, r.raw)
		}
		if err := h.EnsureSigningKey(t.Context()); err != nil || h.count("auth_signing_keys") != 0 {
			t.Errorf("a key was made: %v", err)
		}
		_, _, err := h.RotateSigningKey(t.Context())
		if err == nil {
			t.Error("nothing to rotate")
		}
	})
}

// Proves A-keys-3.
func TestSigningKeysRotate(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := es256(t, d)
		h.owner()
		old := h.mustSignIn()
		first := h.kid(old.text("access_token"))
		if ids := h.jwks(); len(ids) != 1 || ids[0] != first {
			t.Fatalf("published %v, signed with %s", ids, first)
		}
		if !h.admin(old.text("access_token")) {
			t.Error("a token with ES256 is as good")
		}
		id, from, err := h.RotateSigningKey(t.Context())
		if err != nil || !from.Equal(h.clock.now().Add(signingGrace)) {
			t.Fatalf("%s from %s, %v", id, from, err)
		}
		if _, _, err := h.RotateSigningKey(t.Context()); err == nil {
			t.Error("a second rotation before the first has begun")
		}
		h.clock.advance(time.Minute)
		if ids := h.jwks(); len(ids) != 2 || ids[1] != id {
			t.Errorf("published %v", ids)
		}
		if kid := h.kid(h.mustSignIn().text("access_token")); kid != first {
			t.Errorf("signed with %s before its time", kid)
		}
		h.clock.advance(signingGrace)
		if kid := h.kid(h.mustSignIn().text("access_token")); kid != id {
			t.Errorf("signed with %s", kid)
		}
		if r := h.user(old.text("access_token")); r.status != 200 {
			t.Errorf("the old key's token: %d %s", r.status, r.raw)
		}
		h.clock.advance(time.Hour + retireLeeway)
		if err := h.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		if ids := h.jwks(); len(ids) != 1 || ids[0] != id || h.count("auth_signing_keys") != 1 {
			t.Errorf("published %v, %d kept", ids, h.count("auth_signing_keys"))
		}
		if r := h.refreshWith(old.text("refresh_token")); r.status != 200 || h.kid(r.text("access_token")) != id {
			t.Errorf("a session has ended: %d %s", r.status, r.raw)
		}
	})
}

// Proves A-keys-4.
func TestNodesThatStartAtOnceShareAKey(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withES256)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if err := h.EnsureSigningKey(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := h.count("auth_signing_keys"); n != 1 {
			t.Errorf("%d keys", n)
		}
	})
}

// Proves A-keys-4.
func TestGoingBackToHS256EndsTheKeys(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		before := es256(t, d)
		before.owner()
		token := before.mustSignIn().text("access_token")
		if err := before.RetireUnusedKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
		h := newFixture(t, d)
		if err := h.tokens.Load(); err != nil {
			t.Fatal(err)
		}
		if err := h.RetireUnusedKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r := h.user(token); r.status != 200 {
			t.Errorf("tokens of before end with their time: %d %s", r.status, r.raw)
		}
		if kid := h.kid(h.mustSignIn().text("access_token")); kid != "" {
			t.Errorf("signed with %s", kid)
		}
		h.clock.advance(time.Hour + retireLeeway)
		if ids := h.jwks(); len(ids) != 0 {
			t.Errorf("published %v", ids)
		}
		again := es256(t, d)
		if ids := again.jwks(); len(ids) != 2 { // its clock is an hour behind
			t.Errorf("and back once more: %v", ids)
		}
	})
}

func TestKeysOfAnotherSecretAreLeftOut(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		es256(t, d)
		h := newFixture(t, d, withES256, func(c *Config) { c.SealKey = []byte("another-key-of-exactly-32-bytes!") })
		if err := h.EnsureSigningKey(t.Context()); err != nil {
			t.Fatal(err)
		}
		keys, err := h.SigningKeys(t.Context())
		if err != nil || len(keys) != 1 || h.count("auth_signing_keys") != 2 {
			t.Errorf("%d keys, %v", len(keys), err)
		}
		if stored := h.value("select min(private_key) from auth_signing_keys"); len(stored) < 100 {
			t.Errorf("stored %q", stored)
		}
	})
}
