package auth

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves S6-role-2, S7-admin-7.
func TestAdminCreatesAWholeAccount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, func(c *Config) { c.PhoneEnabled = true })
		id := newID()
		u := h.mustCreate(map[string]any{
			"id": strings.ToUpper(id), "email": " Rui@Example.PT ", "phone": "+351910000000", "password": password, "email_confirm": true, "phone_confirm": true,
			"user_metadata": map[string]any{"name": "Rui", "nothing": nil}, "app_metadata": map[string]any{"team": "a", "providers": nil}, "role": "authenticated", "aud": "x",
			"ban_duration": "none",
		})
		now := "2026-11-21T10:00:00Z"
		want := map[string]any{
			"id": id, "aud": "authenticated", "role": "authenticated", "email": "rui@example.pt", "phone": "351910000000", "email_confirmed_at": now, "phone_confirmed_at": now,
			"confirmed_at": now, "user_metadata": map[string]any{"name": "Rui", "nothing": nil, "email_verified": true}, "app_metadata": map[string]any{"provider": "email", "team": "a"},
			"created_at": now, "updated_at": now, "is_anonymous": false,
		}
		identities := u["identities"].([]any)
		delete(u, "identities")
		if !reflect.DeepEqual(u, want) {
			t.Errorf("got %v", u)
		}
		if len(identities) != 2 {
			t.Errorf("identities %v", identities)
		}
		for _, item := range identities {
			i := item.(map[string]any)
			kind, address := i["provider"].(string), map[string]string{"email": "rui@example.pt", "phone": "351910000000"}[i["provider"].(string)]
			if data := i["identity_data"].(map[string]any); i["id"] != id || data["sub"] != id || data[kind] != address || data["email_verified"] != false {
				t.Errorf("identity %v", i)
			}
		}
		if h.count("user_roles") != 0 {
			t.Error("the account has got a role")
		}
		if admin, err := h.IsAdmin(t.Context(), id, ""); admin || err != nil {
			t.Error(admin, err)
		}
		h.expect("sign-in by email address", h.signInAs("rui@example.pt", password), 200, "")
		h.expect("sign-in by phone", h.call("POST", "/auth/v1/token?grant_type=password", "", object(map[string]any{"phone": "351910000000", "password": password})), 200, "")
		if got := h.countAuditEntries(auditSignedUp, id); got != "1" {
			t.Errorf("%s audit entries", got)
		}
		h.deliver()
		if len(h.mails)+len(h.texts) > 1 { // at most the notice about the second device
			t.Error("a mail was sent")
		}
	})
}

// Proves S7-admin-7, W-auth-7.
func TestAdminCreateRefusals(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		id := h.mustCreateID(map[string]any{"email": email, "phone": "351910000000"})
		argon, err := h.hasher.hash(t.Context(), password)
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			body   map[string]any
			status int
			code   string
		}{
			"no address":           {map[string]any{"password": password}, 400, "validation_failed"},
			"no e-mail":            {map[string]any{"email": "rui"}, 400, "validation_failed"},
			"no number":            {map[string]any{"phone": "0049"}, 400, "validation_failed"},
			"taken address":        {map[string]any{"email": strings.ToUpper(email)}, 422, "email_exists"},
			"taken number":         {map[string]any{"phone": "+351 910000000"}, 422, "phone_exists"},
			"taken id":             {map[string]any{"email": "a@example.pt", "id": id}, 422, "user_already_exists"},
			"no id":                {map[string]any{"email": "a@example.pt", "id": "seven"}, 400, "validation_failed"},
			"nil id":               {map[string]any{"email": "a@example.pt", "id": "00000000-0000-0000-0000-000000000000"}, 400, "validation_failed"},
			"weak password":        {map[string]any{"email": "a@example.pt", "password": "short"}, 422, "weak_password"},
			"password and hash":    {map[string]any{"email": "a@example.pt", "password": password, "password_hash": argon}, 400, "validation_failed"},
			"a plain hash":         {map[string]any{"email": "a@example.pt", "password_hash": "5f4dcc3b5aa765d61d8327deb882cf99"}, 400, "validation_failed"},
			"argon2i":              {map[string]any{"email": "a@example.pt", "password_hash": strings.Replace(argon, "argon2id", "argon2i", 1)}, 400, "validation_failed"},
			"endless argon2id":     {map[string]any{"email": "a@example.pt", "password_hash": strings.Replace(argon, "t=1", "t=9999", 1)}, 400, "validation_failed"},
			"endless bcrypt":       {map[string]any{"email": "a@example.pt", "password_hash": "$2a$31$" + strings.Repeat("a", 53)}, 400, "validation_failed"},
			"cut bcrypt":           {map[string]any{"email": "a@example.pt", "password_hash": "$2a$10$abc"}, 400, "validation_failed"},
			"another role":         {map[string]any{"email": "a@example.pt", "role": "service_role"}, 400, "validation_failed"},
			"a role of one's own":  {map[string]any{"email": "a@example.pt", "role": "editor"}, 400, "validation_failed"},
			"a ban without a unit": {map[string]any{"email": "a@example.pt", "ban_duration": "7"}, 400, "validation_failed"},
		} {
			h.expect(name, h.asService("POST", "/admin/users", c.body), c.status, c.code)
		}
		if n := h.count("auth_users"); n != 1 {
			t.Errorf("%d accounts", n)
		}
	})
}

