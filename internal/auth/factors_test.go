package auth

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

var _ = serve(func(s *Service) map[string]httpx.Handler {
	return map[string]httpx.Handler{
		"POST /auth/v1/factors": s.EnrolFactor, "POST /auth/v1/factors/{id}/challenge": s.ChallengeFactor,
		"POST /auth/v1/factors/{id}/verify": s.VerifyFactor, "DELETE /auth/v1/factors/{id}": s.UnenrolFactor,
		"POST /auth/v1/factors/recovery_codes": s.MakeRecoveryCodes, "GET /auth/v1/factors/recovery_codes": s.CountRecoveryCodes,
		"POST /auth/v1/factors/recovery_codes/verify": s.VerifyRecoveryCode,
		"GET /auth/v1/user/sessions":                  s.Sessions, "DELETE /auth/v1/user/sessions/{id}": s.EndSession,
		"GET /auth/v1/admin/audit": s.AuditLog,
		// The result of IsAdmin for the caller, which every surface uses.
		"GET /test/admin": func(w http.ResponseWriter, r *http.Request) error {
			return httpx.JSON(w, http.StatusOK, map[string]bool{"admin": identity.Of(r.Context()).Admin})
		},
	}
})

// phonesOn allows phone numbers, as sign-in and as second factor.
func phonesOn(c *Config) { c.PhoneEnabled = true }

// authenticator computes TOTP codes, as an authenticator app does.
type authenticator struct {
	h          *fixture
	id, secret string
}

// code returns the TOTP code of a moment.
func (a authenticator) code(at time.Time) string {
	a.h.t.Helper()
	code, err := totp.GenerateCode(a.secret, at)
	if err != nil {
		a.h.t.Fatal(err)
	}
	return code
}

// enrol begins the enrolment of a factor.
func (h *fixture) enrol(bearer string, fields map[string]any) reply {
	return h.call("POST", "/auth/v1/factors", bearer, object(fields))
}

// mustEnrol begins the enrolment of a TOTP factor, which must succeed.
func (h *fixture) mustEnrol(bearer, name string) authenticator {
	h.t.Helper()
	r := h.enrol(bearer, map[string]any{"factor_type": "totp", "friendly_name": name})
	if r.status != http.StatusOK {
		h.t.Fatalf("enrol: %d %s", r.status, r.raw)
	}
	return authenticator{h, r.text("id"), r.body["totp"].(map[string]any)["secret"].(string)}
}

func (h *fixture) challenge(bearer, factor string) reply {
	return h.call("POST", "/auth/v1/factors/"+factor+"/challenge", bearer, "{}")
}

func (h *fixture) verifyFactor(bearer, factor, challenge, code string, headers ...header) reply {
	return h.call("POST", "/auth/v1/factors/"+factor+"/verify", bearer, object(map[string]any{"challenge_id": challenge, "code": code}), headers...)
}

// step challenges the factor and verifies the current code.
func (h *fixture) step(bearer string, a authenticator) reply {
	h.t.Helper()
	c := h.challenge(bearer, a.id)
	if c.status != http.StatusOK {
		h.t.Fatalf("challenge: %d %s", c.status, c.raw)
	}
	return h.verifyFactor(bearer, a.id, c.text("id"), a.code(h.clock.now()))
}

func (h *fixture) mustVerifyFactor(bearer string, a authenticator) reply {
	h.t.Helper()
	r := h.step(bearer, a)
	if r.status != http.StatusOK {
		h.t.Fatalf("verify: %d %s", r.status, r.raw)
	}
	return r
}

// ownerWithFactor returns an owner with a verified factor and a session at aal2. The clock is set to the next step, so that the next code is
// unused.
func (h *fixture) ownerWithFactor() (authenticator, reply) {
	h.t.Helper()
	h.owner()
	bearer := h.mustSignIn().text("access_token")
	a := h.mustEnrol(bearer, "phone")
	r := h.mustVerifyFactor(bearer, a)
	h.clock.advance(totpPeriod * time.Second)
	return a, r
}

