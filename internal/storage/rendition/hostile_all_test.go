//go:build !race

package rendition

import "testing"

// TestHostileAll decodes tens of megapixels again and again: under the race detector that takes minutes.
func TestHostileAll(t *testing.T) {
	files := hostileFiles(t)
	if len(files) < 60 {
		t.Fatalf("only %d files", len(files))
	}
	t.Logf("%d files", len(files))
	hostile(t, files)
}
