//go:build race

package renditiontest

import (
	"os"
	"path/filepath"

	"atelie/internal/media/rendition"
)

// Under the race detector, the workers are the program that scripts/test.mjs has built without it, because the detector makes their loops
// over pixels ten times slower. It is as old as the last `make test`: unset TEST_PROGRAMS to test other sources. The tests of packages
// media and rendition run this code with the detector.
func init() {
	if programs := os.Getenv("TEST_PROGRAMS"); programs != "" {
		rendition.WorkerProgram = func() (string, error) { return filepath.Join(programs, "atelie"), nil }
	}
}
