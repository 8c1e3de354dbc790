package identity

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return now }

// tokens returns Tokens that sign with a shared secret.
func tokens() *Tokens { return New(Config{Secret: []byte(strings.Repeat("s", 32))}, clock) }

func sign(t *testing.T, tk *Tokens, claims jwt.MapClaims) string {
	t.Helper()
	s, err := tk.Sign(claims)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Proves S6-key-3.
func TestVerify(t *testing.T) {
	tk := tokens()
	good := jwt.MapClaims{"sub": "u1", "role": "authenticated", "session_id": "s1", "exp": now.Add(time.Hour).Unix()}
	claimsWith := func(k string, v any) jwt.MapClaims {
		c := jwt.MapClaims{}
		for key, value := range good {
			c[key] = value
		}
		if v == nil {
			delete(c, k)
		} else {
			c[k] = v
		}
		return c
	}
	none, err := jwt.NewWithClaims(jwt.SigningMethodNone, good).SignedString(jwt.UnsafeAllowNoneSignatureType)
	if err != nil {
		t.Fatal(err)
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	rs256, err := jwt.NewWithClaims(jwt.SigningMethodRS256, good).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	valid := sign(t, tk, good)
	for _, c := range []struct {
		name, token string
		want        error
	}{
		{"good", valid, nil},
		{"expired", sign(t, tk, claimsWith("exp", now.Add(-time.Second).Unix())), ErrExpired},
		{"no expiry", sign(t, tk, claimsWith("exp", nil)), ErrBadToken},
		{"other secret", sign(t, New(Config{Secret: []byte(strings.Repeat("x", 32))}, clock), good), ErrBadToken},
		{"alg none", none, ErrBadToken},
		{"alg RS256", rs256, ErrBadToken},
		{"signature cut", valid[:len(valid)-2], ErrBadToken},
		{"payload changed", strings.Replace(valid, ".", ".e", 1), ErrBadToken},
		{"user without sub", sign(t, tk, claimsWith("sub", nil)), ErrBadToken},
		{"unknown role", sign(t, tk, claimsWith("role", "root")), ErrBadToken},
		{"no role", sign(t, tk, claimsWith("role", nil)), ErrBadToken},
		{"nonsense", "a.b.c", ErrBadToken},
		{"empty", "", ErrBadToken},
	} {
		t.Run(c.name, func(t *testing.T) {
			claims, err := tk.Verify(c.token)
			if c.want == nil {
				if err != nil || claims.Subject != "u1" || claims.SessionID != "s1" {
					t.Fatalf("%+v, %v", claims, err)
				}
				return
			}
			if err == nil || err.Error() == "" || !sameCode(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func sameCode(got, want error) bool {
	return strings.HasPrefix(got.Error(), want.Error())
}

// Proves S6-key-4.
func TestKeysAreDeterministic(t *testing.T) {
	first, err := tokens().Key(Anon)
	if err != nil {
		t.Fatal(err)
	}
	second, err := tokens().Key(Anon)
	if err != nil || first != second {
		t.Errorf("%q, %q, %v", first, second, err)
	}
	claims, err := tokens().Verify(first)
	if err != nil || claims.Role != Anon {
		t.Errorf("%+v, %v", claims, err)
	}
}

// Proves W-auth-4.
func TestKeysMayHaveNoExpiry(t *testing.T) {
	tk := tokens()
	for _, role := range []Role{Anon, Service} {
		claims, err := tk.Verify(sign(t, tk, jwt.MapClaims{"role": string(role)}))
		if err != nil || claims.Role != role || !claims.ExpiresAt.After(now) {
			t.Errorf("%s: %+v, %v", role, claims, err)
		}
		if _, err := tk.Verify(sign(t, tk, jwt.MapClaims{"role": string(role), "exp": now.Add(-time.Second).Unix()})); !errors.Is(err, ErrExpired) {
			t.Errorf("%s that has ended: %v", role, err)
		}
	}
	if _, err := tk.Verify(sign(t, tk, jwt.MapClaims{"role": "authenticated", "sub": "u1"})); !errors.Is(err, ErrBadToken) {
		t.Errorf("a user's token: %v", err)
	}
}

// Proves W-auth-1, W-auth-13.
func TestCaller(t *testing.T) {
	tk := tokens()
	anon, err := tk.Key(Anon)
	if err != nil {
		t.Fatal(err)
	}
	service, err := tk.Key(Service)
	if err != nil {
		t.Fatal(err)
	}
	user := sign(t, tk, jwt.MapClaims{"sub": "u1", "role": "authenticated", "session_id": "s1", "exp": now.Add(time.Hour).Unix()})
	old := sign(t, tk, jwt.MapClaims{"sub": "u1", "role": "authenticated", "exp": now.Add(-time.Hour).Unix()})
	broken := errors.New("database gone")
	a := &Authenticator{Tokens: tk, IsAdmin: func(_ context.Context, userID, sessionID string) (bool, error) {
		return userID == "u1" && sessionID == "s1", nil
	}}
	for _, c := range []struct {
		name, key, bearer, query string
		want                     Caller
		err                      error
	}{
		{name: "nothing", err: ErrNoKey},
		{name: "public key", key: anon, bearer: "Bearer " + anon, want: Caller{Role: Anon, Bearer: true, KeyGeneration: 1}},
		{name: "public key alone", key: anon, want: Caller{Role: Anon, KeyGeneration: 1}},
		{name: "public key in the address", query: anon, want: Caller{Role: Anon, KeyGeneration: 1}},
		{name: "user", key: anon, bearer: "bearer " + user, want: Caller{Role: Authenticated, Bearer: true, UserID: "u1", SessionID: "s1", Admin: true}},
		{name: "service key", key: service, bearer: "Bearer " + service, want: Caller{Role: Service, Bearer: true, KeyGeneration: 1}},
		{name: "user's old token", key: anon, bearer: "Bearer " + old, err: ErrExpired},
		{name: "forged key beside a good token", key: "a.b.c", bearer: "Bearer " + user, err: ErrBadToken},
		{name: "forged token beside a good key", key: service, bearer: "Bearer a.b.c", err: ErrBadToken},
		{name: "basic credentials do not count", bearer: "Basic " + user, err: ErrNoKey},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/?apikey="+c.query, nil)
			r.Header.Set("apikey", c.key)
			r.Header.Set("Authorization", c.bearer)
			got, err := a.Caller(r)
			if c.err != nil {
				if err == nil || !sameCode(err, c.err) {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	a.IsAdmin = func(context.Context, string, string) (bool, error) { return false, broken }
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Authorization", "Bearer "+user)
	if _, err := a.Caller(r); !errors.Is(err, broken) {
		t.Errorf("a failed lookup must fail the request, got %v", err)
	}
}

// A token whose signature is cached must still be refused when its times, its issuer or its key are no longer valid.
func TestCachedTokensAreStillChecked(t *testing.T) {
	at, valid := now, true
	keys := &shared{keys: []SigningKey{newKey(t, "k1", now)}, at: now}
	tk := New(Config{
		Secret: []byte(strings.Repeat("s", 32)), SigningKeys: keys.load, ES256: true,
		Generations: func(Role, int) (bool, error) { return valid, nil },
	}, func() time.Time { return at })
	user := sign(t, tk, keys.claims())
	service, err := tk.Key(Service)
	if err != nil {
		t.Fatal(err)
	}
	expect := func(when, token string, want error) {
		t.Helper()
		_, err := tk.Verify(token)
		if want == nil && err != nil || want != nil && (err == nil || !sameCode(err, want)) {
			t.Errorf("%s: %v", when, err)
		}
	}
	for range 2 {
		expect("a user's token", user, nil)
		expect("a key", service, nil)
		expect("a forged token", user[:len(user)-2]+"AA", ErrBadToken)
	}
	valid = false
	expect("a revoked key", service, ErrBadToken)
	keys.keys[0].VerifyUntil, at = now.Add(time.Minute), now.Add(2*time.Minute)
	expect("signed by a retired key", user, ErrBadToken)
	keys.keys[0].VerifyUntil, at = time.Time{}, now.Add(4*time.Minute)
	expect("signed by a key that is back", user, nil)
	at = now.Add(2 * time.Hour)
	expect("expired", user, ErrExpired)
}

// The cache is bounded for any number of tokens, and keeps the tokens in use.
func TestSignatureCacheIsBounded(t *testing.T) {
	tk := tokens()
	used := sign(t, tk, jwt.MapClaims{"sub": "u1", "role": "authenticated", "exp": now.Add(time.Hour).Unix()})
	for n := range 3 * maxCachedTokens {
		for _, token := range []string{used, sign(t, tk, jwt.MapClaims{"sub": "u1", "role": "authenticated", "n": n, "exp": now.Add(time.Hour).Unix()})} {
			if _, err := tk.Verify(token); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, ok := tk.signatures.get(used); !ok || len(tk.signatures.recent) > maxCachedTokens || len(tk.signatures.older) > maxCachedTokens {
		t.Errorf("%d and %d tokens are cached, the one in use: %v", len(tk.signatures.recent), len(tk.signatures.older), ok)
	}
	long := sign(t, tk, jwt.MapClaims{"sub": strings.Repeat("u", maxCachedTokenBytes), "role": "authenticated", "exp": now.Add(time.Hour).Unix()})
	if _, err := tk.Verify(long); err != nil {
		t.Fatal(err)
	}
	if _, ok := tk.signatures.get(long); ok {
		t.Error("a long token is remembered")
	}
}

func TestContext(t *testing.T) {
	if got := Of(t.Context()); got != (Caller{}) {
		t.Errorf("got %+v", got)
	}
	if got := Of(With(t.Context(), Caller{Role: Service})); got.Role != Service {
		t.Errorf("got %+v", got)
	}
}
