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
	maxManifest = 64 << 20  // bytes of the manifest (site.json), which is decoded in memory
	maxEntries  = 1_000_000 // entries of the zip file
	// maxInflated is the size in bytes of all compressed entries together after decompression. It stops zip bombs: small files that
	// decompress to very much data. Uploaded files do not count, because an archive has them without compression.
	maxInflated = 4 << 30
	maxRow      = 4 << 20 // bytes of a row as JSON; each row is decoded in memory
)

// errNotArchive is the error for a file that is not a valid archive. notArchiveError adds the reason.
var errNotArchive = errors.New("this is not an archive that atelie export has made, or it is damaged")

// notArchiveError returns an error that wraps errNotArchive and adds a reason.
func notArchiveError(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errNotArchive}, args...)...)
}

// Archive is an open archive: a zip file with the content of a site, written by "atelie export".
type Archive struct {
	Manifest Manifest

	file            *zip.ReadCloser
	zipEntries      map[string]*zip.File // all entries of the zip file, by path
	manifestEntries map[string]Entry     // the entries that the manifest lists, by path
	siteFiles       []File               // the elements of tables/files.json; set by Verify
	manifestSHA256  string               // of site.json, in hexadecimal digits; identifies the archive in an unfinished import
}

// Close closes the zip file.
func (a *Archive) Close() error { return a.file.Close() }

// Open opens the archive at a path and checks its list of entries. It reads no entry except site.json, the manifest.
func Open(path string) (_ *Archive, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	r, err := zip.OpenReader(path)
	if err != nil {
		return nil, notArchiveError("%w", err)
	}
	a := &Archive{file: r, zipEntries: map[string]*zip.File{}, manifestEntries: map[string]Entry{}}
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
	manifest := a.zipEntries[manifestName]
	if manifest == nil {
		return notArchiveError("it has no %s", manifestName)
	}
	if manifest.UncompressedSize64 > maxManifest {
		return notArchiveError("%s is larger than %d bytes", manifestName, maxManifest)
	}
	text, err := readAll(manifest, maxManifest)
	if err != nil {
		return notArchiveError("%s: %w", manifestName, err)
	}
	sum := sha256.Sum256(text)
	a.manifestSHA256 = hex.EncodeToString(sum[:])
	var version struct{ Format int }
	if err := json.Unmarshal(text, &version); err != nil {
		return notArchiveError("%s: %w", manifestName, err)
	}
	if version.Format > Format {
		return fmt.Errorf("the archive has format %d and this program knows %d: import it with the program that made it, or a newer one", version.Format, Format)
	}
	if version.Format < 1 {
		return notArchiveError("%s: format %d", manifestName, version.Format)
	}
	if err := json.Unmarshal(text, &a.Manifest); err != nil {
		return notArchiveError("%s: %w", manifestName, err)
	}
	return a.matchEntries()
}

// indexEntries sets a.zipEntries. It checks the names, kinds and sizes of all entries. It uses the sizes that the zip file states;
// verifyEntry later compares them with the content. size is the size of the zip file in bytes.
func (a *Archive) indexEntries(size int64) error {
	if len(a.file.File) > maxEntries {
		return notArchiveError("it has more than %d entries", maxEntries)
	}
	var stored, inflated uint64
	for _, f := range a.file.File {
		switch {
		case !validName(f.Name):
			return notArchiveError("entry %q: the name is empty, not valid or leads out of the archive", f.Name)
		case a.zipEntries[f.Name] != nil:
			return notArchiveError("entry %s occurs twice", f.Name)
		case !f.Mode().IsRegular():
			return notArchiveError("entry %s is not a file", f.Name)
		case f.Flags&1 != 0:
			return notArchiveError("entry %s is encrypted", f.Name)
		case f.Method != zip.Store && f.Method != zip.Deflate:
			return notArchiveError("entry %s is compressed in an unknown way", f.Name)
		case f.Method == zip.Store && f.CompressedSize64 != f.UncompressedSize64:
			return notArchiveError("entry %s has two sizes", f.Name)
		case strings.HasPrefix(f.Name, filesFolder) && f.Method != zip.Store:
			return notArchiveError("entry %s is compressed", f.Name)
		}
		// Entries of a malformed zip file can share bytes, so that all entries together are larger than the file.
		if stored += f.CompressedSize64; stored > uint64(size) || f.CompressedSize64 > uint64(size) {
			return notArchiveError("its entries are larger than the file")
		}
		if f.Method == zip.Deflate {
			if inflated += f.UncompressedSize64; inflated > maxInflated || f.UncompressedSize64 > maxInflated {
				return notArchiveError("its compressed entries are larger than %d bytes", int64(maxInflated))
			}
		}
		a.zipEntries[f.Name] = f
	}
	return nil
}