func (h *fixture) admin(bearer string) bool {
	h.t.Helper()
	r := h.call("GET", "/test/admin", bearer, "")
	if r.status != http.StatusOK {
		h.t.Fatalf("admin: %d %s", r.status, r.raw)
	}
	return r.body["admin"] == true
}

func amr(claims map[string]any) string {
	var methods []string
	for _, entry := range claims["amr"].([]any) {
		methods = append(methods, entry.(map[string]any)["method"].(string))
	}
	return strings.Join(methods, " ")
}

// Proves S3-session-2, S3-session-3, S7-factor-1, A-safe-6.
func TestEnrolATOTPFactor(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		bearer := h.mustSignIn().text("access_token")
		r := h.enrol(bearer, map[string]any{"factor_type": "totp", "friendly_name": "telemóvel", "issuer": "Ateliê"})
		if r.status != 200 || keysOf(r.body) != "friendly_name id totp type" || r.text("type") != "totp" || r.text("friendly_name") != "telemóvel" || r.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("got %d %s", r.status, r.raw)
		}
		made := r.body["totp"].(map[string]any)
		key, err := otp.NewKeyFromURL(made["uri"].(string))
		if err != nil || key.Secret() != made["secret"] || key.Issuer() != "Ateliê" || key.AccountName() != email || key.Period() != 30 || len(key.Secret()) != 32 {
			t.Errorf("uri %s: %v", made["uri"], err)
		}
		svg := made["qr_code"].(string)
		if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil || !strings.HasPrefix(svg, "<svg ") || strings.ContainsAny(svg, "#%") {
			t.Errorf("picture %.120s: %v", svg, err)
		}
		if stored := h.value("select secret from auth_factors"); strings.Contains(stored, key.Secret()) {
			t.Error("the secret is stored as it is")
		}
		factors := h.user(bearer).body["factors"].([]any)
		if f := factors[0].(map[string]any); len(factors) != 1 || f["status"] != "unverified" || f["factor_type"] != "totp" || f["secret"] != nil || f["id"] != r.text("id") {
			t.Errorf("factors %v", factors)
		}
		if !h.admin(bearer) {
			t.Error("an unverified factor must not take rights away")
		}
		host := h.enrol(bearer, map[string]any{"factor_type": "totp"})
		if key, err := otp.NewKeyFromURL(host.body["totp"].(map[string]any)["uri"].(string)); err != nil || key.Issuer() != "ines.example" {
			t.Errorf("without an issuer: %v", host.body["totp"])
		}
	})
}

