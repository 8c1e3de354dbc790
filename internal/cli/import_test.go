package cli

import (
	"strings"
	"testing"

	"atelie/internal/archive"
	"atelie/internal/archive/archivetest"
)

// Proves H-archive-refused.
func TestImportListsRefusedFiles(t *testing.T) {
	files := map[string]string{
		"files/a/notes.txt":    "no picture",
		"tables/files.json":    `[{"path":"files/a/notes.txt","bucket":"product-images","name":"notes.txt","cache_control":"max-age=60"}]`,
		"tables/products.json": `[{"id":"11111111-1111-4111-8111-111111111111","title":"One","image_url":"https://old.example/storage/v1/object/public/product-images/notes.txt","created_at":"2026-01-02T03:04:05Z"}]`,
	}
	file := archivetest.Write(t, archive.Manifest{Format: archive.Format, Schema: 29, SiteURL: "https://old.example", Rows: map[string]int64{"products": 1}, Files: 1, Entries: archivetest.Entries(files)}, files, nil)
	dir := t.TempDir()
	const refused = "Refused: files/a/notes.txt (product-images/notes.txt): mime type text/plain; charset=utf-8 is not supported; shown by products 11111111-1111-4111-8111-111111111111 (image_url)\n"
	for range 2 {
		if r := atelie(t, dir, "", "import", file); r.code != exitError || strings.Count(r.out, refused) != 1 || !strings.Contains(r.err, "1 files were refused, and nothing is shown yet") || !strings.Contains(r.err, "--leave-out-refused") {
			t.Errorf("got %+v", r)
		}
	}
	if r := atelie(t, dir, "", "import", file, "--leave-out-refused"); r.code != exitIncomplete || strings.Count(r.out, refused) != 1 || !strings.Contains(r.out, "1 works, 0 messages, 0 files") || !strings.Contains(r.out, "Left out: 1 files") || r.err != "" {
		t.Errorf("got %+v", r)
	}
	if r := atelie(t, dir, "", "import", file, "--leave-out-refused"); r.code != exitError || !strings.Contains(r.err, "is not empty") {
		t.Errorf("a second time: %+v", r)
	}
}
