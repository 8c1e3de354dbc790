package archive_test

import (
	"archive/zip"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelie/internal/archive"
	"atelie/internal/archive/archivetest"
)

// noProgress is a Progress that ignores the progress.
func noProgress(string, int, int) {}

// openAndVerify opens and verifies an archive.
func openAndVerify(t *testing.T, name string) error {
	t.Helper()
	a, err := archive.Open(name)
	if err != nil {
		return err
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a.Verify(t.Context(), noProgress)
}

const filesJSON = `[{"path":"files/a/one.png","bucket":"product-images","name":"one.png","cache_control":"max-age=1"}]`

// completeArchive returns the entries of a complete archive: the content of each by name.
func completeArchive() map[string]string {
	return map[string]string{"tables/files.json": filesJSON, "tables/products.json": "[]", "files/a/one.png": "bytes"}
}

// manifest returns the manifest of an archive with the given entries.
func manifest(files map[string]string) archive.Manifest {
	return archive.Manifest{Format: archive.Format, Schema: 1, Entries: archivetest.Entries(files)}
}

func TestAnArchiveIsChecked(t *testing.T) {
	files := completeArchive()
	name := archivetest.Write(t, manifest(files), files, nil)
	if err := openAndVerify(t, name); err != nil {
		t.Fatal(err)
	}
	a, err := archive.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Verify(ctx, noProgress); err == nil || strings.Contains(err.Error(), "damaged") {
		t.Errorf("stopped: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// Proves H-archive-hostile.
func TestHostileArchivesAreRefused(t *testing.T) {
	withEntry := func(name, content string) map[string]string {
		files := completeArchive()
		files[name] = content
		return files
	}
	without := func(name string) map[string]string {
		files := completeArchive()
		delete(files, name)
		return files
	}
	changed := func(files map[string]string, change func(*archive.Manifest)) archive.Manifest {
		m := manifest(files)
		change(&m)
		return m
	}
	written := completeArchive()
	for _, c := range []struct {
		name, want string
		manifest   any
		files      map[string]string
		header     func(*zip.FileHeader)
	}{
		{"a path that leads out", "leads out", manifest(completeArchive()), withEntry("../../etc/passwd", "x"), nil},
		{"an absolute path", "leads out", manifest(completeArchive()), withEntry("/etc/passwd", "x"), nil},
		{"a path of Windows", "leads out", manifest(completeArchive()), withEntry(`..\x`, "x"), nil},
		{"a drive", "leads out", manifest(completeArchive()), withEntry(`c:x`, "x"), nil},
		{"a path with dots within", "leads out", manifest(completeArchive()), withEntry("files/../x", "x"), nil},
		{"a control character", "leads out", manifest(completeArchive()), withEntry("files/a\nb", "x"), nil},
		{"a link", "is not a file", manifest(completeArchive()), written, func(h *zip.FileHeader) { h.SetMode(os.ModeSymlink | 0o777) }},
		{"an encrypted entry", "encrypted", manifest(completeArchive()), written, func(h *zip.FileHeader) { h.Flags |= 1 }},
		{"an entry that is not listed", "is not in site.json", manifest(completeArchive()), withEntry("site/evil.html", "x"), nil},
		{"an entry that is missing", "which the archive does not contain", manifest(completeArchive()), without("tables/products.json"), nil},
		{"an entry that is listed twice", "twice", changed(written, func(m *archive.Manifest) { m.Entries = append(m.Entries, m.Entries[0]) }), written, nil},
		{"another size", "the size of entry", changed(written, func(m *archive.Manifest) { m.Entries[0].Size++ }), written, nil},
		{"a negative size", "the size of entry", changed(written, func(m *archive.Manifest) { m.Entries[0].Size = -1 }), written, nil},
		{"another hash", "the content of entry", changed(written, func(m *archive.Manifest) { m.Entries[0].SHA256 = strings.Repeat("0", 64) }), written, nil},
		{"a compressed original", "is compressed", manifest(completeArchive()), written, func(h *zip.FileHeader) { h.Method = zip.Deflate }},
		{"a newer format", "has format 2", map[string]any{"format": 2}, written, nil},
		{"no format", "format 0", map[string]any{"entries": []string{}}, written, nil},
		{"another manifest", "damaged", []string{"x"}, written, nil},
		{"an address that moves the terminal's cursor", "an address or URL that is not valid", changed(written, func(m *archive.Manifest) { m.Owners = []string{"a\x1b[2J@b"} }), written, nil},
		{"a newer schema", "schema version 999999", changed(written, func(m *archive.Manifest) { m.Schema = 999_999 }), written, nil},
		{"a file without its entry", "is not in the archive", manifest(withEntry("tables/files.json", strings.Replace(filesJSON, "one.png", "two.png", 1))), withEntry("tables/files.json", strings.Replace(filesJSON, "one.png", "two.png", 1)), nil},
		{"an original that no row names", "is not in tables/files.json", manifest(withEntry("files/b/x.png", "x")), withEntry("files/b/x.png", "x"), nil},
		{"a file in the hidden bucket", "no valid name", manifest(withEntry("tables/files.json", strings.Replace(filesJSON, "product-images", `\tkept`, 1))), withEntry("tables/files.json", strings.Replace(filesJSON, "product-images", `\tkept`, 1)), nil},
		{"an object whose name leads out", "no valid name", manifest(withEntry("tables/files.json", strings.Replace(filesJSON, `"name":"one`, `"name":"../one`, 1))), withEntry("tables/files.json", strings.Replace(filesJSON, `"name":"one`, `"name":"../one`, 1)), nil},
		{"a row without end", "damaged", manifest(withEntry("tables/files.json", "["+strings.Repeat("[", 10<<20))), withEntry("tables/files.json", "["+strings.Repeat("[", 10<<20)), nil},
		{"a row that is too large", "damaged", manifest(withEntry("tables/files.json", `["`+strings.Repeat("x", 20<<20)+`"]`)), withEntry("tables/files.json", `["`+strings.Repeat("x", 20<<20)+`"]`), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := openAndVerify(t, archivetest.Write(t, c.manifest, c.files, c.header))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A zip file can state false sizes: entries that share bytes, and entries that are larger than stated.
func TestArchivesWithFalseSizesAreRefused(t *testing.T) {
	files := completeArchive()
	name := archivetest.Write(t, manifest(files), files, nil)
	honest, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	write := func(content []byte) string {
		file := filepath.Join(t.TempDir(), "x.zip")
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for i := 1; i < 8; i++ { // truncated at any position, also within an entry
		if err := openAndVerify(t, write(honest[:len(honest)*i/8])); err == nil {
			t.Errorf("%d of 8 parts are accepted", i)
		}
	}
	flipped := bytes.Clone(honest)
	flipped[bytes.Index(flipped, []byte("bytes"))] ^= 1
	if err := openAndVerify(t, write(flipped)); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a flipped bit: %v", err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	bomb := bytes.Repeat([]byte{0}, 1<<20)
	for _, entry := range []string{"a", "a"} {
		w, err := z.Create(entry)
		if err == nil {
			_, err = w.Write(bomb)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := openAndVerify(t, write(b.Bytes())); err == nil || !strings.Contains(err.Error(), "occurs twice") {
		t.Errorf("two entries of one name: %v", err)
	}
	large := bytes.Clone(honest)
	at := bytes.LastIndex(large, []byte("PK\x01\x02")) // the central header of site.json
	for i := range 4 {
		large[at+24+i] = 0xfe // uncompressed size
	}
	if err := openAndVerify(t, write(large)); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a bomb: %v", err)
	}
	if err := openAndVerify(t, write([]byte("not a zip file"))); err == nil || !strings.Contains(err.Error(), "not an archive") {
		t.Errorf("no zip: %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, content []byte) {
		file := filepath.Join(t.TempDir(), "x.zip")
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if a, err := archive.Open(file); err == nil {
			_ = a.Verify(t.Context(), noProgress) // must not panic
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