// Proves S7-factor-8, W-auth-11.
func TestEnrolmentIsRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, phonesOn)
		a, raised := h.ownerWithFactor()
		up, low := raised.text("access_token"), h.mustSignIn().text("access_token")
		h.expect("same name", h.enrol(up, map[string]any{"factor_type": "totp", "friendly_name": "phone"}), 422, "mfa_factor_name_conflict")
		h.expect("aal1", h.enrol(low, map[string]any{"factor_type": "totp", "friendly_name": "x"}), 403, "insufficient_aal")
		for _, c := range []struct {
			name   string
			fields map[string]any
			status int
			code   string
		}{
			{"no type", map[string]any{}, 400, "validation_failed"},
			{"unknown type", map[string]any{"factor_type": "pigeon"}, 400, "validation_failed"},
			{"webauthn", map[string]any{"factor_type": "webauthn"}, 422, "mfa_webauthn_enroll_not_enabled"},
			{"no phone", map[string]any{"factor_type": "phone"}, 400, "validation_failed"},
			{"bad phone", map[string]any{"factor_type": "phone", "phone": "012"}, 400, "validation_failed"},
			{"long name", map[string]any{"factor_type": "totp", "friendly_name": strings.Repeat("é", 65)}, 400, "validation_failed"},
			{"long issuer", map[string]any{"factor_type": "totp", "issuer": strings.Repeat("x", 65)}, 400, "validation_failed"},
			{"NUL", map[string]any{"factor_type": "totp", "friendly_name": "a\x00"}, 400, "validation_failed"},
			{"number for a name", map[string]any{"factor_type": "totp", "friendly_name": 1}, 400, "bad_json"},
		} {
			h.expect(c.name, h.enrol(up, c.fields), c.status, c.code)
		}
		wide := h.enrol(up, map[string]any{"factor_type": "totp", "friendly_name": "wide", "issuer": strings.Repeat("😀", 64)})
		if wide.status != 200 && wide.code() != "validation_failed" {
			t.Errorf("the longest issuer: %d %s", wide.status, wide.raw)
		}
		h.expect("public key", h.enrol("", map[string]any{"factor_type": "totp"}), 403, "bad_jwt")
		withoutSession := h.sign(map[string]any{"sub": raised.body["user"].(map[string]any)["id"], "role": "authenticated", "exp": h.clock.now().Add(time.Hour).Unix()})
		h.expect("token without a session", h.enrol(withoutSession, map[string]any{"factor_type": "totp"}), 403, "session_not_found")
		for n := h.count("auth_factors"); n < maxFactors; n++ {
			h.mustEnrol(up, fmt.Sprint("n", n))
		}
		h.expect("an eleventh", h.enrol(up, map[string]any{"factor_type": "totp", "friendly_name": "eleven"}), 422, "too_many_enrolled_mfa_factors")
		h.clock.advance(unverifiedFactorLife + time.Second)
		h.mustEnrol(up, "eleven") // the unfinished enrolments were deleted, so there is room
		if n := h.count("auth_factors"); n != 2 {
			t.Errorf("%d factors, want %s and the new one", n, a.id)
		}
		h.mustEnrol(up, "eleven")
		if n := h.count("auth_factors"); n != 2 {
			t.Errorf("%d factors: an unfinished one of the same name is replaced", n)
		}
	})
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		bearer := h.mustSignIn().text("access_token")
		h.expect("phones off", h.enrol(bearer, map[string]any{"factor_type": "phone", "phone": "351910000000"}), 422, "mfa_phone_enroll_not_enabled")
	})
}

// Proves S7-factor-5, S4-aal-4, A-mail-11.
func TestVerifyingAFactorRaisesTheSession(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		here, there := h.mustSignIn(), h.mustSignIn()
		bearer := here.text("access_token")
		a := h.mustEnrol(bearer, "phone")
		leftover := h.mustEnrol(bearer, "leftover")
		c := h.challenge(bearer, a.id)
		if c.status != 200 || keysOf(c.body) != "expires_at id type" || c.body["type"] != "totp" || c.body["expires_at"] != float64(h.clock.now().Add(5*time.Minute).Unix()) {
			t.Fatalf("challenge %d %s", c.status, c.raw)
		}
		h.clock.advance(2 * time.Second)
		r := h.verifyFactor(bearer, a.id, c.text("id"), a.code(h.clock.now()))
		if r.status != 200 || keysOf(r.body) != "access_token expires_at expires_in refresh_token token_type user" || r.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("verify %d %s", r.status, r.raw)
		}
		before, claims := h.claims(bearer), h.claims(r.text("access_token"))
		if claims["aal"] != "aal2" || claims["session_id"] != before["session_id"] || amr(claims) != "totp password" {
			t.Errorf("claims %v", claims)
		}
		factors := r.body["user"].(map[string]any)["factors"].([]any)
		if len(factors) != 1 || factors[0].(map[string]any)["status"] != "verified" {
			t.Errorf("factors %v: %s should be gone", factors, leftover.id)
		}
		h.expect("the old refresh token", h.refreshWith(here.text("refresh_token")), 400, "refresh_token_not_found")
		again := h.refreshWith(r.text("refresh_token"))
		if claims := h.claims(again.text("access_token")); again.status != 200 || claims["aal"] != "aal2" || amr(claims) != "totp password" {
			t.Errorf("refreshed: %d %v", again.status, claims)
		}
		h.expect("another session at aal1", h.user(there.text("access_token")), 403, "session_not_found")
		h.expect("its refresh token", h.refreshWith(there.text("refresh_token")), 400, "refresh_token_not_found")
		m := h.mail(MailFactorAdded)
		if m.To != email || m.Code != "" || m.Link != "" {
			t.Errorf("notice %+v", m)
		}

		// A later session is at aal1 until its code is verified. Other sessions at aal1 then stay.
		h.clock.advance(time.Minute)
		waiting, late := h.mustSignIn(), h.mustSignIn()
		raised := h.mustVerifyFactor(late.text("access_token"), a)
		if claims := h.claims(raised.text("access_token")); claims["aal"] != "aal2" {
			t.Errorf("claims %v", claims)
		}
		if r := h.user(waiting.text("access_token")); r.status != 200 {
			t.Errorf("a session whose code is not verified yet: %d %s", r.status, r.raw)
		}
		h.clock.advance(time.Minute)
		twice := h.claims(h.mustVerifyFactor(raised.text("access_token"), a).text("access_token"))
		if amr(twice) != "totp password" {
			t.Errorf("a method is named once: %v", twice["amr"])
		}
	})
}

