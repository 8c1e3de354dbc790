package cli

import (
	"regexp"
	"strings"
	"testing"
)

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
	if after := atelie(t, dir, "", "keys"); after.out != before.out || after.code != 0 {
		t.Errorf("the printed keys change: %+v", after)
	}
	t.Setenv("ATELIE_JWT_ALGORITHM", "none")
	if r := atelie(t, dir, "", "keys"); r.code != 2 {
		t.Errorf("unknown algorithm: %+v", r)
	}
}
