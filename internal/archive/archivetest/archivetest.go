// Package archivetest writes archives for tests: valid ones, and malformed ones as an attacker would write them.
package archivetest

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelie/internal/archive"
)

// Entries returns the manifest's entries for files, given as a map from names to contents.
func Entries(files map[string]string) (out []archive.Entry) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256([]byte(files[name]))
		out = append(out, archive.Entry{Path: name, Size: int64(len(files[name])), SHA256: hex.EncodeToString(sum[:])})
	}
	return out
}

// Write writes an archive with a manifest and files (a map from names to contents), and returns the archive's path. As in an export,
// files in the folder files are not compressed. Write calls change with each header before it writes the header; change may be nil.
func Write(t *testing.T, manifest any, files map[string]string, change func(*zip.FileHeader)) string {
	t.Helper()
	text, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(name, content string) {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		if strings.HasPrefix(name, "files/") {
			h.Method = zip.Store
		}
		h.SetMode(0o644)
		if change != nil {
			change(h)
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		add(name, files[name])
	}
	add("site.json", string(text))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "site.zip")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