// Proves S7-factor-9.
func TestInvalidFactorCodesAreRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		a, _ := h.ownerWithFactor()
		bearer := h.mustSignIn().text("access_token")
		open := func() string { return h.challenge(bearer, a.id).text("id") }
		good := func() string { return a.code(h.clock.now()) }
		h.expect("no code", h.verifyFactor(bearer, a.id, open(), ""), 400, "validation_failed")
		h.expect("no challenge", h.verifyFactor(bearer, a.id, "", good()), 422, "mfa_factor_not_found")
		h.expect("challenge that is none", h.verifyFactor(bearer, a.id, "x", good()), 400, "bad_json")
		h.expect("unknown challenge", h.verifyFactor(bearer, a.id, "8f3c2f1e-0000-4000-8000-000000000000", good()), 422, "mfa_factor_not_found")
		h.expect("bad factor", h.verifyFactor(bearer, "x", open(), good()), 404, "validation_failed")
		h.expect("unknown factor", h.verifyFactor(bearer, "8f3c2f1e-0000-4000-8000-000000000000", open(), good()), 404, "mfa_factor_not_found")
		h.expect("another address", h.verifyFactor(bearer, a.id, open(), good(), header{"X-Forwarded-For", "203.0.113.9"}), 422, "mfa_ip_address_mismatch")
		h.expect("wrong", h.verifyFactor(bearer, a.id, open(), "000000"), 422, "mfa_verification_failed")
		h.expect("two steps old", h.verifyFactor(bearer, a.id, open(), a.code(h.clock.now().Add(-60*time.Second))), 422, "mfa_verification_failed")
		h.expect("of the factor's enrolment", h.verifyFactor(bearer, a.id, open(), a.code(h.clock.now().Add(-30*time.Second))), 422, "mfa_verification_failed")
		old := open()
		h.clock.advance(challengeLife)
		h.expect("expired", h.verifyFactor(bearer, a.id, old, good()), 422, "mfa_challenge_expired")
		used, code := open(), a.code(h.clock.now().Add(30*time.Second)) // of a clock that is half a minute ahead
		if r := h.verifyFactor(bearer, a.id, used, code[:3]+" "+code[3:]); r.status != 200 {
			t.Fatalf("verify %d %s", r.status, r.raw)
		}
		h.expect("challenge again", h.verifyFactor(bearer, a.id, used, good()), 422, "mfa_ip_address_mismatch")
		h.expect("code again", h.verifyFactor(bearer, a.id, open(), code), 422, "mfa_verification_failed")
		h.expect("a code of a step before", h.verifyFactor(bearer, a.id, open(), good()), 422, "mfa_verification_failed")

		h.exec("insert into auth_users (id, email, created_at, updated_at) values ('8f3c2f1e-0000-4000-8000-000000000001', 'other@example.pt', $1, $1)", h.clock.now())
		other := h.sign(map[string]any{"sub": "8f3c2f1e-0000-4000-8000-000000000001", "role": "authenticated", "session_id": "8f3c2f1e-0000-4000-8000-000000000002", "exp": h.clock.now().Add(time.Hour).Unix()})
		h.exec("insert into auth_sessions (id, user_id, created_at, refreshed_at) values ('8f3c2f1e-0000-4000-8000-000000000002', '8f3c2f1e-0000-4000-8000-000000000001', $1, $1)", h.clock.now())
		h.expect("another account's factor", h.challenge(other, a.id), 404, "mfa_factor_not_found")
		h.expect("another account unenrols", h.call("DELETE", "/auth/v1/factors/"+a.id, other, ""), 404, "mfa_factor_not_found")
	})
}