// Proves A-safe-1.
func TestImportedHashesSignInAndAreRenewed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		old, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
		if err != nil {
			t.Fatal(err)
		}
		argon := argonHash{argonParams: argonParams{memory: 32, time: 1, threads: 1}, salt: []byte("0123456789abcdef")}
		argon.key = h.hasher.deriveKey(argon.argonParams, argon.salt, password, keyBytes)
		for name, hash := range map[string]string{"bcrypt": string(old), "argon": argon.String()} {
			id := h.mustCreateID(map[string]any{"email": name + "@example.pt", "password_hash": hash, "email_confirm": true})
			h.expect(name+", wrong", h.signInAs(name+"@example.pt", "wrong password"), 400, "invalid_credentials")
			h.expect(name, h.signInAs(name+"@example.pt", password), 200, "")
			if now := h.value("select encrypted_password from auth_users where id = $1", id); now == hash || !strings.HasPrefix(now, "$argon2id$v=19$m=64,t=1,p=1$") {
				t.Errorf("%s became %s", name, now)
			}
			h.expect(name+" again", h.signInAs(name+"@example.pt", password), 200, "")
		}
	})
}

func TestAccountWithoutPasswordRefusesEveryPassword(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.mustCreate(map[string]any{"email": email, "email_confirm": true, "password": ""})
		h.expect("empty", h.signInAs(email, ""), 400, "invalid_credentials")
		h.expect("any", h.signInAs(email, password), 400, "invalid_credentials")
	})
}

// Proves S7-admin-18.
//
// TestConcurrentCreationsOfOneAddress sends concurrent requests for one address. All pass the first check, and only one creates the account.
func TestConcurrentCreationsOfOneAddress(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		for _, call := range []struct {
			path string
			body map[string]any
			code string
		}{
			{"/admin/users", map[string]any{"email": "a@example.pt"}, "email_exists"},
			{"/admin/users", map[string]any{"phone": "351910000000"}, "phone_exists"},
			{"/admin/users", map[string]any{"email": "b@example.pt", "email_confirm": true, "password": password}, "email_exists"},
		} {
			const callers = 16
			answers := make([]reply, callers)
			var all sync.WaitGroup
			for i := range callers {
				all.Go(func() { answers[i] = h.asService("POST", call.path, call.body) })
			}
			all.Wait()
			made := 0
			for _, r := range answers {
				if r.status == 200 {
					made++
				} else if r.status != 422 || r.code() != call.code {
					t.Errorf("%v: %d %s", call.body, r.status, r.raw)
				}
			}
			if made != 1 {
				t.Errorf("%v was made %d times", call.body, made)
			}
		}
		if users, identities := h.count("auth_users"), h.count("auth_identities"); users != 3 || identities != 3 {
			t.Error(fmt.Sprint(users, identities))
		}
	})
}
