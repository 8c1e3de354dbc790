package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"atelie/test/program"
)

// TestBinaryIsStatic checks that the binary needs no shared libraries: it uses no cgo, and links no package that loads libraries at run
// time, such as purego. The build tag nodynamic excludes such packages. A build without the tag must fail: untagged.go makes it fail.
func TestBinaryIsStatic(t *testing.T) {
	list := func(args ...string) []string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(out))
	}
	deps := list("-tags=nodynamic", "-deps", ".")
	if !slices.Contains(deps, "atelie/internal/cli") {
		t.Fatalf("the list of packages is not that of the binary: %d packages", len(deps))
	}
	for _, p := range deps {
		if p == "runtime/cgo" || p == "plugin" || strings.HasPrefix(p, "github.com/ebitengine/purego") {
			t.Errorf("the binary links %s", p)
		}
	}
	if files := list("-f={{join .GoFiles \"\\n\"}}", "."); !slices.Contains(files, "untagged.go") {
		t.Errorf("a build without the tag nodynamic would succeed: it has only the files %v", files)
	}
}

// maxBinary is the maximum size of the program in bytes.
const maxBinary = 50_000_000

func TestBinaryIsSmall(t *testing.T) {
	file, err := program.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	built, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if built.Size() > maxBinary {
		t.Errorf("%d bytes, at most %d", built.Size(), maxBinary)
	}
}
