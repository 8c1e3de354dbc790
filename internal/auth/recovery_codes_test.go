package auth

import (
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

const recoveryPath = "/auth/v1/factors/recovery_codes"

// recover uses a recovery code instead of a second factor.
func (h *fixture) recover(bearer, code string, headers ...header) reply {
	return h.call("POST", recoveryPath+"/verify", bearer, object(map[string]any{"code": code}), headers...)
}

// mustMakeCodes returns new recovery codes of an account.
func (h *fixture) mustMakeCodes(bearer string) []string {
	h.t.Helper()
	r := h.call("POST", recoveryPath, bearer, "")
	if r.status != 200 || r.header.Get("Cache-Control") != "no-store" {
		h.t.Fatalf("recovery codes: %d %s", r.status, r.raw)
	}
	var codes []string
	for _, c := range r.body["codes"].([]any) {
		codes = append(codes, c.(string))
	}
	return codes
}

// Proves A-safe-6, A-codes-1.
func TestRecoveryCodesOpenTheAccountOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		_, raised := h.ownerWithFactor()
		raisedToken := raised.text("access_token")
		codes := h.mustMakeCodes(raisedToken)
		seen := map[string]bool{}
		for _, c := range codes {
			if !regexp.MustCompile(`^[0-9a-z]{5}-[0-9a-z]{5}$`).MatchString(c) || strings.ContainsAny(c, "1ilo") || seen[c] {
				t.Errorf("code %q", c)
			}
			seen[c] = true
		}
		if len(codes) != 10 {
			t.Errorf("%d codes", len(codes))
		}
		if h.value("select min(code_hash) from auth_recovery_codes") == "" || strings.Contains(h.value("select min(code_hash) from auth_recovery_codes"), codes[0]) {
			t.Error("codes are not stored as hashes")
		}

		notRaised := h.mustSignIn()
		bearer := notRaised.text("access_token")
		r := h.recover(bearer, " "+strings.ToUpper(strings.ReplaceAll(codes[3], "-", " "))+" ")
		claims := h.claims(r.text("access_token"))
		if r.status != 200 || claims["aal"] != "aal2" || amr(claims) != "mfa/recovery_code password" || claims["session_id"] != h.claims(bearer)["session_id"] {
			t.Fatalf("got %d %s", r.status, r.raw)
		}
		if !h.admin(r.text("access_token")) {
			t.Error("a session raised by a recovery code has not the rights of an owner")
		}
		h.expect("the refresh token from before the code", h.refreshWith(notRaised.text("refresh_token")), 400, "refresh_token_not_found")
		if count := h.call("GET", recoveryPath, bearer, ""); count.status != 200 || count.raw != `{"total":10,"remaining":9}` {
			t.Errorf("count %s", count.raw)
		}
		next := h.mustSignIn().text("access_token")
		h.expect("used", h.recover(next, codes[3]), 422, "mfa_verification_failed")
		h.expect("wrong", h.recover(next, "aaaaa-aaaaa"), 422, "mfa_verification_failed")
		h.expect("empty", h.recover(next, ""), 400, "validation_failed")
		h.expect("new ones at aal1", h.call("POST", recoveryPath, next, ""), 403, "insufficient_aal")
		h.expect("public key", h.recover("", codes[4]), 403, "bad_jwt")

		fresh := h.mustMakeCodes(r.text("access_token"))
		h.expect("replaced", h.recover(next, codes[4]), 422, "mfa_verification_failed")
		if r := h.recover(next, fresh[0]); r.status != 200 {
			t.Errorf("a new one: %d %s", r.status, r.raw)
		}
		if n := h.value("select count(*) || '' from auth_audit_log where action = 'recovery_code_used'"); n != "2" {
			t.Errorf("%s uses in the audit log", n)
		}
		if n := h.value("select count(*) || '' from auth_audit_log where action = 'recovery_code_refused'"); n != "3" {
			t.Errorf("%s refusals in the audit log", n)
		}
	})
}

// Proves A-codes-2.
func TestRecoveryCodesNeedAFactor(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		bearer := h.mustSignIn().text("access_token")
		h.expect("make", h.call("POST", recoveryPath, bearer, ""), 422, "mfa_factor_not_found")
		h.expect("verify", h.recover(bearer, "aaaaa-aaaaa"), 422, "mfa_factor_not_found")
		if r := h.call("GET", recoveryPath, bearer, ""); r.raw != `{"total":0,"remaining":0}` {
			t.Errorf("count %s", r.raw)
		}
	})
}

// Proves A-codes-1.
func TestRecoveryCodeWorksOnceUnderConcurrency(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		_, raised := h.ownerWithFactor()
		code := h.mustMakeCodes(raised.text("access_token"))[0]
		bearers := [2]string{h.mustSignIn().text("access_token"), h.mustSignIn().text("access_token")}
		var (
			wg     sync.WaitGroup
			status [2]int
		)
		for i := range 2 {
			wg.Go(func() { status[i] = h.recover(bearers[i], code).status })
		}
		wg.Wait()
		if status != [2]int{200, 422} && status != [2]int{422, 200} {
			t.Errorf("got %v", status)
		}
	})
}

// Proves A-safe-9.
func TestRecoveryTriesAreLimited(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, func(c *Config) { c.RateLimited = false })
		_, raised := h.ownerWithFactor()
		codes := h.mustMakeCodes(raised.text("access_token"))
		thief := h.mustSignIn().text("access_token")
		for range recoveryTriesPerAccountAndIP {
			h.expect("wrong", h.recover(thief, "22222-22222"), 422, "mfa_verification_failed")
		}
		if r := h.recover(thief, codes[0]); r.status != 429 || r.header.Get("Retry-After") == "" {
			t.Errorf("too many: %d %s", r.status, r.raw)
		}
		if r := h.recover(h.mustSignIn().text("access_token"), codes[0], header{"X-Forwarded-For", "203.0.113.200"}); r.status != 200 {
			t.Errorf("the owner from another network: %d %s", r.status, r.raw)
		}
		h.clock.advance(limitWindow)
		if r := h.recover(thief, codes[1]); r.status != 200 {
			t.Errorf("after the window: %d %s", r.status, r.raw)
		}
	})
}

// Proves A-codes-2.
func TestResettingFactorsDeletesRecoveryCodes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		_, raised := h.ownerWithFactor()
		h.mustMakeCodes(raised.text("access_token"))
		if err := h.SetPassword(t.Context(), email, "another long password", true); err != nil {
			t.Fatal(err)
		}
		if n, m := h.count("auth_factors"), h.count("auth_recovery_codes"); n != 0 || m != 0 {
			t.Errorf("%d factors, %d codes left", n, m)
		}
		r := h.signInAs(email, "another long password")
		if r.status != 200 || !h.admin(r.text("access_token")) {
			t.Errorf("sign-in %d %s", r.status, r.raw)
		}
		h.clock.advance(2 * time.Hour)
		if err := h.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}
