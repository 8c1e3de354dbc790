// Package archivetest writes archives (the zip files of atelie export) for tests: valid ones, and malformed ones as an attacker would
// write them.
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

// Entries returns the entries for a manifest that lists files. The keys of files are names, the values are contents.
func Entries(files map[string]string) (out []archive.Entry) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256([]byte(files[name]))
		out = append(out, archive.Entry{Path: name, Size: int64(len(files[name])), SHA256: hex.EncodeToString(sum[:])})
	}
	return out
}

// Write writes an archive to a temporary file and returns its path. The archive has the files (contents by name), and manifest as
// site.json. As in an export, entries in the folder files are not compressed. If editHeader is not nil, it is called for the header of each
// entry, and can make the header invalid.
func Write(t *testing.T, manifest any, files map[string]string, editHeader func(*zip.FileHeader)) string {
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
		if editHeader != nil {
			editHeader(h)
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
