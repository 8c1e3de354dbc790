package auth

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves S7-token-1, S3-session-2, S5-rule-9, S7-token-15, S7-identity-3.
func TestPasswordGrantReturnsASession(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		h.clock.advance(time.Minute)
		r := h.signInAs("  INES@Example.PT ", password, header{"User-Agent", "Firefox\xff"})
		if r.status != http.StatusOK || r.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("got %d %v %s", r.status, r.header, r.raw)
		}
		if got := keysOf(r.body); got != "access_token expires_at expires_in refresh_token token_type user weak_password" {
			t.Errorf("session has %s", got)
		}
		now := h.clock.now()
		if r.body["token_type"] != "bearer" || r.body["expires_in"] != 3600.0 || r.body["expires_at"] != float64(now.Add(time.Hour).Unix()) || r.body["weak_password"] != nil {
			t.Errorf("session %s", r.raw)
		}

		user := r.body["user"].(map[string]any)
		if got := keysOf(user); got != "app_metadata aud confirmed_at created_at email email_confirmed_at id identities is_anonymous last_sign_in_at phone role updated_at user_metadata" {
			t.Errorf("user has %s", got)
		}
		if user["aud"] != "authenticated" || user["role"] != "authenticated" || user["email"] != email || user["phone"] != "" || user["is_anonymous"] != false {
			t.Errorf("user %v", user)
		}
		if user["last_sign_in_at"] != "2026-11-21T10:01:00Z" || user["created_at"] != "2026-11-21T10:00:00Z" || user["confirmed_at"] != "2026-11-21T10:00:00Z" {
			t.Errorf("times of %v", user)
		}
		if got := fmt.Sprint(user["app_metadata"]); got != "map[provider:email providers:[email]]" {
			t.Errorf("app_metadata %s", got)
		}
		identity := user["identities"].([]any)[0].(map[string]any)
		if got := keysOf(identity); got != "created_at email id identity_data identity_id last_sign_in_at provider updated_at user_id" {
			t.Errorf("identity has %s", got)
		}
		if identity["id"] != user["id"] || identity["user_id"] != user["id"] || identity["identity_id"] == user["id"] || identity["provider"] != "email" || identity["email"] != email {
			t.Errorf("identity %v", identity)
		}

		claims := h.claims(r.text("access_token"))
		if got := keysOf(claims); got != "aal amr app_metadata aud email exp iat is_anonymous iss phone role session_id sub user_metadata" {
			t.Errorf("token has %s", got)
		}
		if claims["iss"] != "https://ines.example/auth/v1" || claims["aud"] != "authenticated" || claims["sub"] != user["id"] || claims["role"] != "authenticated" ||
			claims["aal"] != "aal1" || claims["email"] != email || claims["phone"] != "" || claims["is_anonymous"] != false ||
			claims["iat"] != float64(now.Unix()) || claims["exp"] != r.body["expires_at"] {
			t.Errorf("claims %v", claims)
		}
		if checked, err := h.tokens.Verify(r.text("access_token")); err != nil || checked.SessionID != h.value("select id from auth_sessions") || fmt.Sprint(checked.AMR) != fmt.Sprintf("[{password %d }]", now.Unix()) {
			t.Errorf("verified %+v, %v", checked, err)
		}
		if got := h.value("select user_agent from auth_sessions"); got != "Firefox" {
			t.Errorf("user agent %q", got)
		}
		if got := h.value("select token_hash from auth_refresh_tokens"); got != hashToken(r.text("refresh_token")) {
			t.Errorf("refresh token is stored as %q", got)
		}
	})
}

// Proves S7-token-3, A-safe-3.
func TestWrongPasswordAndUnknownAccountGetEqualResponses(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		want := `{"code":400,"error_code":"invalid_credentials","msg":"Invalid login credentials"}`
		for _, c := range []struct{ email, password string }{
			{email, "wrong password"}, {email, ""}, {"nobody@example.pt", password}, {"not an address", password},
			{"nul\x00@example.pt", password}, {strings.Repeat("a", 300) + "@example.pt", password}, {email, strings.Repeat("x", 5000)},
		} {
			if r := h.signInAs(c.email, c.password); r.status != 400 || r.raw != want {
				t.Errorf("%q: got %d %s", c.email, r.status, r.raw)
			}
		}
		if n := h.count("auth_sessions"); n != 0 {
			t.Errorf("%d sessions", n)
		}
	})
}

