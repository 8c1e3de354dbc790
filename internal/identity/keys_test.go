package identity

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// newKey returns a new signing key that signs tokens after the time from.
func newKey(t testing.TB, id string, from time.Time) SigningKey {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return SigningKey{ID: id, Private: private, SignFrom: from}
}

// shared stands for the database: it has the keys that all nodes load. The test sets its clock.
type shared struct {
	keys  []SigningKey
	err   error
	reads int
	at    time.Time
}

func (s *shared) load(context.Context) ([]SigningKey, error) {
	s.reads++
	return s.keys, s.err
}

// node returns the Tokens of a new node that loads the shared keys.
func (s *shared) node(t testing.TB) *Tokens {
	t.Helper()
	tk := New(Config{Secret: []byte(strings.Repeat("s", 32)), SigningKeys: s.load, ES256: true}, func() time.Time { return s.at })
	if err := tk.Load(); err != nil {
		t.Fatal(err)
	}
	return tk
}

func (s *shared) claims() jwt.MapClaims {
	return jwt.MapClaims{"sub": "u1", "role": "authenticated", "session_id": "s1", "exp": s.at.Add(time.Hour).Unix()}
}

// kid returns the id of the key in the header of a token.
func kid(t *testing.T, token string) any {
	t.Helper()
	parsed, _, err := jwt.NewParser().ParseUnverified(token, jwt.MapClaims{})
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Header["kid"]
}

// Proves A-keys-1.
func TestES256(t *testing.T) {
	db := &shared{keys: []SigningKey{newKey(t, "k1", now)}, at: now}
	tk := db.node(t)
	token := sign(t, tk, db.claims())
	claims, err := tk.Verify(token)
	if err != nil || claims.Subject != "u1" || kid(t, token) != "k1" {
		t.Fatalf("%+v, %v", claims, err)
	}
	for _, role := range []Role{Anon, Service} {
		key, err := tk.Key(role)
		if err != nil {
			t.Fatal(err)
		}
		if before, err := tokens().Key(role); err != nil || key != before {
			t.Errorf("the %s key changes with the algorithm (%v)", role, err)
		}
		if _, err := tk.Verify(key); err != nil {
			t.Errorf("%s key: %v", role, err)
		}
	}
	if _, err := tk.Verify(sign(t, tokens(), db.claims())); err != nil {
		t.Errorf("a user's token of before: %v", err)
	}
	if _, err := tokens().Verify(token); err == nil {
		t.Error("a service without keys takes ES256")
	}
}

