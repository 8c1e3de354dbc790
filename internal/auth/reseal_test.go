package auth

import (
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// otherKeys are keys that are derived from another secret than those of newFixture.
var otherKeys = Keys{
	RefreshKey: []byte("a-new-key-of-thirty-two-bytes-or-more"), CodeKey: []byte("one-more-key-of-thirty-two-bytes-or-more"), SealKey: []byte("the-next-key-of-thirty-two-bytes"),
}

// Proves A-keys-9.
//
// TestChangeOfTheSecretLosesNothing checks that sessions, second factors, recovery codes, signing keys and sent codes work after a
// change of the secret: while the previous secret is configured, and without it after everything was resealed.
func TestChangeOfTheSecretLosesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		es256 := func(c *Config) { c.ES256 = true }
		before := newFixture(t, d, withoutLimits, es256)
		if err := before.EnsureSigningKey(t.Context()); err != nil {
			t.Fatal(err)
		}
		factor, session := before.ownerWithFactor()
		response := before.call("POST", "/auth/v1/factors/recovery_codes", session.text("access_token"), "")
		codes, ok := response.body["codes"].([]any)
		if !ok {
			t.Fatalf("recovery codes: %s", response.raw)
		}
		if before.count("auth_sessions") != 1 {
			t.Fatal("one session is expected")
		}
		nonce := before.nonce(session.text("access_token"))
		parent := session.text("refresh_token")
		child := before.refreshWith(parent).text("refresh_token")

		old := Keys{RefreshKey: before.cfg.RefreshKey, CodeKey: before.cfg.CodeKey, SealKey: before.cfg.SealKey}
		// use returns a fixture with otherKeys on the same database.
		use := func(previous *Keys) *fixture {
			h := newFixture(t, d, withoutLimits, es256, func(c *Config) {
				c.RefreshKey, c.CodeKey, c.SealKey, c.Previous = otherKeys.RefreshKey, otherKeys.CodeKey, otherKeys.SealKey, previous
			})
			h.clock = before.clock
			h.now = before.clock.now
			return h
		}
		during := use(&old)
		if r := during.refreshWith(parent); r.text("refresh_token") != child {
			t.Errorf("the parent of the refresh token again: %s", r.raw)
		}
		renewed := during.refreshWith(child)
		if renewed.status != 200 {
			t.Fatalf("the session: %s", renewed.raw)
		}
		if r := during.refreshWith(parent); r.text("refresh_token") != renewed.text("refresh_token") {
			t.Errorf("the parent, whose successor is of the previous key: %s", r.raw)
		}
		during.expect("a code from before the change", during.confirmWith(renewed.text("access_token"), fields{"nonce": nonce}), 200, "")
		recover := func(h *fixture, code any) reply {
			t.Helper()
			token := h.mustSignIn().text("access_token")
			return h.call("POST", "/auth/v1/factors/recovery_codes/verify", token, object(fields{"code": code}))
		}
		during.expect("a recovery code from before the change", recover(during, codes[0]), 200, "")

		found, err := during.Reseal(t.Context(), false)
		if err != nil || found != 3 { // the factor, the signing key, the key of recovery codes
			t.Errorf("values to reseal: %d, %v", found, err)
		}
		if found, err = during.Reseal(t.Context(), true); err != nil || found != 3 {
			t.Errorf("sealed anew: %d, %v", found, err)
		}
		if found, err = during.Reseal(t.Context(), false); err != nil || found != 0 {
			t.Errorf("left: %d, %v", found, err)
		}

		after := use(nil)
		last := after.refreshWith(renewed.text("refresh_token"))
		if last.status != 200 {
			t.Errorf("the session without the old secret: %s", last.raw)
		}
		after.clock.advance(2 * totpPeriod * 1e9)
		low := after.mustSignIn().text("access_token")
		after.expect("the factor", after.step(low, authenticator{after, factor.id, factor.secret}), 200, "")
		after.expect("a recovery code", recover(after, codes[1]), 200, "")
		after.expect("the first one again", recover(after, codes[0]), 422, "mfa_verification_failed")
		if keys, err := after.SigningKeys(t.Context()); err != nil || len(keys) != 1 {
			t.Errorf("signing keys: %d, %v", len(keys), err)
		}
		if err := after.Purge(t.Context()); err != nil || after.count("auth_hash_keys") != 1 {
			t.Errorf("the kept key: %v, %d", err, after.count("auth_hash_keys"))
		}
		after.exec("delete from auth_recovery_codes")
		if err := after.Purge(t.Context()); err != nil || after.count("auth_hash_keys") != 0 {
			t.Errorf("the kept key without codes: %v, %d", err, after.count("auth_hash_keys"))
		}
	})
}