// Proves A-safe-4.
func TestEveryAttemptComputesOneHash(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		for address, stored := range map[string]any{"none@example.pt": nil, "broken@example.pt": "$argon2id$v=19$m=4,t=99,p=0$x$y", "old@example.pt": "plain:secret"} {
			h.exec("insert into auth_users (id, email, encrypted_password, email_confirmed_at, created_at, updated_at) values ($1, $2, $3, $4, $4, $4)",
				newID(), address, stored, h.clock.now())
		}
		n := h.hashes()
		for i, c := range []struct{ email, password string }{
			{email, "wrong password"}, {"nobody@example.pt", password}, {"not an address", password},
			{"none@example.pt", ""}, {"broken@example.pt", password}, {"old@example.pt", "secret"},
		} {
			h.expect(c.email, h.signInAs(c.email, c.password), 400, "invalid_credentials")
			if *n != i+1 {
				t.Errorf("%s: %d hashes after %d attempts", c.email, *n, i+1)
			}
		}
	})
}

// Proves S5-rule-2, S5-rule-10, S7-token-9, S7-token-14, S8-form-2, W-auth-5.
func TestTokenRefusals(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		const passwordGrant, refreshGrant = "?grant_type=password", "?grant_type=refresh_token"
		for _, c := range []struct {
			name, query, body string
			status            int
			code              string
			message           string
		}{
			{"no grant", "", `{}`, 400, "invalid_credentials", "unsupported_grant_type"},
			{"pkce", "?grant_type=pkce", `{"auth_code":"a","code_verifier":"b"}`, 404, "flow_state_not_found", "invalid flow state, no valid flow state found"},
			{"pkce, half", "?grant_type=pkce", `{"auth_code":"a"}`, 400, "validation_failed", "invalid request: both auth code and code verifier should be non-empty"},
			{"id_token", "?grant_type=id_token", `{}`, 400, "validation_failed", "id_token required"},
			{"web3", "?grant_type=web3", `{}`, 422, "web3_provider_disabled", "Web3 provider is disabled"},
			{"unknown grant, bad body", "?grant_type=x", `{`, 400, "invalid_credentials", "unsupported_grant_type"},
			{"no body", passwordGrant, ``, 400, "validation_failed", "missing email or phone"},
			{"null", passwordGrant, `null`, 400, "validation_failed", "missing email or phone"},
			{"no address", passwordGrant, `{"password":"x"}`, 400, "validation_failed", "missing email or phone"},
			{"both", passwordGrant, `{"email":"a@b.pt","phone":"351911111111","password":"x"}`, 400, "validation_failed", "Only an email address or phone number should be provided on login."},
			{"phone", passwordGrant, `{"phone":"351911111111","password":"x"}`, 422, "phone_provider_disabled", "Phone logins are disabled"},
			{"malformed JSON", passwordGrant, `{"email":`, 400, "bad_json", "Could not parse request body as JSON"},
			{"list", passwordGrant, `[]`, 400, "bad_json", "Could not parse request body as JSON"},
			{"number as address", passwordGrant, `{"email":1,"password":"x"}`, 400, "bad_json", "Could not parse request body as JSON"},
			{"form", passwordGrant, `email=a%40b.pt&password=x`, 400, "bad_json", "Could not parse request body as JSON"},
			{"oversize", passwordGrant, `{"email":"a@b.pt","password":"` + strings.Repeat("x", maxBody) + `"}`, 413, "request_entity_too_large", "The request is too large"},
			{"no refresh token", refreshGrant, `{}`, 400, "validation_failed", "Refresh token is not valid"},
			{"short refresh token", refreshGrant, `{"refresh_token":"12345678901"}`, 400, "validation_failed", "Refresh token is not valid"},
			{"number as refresh token", refreshGrant, `{"refresh_token":7}`, 400, "bad_json", "Could not parse request body as JSON"},
			{"unknown refresh token", refreshGrant, `{"refresh_token":"never\u0000 issued anywhere"}`, 400, "refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found"},
			{"malformed JSON, refresh", refreshGrant, `{]`, 400, "bad_json", "Could not parse request body as JSON"},
			{"oversize, refresh", refreshGrant, `{"refresh_token":"` + strings.Repeat("x", maxBody) + `"}`, 413, "request_entity_too_large", "The request is too large"},
		} {
			t.Run(c.name, func(t *testing.T) {
				r := h.call("POST", "/auth/v1/token"+c.query, "", c.body)
				if r.status != c.status || r.raw != object(map[string]any{"code": c.status, "error_code": c.code, "msg": c.message}) {
					t.Errorf("got %d %s", r.status, r.raw)
				}
				r = h.call("POST", "/auth/v1/token"+c.query, "", c.body, header{versionHeader, version2024})
				if r.status != c.status || r.raw != object(map[string]any{"code": c.code, "message": c.message}) || r.header.Get(versionHeader) != version2024 {
					t.Errorf("new form: got %d %s %s", r.status, r.raw, r.header.Get(versionHeader))
				}
			})
		}
	})
}

