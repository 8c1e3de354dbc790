//go:build !race

package rendition

import (
	"testing"

	"atelie/test/soak"
)

// TestHostileAll decodes many pictures of tens of megapixels. Under the race detector that would take minutes. Except in
// soak runs, it takes every fourth file, some of each kind.
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
