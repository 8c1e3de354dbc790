package cli

import (
	"regexp"
	"strings"
	"testing"
)

// Proves A-keys-3.
func TestKeysAreRotatedWithES256Only(t *testing.T) {
	dir := t.TempDir()
	before := atelie(t, dir, "", "keys")
	if r := atelie(t, dir, "", "keys", "rotate"); r.code != 1 || !strings.Contains(r.err, "ES256 only") {
		t.Errorf("HS256: %+v", r)
	}
	t.Setenv("ATELIE_JWT_ALGORITHM", "ES256")
	first := atelie(t, dir, "", "keys", "rotate")
	if first.code != 0 || !regexp.MustCompile(`^Key [0-9a-f-]{36} is published now and signs from \S+ on\.`).MatchString(first.out) {
		t.Errorf("ES256: %+v", first)
	}
	if r := atelie(t, dir, "", "keys", "rotate"); r.code != 1 || !strings.Contains(r.err, "has not begun to sign yet") {
		t.Errorf("again: %+v", r)
	}
	if r := atelie(t, dir, "", "keys", "rotate", "--signing"); r.code != 1 || !strings.Contains(r.err, "has not begun to sign yet") {
		t.Errorf("with --signing: %+v", r)
	}
	if after := atelie(t, dir, "", "keys"); after.out != before.out || after.code != 0 {
		t.Errorf("the printed keys change: %+v", after)
	}
	t.Setenv("ATELIE_JWT_ALGORITHM", "none")
	if r := atelie(t, dir, "", "keys"); r.code != 2 {
		t.Errorf("unknown algorithm: %+v", r)
	}
}

// Proves A-keys-5, A-keys-6.
func TestKeysAreListedRotatedAndRevoked(t *testing.T) {
	dir := t.TempDir()
	original := atelie(t, dir, "", "keys")
	line := func(r result, name string) string {
		t.Helper()
		for line := range strings.Lines(r.out) {
			if strings.HasPrefix(line, name+"=") {
				return line
			}
		}
		t.Fatalf("no %s in %+v", name, r)
		return ""
	}
	for _, step := range []struct{ args, out, err string }{
		{"list", "anon       1  original", ""},
		{"rotate service", "The service key has generation 2 now; atelie keys prints it. Older ones stay valid", ""},
		{"revoke service 1", "Generation 1 of the service key is void", ""},
		{"revoke elevated 1", "", "revoked already"},
		{"revoke service 7", "", "there is no such key"},
		{"revoke public 1", "The site's pages use it already", ""},
		{"rotate anon --revoke-old", "The anon key has generation 3 now; atelie keys prints it. All older ones are revoked", ""},
		{"rotate anon --signing", "", "--signing goes without a key"},
	} {
		r := atelie(t, dir, "", append([]string{"keys"}, strings.Fields(step.args)...)...)
		if (r.code != 0) != (step.err != "") || !strings.Contains(r.out, step.out) || !strings.Contains(r.err, step.err) {
			t.Errorf("%s: %+v", step.args, r)
		}
	}
	after := atelie(t, dir, "", "keys")
	for _, name := range []string{"ANON_KEY", "SERVICE_ROLE_KEY"} {
		if line(after, name) == line(original, name) {
			t.Errorf("%s is still the revoked one", name)
		}
	}
	list := atelie(t, dir, "", "keys", "list")
	if n := strings.Count(list.out, " revoked 2"); n != 3 || strings.Count(list.out, " valid\n") != 2 || strings.Contains(list.out, "eyJ") {
		t.Errorf("the list: %+v", list)
	}
}
