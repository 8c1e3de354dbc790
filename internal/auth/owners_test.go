package auth

import (
	"sync"
	"testing"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// refused checks the code of an owner command's error.
func refused(t *testing.T, what string, err error, code string) {
	t.Helper()
	if err == nil || apperr.From(err).Code != code {
		t.Errorf("%s: got %v, want %s", what, err, code)
	}
}

// do fails the test if err is not nil.
func (h *fixture) do(what string, err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatalf("%s: %v", what, err)
	}
}

// addUser inserts an account without a role, and returns its id.
func (h *fixture) addUser(address, password string, confirmed *time.Time) string {
	h.t.Helper()
	hash, err := h.hasher.hash(h.t.Context(), password)
	if err != nil {
		h.t.Fatal(err)
	}
	id := newID()
	h.exec("insert into auth_users (id, email, encrypted_password, email_confirmed_at, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)", id, address, hash, confirmed, h.clock.now())
	return id
}

// Proves A-setup-3.
func TestAddAndRemoveOwners(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		ctx := t.Context()
		if has, err := h.HasOwner(ctx); err != nil || has {
			t.Errorf("has %v, %v", has, err)
		}
		if list, err := h.Owners(ctx); err != nil || len(list) != 0 {
			t.Errorf("owners %v, %v", list, err)
		}
		h.do("add", h.AddOwner(ctx, " Rui@Example.pt", password))
		h.clock.advance(time.Minute)
		h.owner()
		h.clock.advance(time.Minute)
		h.mustSignIn()
		list, err := h.Owners(ctx)
		if err != nil || len(list) != 2 || list[0].Email != email || list[1].Email != "rui@example.pt" {
			t.Fatalf("owners %v, %v", list, err)
		}
		if list[0].LastSignInAt == nil || !list[0].LastSignInAt.Equal(h.clock.now()) || list[1].LastSignInAt != nil || !list[0].CreatedAt.Equal(h.clock.now().Add(-time.Minute)) {
			t.Errorf("times of %+v", list)
		}
		if has, err := h.HasOwner(ctx); err != nil || !has {
			t.Errorf("has %v, %v", has, err)
		}
		refused(t, "remove an unknown account", h.RemoveOwner(ctx, "nobody@example.pt"), "user_not_found")
		refused(t, "remove nonsense", h.RemoveOwner(ctx, "nonsense"), "validation_failed")
		h.do("remove", h.RemoveOwner(ctx, "RUI@example.pt"))
		refused(t, "remove again", h.RemoveOwner(ctx, "rui@example.pt"), "user_not_found")
		refused(t, "remove the last", h.RemoveOwner(ctx, email), "conflict")
		if admin, err := h.IsAdmin(ctx, list[1].ID, ""); err != nil || admin {
			t.Errorf("removed owner: admin %v, %v", admin, err)
		}
		if admin, err := h.IsAdmin(ctx, list[0].ID, ""); err != nil || !admin {
			t.Errorf("last owner: admin %v, %v", admin, err)
		}
		h.expect("the account stays", h.signInAs("rui@example.pt", password), 200, "")
	})
}

func TestAddOwnerRefusals(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		refused(t, "bad address", h.AddOwner(t.Context(), "ines", password), "validation_failed")
		refused(t, "weak password", h.AddOwner(t.Context(), email, "short"), "weak_password")
		refused(t, "new account without password", h.AddOwner(t.Context(), email, ""), "validation_failed")
		h.addUser(email, password, nil)
		refused(t, "unconfirmed account without password", h.AddOwner(t.Context(), email, ""), "validation_failed")
		if n := h.count("user_roles"); n != 0 {
			t.Errorf("%d owners", n)
		}
	})
}

func TestAddOwnerPromotes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		now := h.clock.now()
		id := h.addUser(email, password, &now)
		before := h.mustSignIn()
		h.do("promote", h.AddOwner(t.Context(), email, ""))
		h.expect("the session stays", h.user(before.text("access_token")), 200, "")
		if admin, err := h.IsAdmin(t.Context(), id, ""); err != nil || !admin {
			t.Errorf("admin %v, %v", admin, err)
		}
		h.do("with a new password", h.AddOwner(t.Context(), email, "another password"))
		h.expect("the session ends", h.user(before.text("access_token")), 403, "session_not_found")
		h.expect("old password", h.signInAs(email, password), 400, "invalid_credentials")
		h.expect("new password", h.signInAs(email, "another password"), 200, "")
		h.addUser("rui@example.pt", "somebody's choice", nil)
		h.do("unconfirmed", h.AddOwner(t.Context(), "rui@example.pt", password))
		h.expect("confirmed now", h.signInAs("rui@example.pt", password), 200, "")
		if n := h.count("auth_identities"); n != 2 {
			t.Errorf("%d identities", n)
		}
	})
}