// matchEntries returns an error unless the zip file has exactly the entries of the manifest.
func (a *Archive) matchEntries() error {
	for _, text := range append(slices.Clone(a.Manifest.Owners), a.Manifest.SiteURL) { // an import prints these texts
		if !files.Storable(text) || len(text) > 1000 {
			return notArchiveError("%s has an address or URL that is not valid: %.100q", manifestName, text)
		}
	}
	for _, e := range a.Manifest.Entries {
		f := a.zipEntries[e.Path]
		switch {
		case f == nil || e.Path == manifestName:
			return notArchiveError("%s lists %q, which the archive does not contain", manifestName, e.Path)
		case a.manifestEntries[e.Path].Path != "":
			return notArchiveError("%s lists %s twice", manifestName, e.Path)
		case e.Size < 0 || uint64(e.Size) != f.UncompressedSize64:
			return notArchiveError("the size of entry %s differs from the one in %s", e.Path, manifestName)
		}
		a.manifestEntries[e.Path] = e
	}
	for name := range a.zipEntries {
		if a.manifestEntries[name].Path == "" && name != manifestName {
			return notArchiveError("entry %s is not in %s", name, manifestName)
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
	r, err := a.zipEntries[e.Path].Open()
	if err != nil {
		return notArchiveError("entry %s: %w", e.Path, err)
	}
	hash := sha256.New()
	n, err := io.Copy(hash, io.LimitReader(&cancellable{ctx, r}, e.Size+1))
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), r.Close())
	}
	if err := errors.Join(err, r.Close()); err != nil {
		return notArchiveError("entry %s: %w", e.Path, err)
	}
	if n != e.Size || hex.EncodeToString(hash.Sum(nil)) != e.SHA256 {
		return notArchiveError("the content of entry %s does not match %s", e.Path, manifestName)
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

// readFiles sets a.siteFiles from tables/files.json. That list must contain every entry of the folder files/.
func (a *Archive) readFiles() error {
	paths, objects := map[string]bool{}, map[string]bool{}
	err := a.eachRow(filesList, func(row json.RawMessage) error {
		var f File
		if err := json.Unmarshal(row, &f); err != nil {
			return err
		}
		e := a.manifestEntries[f.Path]
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
		a.siteFiles = append(a.siteFiles, f)
		return nil
	})
	if err != nil {
		return err
	}
	for name := range a.zipEntries {
		if strings.HasPrefix(name, filesFolder) && !paths[name] {
			return notArchiveError("entry %s is not in %s", name, filesList)
		}
	}
	return nil
}

// eachRow calls each with each element of the entry name, which is a JSON array. It does nothing if the archive has no such entry.
func (a *Archive) eachRow(name string, each func(json.RawMessage) error) (err error) {
	f := a.zipEntries[name]
	if f == nil {
		return nil
	}
	r, err := f.Open()
	if err != nil {
		return notArchiveError("%s: %w", name, err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	limited := &io.LimitedReader{R: r}
	d := json.NewDecoder(limited)
	limited.N = maxRow
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return notArchiveError("%s is not a JSON array (%v)", name, err)
	}
	for d.More() {
		var row json.RawMessage
		limited.N = maxRow // limits the bytes that the decoder reads for this row, beyond what it has read already
		if err := d.Decode(&row); err != nil {
			return notArchiveError("%s: %w", name, err)
		}
		if err := each(bytes.Clone(row)); err != nil {
			return notArchiveError("%s: %w", name, err)
		}
		limited.N = maxRow
	}
	limited.N = maxRow
	if _, err := d.Token(); err != nil {
		return notArchiveError("%s: %w", name, err)
	}
	return nil
}

// eachTableRow calls each with the rows of a table. In them, URLs of the archive's files begin with apiURL.
func (a *Archive) eachTableRow(table, apiURL string, each func(map[string]json.RawMessage) error) error {
	archivedFiles := map[string]bool{}
	for _, f := range a.siteFiles {
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
