package auth

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"atelie/internal/auth/oauth/oauthtest"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// linkAt adds an identity: it starts the flow as the client does, and completes it as a browser does.
func (g *oauthFixture) linkAt(bearer, query string, who map[string]any) response {
	g.t.Helper()
	g.clock.advance(time.Second)
	r := g.call("GET", "/auth/v1/user/identities/authorize?skip_http_redirect=true&"+query, bearer, "")
	if r.status != http.StatusOK || r.text("url") == "" {
		g.t.Fatalf("link: %d %s", r.status, r.raw)
	}
	callbackParameters := g.idp.Consent(r.text("url"), who)
	return g.browse("GET", "/auth/v1/callback?"+callbackParameters.Encode(), "", nil)
}

// Proves S7-identity-1, S7-identity-3, S7-identity-5.
func TestLinkAndUnlink(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d, func(c *Config) { c.SignupOpen = false })
		g.owner()
		token := g.mustSignIn().text("access_token")
		direct := g.call("GET", "/auth/v1/user/identities/authorize?provider=house", token, "")
		if to, err := url.Parse(direct.header.Get("Location")); direct.status != http.StatusFound || err != nil || to.Path != "/authorize" {
			t.Errorf("without skip_http_redirect: %d %s", direct.status, direct.header.Get("Location"))
		}
		// The address of the identity may differ from the account's, and may be unverified.
		a := g.linkAt(token, "provider=house&redirect_to=https://app.example/me", userClaims("7", "other@example.com", false))
		if a.to.Host != "app.example" || a.fragment.Get("access_token") == "" {
			t.Fatalf("sent to %s", a.to)
		}
		u := g.userOf(a)
		if u.Email != email || len(u.Identities) != 2 || u.Identities[1].Email != "other@example.com" || u.AppMetadata["provider"] != "email" {
			t.Errorf("user %+v", u)
		}
		g.refused("once more", g.linkAt(token, "provider=house", userClaims("7", "other@example.com", false)), "https://ines.example?", "server_error", "identity_already_exists")
		a = g.linkAt(token, "provider=house&code_challenge_method=s256&code_challenge="+exampleChallenge, userClaims("8", "third@example.com", true))
		if a.query.Get("code") == "" {
			t.Errorf("PKCE: sent to %s", a.to)
		}

		unlink := func(id string) reply { return g.call("DELETE", "/auth/v1/user/identities/"+id, token, "") }
		g.expect("not an id", unlink("7"), http.StatusNotFound, "validation_failed")
		g.expect("not mine", unlink("5f0c3a9e-0d3c-4f5e-9a44-6f2a1f0f7c11"), http.StatusUnprocessableEntity, "identity_not_found")
		if r := unlink(u.Identities[1].IdentityID); r.status != http.StatusOK || r.raw != "{}" {
			t.Errorf("unlink: %d %s", r.status, r.raw)
		}
		g.expect("twice", unlink(u.Identities[1].IdentityID), http.StatusUnprocessableEntity, "identity_not_found")
		left := g.value("select id from auth_identities where provider = 'house'")
		if r := unlink(left); r.status != http.StatusOK {
			t.Errorf("unlink: %d %s", r.status, r.raw)
		}
		g.expect("the last one", unlink(u.Identities[0].IdentityID), http.StatusUnprocessableEntity, "single_identity_not_deletable")
		if got := g.user(token); got.body["app_metadata"].(map[string]any)["providers"].([]any)[0] != "email" || got.text("email") != email {
			t.Errorf("user %s", got.raw)
		}
		g.refused("a sign-in with the removed identity", g.visit("provider=house", userClaims("7", "other@example.com", true)), "https://ines.example?", "access_denied", "signup_disabled")
		if n := g.value("select cast(count(*) as text) from auth_audit_log where action in ('identity_linked', 'identity_unlinked')"); n != "4" {
			t.Errorf("%s entries in the audit log", n)
		}
	})
}

