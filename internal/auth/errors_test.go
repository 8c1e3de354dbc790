package auth

import (
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves S8-form-1, S8-form-2.
func TestTheVersionHeaderChoosesTheErrorForm(t *testing.T) {
	const old, newer = `{"code":400,"error_code":"invalid_credentials","msg":"Invalid login credentials"}`, `{"code":"invalid_credentials","message":"Invalid login credentials"}`
	for version, want := range map[string]string{"": old, "2023-12-31": old, "nonsense": old, "9": old, "2024-13-99": old, "2024-01-01": newer, "2026-11-21": newer} {
		r := httptest.NewRequest("POST", "/auth/v1/token", nil)
		r.Header.Set(versionHeader, version)
		w := httptest.NewRecorder()
		WriteError(w, r, errInvalidCredentials.Becausef("hidden"))
		echo := w.Header().Get(versionHeader)
		if w.Code != 400 || w.Body.String() != want || (want == newer) != (echo == version2024) || w.Header().Get("X-Sb-Error-Code") != "invalid_credentials" {
			t.Errorf("%q: got %d %s, echo %q", version, w.Code, w.Body, echo)
		}
	}
}

// Proves S8-form-3.
func TestWeakPasswordsComeWithReasons(t *testing.T) {
	e := errWeakPassword((&Service{cfg: Config{PasswordMinLength: 10}}).weakness("short"))
	for version, want := range map[string]string{
		"":          `{"code":422,"error_code":"weak_password","msg":"Password should be at least 10 characters.","weak_password":{"reasons":["length"]}}`,
		version2024: `{"code":"weak_password","message":"Password should be at least 10 characters.","weak_password":{"reasons":["length"]}}`,
	} {
		r := httptest.NewRequest("POST", "/auth/v1/setup", nil)
		r.Header.Set(versionHeader, version)
		w := httptest.NewRecorder()
		WriteError(w, r, e)
		if w.Code != 422 || w.Body.String() != want {
			t.Errorf("%q: got %d %s", version, w.Code, w.Body)
		}
	}
}

// Proves S8-form-5.
func TestUnknownErrorsRevealNothing(t *testing.T) {
	for _, version := range []string{"", version2024} {
		r := httptest.NewRequest("GET", "/auth/v1/user", nil)
		r.Header.Set(versionHeader, version)
		w := httptest.NewRecorder()
		WriteError(w, r, apperr.From(errors.New("password of the database is 1234")))
		if w.Code != 500 || strings.Contains(w.Body.String(), "1234") || !strings.Contains(w.Body.String(), "unexpected_failure") {
			t.Errorf("%q: got %d %s", version, w.Code, w.Body)
		}
	}
}

// Proves S8-form-5.
func TestDatabaseErrorIsNotARefusal(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		session := h.mustSignIn()
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		for name, r := range map[string]reply{
			"sign-in": h.signInAs(email, password), "refresh": h.refreshWith(session.text("refresh_token")), "user": h.user(session.text("access_token")),
			"logout": h.call("POST", "/auth/v1/logout", session.text("access_token"), ""), "set-up": h.setUp("token", email, password),
		} {
			h.expect(name, r, 500, "unexpected_failure")
			if r.text("error_id") != r.header.Get("X-Request-Id") || r.text("error_id") == "" {
				t.Errorf("%s: error_id %q", name, r.text("error_id"))
			}
		}
	})
}

// Proves S8-form-1.
//
// TestEveryErrorCodeHasATest fails for an error code that no test of this package or of supabase-js contains.
func TestEveryErrorCodeHasATest(t *testing.T) {
	source, err := os.ReadFile("errors.go")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, pattern := range []string{"*_test.go", "../../test/contract/auth*.test.ts"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(text)
		}
	}
	codes := regexp.MustCompile(`(?:apperr\.New\(http\.\w+, |code\w+ += )"([a-z0-9_]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 150 {
		t.Fatalf("%d refusals were found", len(codes))
	}
	for _, code := range codes {
		if !strings.Contains(tests.String(), `"`+code[1]+`"`) {
			t.Errorf("%s", code[1])
		}
	}
}