// Proves A-setup-3.
func TestSetPasswordEndsAllSessions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		h.do("other", h.AddOwner(t.Context(), "rui@example.pt", password))
		one, two, other := h.mustSignIn(), h.mustSignIn(), h.signInAs("rui@example.pt", password)
		h.do("set", h.SetPassword(t.Context(), "INES@example.pt", "another password", false))
		for _, session := range []reply{one, two} {
			h.expect("user", h.user(session.text("access_token")), 403, "session_not_found")
			h.expect("refresh", h.refreshWith(session.text("refresh_token")), 400, "refresh_token_not_found")
		}
		h.expect("somebody else", h.user(other.text("access_token")), 200, "")
		h.expect("old password", h.signInAs(email, password), 400, "invalid_credentials")
		h.expect("new password", h.signInAs(email, "another password"), 200, "")
		refused(t, "unknown", h.SetPassword(t.Context(), "nobody@example.pt", password, false), "user_not_found")
		refused(t, "weak", h.SetPassword(t.Context(), email, "short", false), "weak_password")
		refused(t, "empty", h.SetPassword(t.Context(), email, "", false), "weak_password")
		refused(t, "nonsense", h.SetPassword(t.Context(), "nonsense", password, false), "validation_failed")
	})
}

// Proves A-setup-3.
func TestSetPasswordRemovesSecondFactorsOnlyWhenAsked(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		var id string
		if err := d.QueryRow(t.Context(), "select id from auth_users where email = $1", email).Scan(&id); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Exec(t.Context(), `insert into auth_factors (id, user_id, factor_type, status, created_at, updated_at)
			values ($1, $1, 'totp', 'verified', $2, $2)`, id, h.clock.now()); err != nil {
			t.Fatal(err)
		}
		h.do("keep", h.SetPassword(t.Context(), email, "another password", false))
		if n := h.count("auth_factors"); n != 1 {
			t.Errorf("%d factors after a plain change", n)
		}
		h.do("reset", h.SetPassword(t.Context(), email, "a third password", true))
		if n := h.count("auth_factors"); n != 0 {
			t.Errorf("%d factors after the reset", n)
		}
	})
}

func TestTwoOwnersCannotRemoveEachOther(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		for range 5 {
			h.owner()
			h.do("other", h.AddOwner(t.Context(), "rui@example.pt", password))
			var wg sync.WaitGroup
			for _, address := range []string{email, "rui@example.pt"} {
				wg.Go(func() {
					if err := h.RemoveOwner(t.Context(), address); err != nil && apperr.From(err).Code != "conflict" {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if n := h.count("user_roles"); n != 1 {
				t.Fatalf("%d owners left", n)
			}
		}
	})
}

// Proves S6-role-4.
func TestIsAdminNeedsTheRoleAndALivingSession(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		now := h.clock.now()
		visitor := h.addUser("rui@example.pt", password, &now)
		mine := h.claims(h.mustSignIn().text("access_token"))
		theirs := h.claims(h.signInAs("rui@example.pt", password).text("access_token"))
		me, session := mine["sub"].(string), mine["session_id"].(string)
		for _, c := range []struct {
			name, user, session string
			want                bool
		}{
			{"owner in session", me, session, true},
			{"owner without session", me, "", true},
			{"owner in a dead session", me, newID(), false},
			{"owner in a stranger's session", me, theirs["session_id"].(string), false},
			{"owner in nonsense", me, "nonsense", false},
			{"visitor", visitor, theirs["session_id"].(string), false},
			{"visitor in the owner's session", visitor, session, false},
			{"visitor without session", visitor, "", false},
			{"nobody", "", "", false},
			{"nonsense", "nonsense", "", false},
		} {
			if got, err := h.IsAdmin(t.Context(), c.user, c.session); err != nil || got != c.want {
				t.Errorf("%s: got %v, %v", c.name, got, err)
			}
		}
		h.exec("update user_roles set role = 'editor'")
		if got, err := h.IsAdmin(t.Context(), me, session); err != nil || got {
			t.Errorf("another role: got %v, %v", got, err)
		}
	})
}
