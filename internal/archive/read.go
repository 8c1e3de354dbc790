package archive

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/settings"
)

// This file opens and verifies archives, for the command atelie import. An archive is untrusted, so every name, size and row in it is
// checked.

// Limits of what an import reads.
const (
	maxManifest = 64 << 20  // bytes of the manifest (site.json)
	maxEntries  = 1_000_000 // entries of the zip file
	maxInflated = 4 << 30   // bytes of all compressed entries after decompression; uploaded files are not compressed
	maxRow      = 4 << 20   // bytes of a row as JSON
)

// errNotArchive is the error for a file that is not an archive. refuse adds the reason.
var errNotArchive = errors.New("this is not an archive that atelie export has made, or it is damaged")

// refuse returns an error that wraps errNotArchive and adds a reason.
func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errNotArchive}, args...)...)
}

// Archive is an open archive: a zip file with the content of a site, written by "atelie export".
type Archive struct {
	Manifest Manifest

	file    *zip.ReadCloser
	entries map[string]*zip.File // all entries of the zip file, by name
	listed  map[string]Entry     // the entries that the manifest lists, by path
	files   []File               // the site's stored files (tables/files.json); set by Verify
	sum     string               // SHA-256 of site.json in hexadecimal digits; identifies the archive in an unfinished import
}

// Close closes the file.
func (a *Archive) Close() error { return a.file.Close() }

// Open opens an archive and checks its list of entries. It reads no entry except site.json, the manifest.
func Open(name string) (_ *Archive, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	r, err := zip.OpenReader(name)
	if err != nil {
		return nil, refuse("%w", err)
	}
	a := &Archive{file: r, entries: map[string]*zip.File{}, listed: map[string]Entry{}}
	if err := a.readManifest(info.Size()); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return a, nil
}

// readManifest reads site.json and compares it with the entries of the zip file. size is the size of the zip file in bytes.
func (a *Archive) readManifest(size int64) error {
	if err := a.indexEntries(size); err != nil {
		return err
	}
	manifest := a.entries[manifestName]
	if manifest == nil {
		return refuse("it has no %s", manifestName)
	}
	if manifest.UncompressedSize64 > maxManifest {
		return refuse("%s is larger than %d bytes", manifestName, maxManifest)
	}
	text, err := readAll(manifest, maxManifest)
	if err != nil {
		return refuse("%s: %w", manifestName, err)
	}
	sum := sha256.Sum256(text)
	a.sum = hex.EncodeToString(sum[:])
	var version struct{ Format int }
	if err := json.Unmarshal(text, &version); err != nil {
		return refuse("%s: %w", manifestName, err)
	}
	if version.Format > Format {
		return fmt.Errorf("the archive has format %d and this program knows %d: import it with the program that made it, or a newer one", version.Format, Format)
	}
	if version.Format < 1 {
		return refuse("%s: format %d", manifestName, version.Format)
	}
	if err := json.Unmarshal(text, &a.Manifest); err != nil {
		return refuse("%s: %w", manifestName, err)
	}
	return a.matchEntries()
}

// indexEntries sets a.entries. It checks the names, kinds and sizes of all entries. The sizes are those that the zip file states;
// verifyEntry checks that they are true.
func (a *Archive) indexEntries(size int64) error {
	if len(a.file.File) > maxEntries {
		return refuse("it has more than %d entries", maxEntries)
	}
	var stored, inflated uint64
	for _, f := range a.file.File {
		switch {
		case !validName(f.Name):
			return refuse("entry %q: the name is empty, not valid or leads out of the archive", f.Name)
		case a.entries[f.Name] != nil:
			return refuse("entry %s occurs twice", f.Name)
		case !f.Mode().IsRegular():
			return refuse("entry %s is not a file", f.Name)
		case f.Flags&1 != 0:
			return refuse("entry %s is encrypted", f.Name)
		case f.Method != zip.Store && f.Method != zip.Deflate:
			return refuse("entry %s is compressed in an unknown way", f.Name)
		case f.Method == zip.Store && f.CompressedSize64 != f.UncompressedSize64:
			return refuse("entry %s has two sizes", f.Name)
		case strings.HasPrefix(f.Name, filesFolder) && f.Method != zip.Store:
			return refuse("entry %s is compressed", f.Name)
		}
		if stored += f.CompressedSize64; stored > uint64(size) || f.CompressedSize64 > uint64(size) { // entries can share bytes of the zip file, to become more than the file when they are read
			return refuse("its entries are larger than the file")
		}
		if f.Method == zip.Deflate {
			if inflated += f.UncompressedSize64; inflated > maxInflated || f.UncompressedSize64 > maxInflated {
				return refuse("its compressed entries are larger than %d bytes", int64(maxInflated))
			}
		}
		a.entries[f.Name] = f
	}
	return nil
}

// matchEntries returns an error unless the zip file has exactly the entries of the manifest.
func (a *Archive) matchEntries() error {
	for _, text := range append(slices.Clone(a.Manifest.Owners), a.Manifest.SiteURL) { // an import prints these texts
		if !files.Storable(text) || len(text) > 1000 {
			return refuse("%s has an address or URL that is not valid: %.100q", manifestName, text)
		}
	}
	for _, e := range a.Manifest.Entries {
		f := a.entries[e.Path]
		switch {
		case f == nil || e.Path == manifestName:
			return refuse("%s lists %q, which the archive does not contain", manifestName, e.Path)
		case a.listed[e.Path].Path != "":
			return refuse("%s lists %s twice", manifestName, e.Path)
		case e.Size < 0 || uint64(e.Size) != f.UncompressedSize64:
			return refuse("the size of entry %s differs from the one in %s", e.Path, manifestName)
		}
		a.listed[e.Path] = e
	}
	for name := range a.entries {
		if a.listed[name].Path == "" && name != manifestName {
			return refuse("entry %s is not in %s", name, manifestName)
		}
	}
	return nil
}