// Proves S7-factor-9.
func TestFactorCodeWorksOnceUnderConcurrency(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		a, _ := h.ownerWithFactor()
		for name, shared := range map[string]bool{"one challenge": true, "two challenges": false} {
			h.clock.advance(totpPeriod * time.Second)
			bearers := [2]string{h.mustSignIn().text("access_token"), h.mustSignIn().text("access_token")}
			ids := [2]string{h.challenge(bearers[0], a.id).text("id"), h.challenge(bearers[1], a.id).text("id")}
			if shared {
				ids[1] = ids[0]
			}
			code := a.code(h.clock.now())
			var (
				wg     sync.WaitGroup
				status [2]int
			)
			for i := range 2 {
				wg.Go(func() { status[i] = h.verifyFactor(bearers[i], a.id, ids[i], code).status })
			}
			wg.Wait()
			if status != [2]int{200, 422} && status != [2]int{422, 200} {
				t.Errorf("%s: %v", name, status)
			}
		}
	})
}

// Proves A-safe-9.
func TestWaitGrowsWithEachFactorAttempt(t *testing.T) {
	for over, want := range map[int]time.Duration{-5: 0, -1: 0, 0: 15 * time.Second, 1: 30 * time.Second, 7: 32 * time.Minute, 8: time.Hour, 1 << 30: time.Hour} {
		if got := tryDelay(over); got != want {
			t.Errorf("%d too many: %s, want %s", over, got, want)
		}
	}
}

// Proves S3-session-3, S7-factor-3, A-safe-6.
func TestPhoneFactor(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, phonesOn)
		h.owner()
		bearer := h.mustSignIn().text("access_token")
		r := h.enrol(bearer, map[string]any{"factor_type": "phone", "friendly_name": "mobile", "phone": "+351 910 000 000"})
		if r.status != 200 || keysOf(r.body) != "friendly_name id phone type" || r.text("phone") != "+351 910 000 000" {
			t.Fatalf("enrol %d %s", r.status, r.raw)
		}
		id := r.text("id")
		path := "/auth/v1/factors/" + id + "/challenge"
		h.expect("pigeon", h.call("POST", path, bearer, `{"channel":"pigeon"}`), 400, "validation_failed")
		c := h.call("POST", path, bearer, `{"channel":"sms"}`)
		if c.status != 200 || c.text("type") != "phone" {
			t.Fatalf("challenge %d %s", c.status, c.raw)
		}
		m := h.text()
		if m.Phone != "351910000000" || len(m.Code) != 6 || m.Type != "mfa" || m.Channel != "sms" {
			t.Errorf("SMS %+v", m)
		}
		if stored := h.value("select code_hash from auth_factor_challenges"); strings.Contains(stored, m.Code) {
			t.Error("the code is stored as it is")
		}
		h.expect("too soon", h.call("POST", path, bearer, "{}"), 429, "over_sms_send_rate_limit")
		wrong := "000000"
		if m.Code == wrong {
			wrong = "111111"
		}
		h.expect("wrong code", h.verifyFactor(bearer, id, c.text("id"), wrong), 422, "mfa_verification_failed")
		v := h.verifyFactor(bearer, id, c.text("id"), m.Code)
		if claims := h.claims(v.text("access_token")); v.status != 200 || claims["aal"] != "aal2" || amr(claims) != "mfa/phone password" {
			t.Fatalf("verify %d %s", v.status, v.raw)
		}
		h.expect("code again", h.verifyFactor(bearer, id, c.text("id"), m.Code), 422, "mfa_ip_address_mismatch")
		h.clock.advance(time.Minute)
		next := h.call("POST", path, bearer, "{}")
		second := h.text()
		h.clock.advance(time.Minute)
		another := h.call("POST", path, bearer, "{}")
		if third := h.text(); third.Code != second.Code {
			h.expect("code of another challenge", h.verifyFactor(bearer, id, another.text("id"), second.Code), 422, "mfa_verification_failed")
		}
		h.clock.advance(challengeLife)
		h.expect("expired", h.verifyFactor(bearer, id, next.text("id"), second.Code), 422, "mfa_challenge_expired")
		h.expect("same number", h.enrol(v.text("access_token"), map[string]any{"factor_type": "phone", "friendly_name": "again", "phone": "351910000000"}), 422, "mfa_verified_factor_exists")
		off := newFixture(t, d)
		h.expect("phones off: challenge", off.call("POST", path, off.mustSignIn().text("access_token"), "{}"), 422, "mfa_phone_verify_not_enabled")
		h.expect("phones off: verify", off.verifyFactor(off.mustSignIn().text("access_token"), id, another.text("id"), "123456"), 422, "mfa_phone_verify_not_enabled")
	})
}

