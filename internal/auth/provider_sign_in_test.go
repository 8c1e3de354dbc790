package auth

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"atelie/internal/auth/oauth"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		proven, matched, taken, open bool // arguments of decideNewIdentity
		want                         decision
	}{
		{true, true, true, false, joinAccount},
		{true, true, true, true, joinAccount},
		{true, false, false, true, makeAccount},
		{true, false, false, false, refuseSignup},
		{false, true, true, true, refuseUnverified},
		{false, true, true, false, refuseSignup},
		{false, true, false, true, makeAccount}, // no account has the address itself, but an identity has it
		{false, false, false, true, makeAccount},
		{false, false, false, false, refuseSignup},
	} {
		if got := decideNewIdentity(c.proven, c.matched, c.taken, c.open); got != c.want {
			t.Errorf("%+v: got %d", c, got)
		}
	}
}

// userOf returns the account that signed in.
func (g *oauthFixture) userOf(a response) User {
	g.t.Helper()
	r := g.user(a.fragment.Get("access_token"))
	g.expect("user", r, http.StatusOK, "")
	var u User
	if err := json.Unmarshal([]byte(r.raw), &u); err != nil {
		g.t.Fatal(err)
	}
	return u
}

// Proves S7-oauth-10.
func TestAProvenAddressJoinsTheAccountThatHasIt(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d, func(c *Config) { c.SignupOpen = false })
		g.owner()
		before := g.mustSignIn()
		u := g.userOf(g.session(userClaims("7", strings.ToUpper(email), true)))
		if u.Email != email || len(u.Identities) != 2 || g.count("auth_users") != 1 || g.value("select role from user_roles") != "admin" {
			t.Errorf("user %+v", u)
		}
		if providers, _ := json.Marshal(u.AppMetadata); string(providers) != `{"provider":"email","providers":["email","house"]}` {
			t.Errorf("app_metadata %s", providers)
		}
		g.expect("the session from before", g.user(before.text("access_token")), http.StatusOK, "")
		g.mustSignIn() // the password stays, because the account's address was confirmed
		if g.value("select action from auth_audit_log where action = 'identity_linked'") == "" {
			t.Error("not in the audit log")
		}
	})
}

// Proves S7-oauth-10.
func TestAnUnprovenAddressNeverJoins(t *testing.T) {
	for _, autoconfirm := range []bool{false, true} {
		dbtest.Each(t, func(t *testing.T, d *db.DB) {
			g := newOAuthFixture(t, d, func(c *Config) { c.MailAutoconfirm = autoconfirm })
			g.owner()
			a := g.visit("provider=house", userClaims("7", email, false))
			g.refused("a taken address", a, "https://ines.example?", "access_denied", "provider_email_needs_verification")
			if g.count("auth_users") != 1 || g.count("auth_identities") != 1 || g.count("jobs") != 0 {
				t.Error("something was made")
			}
			free := g.visit("provider=house", userClaims("8", "rui@example.com", false))
			if autoconfirm {
				if u := g.userOf(free); u.EmailConfirmedAt == nil {
					t.Errorf("user %+v", u)
				}
				return
			}
			// A free address gets the same response, so that it does not reveal who has an account.
			if free.to.String() != a.to.String() {
				t.Errorf("free: %s\ntaken: %s", free.to, a.to)
			}
		})
	}
}

// Proves S7-oauth-role.
//
// TestAnAddressThatIsOnlyAssumedJoinsNoAccountWithARole uses Facebook, which does not state that it has verified an address.
func TestAnAddressThatIsOnlyAssumedJoinsNoAccountWithARole(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		g.owner()
		const visitor = "rui@example.com"
		g.session(userClaims("8", visitor, true))
		at := func(subject, address string, assumed bool) (userID string, refusal error) {
			p := newProviderUser("facebook", oauth.Identity{Subject: subject, Email: address, EmailVerified: true, EmailVerifiedByPolicy: assumed, Claims: map[string]any{"email": address, "email_verified": true}})
			refusal = g.signInProviderUser(t.Context(), clientInfo{}, "", "", p, func(_ *db.Tx, id string) error {
				userID = id
				return nil
			})
			return userID, refusal
		}
		if id, err := at("66", email, true); !errors.Is(err, errProviderEmailUnverified) || id != "" {
			t.Errorf("the owner's account: %q, %v", id, err)
		}
		if id, err := at("67", visitor, true); err != nil || id != g.value("select id from auth_users where email = '"+visitor+"'") {
			t.Errorf("an account without a role: %q, %v", id, err)
		}
		// The same applies to a person who proves an address that the owner's account got from Facebook.
		const other = "atelier@example.com"
		id := g.value("select user_id from user_roles")
		if err := saveIdentity(t.Context(), d, id, "facebook", "9", map[string]any{"email": other, "email_verified": true}, g.clock.now()); err != nil {
			t.Fatal(err)
		}
		if got, err := at("68", other, false); err != nil || got == id {
			t.Errorf("by an address of Facebook's: %q, %v", got, err)
		}
		if got, err := at("69", email, false); err != nil || got != id {
			t.Errorf("an address that the provider has checked: %q, %v", got, err)
		}
	})
}