// Proves S7-token-4.
func TestUnconfirmedAccountsCannotSignIn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		h.exec("update auth_users set email_confirmed_at = null")
		h.expect("right password", h.signInAs(email, password), 400, "email_not_confirmed")
		h.expect("wrong password tells nothing", h.signInAs(email, "wrong password"), 400, "invalid_credentials")
	})
}

func TestAWeakPasswordFromElsewhereIsReported(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		h.exec("update auth_users set encrypted_password = $1", bcryptOf(t, "short"))
		r := h.signInAs(email, "short")
		if r.status != 200 || fmt.Sprint(r.body["weak_password"]) != "map[message:Password should be at least 10 characters. reasons:[length]]" {
			t.Errorf("got %d %s", r.status, r.raw)
		}
	})
}

func bcryptOf(t *testing.T, password string) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(hash)
}

// Proves A-safe-1.
func TestOldHashesAreRenewedAtTheNextSignIn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		costlier := argonHash{argonParams: argonParams{memory: 128, time: 2, threads: 2}, salt: []byte("sixteen byte sal")}
		costlier.key = argon2.IDKey([]byte(password), costlier.salt, 2, 128, 2, keyBytes)
		for name, stored := range map[string]string{"bcrypt": bcryptOf(t, password), "argon2id of other costs": costlier.String()} {
			h.exec("update auth_users set encrypted_password = $1", stored)
			h.expect(name+", wrong password", h.signInAs(email, "wrong password"), 400, "invalid_credentials")
			if got := h.value("select encrypted_password from auth_users"); got != stored {
				t.Errorf("%s: a wrong password changed the hash to %s", name, got)
			}
			h.mustSignIn()
			renewed := h.value("select encrypted_password from auth_users")
			if !strings.HasPrefix(renewed, "$argon2id$v=19$m=64,t=1,p=1$") {
				t.Errorf("%s: stored %s", name, renewed)
			}
			h.mustSignIn()
			if got := h.value("select encrypted_password from auth_users"); got != renewed {
				t.Errorf("%s: renewed twice", name)
			}
		}
	})
}

func TestManySignInsRenewAnOldHashTogether(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		h.exec("update auth_users set encrypted_password = $1", bcryptOf(t, password))
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() { h.expect("sign-in", h.signInAs(email, password), 200, "") })
		}
		wg.Wait()
		if n := h.count("auth_sessions"); n != 12 {
			t.Errorf("%d sessions", n)
		}
	})
}

func TestSignInDuringAPasswordChangeFails(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		real, once := h.hasher.idKey, sync.Once{}
		h.hasher.idKey = func(pw, salt []byte, time, memory uint32, threads uint8, keyLen uint32) []byte {
			once.Do(func() { // the old hash has been read and is being compared
				h.exec("update auth_users set encrypted_password = $1", bcryptOf(t, "another password"))
			})
			return real(pw, salt, time, memory, threads, keyLen)
		}
		h.expect("old password", h.signInAs(email, password), 400, "invalid_credentials")
		if n := h.count("auth_sessions"); n != 0 {
			t.Errorf("%d sessions", n)
		}
	})
}

func from(ip string) header { return header{"X-Forwarded-For", ip} }

// Proves A-set-10.
func TestGuessingIsLimitedWithoutLockingTheOwnerOut(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		for range signInsPerAccount {
			h.expect("guess", h.signInAs(email, "wrong password", from("198.51.100.7")), 400, "invalid_credentials")
		}
		r := h.signInAs(email, password, from("198.51.100.7"), header{versionHeader, version2024})
		h.expect("one too many", r, 429, "over_request_rate_limit")
		if r.header.Get("Retry-After") != "300" {
			t.Errorf("Retry-After %q", r.header.Get("Retry-After"))
		}
		h.expect("another account, same address", h.signInAs("nobody@example.pt", "x", from("198.51.100.7")), 400, "invalid_credentials")
		h.expect("the owner, elsewhere", h.signInAs(email, password, from("203.0.113.5")), 200, "")
		h.clock.advance(limitWindow)
		h.expect("after the window", h.signInAs(email, password, from("198.51.100.7")), 200, "")
	})
}

// Proves A-set-10.
func TestAnAddressIsLimitedOverAllAccounts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		n := h.hashes()
		for i := range signInsPerIP {
			// all of one IPv6 network
			h.expect("guess", h.signInAs(fmt.Sprintf("a%d@example.pt", i), "x", from(fmt.Sprintf("2001:db8:1:2::%x", i+1))), 400, "invalid_credentials")
		}
		h.expect("one too many", h.signInAs("z@example.pt", "x", from("2001:db8:1:2:ffff::1")), 429, "over_request_rate_limit")
		if *n != signInsPerIP {
			t.Errorf("%d hashes: a refused attempt must cost none", *n)
		}
		h.expect("another network", h.signInAs("z@example.pt", "x", from("2001:db8:1:3::1")), 400, "invalid_credentials")
	})
}
