package auth

import (
	"slices"
	"strings"
	"testing"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func TestTheListOfCommonPasswordsIsSortedAndSmall(t *testing.T) {
	list := commonPasswordList()
	if len(list) < 3000 || len(commonPasswords) > 300_000 || !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
		t.Errorf("%d passwords in %d bytes", len(list), len(commonPasswords))
	}
	for _, p := range list {
		if p != strings.ToLower(p) {
			t.Errorf("%q is not lower-case", p)
		}
	}
}

// Proves A-safe-16.
func TestBreachedPasswords(t *testing.T) {
	for _, p := range []string{
		"password", "Password", "PASSWORD123", "password123!", "P@ssw0rd", "P@ssw0rd2026!", "Passw0rd1234", "qwertyuiop", "Qwertyuiop1", "1234567890", "0987654321", "123456789012345", "aaaaaaaaaaaa",
		"abcabcabcabc", "1q2w3e4r5t", "1qaz2wsx3edc", "zaq12wsx", "iloveyou2", "iloveyou123456789", "sunshine2026", "letmein!!!", "liverpool1", "monkeymonkey", "palavrapasse", "Benfica1904", "flamengo2026!",
		"abcdefghijkl", "lkjhgfdsa", "12121212121212", "  password123  ", "princesa123", "trustno1", "qwerty12345", "9876543210", "asdfghjkl;", "1029384756", "motdepasse1",
	} {
		if !isGuessable(p) {
			t.Errorf("%q is accepted", p)
		}
	}
	for _, p := range []string{
		"", "correct horse battery", "a wall of whitewash", "my own new password", "long enough to be one", "blue heron at the river", "Tk7#mVq9zL2p", "aguarela e mar alto", "8371940275", "love8371940275",
		"azulejos na rua da bica", "seven green umbrellas", "k3v9-xq2m-77ab", "monkey sees the harbour",
	} {
		if isGuessable(p) {
			t.Errorf("%q is refused", p)
		}
	}
}

// Proves A-safe-16, W-auth-13.
func TestBreachedPasswordsAreRefusedEverywhere(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open, withoutLimits)
		const common = "Password123!"
		refused := func(what string, r reply) {
			t.Helper()
			h.expect(what, r, 422, "weak_password")
			if got, _ := r.body["weak_password"].(map[string]any)["reasons"].([]any); len(got) != 1 || got[0] != "pwned" || !strings.HasPrefix(r.text("msg"), "Password is known to be weak") {
				t.Errorf("%s: %s", what, r.raw)
			}
		}
		link, err := h.NewSetupLink(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		refused("set-up", h.post("setup", fields{"token": link, "email": email, "password": common}))
		if err := h.AddOwner(t.Context(), email, common); apperr.From(err).Code != "weak_password" {
			t.Errorf("owner add: %v", err)
		}
		h.owner()
		if err := h.SetPassword(t.Context(), email, common, false); apperr.From(err).Code != "weak_password" {
			t.Errorf("owner password: %v", err)
		}
		refused("sign-up", h.post("signup", fields{"email": newcomer, "password": common}))
		refused("change", h.put(h.mustSignIn().text("access_token"), fields{"password": common}))
		if r := h.post("signup", fields{"email": newcomer, "password": "qwerty"}); len(r.body["weak_password"].(map[string]any)["reasons"].([]any)) != 2 {
			t.Errorf("two reasons: %s", r.raw)
		}
		h.exec("update auth_users set encrypted_password = $1", bcryptOf(t, common))
		if r := h.signInAs(email, common); r.status != 200 || r.body["weak_password"] == nil {
			t.Errorf("a common password on another list: %d %s", r.status, r.raw)
		}
	})
}