// Proves S7-oauth-role.
//
// TestUnprovenAccountGoesToTheAddressOwner confirms addresses without a mail (MailAutoconfirm), and the provider has not verified the
// address.
func TestUnprovenAccountGoesToTheAddressOwner(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d, func(c *Config) { c.MailAutoconfirm = true })
		const ines = "ines@example.com"
		stranger := g.visit("provider=house", userClaims("66", ines, false)).fragment.Get("access_token")
		g.expect("the stranger", g.user(stranger), http.StatusOK, "")
		if err := g.AddOwner(t.Context(), ines, password); err != nil {
			t.Fatal(err)
		}
		if g.user(stranger).status == http.StatusOK || g.count("auth_identities where provider = 'house'") != 0 {
			t.Error("the stranger is still in the account")
		}
		g.refused("again", g.visit("provider=house", userClaims("66", ines, false)), "https://ines.example?", "access_denied", "provider_email_needs_verification")
	})
}

func TestAnUnprovenAddressIsConfirmedByMail(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		who := userClaims("8", "rui@example.com", false)
		g.visit("provider=house&redirect_to=https://app.example/in", who)
		m := g.mail(MailConfirmation)
		if m.To != "rui@example.com" || len(m.Code) != 6 || !strings.Contains(m.Link, "/auth/v1/verify?") || !strings.Contains(m.Link, "redirect_to=https%3A%2F%2Fapp.example%2Fin") || !strings.Contains(m.Link, "type=signup") {
			t.Errorf("mail %+v", m)
		}
		g.refused("again at once", g.visit("provider=house", who), "https://ines.example?", "access_denied", "provider_email_needs_verification")
		if g.count("jobs") != 0 || g.count("auth_users") != 1 {
			t.Error("a second mail, or a second account")
		}
		g.exec("update auth_users set email_confirmed_at = created_at") // as the link in the mail does
		if u := g.userOf(g.session(who)); u.Email != "rui@example.com" {
			t.Errorf("user %+v", u)
		}
	})
}

// Proves S7-oauth-10, A-safe-12.
func TestAccountOpenedWithAnotherPersonsAddressBecomesTheirs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		// Somebody has created an account with another person's address, with every way to sign in.
		passwordHash, err := g.validateAndHashPassword(t.Context(), password)
		if err != nil {
			t.Fatal(err)
		}
		now := g.clock.now()
		var id string
		err = d.WithTx(t.Context(), func(tx *db.Tx) error {
			if id, err = insertUser(t.Context(), tx, insertUserParams{Email: "rui@example.com", Phone: "351912345678", PasswordHash: passwordHash, UserMetadata: map[string]any{"name": "evil", "note": "evil"}}, now); err != nil {
				return err
			}
			if err := saveAddressIdentity(t.Context(), tx, id, "email", "rui@example.com", true, now); err != nil {
				return err
			}
			if err := saveIdentity(t.Context(), tx, id, "github", "666", map[string]any{"sub": "666"}, now); err != nil {
				return err
			}
			if _, err := g.issueToken(t.Context(), tx, id, tokenRecovery, "rui@example.com", "", linkLife); err != nil {
				return err
			}
			if _, err := tx.Exec(t.Context(), `insert into auth_factors (id, user_id, factor_type, status, created_at, updated_at) values ($1, $2, 'totp', 'verified', $3, $3)`, newID(), id, now); err != nil {
				return err
			}
			_, err := g.startSession(t.Context(), tx, clientInfo{}, id, signIn{method: "password", provider: "email"})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		u := g.userOf(g.session(userClaims("7", "rui@example.com", true)))
		if u.ID != id || len(u.Identities) != 1 || u.Identities[0].Provider != "house" || u.Phone != "" || u.EmailConfirmedAt == nil || u.UserMetadata["note"] != nil || u.UserMetadata["name"] != "Rui Costa" {
			t.Errorf("user %+v", u)
		}
		if g.value("select coalesce(encrypted_password, '-') from auth_users") != "-" || g.count("auth_sessions") != 1 || g.count("auth_factors") != 0 || g.count("auth_one_time_tokens") != 0 {
			t.Error("another way to sign in is left")
		}
		g.expect("the password", g.signInAs("rui@example.com", password), http.StatusBadRequest, "invalid_credentials")
	})
}

