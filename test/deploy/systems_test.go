package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atelie/test/soak"
)

// releaseTargets returns the systems and processors of scripts/release.sh.
func releaseTargets(t *testing.T) []string {
	t.Helper()
	found := regexp.MustCompile(`targets=\((linux/[a-z0-9/ ]+)\)`).FindSubmatch(read(t, filepath.Join(root, "scripts/release.sh")))
	if found == nil {
		t.Fatal("scripts/release.sh has no list of targets")
	}
	return strings.Fields(string(found[1]))
}

// crossCheck builds the tool that type-checks the program for other systems.
func crossCheck(t *testing.T) string {
	t.Helper()
	tool := filepath.Join(t.TempDir(), "crosscheck")
	runIn(t, root, "go", "build", "-C", "tools", "-o", tool, "./crosscheck")
	return tool
}

// Proves H-release-systems.
func TestTheProgramCompilesForTheSystemsOfReleases(t *testing.T) {
	targets := releaseTargets(t)
	if len(targets) < 5 {
		t.Errorf("targets: %v", targets)
	}
	// Except in soak runs, only Windows is checked, which differs most from Linux, for which `make build` compiles.
	checked := soak.Size([]string{"windows/amd64"}, targets)
	for _, target := range checked {
		if !slices.Contains(targets, target) {
			t.Errorf("no release is made for %s", target)
		}
	}
	runIn(t, root, crossCheck(t), append([]string{"."}, checked...)...)
}

// Proves H-release-systems.
func TestAnErrorOnAnotherSystemIsFound(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":               "module atelie\n\ngo 1.26.0\n",
		"cmd/atelie/main.go":   "package main\n\nfunc main() { lock() }\n",
		"cmd/atelie/linux.go":  "//go:build !windows\n\npackage main\n\nfunc lock() {}\n",
		"cmd/atelie/reader.go": "package main\n\nimport \"io\"\n\nvar _ io.Reader\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, file, text)
	}
	tool := crossCheck(t)
	runIn(t, dir, tool, dir, "linux/amd64", "darwin/arm64")
	out, err := exec.CommandContext(t.Context(), tool, dir, "windows/amd64").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "windows/amd64: ") || !strings.Contains(string(out), "undefined: lock") {
		t.Errorf("%v: %s", err, out)
	}
}