// Proves S7-identity-5.
func TestAnIdentityOfSomebodyElseIsNotLinked(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		g.owner()
		g.session(userClaims("7", "rui@example.com", true))
		token := g.mustSignIn().text("access_token")
		g.refused("Rui's", g.linkAt(token, "provider=house", userClaims("7", "rui@example.com", true)), "https://ines.example?", "server_error", "identity_already_exists")
		r := g.call("POST", "/auth/v1/token?grant_type=id_token", token, object(map[string]any{"provider": "house", "id_token": g.idp.IDToken(userClaims("7", "rui@example.com", true)), "link_identity": true}))
		g.expect("Rui's by a token", r, http.StatusUnprocessableEntity, "identity_already_exists")
	})
}

// Proves S7-identity-6.
func TestLinkingNeedsPermission(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		g.owner()
		token := g.mustSignIn().text("access_token")
		id := g.value("select id from auth_identities")
		link := func(bearer string) reply {
			return g.call("GET", "/auth/v1/user/identities/authorize?provider=house&skip_http_redirect=true", bearer, "")
		}
		unlink := func(bearer string) reply { return g.call("DELETE", "/auth/v1/user/identities/"+id, bearer, "") }
		byToken := func(bearer string) reply {
			return g.call("POST", "/auth/v1/token?grant_type=id_token", bearer, object(map[string]any{"provider": "house", "id_token": g.idp.IDToken(userClaims("7", "x@example.com", true)), "link_identity": true}))
		}
		each := func(what, bearer string, status int, code string) {
			t.Helper()
			g.expect(what+", link", link(bearer), status, code)
			g.expect(what+", unlink", unlink(bearer), status, code)
			g.expect(what+", by ID token", byToken(bearer), status, code)
		}
		each("the public key", g.anon, http.StatusForbidden, "bad_jwt")
		g.cfg.ManualLinking = false
		each("switched off", token, http.StatusNotFound, "manual_linking_disabled")
		g.cfg.ManualLinking = true
		g.exec(`insert into auth_factors (id, user_id, factor_type, status, created_at, updated_at) select $1, id, 'totp', 'verified', $2, $2 from auth_users`, newID(), g.clock.now())
		each("first factor only", token, http.StatusUnauthorized, "insufficient_aal")
		g.exec("delete from auth_factors")
		g.exec("update auth_users set is_sso_user = (1 = 1)")
		each("managed by an organisation", token, http.StatusUnprocessableEntity, "user_sso_managed")
		g.exec("update auth_users set is_sso_user = (1 = 0)")
		g.expect("unknown provider", g.call("GET", "/auth/v1/user/identities/authorize?provider=nope", token, ""), http.StatusBadRequest, "validation_failed")
		g.idp.Set(func(s *oauthtest.Server) { s.Down = true })
		g.expect("provider down", link(token), http.StatusServiceUnavailable, "unexpected_failure")
		g.call("POST", "/auth/v1/logout", token, "")
		each("signed out", token, http.StatusForbidden, "session_not_found")
	})
}

func TestAnAccountThatEndedMeanwhileIsNotLinked(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		g.owner()
		token := g.mustSignIn().text("access_token")
		r := g.call("GET", "/auth/v1/user/identities/authorize?provider=house&skip_http_redirect=true", token, "")
		back := g.idp.Consent(r.text("url"), userClaims("7", "rui@example.com", true))
		g.exec("update auth_users set deleted_at = $1", g.clock.now())
		g.refused("deleted", g.browse("GET", "/auth/v1/callback?"+back.Encode(), "", nil), "https://ines.example?", "server_error", "user_not_found")
	})
}

func TestUnlinkingMovesTheAddress(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		g.owner()
		token := g.mustSignIn().text("access_token")
		id := g.value("select id from auth_users")
		emailIdentity := g.value("select id from auth_identities")
		other := newID()
		unlink := func() reply { return g.call("DELETE", "/auth/v1/user/identities/"+emailIdentity, token, "") }

		g.linkAt(token, "provider=house", userClaims("7", "rui@example.com", true))
		g.exec("insert into auth_users (id, email, created_at, updated_at) values ($1, 'rui@example.com', $2, $2)", other, g.clock.now())
		g.expect("the address is somebody else's", unlink(), http.StatusUnprocessableEntity, "email_conflict_identity_not_deletable")
		g.exec("delete from auth_users where id = $1", other)

		if r := unlink(); r.status != http.StatusOK {
			t.Fatalf("%d %s", r.status, r.raw)
		}
		if got := g.value("select email from auth_users where id = $1 and email_confirmed_at is not null", id); got != "rui@example.com" {
			t.Errorf("address %q", got)
		}
		g.expect("the old password with the old address", g.signInAs(email, password), http.StatusBadRequest, "invalid_credentials")
		g.expect("the old password with the new address", g.signInAs("rui@example.com", password), http.StatusBadRequest, "invalid_credentials")
	})
}