// Proves S7-sso-10.
func TestSSOAccountsAreNeverJoined(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		err := d.WithTx(t.Context(), func(tx *db.Tx) error {
			id, err := insertUser(t.Context(), tx, insertUserParams{Email: "rui@example.com", EmailConfirmed: true, SSO: true}, g.clock.now())
			if err != nil {
				return err
			}
			return saveIdentity(t.Context(), tx, id, "sso:x", "rui", map[string]any{"sub": "rui", "email": "rui@example.com", "email_verified": true}, g.clock.now())
		})
		if err != nil {
			t.Fatal(err)
		}
		u := g.userOf(g.session(userClaims("7", "rui@example.com", true)))
		if len(u.Identities) != 1 || g.count("auth_users") != 2 {
			t.Errorf("user %+v", u)
		}
	})
}

// Proves A-set-2.
func TestClosedSignUpAppliesToProviders(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d, func(c *Config) { c.SignupOpen = false })
		g.refused("a stranger", g.visit("provider=house", userClaims("7", "rui@example.com", true)), "https://ines.example?", "access_denied", "signup_disabled")
		g.refused("a stranger with an unproven address", g.visit("provider=house", userClaims("7", "rui@example.com", false)), "https://ines.example?", "access_denied", "signup_disabled")
		if g.count("auth_users") != 0 {
			t.Error("an account was made")
		}
	})
}

func TestBannedAndDeletedAccountsCannotSignIn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		who := userClaims("7", "rui@example.com", true)
		g.session(who)
		g.exec("update auth_users set banned_until = $1", g.clock.now().Add(time.Hour))
		for _, query := range []string{"provider=house", "provider=house&code_challenge_method=s256&code_challenge=" + exampleChallenge} {
			g.refused("banned", g.visit(query, who), "https://ines.example?", "access_denied", "user_banned")
		}
		g.exec("update auth_users set banned_until = null, deleted_at = $1", g.clock.now())
		g.refused("deleted", g.visit("provider=house", who), "https://ines.example?", "access_denied", "user_banned")
	})
}

func TestIdentityAddressJoinsOnlyWhenProven(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		g.owner()
		var owner string
		err := d.WithTx(t.Context(), func(tx *db.Tx) error {
			u, err := userByEmail(t.Context(), tx, email)
			if err != nil {
				return err
			}
			owner = u.ID
			// GitHub has verified only one of these addresses.
			if err := saveIdentity(t.Context(), tx, owner, "github", "1", map[string]any{"email": "Ines@work.example", "email_verified": true}, g.clock.now()); err != nil {
				return err
			}
			return saveIdentity(t.Context(), tx, owner, "github", "2", map[string]any{"email": "rui@example.com", "email_verified": false}, g.clock.now())
		})
		if err != nil {
			t.Fatal(err)
		}
		if u := g.userOf(g.session(userClaims("7", "ines@work.example", true))); u.ID != owner || u.Email != email {
			t.Errorf("user %+v", u)
		}
		if u := g.userOf(g.session(userClaims("8", "rui@example.com", true))); u.ID == owner {
			t.Error("an unverified address opened the owner's account")
		}
	})
}

func TestTheChosenLanguageStays(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		who := with(userClaims("7", "rui@example.com", true), "locale", "en-GB")
		g.session(who)
		g.exec(`update auth_users set user_metadata = '{"locale":"pt","note":"mine"}'`)
		if u := g.userOf(g.session(who)); u.UserMetadata["locale"] != "pt" || u.UserMetadata["note"] != "mine" || u.UserMetadata["full_name"] != "Rui Costa" {
			t.Errorf("metadata %v", u.UserMetadata)
		}
	})
}