// Verify reads every entry, compares its size and SHA-256 with the manifest, and reads the list of files. It must succeed before
// Import.
func (a *Archive) Verify(ctx context.Context, report Progress) error {
	schema, err := db.SchemaVersion()
	if err != nil {
		return err
	}
	if a.Manifest.Schema > schema {
		return fmt.Errorf("the archive has schema version %d and this program knows %d: import it with the program that made it, or a newer one", a.Manifest.Schema, schema)
	}
	for i, e := range a.Manifest.Entries {
		report("check", i, len(a.Manifest.Entries))
		if err := a.verifyEntry(ctx, e); err != nil {
			return err
		}
	}
	report("check", len(a.Manifest.Entries), len(a.Manifest.Entries))
	return a.readFiles()
}

func (a *Archive) verifyEntry(ctx context.Context, e Entry) error {
	r, err := a.entries[e.Path].Open()
	if err != nil {
		return refuse("entry %s: %w", e.Path, err)
	}
	hash := sha256.New()
	n, err := io.Copy(hash, io.LimitReader(&cancellable{ctx, r}, e.Size+1))
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), r.Close())
	}
	if err := errors.Join(err, r.Close()); err != nil {
		return refuse("entry %s: %w", e.Path, err)
	}
	if n != e.Size || hex.EncodeToString(hash.Sum(nil)) != e.SHA256 {
		return refuse("the content of entry %s does not match %s", e.Path, manifestName)
	}
	return nil
}

// cancellable is a reader that ends with its context.
type cancellable struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

func readAll(f *zip.File, limit int64) (_ []byte, err error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = errors.New("too large")
	}
	return text, err
}

// readFiles sets a.files from the list of files. Every entry in the folder files/ must be one of them.
func (a *Archive) readFiles() error {
	paths, objects := map[string]bool{}, map[string]bool{}
	err := a.eachRow(filesList, func(row json.RawMessage) error {
		var f File
		if err := json.Unmarshal(row, &f); err != nil {
			return err
		}
		e := a.listed[f.Path]
		object := f.Bucket + "/" + f.Name
		switch {
		case !strings.HasPrefix(f.Path, filesFolder) || e.Path == "":
			return fmt.Errorf("file %q is not in the archive", f.Path)
		case paths[f.Path] || objects[object]:
			return fmt.Errorf("file %q occurs twice", f.Path)
		case !files.Storable(f.Bucket) || !files.ValidName(f.Name):
			return fmt.Errorf("file %q has no valid name", f.Path)
		case f.Focus != nil && slices.ContainsFunc(f.Focus[:], func(v float64) bool { return v < 0 || v > 1 }):
			return fmt.Errorf("file %q has a focus point outside the picture", f.Path)
		}
		f.Size, f.SHA256 = e.Size, e.SHA256
		paths[f.Path], objects[object] = true, true
		a.files = append(a.files, f)
		return nil
	})
	if err != nil {
		return err
	}
	for name := range a.entries {
		if strings.HasPrefix(name, filesFolder) && !paths[name] {
			return refuse("entry %s is not in %s", name, filesList)
		}
	}
	return nil
}

// eachRow calls each with the elements of an entry that is a JSON array. An entry that is not there has no elements.
func (a *Archive) eachRow(name string, each func(json.RawMessage) error) (err error) {
	f := a.entries[name]
	if f == nil {
		return nil
	}
	r, err := f.Open()
	if err != nil {
		return refuse("%s: %w", name, err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	limited := &io.LimitedReader{R: r}
	d := json.NewDecoder(limited)
	limited.N = maxRow
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return refuse("%s is not a JSON array (%v)", name, err)
	}
	for d.More() {
		var row json.RawMessage
		limited.N = maxRow // limits the bytes that the decoder reads for this row, beyond what it has read already
		if err := d.Decode(&row); err != nil {
			return refuse("%s: %w", name, err)
		}
		if err := each(bytes.Clone(row)); err != nil {
			return refuse("%s: %w", name, err)
		}
		limited.N = maxRow
	}
	limited.N = maxRow
	if _, err := d.Token(); err != nil {
		return refuse("%s: %w", name, err)
	}
	return nil
}

// eachTableRow calls each with the rows of a table. In them, URLs of the archive's files begin with apiURL.
func (a *Archive) eachTableRow(table, apiURL string, each func(map[string]json.RawMessage) error) error {
	archivedFiles := map[string]bool{}
	for _, f := range a.files {
		archivedFiles[f.Bucket+"/"+f.Name] = true
	}
	return a.eachRow(tablesFolder+table+".json", func(text json.RawMessage) error {
		var row map[string]json.RawMessage
		if err := json.Unmarshal(text, &row); err != nil {
			return err
		}
		if slices.Contains(tablesWithFiles, table) {
			for name, value := range row {
				moved, err := rebaseValue(value, apiURL, archivedFiles)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				row[name] = moved
			}
		}
		if table == "site_settings" {
			var key string
			if err := json.Unmarshal(row["key"], &key); err != nil {
				return fmt.Errorf("key: %w", err)
			}
			if err := settings.CheckArchived(key, row["value"]); err != nil {
				return err
			}
		}
		return each(row)
	})
}