// Proves A-keys-4.
func TestAlgorithmsAreNotConfused(t *testing.T) {
	key := newKey(t, "k1", now)
	db := &shared{keys: []SigningKey{key, newKey(t, "old", now.Add(-time.Hour))}, at: now}
	db.keys[1].VerifyUntil = now
	tk := db.node(t)
	secret := []byte(strings.Repeat("s", 32))
	der, err := x509.MarshalPKIXPublicKey(&key.Private.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	point, err := key.Private.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	jwks, err := json.Marshal(JWK{KeyType: "EC", ID: "k1"})
	if err != nil {
		t.Fatal(err)
	}
	unknown := newKey(t, "k1", now)
	var zeros [64]byte
	forge := func(method jwt.SigningMethod, header map[string]any, key any, claims jwt.MapClaims) string {
		token := jwt.NewWithClaims(method, claims)
		for name, value := range header {
			token.Header[name] = value
		}
		s, err := token.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	k1 := map[string]any{"kid": "k1"}
	service := db.claims()
	service["role"] = "service_role"
	good := forge(jwt.SigningMethodES256, k1, key.Private, db.claims())
	parts := strings.Split(good, ".")
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, token := range map[string]string{
		"HS256 with the public key, DER":   forge(jwt.SigningMethodHS256, k1, der, db.claims()),
		"HS256 with the public key, PEM":   forge(jwt.SigningMethodHS256, k1, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), db.claims()),
		"HS256 with the public key, point": forge(jwt.SigningMethodHS256, k1, point, db.claims()),
		"HS256 with the public key, JWK":   forge(jwt.SigningMethodHS256, k1, jwks, db.claims()),
		"HS256 with an empty secret":       forge(jwt.SigningMethodHS256, k1, []byte{}, db.claims()),
		"HS512 with the secret":            forge(jwt.SigningMethodHS512, nil, secret, db.claims()),
		"none":                             forge(jwt.SigningMethodNone, k1, jwt.UnsafeAllowNoneSignatureType, db.claims()),
		"none, signature of another token": strings.Split(forge(jwt.SigningMethodNone, k1, jwt.UnsafeAllowNoneSignatureType, db.claims()), ".")[0] + "." + parts[1] + "." + parts[2],
		"ES256 without a kid":              forge(jwt.SigningMethodES256, nil, key.Private, db.claims()),
		"ES256, kid of another type":       forge(jwt.SigningMethodES256, map[string]any{"kid": []string{"k1"}}, key.Private, db.claims()),
		"ES256, unknown kid":               forge(jwt.SigningMethodES256, map[string]any{"kid": "k2"}, key.Private, db.claims()),
		"ES256, kid is a path":             forge(jwt.SigningMethodES256, map[string]any{"kid": "../../dev/null"}, key.Private, db.claims()),
		"ES256, kid is a query":            forge(jwt.SigningMethodES256, map[string]any{"kid": "k1' or '1'='1"}, key.Private, db.claims()),
		"ES256, retired key":               forge(jwt.SigningMethodES256, map[string]any{"kid": "old"}, db.keys[1].Private, db.claims()),
		"ES256, an unknown key":            forge(jwt.SigningMethodES256, k1, unknown.Private, db.claims()),
		"ES256, key in the header":         forge(jwt.SigningMethodES256, map[string]any{"kid": "x", "jwk": map[string]any{"kty": "EC"}, "jku": "https://evil.example/jwks.json"}, unknown.Private, db.claims()),
		"ES256, service key":               forge(jwt.SigningMethodES256, k1, key.Private, service),
		"ES256, extension":                 forge(jwt.SigningMethodES256, map[string]any{"kid": "k1", "crit": []string{"exp"}}, key.Private, db.claims()),
		"ES384":                            forge(jwt.SigningMethodES384, k1, p384, db.claims()),
		"no signature":                     parts[0] + "." + parts[1] + ".",
		"zero signature":                   parts[0] + "." + parts[1] + "." + base64.RawURLEncoding.EncodeToString(zeros[:]),
	} {
		if claims, err := tk.Verify(token); err == nil || !sameCode(err, ErrBadToken) {
			t.Errorf("%s: %+v, %v", name, claims, err)
		}
	}
	if _, err := tk.Verify(good); err != nil {
		t.Errorf("good: %v", err)
	}
}

// Proves A-keys-3.
func TestRotation(t *testing.T) {
	db := &shared{keys: []SigningKey{newKey(t, "k1", now)}, at: now}
	one, two := db.node(t), db.node(t)
	old := sign(t, one, db.claims())

	// Another node rotates the key. It is published immediately, and signs a quarter of an hour later.
	from := now.Add(15 * time.Minute)
	db.keys = []SigningKey{db.keys[0], newKey(t, "k2", from)}
	db.keys[0].VerifyUntil = from.Add(time.Hour)
	if keys, err := one.PublicKeys(); err != nil || len(keys) != 1 {
		t.Errorf("within a minute: %+v, %v", keys, err)
	}
	db.at = now.Add(time.Minute)
	if keys, err := one.PublicKeys(); err != nil || len(keys) != 2 {
		t.Errorf("after a minute: %+v, %v", keys, err)
	}
	if token := sign(t, one, db.claims()); kid(t, token) != "k1" {
		t.Errorf("signed with %v before its time", kid(t, token))
	}
	db.at = from
	fresh := sign(t, one, db.claims())
	if kid(t, fresh) != "k2" {
		t.Errorf("signed with %v", kid(t, fresh))
	}
	for name, token := range map[string]string{"old": old, "new": fresh} {
		if _, err := two.Verify(token); err != nil {
			t.Errorf("the other node, %s token: %v", name, err)
		}
	}
	db.at = from.Add(time.Hour)
	last := jwt.NewWithClaims(jwt.SigningMethodES256, db.claims())
	last.Header["kid"] = "k1"
	late, err := last.SignedString(db.keys[0].Private)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := two.Verify(late); err == nil {
		t.Error("the old key is still good")
	}
	if keys, err := two.PublicKeys(); err != nil || len(keys) != 1 || keys[0].ID != "k2" {
		t.Errorf("afterwards: %+v, %v", keys, err)
	}
}

func TestUnknownKeyIDCausesOneRead(t *testing.T) {
	db := &shared{keys: []SigningKey{newKey(t, "k1", now)}, at: now}
	tk := db.node(t)
	db.at = now.Add(10 * time.Second)
	fresh := newKey(t, "k2", now)
	db.keys = append(db.keys, fresh)
	token := jwt.NewWithClaims(jwt.SigningMethodES256, db.claims())
	token.Header["kid"] = "k2"
	signed, err := token.SignedString(fresh.Private)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tk.Verify(signed); err != nil || db.reads != 2 {
		t.Errorf("%d reads, %v", db.reads, err)
	}
	for range 1000 {
		token.Header["kid"] = rand.Text()
		signed, err := token.SignedString(fresh.Private)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tk.Verify(signed); err == nil {
			t.Fatal("an invented kid was taken")
		}
	}
	if db.reads != 2 {
		t.Errorf("%d reads: invented kids must not hammer the database", db.reads)
	}
}

func TestKeysWithoutTheDatabase(t *testing.T) {
	db := &shared{keys: []SigningKey{newKey(t, "k1", now)}, at: now}
	tk := db.node(t)
	token := sign(t, tk, db.claims())
	gone := errors.New("gone")
	db.err = gone
	db.at = now.Add(5 * time.Minute)
	if _, err := tk.Verify(token); err != nil {
		t.Errorf("for a while the known keys do: %v", err)
	}
	db.at = now.Add(keysStale)
	if _, err := tk.Sign(db.claims()); !errors.Is(err, gone) {
		t.Errorf("sign with keys that may be retired: %v", err)
	}
	if _, err := tk.Verify(token); !errors.Is(err, gone) {
		t.Errorf("verify: %v", err)
	}
	if _, err := tk.PublicKeys(); !errors.Is(err, gone) {
		t.Errorf("publish: %v", err)
	}
	unknown := jwt.NewWithClaims(jwt.SigningMethodES256, db.claims())
	unknown.Header["kid"] = "k2"
	fromAnotherNode, err := unknown.SignedString(newKey(t, "k2", now).Private)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		token  string
		loaded time.Time
	}{"old keys": {token, now}, "a key that may be new": {fromAnotherNode, now.Add(keysStale)}} {
		tk.keys.loadedAt = c.loaded
		for range 2 { // the second time nothing is read
			if _, err := tk.Verify(c.token); !errors.Is(err, gone) || sameCode(err, ErrBadToken) {
				t.Errorf("%s: a token that could not be checked was reported as invalid: %v", name, err)
			}
		}
	}
	if err := New(Config{SigningKeys: db.load, ES256: true}, clock).Load(); !errors.Is(err, gone) {
		t.Errorf("start: %v", err)
	}
	db.err, db.keys = nil, nil
	db.at = now.Add(keysStale + time.Minute)
	if _, err := tk.Sign(db.claims()); !errors.Is(err, errNoSigningKey) {
		t.Errorf("without a key: %v", err)
	}
}