// Proves S4-aal-4, S7-factor-7, S7-factor-8, A-codes-2.
func TestUnenrol(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		a, raised := h.ownerWithFactor()
		low := h.mustSignIn().text("access_token")
		up := raised.text("access_token")
		path := "/auth/v1/factors/" + a.id
		h.expect("aal1", h.call("DELETE", path, low, ""), 422, "insufficient_aal")
		unfinished := h.mustEnrol(up, "unfinished")
		if r := h.call("DELETE", "/auth/v1/factors/"+unfinished.id, low, ""); r.status != 200 || r.text("id") != unfinished.id {
			t.Errorf("an unverified one at aal1: %d %s", r.status, r.raw)
		}
		if codes := h.call("POST", "/auth/v1/factors/recovery_codes", up, ""); codes.status != 200 {
			t.Fatalf("%d %s", codes.status, codes.raw)
		}
		if r := h.call("DELETE", path, up, ""); r.status != 200 || keysOf(r.body) != "id" {
			t.Fatalf("%d %s", r.status, r.raw)
		}
		again := h.refreshWith(raised.text("refresh_token"))
		if claims := h.claims(again.text("access_token")); claims["aal"] != "aal1" || amr(claims) != "password" {
			t.Errorf("the session steps down: %v", claims)
		}
		if n := h.count("auth_recovery_codes"); n != 0 {
			t.Errorf("%d recovery codes left", n)
		}
		if !h.admin(low) {
			t.Error("without a factor the password is enough again")
		}
		h.expect("again", h.call("DELETE", path, up, ""), 404, "mfa_factor_not_found")
	})
}

// Proves S7-factor-7.
func TestUnenrolOneOfTwo(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		a, first := h.ownerWithFactor()
		b := h.mustEnrol(first.text("access_token"), "tablet")
		second := h.mustVerifyFactor(first.text("access_token"), b)
		later := h.mustSignIn() // the earlier sessions at aal1 ended when the factor was verified
		third := h.mustVerifyFactor(later.text("access_token"), a.wait())
		if r := h.call("DELETE", "/auth/v1/factors/"+a.id, second.text("access_token"), ""); r.status != 200 {
			t.Fatalf("%d %s", r.status, r.raw)
		}
		if claims := h.claims(h.refreshWith(second.text("refresh_token")).text("access_token")); claims["aal"] != "aal2" {
			t.Errorf("raised by the other factor: %v", claims)
		}
		stepped := h.refreshWith(third.text("refresh_token"))
		if claims := h.claims(stepped.text("access_token")); claims["aal"] != "aal1" || amr(claims) != "password" {
			t.Errorf("a session that the removed factor had raised: %v", claims)
		}
		if h.admin(third.text("access_token")) {
			t.Error("the level is read from the session, not from the token")
		}
	})
}

