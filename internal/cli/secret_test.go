package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves A-keys-10.
func TestSecretRotateAndForget(t *testing.T) {
	dir := t.TempDir()
	if r := atelie(t, dir, "four swallows on a wall\n", "owner", "add", "ines@example.pt", "--password-stdin"); r.code != 0 {
		t.Fatalf("got %+v", r)
	}
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	before := read("jwt-secret")
	if r := atelie(t, dir, "", "secret", "forget"); r.code != 1 || !strings.Contains(r.err, "there is no previous one") {
		t.Errorf("nothing to forget: %+v", r)
	}
	if r := atelie(t, dir, "", "secret", "rotate"); r.code != 0 || !strings.Contains(r.out, "Start the server again") {
		t.Fatalf("rotate: %+v", r)
	}
	if read("jwt-secret.previous") != before || read("jwt-secret") == before {
		t.Error("the former secret is not the previous one, or the secret has not changed")
	}
	for _, name := range []string{"jwt-secret", "jwt-secret.previous"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if r := atelie(t, dir, "", "secret", "rotate"); r.code != 1 || !strings.Contains(r.err, "atelie secret forget") {
		t.Errorf("twice: %+v", r)
	}
	if r := atelie(t, dir, "", "keys", "list"); !strings.Contains(r.out, "No value is encrypted with the previous secret any more") {
		t.Errorf("the list: %+v", r)
	}
	if r := atelie(t, dir, "", "secret", "forget"); r.code != 0 {
		t.Errorf("forget: %+v", r)
	}
	if _, err := os.Stat(filepath.Join(dir, "jwt-secret.previous")); err == nil {
		t.Error("the previous secret is still there")
	}
	t.Setenv("ATELIE_JWT_SECRET", strings.Repeat("s", 32))
	if r := atelie(t, dir, "", "secret", "rotate"); r.code != 1 || !strings.Contains(r.err, "ATELIE_JWT_SECRET_PREVIOUS") {
		t.Errorf("a secret from the environment: %+v", r)
	}
}

// After a rotation, the database accepts only the previous secret until the site is opened.
//
// Proves A-keys-10.
func TestCopyHasThePreviousSecret(t *testing.T) {
	dir, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	must(t, dir, "owner", "add", "ana@example.com")
	must(t, dir, "secret", "rotate")
	must(t, t.TempDir(), "copy", "--from", dir, "--to", to)
	if r := must(t, to, "owner", "list"); !strings.Contains(r.out, "ana@example.com") {
		t.Errorf("%+v", r)
	}
	for _, name := range []string{"jwt-secret", "jwt-secret.previous"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(to, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs: %v", name, err)
		}
	}
	r := must(t, t.TempDir(), "copy", "--from", dir, "--to", dbtest.URL(t, db.Postgres), "--to-files", t.TempDir())
	if want := "ATELIE_JWT_SECRET_PREVIOUS to the content of " + filepath.Join(dir, "jwt-secret.previous") + "\n"; !strings.Contains(r.out, want) {
		t.Errorf("%q is not in\n%s", want, r.out)
	}
}