func TestUnlinkingLeavesNoUnprovenAddress(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		g.owner()
		token := g.mustSignIn().text("access_token")
		emailIdentity := g.value("select id from auth_identities")
		g.linkAt(token, "provider=house", userClaims("7", "rui@example.com", false))
		if r := g.call("DELETE", "/auth/v1/user/identities/"+emailIdentity, token, ""); r.status != http.StatusOK {
			t.Fatalf("%d %s", r.status, r.raw)
		}
		if got := g.value("select coalesce(email, '-') from auth_users where email_confirmed_at is null"); got != "-" {
			t.Errorf("address %q, which may be somebody else's", got)
		}
		if u := g.userOf(g.session(userClaims("7", "rui@example.com", false))); u.Email != "" || g.count("auth_users") != 1 {
			t.Errorf("user %+v", u)
		}
	})
}

func TestLinkingGivesAnAddressToAnAccountWithoutOne(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, c := range []struct {
			name   string
			proven bool
		}{{"proven", true}, {"unproven", false}} {
			g := newOAuthFixture(t, d)
			g.exec("delete from auth_users")
			var issued issuedSession
			err := d.WithTx(t.Context(), func(tx *db.Tx) error {
				id, err := insertUser(t.Context(), tx, insertUserParams{Phone: "351912345678", PhoneConfirmed: true}, g.clock.now())
				if err != nil {
					return err
				}
				if err := saveIdentity(t.Context(), tx, id, "phone", id, map[string]any{"sub": id}, g.clock.now()); err != nil {
					return err
				}
				issued, err = g.startSession(t.Context(), tx, clientInfo{}, id, signIn{method: "otp", provider: "phone"})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			body, err := g.newSessionResponse(issued)
			if err != nil {
				t.Fatal(err)
			}
			a := g.linkAt(body.AccessToken, "provider=house", userClaims("7", "rui@example.com", c.proven))
			if c.proven {
				if u := g.userOf(a); u.Email != "rui@example.com" || u.EmailConfirmedAt == nil || u.Phone != "351912345678" || len(u.Identities) != 2 {
					t.Errorf("%s: %+v", c.name, u)
				}
				continue
			}
			g.refused(c.name, a, "https://ines.example?", "server_error", "email_not_confirmed")
			if m := g.mail(MailEmailChangeNew); m.To != "rui@example.com" || g.count("auth_identities") != 2 {
				t.Errorf("mail %+v", m)
			}
			if got := g.value("select coalesce(email, '-') from auth_users"); got != "-" {
				t.Errorf("the address %q is taken before it is proven", got)
			}
			// The account is proven by its phone number, so its own identity can sign in before the mail is confirmed.
			if u := g.userOf(g.session(userClaims("7", "rui@example.com", false))); u.Phone != "351912345678" || u.EmailConfirmedAt != nil {
				t.Errorf("user %+v", u)
			}
			unlinkPhone := g.value("select id from auth_identities where provider = 'phone'")
			if r := g.call("DELETE", "/auth/v1/user/identities/"+unlinkPhone, body.AccessToken, ""); r.status != http.StatusOK || g.value("select coalesce(phone, '-') from auth_users") != "-" {
				t.Errorf("phone: %d %s", r.status, r.raw)
			}
		}
	})
}