// Proves A-safe-19.
//
// FuzzTokenParsing checks that every accepted token has a signature of this site, made with the algorithm of its key. It verifies the
// signatures a second time, without the library.
func FuzzTokenParsing(f *testing.F) {
	secret := []byte(strings.Repeat("s", 32))
	key := newKey(f, "k1", now)
	db := &shared{keys: []SigningKey{key}, at: now}
	tk := db.node(f)
	for _, sign := range []func(jwt.Claims) (string, error){tk.Sign, tk.signHS256} {
		token, err := sign(db.claims())
		if err != nil {
			f.Fatal(err)
		}
		parts := strings.Split(token, ".")
		f.Add(token)
		f.Add(token + "=")
		f.Add(parts[0] + "." + parts[1] + ".")
		f.Add(base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"k1"}`)) + "." + parts[1] + "." + parts[2])
		f.Add(base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","kid":"k1"}`)) + "." + parts[1] + "." + parts[2])
		f.Add(base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256","kid":["k1"]}`)) + "." + parts[1] + "." + parts[2])
	}
	f.Add("..")
	f.Add("a.b.c")
	f.Fuzz(func(t *testing.T, token string) {
		claims, err := tk.Verify(token)
		if err != nil {
			if claims != nil {
				t.Error("an error with claims")
			}
			if !sameCode(err, ErrBadToken) && !sameCode(err, ErrExpired) {
				t.Errorf("%q: %v", token, err)
			}
			return
		}
		parts := strings.Split(token, ".")
		header, err := base64.RawURLEncoding.DecodeString(parts[0])
		if err != nil || len(parts) != 3 {
			t.Fatalf("%q accepted", token)
		}
		var h map[string]any
		if err := json.Unmarshal(header, &h); err != nil {
			t.Fatal(err)
		}
		signature, err := base64.RawURLEncoding.DecodeString(parts[2])
		if err != nil {
			t.Fatal(err)
		}
		signed := parts[0] + "." + parts[1]
		switch h["alg"] {
		case "HS256":
			mac := hmac.New(sha256.New, secret)
			mac.Write([]byte(signed))
			if !hmac.Equal(mac.Sum(nil), signature) {
				t.Errorf("%q accepted without our mark", token)
			}
		case "ES256":
			sum := sha256.Sum256([]byte(signed))
			if len(signature) != 64 || !ecdsa.Verify(&key.Private.PublicKey, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
				t.Errorf("%q accepted without our signature", token)
			}
		default:
			t.Errorf("%q accepted with algorithm %v", token, h["alg"])
		}
	})
}

func TestUnreadableIssuers(t *testing.T) {
	gone, at := errors.New("gone"), now
	list, failure := []string{"https://a.example/auth/v1"}, error(nil)
	tk := New(Config{Secret: []byte(strings.Repeat("s", 32)), Issuers: func(context.Context) ([]string, error) { return list, failure }}, func() time.Time { return at })
	if err := tk.Load(); err != nil {
		t.Fatal(err)
	}
	token := sign(t, tk, jwt.MapClaims{"sub": "u1", "role": "authenticated", "aud": "authenticated", "iss": "https://b.example/auth/v1", "exp": at.Add(time.Hour).Unix()})
	at, failure = at.Add(issuersMinInterval), gone
	for range 2 { // the second time nothing is read
		if _, err := tk.Verify(token); !errors.Is(err, gone) || sameCode(err, ErrBadToken) {
			t.Errorf("an issuer that cannot be checked: %v", err)
		}
	}
	at, failure = at.Add(issuersMinInterval), nil
	if _, err := tk.Verify(token); !sameCode(err, ErrBadToken) {
		t.Errorf("an unknown issuer: %v", err)
	}
}
