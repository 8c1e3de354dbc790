package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// Proves H-version-text.
func TestVersion(t *testing.T) {
	r := must(t, t.TempDir(), "version")
	for _, want := range []string{"atelie v1.2.3\n", "commit:   unknown\n", "go:       " + runtime.Version() + "\n", "platform: " + runtime.GOOS + "/" + runtime.GOARCH + "\n"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q does not contain %q", r.out, want)
		}
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(must(t, t.TempDir(), "version", "--json").out), &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"version", "commit", "commit_date", "modified", "go", "platform"} {
		if _, ok := got[name]; !ok || len(got) != 6 || got["version"] != "v1.2.3" {
			t.Errorf("%s: %v", name, got)
		}
	}
	stamped := newBuild("1.2.3", &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "885be2b"}, {Key: "vcs.time", Value: "2026-11-22T10:00:00Z"}, {Key: "vcs.modified", Value: "true"}}}).String()
	if !strings.Contains(stamped, "commit:   885be2b, with changes that were not committed\ndate:     2026-11-22T10:00:00Z\n") {
		t.Errorf("got %s", stamped)
	}
}

// check runs atelie upgrade --check as a program of the given version, with a release file.
func check(t *testing.T, version, releaseFile string) result {
	t.Helper()
	var out, errOut bytes.Buffer
	code := Run(t.Context(), []string{"upgrade", "--check", "--data-dir", t.TempDir(), "--release-file", releaseFile}, strings.NewReader(""), &out, &errOut, version)
	return result{code, out.String(), errOut.String()}
}

// releaseText returns the description of a release for this platform, after change was applied to it.
func releaseText(t *testing.T, change func(map[string]any)) string {
	t.Helper()
	doc := map[string]any{
		"version": "1.2.0", "date": "2026-12-01", "notes": "https://example.com/changes", "later": "a field of a later program",
		"files": map[string]any{platform(): map[string]any{"name": "atelie_1.2.0_here", "sha256": strings.Repeat("ab", 32)}},
	}
	change(doc)
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// releaseAt writes a release file and returns its name.
func releaseAt(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "release.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func unchanged(map[string]any) {}

// Proves H-upgrade-compare.
func TestUpgradeCheckCompares(t *testing.T) {
	file := releaseAt(t, releaseText(t, unchanged))
	for version, want := range map[string]int{"1.1.9": 3, "v1.1.9": 3, "1.2.0-rc.1": 3, "1.2.0": 0, "v1.2.0": 0, "1.2.0+deb1": 0, "1.3.0-rc.1": 0, "1.10.0": 0} {
		r := check(t, version, file)
		if r.code != want || r.err != "" || !strings.Contains(r.out, strings.TrimPrefix(version, "v")) || (want == 3) != strings.Contains(r.out, "A newer release is available: 1.2.0 of 2026-12-01.") {
			t.Errorf("%s: %+v", version, r)
		}
		if named := strings.Contains(r.out, "https://example.com/changes") && strings.Contains(r.out, "atelie_1.2.0_here, SHA-256 abab") && strings.Contains(r.out, "backup"); named != (want == 3) {
			t.Errorf("%s: %+v", version, r)
		}
	}
	for _, version := range []string{"dev", "885be2b6b", "12345678", "1.2", "1.1.0-5-g885be2b6b", "1.1.0-dirty", ""} {
		if r := check(t, version, file); r.code != 1 || r.out != "" || !strings.Contains(r.err, "not built from a release") {
			t.Errorf("%q: %+v", version, r)
		}
	}
	if r := check(t, "1.0.0", releaseAt(t, `{"version": "1.2.0", "date": "2026-12-01"}`)); r.code != 3 {
		t.Errorf("the least: %+v", r)
	}
}

// Proves H-upgrade-asks.
func TestUpgradeCheckNeedsAReleaseFile(t *testing.T) {
	if r := check(t, "1.1.0", ""); r.code != 1 || !strings.Contains(r.err, "ATELIE_RELEASE_FILE") {
		t.Errorf("without one: %+v", r)
	}
	for _, place := range []string{"http://example.com/release.json", "ftp://example.com/release.json"} {
		if r := check(t, "1.1.0", place); r.code != 2 || !strings.Contains(r.err, "https") {
			t.Errorf("%s: %+v", place, r)
		}
	}
	if r := check(t, "1.1.0", filepath.Join(t.TempDir(), "missing.json")); r.code != 1 || !strings.Contains(r.err, "missing.json") {
		t.Errorf("a missing file: %+v", r)
	}
	if r := atelie(t, t.TempDir(), "", "upgrade"); r.code != 2 || !strings.Contains(r.err, "--check") {
		t.Errorf("without --check: %+v", r)
	}
}

// Proves H-upgrade-bad.
func TestUpgradeCheckRefusesABadReleaseFile(t *testing.T) {
	bad := map[string]string{"no JSON": "<html>", "a list": "[]", "empty": "", "large": `{"version": "1.2.0", "date": "2026-12-01", "x": "` + strings.Repeat("x", 1<<20) + `"}`}
	for name, change := range map[string]func(map[string]any){
		"no version":      func(d map[string]any) { delete(d, "version") },
		"control":         func(d map[string]any) { d["version"] = "1.2.0\x1b[2J" },
		"no release":      func(d map[string]any) { d["version"] = "1.2.0-5-g885be2b6b" },
		"no date":         func(d map[string]any) { delete(d, "date") },
		"no calendar":     func(d map[string]any) { d["date"] = "2026-02-31" },
		"notes not https": func(d map[string]any) { d["notes"] = "javascript:alert(1)" },
		"notes, control":  func(d map[string]any) { d["notes"] = "https://example.com/\x1b[2J" },
		"short hash":      func(d map[string]any) { d["files"] = map[string]any{"x": map[string]any{"name": "x", "sha256": "ab"}} },
		"a path as a name": func(d map[string]any) {
			d["files"] = map[string]any{"x": map[string]any{"name": "../x", "sha256": strings.Repeat("ab", 32)}}
		},
		"a number": func(d map[string]any) { d["version"] = 1.2 },
	} {
		bad[name] = releaseText(t, change)
	}
	for name, text := range bad {
		if r := check(t, "1.1.0", releaseAt(t, text)); r.code != 1 || r.out != "" || !strings.Contains(r.err, "the release file") || strings.Contains(r.err, "\x1b") {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Proves H-upgrade-https.
func TestUpgradeCheckRefusesAnUnknownCertificate(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	if r := check(t, "1.1.0", server.URL+"/release.json"); r.code != 1 || !strings.Contains(r.err, "certificate") {
		t.Errorf("%+v", r)
	}
}