// Proves S7-token-12, S7-token-13.
func TestIDTokenGrant(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		post := func(fields map[string]any, bearer string) reply {
			return g.call("POST", "/auth/v1/token?grant_type=id_token", bearer, object(fields))
		}
		who := userClaims("7", "rui@example.com", true)
		token := func(change map[string]any) string {
			all := with(who, "x", "y")
			for k, v := range change {
				all[k] = v
			}
			return g.idp.IDToken(all)
		}
		hashed := hashToken("a nonce")
		r := post(map[string]any{"provider": "house", "id_token": token(map[string]any{"nonce": hashed}), "nonce": "a nonce", "gotrue_meta_security": map[string]any{}}, "")
		if r.status != http.StatusOK || r.body["user"].(map[string]any)["email"] != "rui@example.com" || g.count("user_roles") != 0 || r.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %s", r.status, r.raw)
		}
		for name, fields := range map[string]map[string]any{
			"by issuer":      {"provider": g.idp.URL, "id_token": token(nil)},
			"by issuer, old": {"issuer": g.idp.URL, "client_id": oauthtest.ClientID, "id_token": token(nil)},
			"custom":         {"provider": "custom:house", "id_token": token(nil)},
		} {
			if r := post(fields, ""); r.status != http.StatusOK {
				t.Errorf("%s: %d %s", name, r.status, r.raw)
			}
		}
		expired := map[string]any{"exp": g.clock.now().Unix() - 1}
		none := g.idp.Sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, jwt.MapClaims{"iss": g.idp.URL, "aud": oauthtest.ClientID, "sub": "7", "exp": g.clock.now().Unix() + 60})
		for _, c := range []struct {
			name   string
			fields map[string]any
			code   string
		}{
			{"nothing", map[string]any{}, "validation_failed"},
			{"no provider", map[string]any{"id_token": token(nil)}, "validation_failed"},
			{"a provider without settings", map[string]any{"provider": "google", "id_token": token(nil)}, "provider_disabled"},
			{"another nonce", map[string]any{"provider": "house", "id_token": token(map[string]any{"nonce": hashed}), "nonce": "other"}, "bad_oauth_callback"},
			{"no nonce", map[string]any{"provider": "house", "id_token": token(map[string]any{"nonce": hashed})}, "bad_oauth_callback"},
			{"the hash as nonce", map[string]any{"provider": "house", "id_token": token(map[string]any{"nonce": hashed}), "nonce": hashed}, "bad_oauth_callback"},
			{"another audience", map[string]any{"provider": "house", "id_token": token(map[string]any{"aud": "x"})}, "bad_oauth_callback"},
			{"another issuer", map[string]any{"provider": "house", "id_token": token(map[string]any{"iss": "https://evil.example"})}, "bad_oauth_callback"},
			{"expired", map[string]any{"provider": "house", "id_token": token(expired)}, "bad_oauth_callback"},
			{"another access token", map[string]any{"provider": "house", "access_token": "x", "id_token": token(map[string]any{"at_hash": oauthtest.AccessTokenHash("y")})}, "bad_oauth_callback"},
			{"alg none", map[string]any{"provider": "house", "id_token": none}, "bad_oauth_callback"},
			{"not an object", nil, "bad_json"},
		} {
			r := post(c.fields, "")
			if c.fields == nil {
				r = g.call("POST", "/auth/v1/token?grant_type=id_token", "", `{"id_token":7}`)
			}
			g.expect(c.name, r, http.StatusBadRequest, c.code)
		}
		g.expect("unproven", post(map[string]any{"provider": "house", "id_token": token(map[string]any{"sub": "9", "email": "new@example.com", "email_verified": false})}, ""),
			http.StatusUnprocessableEntity, "provider_email_needs_verification")

		g.owner()
		mine := g.mustSignIn().text("access_token")
		r = post(map[string]any{"provider": "house", "id_token": token(map[string]any{"sub": "10", "email": "more@example.com"}), "link_identity": true}, mine)
		if r.status != http.StatusOK || len(r.body["user"].(map[string]any)["identities"].([]any)) != 2 || r.body["user"].(map[string]any)["email"] != email {
			t.Errorf("link: %d %s", r.status, r.raw)
		}
	})
}

// Proves A-surface-2.
func TestSettingsNameTheProviders(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		external, _ := newOAuthFixture(t, d).call("GET", "/auth/v1/settings", "", "").body["external"].(map[string]any)
		if external["apple"] != true || external["house"] != true || external["google"] != false || external["email"] != true {
			t.Errorf("external %v", external)
		}
	})
}
