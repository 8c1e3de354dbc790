package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"atelie/test/program"
)

// The binary must need no libraries of the machine: no cgo, and no package that loads libraries at run time. The build tag
// nodynamic leaves out the latter; without it the program does not build.
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
		t.Errorf("without the tag it would build, of %v", files)
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