// wait advances the clock by a step, so that the next code is unused.
func (a authenticator) wait() authenticator {
	a.h.clock.advance(totpPeriod * time.Second)
	return a
}

// Proves S4-aal-3, S6-role-2.
func TestAdministratorsNeedTheSecondFactor(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		first := h.mustSignIn().text("access_token")
		a := h.mustEnrol(first, "phone")
		if !h.admin(first) {
			t.Error("before the factor is verified")
		}
		up := h.mustVerifyFactor(first, a).text("access_token")
		low := h.mustSignIn().text("access_token")
		if !h.admin(up) || h.admin(low) {
			t.Errorf("aal2 %v, aal1 %v", h.admin(up), h.admin(low))
		}
		if h.admin(first) {
			t.Error("a token of before does not rise with its session")
		}
		h.expect("nor may it take the factor away", h.call("DELETE", "/auth/v1/factors/"+a.id, first, ""), 422, "insufficient_aal")
		h.expect("or add one", h.enrol(first, map[string]any{"factor_type": "totp", "friendly_name": "thief"}), 403, "insufficient_aal")
		claims := h.claims(low)
		claims["aal"] = "aal2"
		if h.admin(h.sign(claims)) {
			t.Error("the claim is not asked")
		}
		delete(claims, "session_id")
		if h.admin(h.sign(claims)) {
			t.Error("a token without a session is not enough")
		}
	})
}

// Proves S7-factor-10.
func TestRefreshingWhileTheSessionIsRaised(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		a, _ := h.ownerWithFactor()
		for range 5 {
			h.clock.advance(totpPeriod * time.Second)
			low := h.mustSignIn()
			challenge := h.challenge(low.text("access_token"), a.id).text("id")
			code := a.code(h.clock.now())
			var (
				wg     sync.WaitGroup
				raised reply
				others [12]reply
			)
			wg.Go(func() { raised = h.verifyFactor(low.text("access_token"), a.id, challenge, code) })
			for i := range others {
				wg.Go(func() { others[i] = h.refreshWith(low.text("refresh_token")) })
			}
			wg.Wait()
			if raised.status != 200 {
				t.Fatalf("verify: %d %s", raised.status, raised.raw)
			}
			for _, r := range others {
				if r.status == 200 && h.claims(r.text("access_token"))["aal"] == "aal2" {
					t.Error("a refresh token of aal1 opened aal2")
				}
				if r.status != 200 && r.code() != "refresh_token_not_found" {
					t.Errorf("refresh: %d %s", r.status, r.raw)
				}
			}
			if r := h.refreshWith(raised.text("refresh_token")); r.status != 200 || h.claims(r.text("access_token"))["aal"] != "aal2" {
				t.Errorf("the raised session cannot be refreshed: %d %s", r.status, r.raw)
			}
		}
	})
}

// Proves A-safe-6.
//
// A secret that cannot be decrypted is a failure of the server, not a wrong code of the owner.
func TestUnreadableSecretIsAServerError(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		bearer := h.mustSignIn().text("access_token")
		a, b := h.mustEnrol(bearer, "phone"), h.mustEnrol(bearer, "tablet")
		h.exec("update auth_factors set secret = (select secret from auth_factors where id = $1) where id = $2", b.id, a.id)
		h.expect("verify", h.step(bearer, a), 500, "unexpected_failure")
		if n := h.value("select cast(count(*) as text) from auth_audit_log where action = $1", string(auditFactorRefused)); n != "0" {
			t.Errorf("%s refused codes in the audit log", n)
		}
		h.expect("a wrong code", h.verifyFactor(bearer, b.id, h.challenge(bearer, b.id).text("id"), "000000"), 422, "mfa_verification_failed")
		if n := h.value("select cast(count(*) as text) from auth_audit_log where action = $1", string(auditFactorRefused)); n != "1" {
			t.Errorf("%s refused codes in the audit log", n)
		}
	})
}
