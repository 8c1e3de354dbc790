//go:build !race

package rendition

import (
	"testing"

	"atelie/test/soak"
)

// TestHostileAll decodes many pictures of tens of megapixels. It is not built with the race detector, with which it would take minutes. It takes
// every fourth file, or all files in a soak run.
func TestHostileAll(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes a large corpus, of which TestHostileSome takes a few files")
	}
	all := hostileFiles(t)
	if len(all) < 60 {
		t.Fatalf("only %d files", len(all))
	}
	var files []hostileFile
	for i, f := range all {
		if i%soak.Size(4, 1) == 0 {
			files = append(files, f)
		}
	}
	t.Logf("%d files", len(files))
	hostile(t, files)
}
