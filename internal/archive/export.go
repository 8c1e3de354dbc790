package archive

import (
	"archive/zip"
	"bufio"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"atelie/internal/content"
	"atelie/internal/db"
	"atelie/internal/settings"
)

// This file writes an archive of the site, for the command atelie export.

// maxExportTries is the number of attempts to export a site that is edited while its pages are rendered.
const maxExportTries = 5

// Errors of an export. The operator (who runs the server) reads their texts.
var (
	errEdited    = errors.New("the site was edited during the export: export again when nobody edits it")
	errSiteEmpty = errors.New("the site is empty: there is nothing to export; is this the right data folder and database?")
)

//go:embed readme.txt
var readme []byte

// Export writes an archive of the site to out, and removes what out contained before. The server may run during an export. The memory that
// an export takes does not depend on the size of the files.
//
// The rows and the list of files come from one snapshot of the database. The pages are rendered from the current database. If the site is
// edited meanwhile, the export starts again, so that pages and rows agree.
func Export(ctx context.Context, cfg Config, out *os.File, report Progress) (m Manifest, err error) {
	if err := checkTables(); err != nil {
		return m, err
	}
	for range maxExportTries {
		if _, err = out.Seek(0, io.SeekStart); err == nil {
			err = out.Truncate(0)
		}
		if err != nil {
			return m, err
		}
		err = cfg.DB.Snapshot(ctx, func(q db.Querier) error {
			m, err = export(ctx, cfg, q, out, report)
			return err
		})
		if !errors.Is(err, errEdited) {
			return m, err
		}
	}
	return m, err
}

// exporter writes the entries of one archive.
type exporter struct {
	Config
	snapshot   db.Querier // reads one snapshot of the database
	zip        *zip.Writer
	manifest   Manifest
	files      []File            // the files to write
	workTitles map[string]string // titles of the works, by the work's id
}

// export makes one attempt of Export. The error is errEdited if the site was edited meanwhile.
func export(ctx context.Context, cfg Config, q db.Querier, out io.Writer, report Progress) (Manifest, error) {
	buffered := bufio.NewWriterSize(out, 1<<20)
	e := &exporter{Config: cfg, snapshot: q, zip: zip.NewWriter(buffered), workTitles: map[string]string{}}
	e.manifest = Manifest{Format: Format, Program: cfg.Program, SiteURL: cfg.SiteURL, Owners: []string{}, Rows: map[string]int64{}, LeftOut: leftOut}
	var err error
	if e.manifest.Schema, err = db.SchemaVersion(); err != nil {
		return Manifest{}, err
	}
	if e.manifest.Owners, err = cfg.Owners(ctx); err != nil {
		return Manifest{}, err
	}
	exportedVersions, err := content.Read(ctx, q)
	if err != nil {
		return Manifest{}, err
	}
	if err := e.readFiles(ctx); err != nil {
		return Manifest{}, err
	}
	if err := e.addBytes(readmeName, zip.Deflate, readme); err != nil {
		return Manifest{}, err
	}
	if err := e.writePages(ctx, report); err != nil {
		return Manifest{}, err
	}
	if current, err := content.Read(ctx, cfg.DB); err != nil {
		return Manifest{}, err
	} else if current.Edited != exportedVersions.Edited {
		return Manifest{}, errEdited
	}
	if err := e.writeTables(ctx, report); err != nil {
		return Manifest{}, err
	}
	if err := e.writeFiles(ctx, report); err != nil {
		return Manifest{}, err
	}
	complete := e.manifest // it does not list itself
	text, err := json.MarshalIndent(complete, "", " ")
	if err != nil {
		return Manifest{}, err
	}
	if err := e.addBytes(manifestName, zip.Deflate, append(text, '\n')); err != nil {
		return Manifest{}, err
	}
	return complete, errors.Join(e.zip.Close(), buffered.Flush())
}

// addBytes is add for an entry whose content is in memory.
func (e *exporter) addBytes(name string, method uint16, content []byte) error {
	return e.add(name, method, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// add writes an entry and adds it to the manifest.
func (e *exporter) add(name string, method uint16, write func(io.Writer) error) error {
	h := &zip.FileHeader{Name: name, Method: method, Modified: entryTime}
	h.SetMode(0o644)
	w, err := e.zip.CreateHeader(h)
	if err != nil {
		return err
	}
	counted := &byteCounter{}
	hash := sha256.New()
	if err := write(io.MultiWriter(w, hash, counted)); err != nil {
		return err
	}
	e.manifest.Entries = append(e.manifest.Entries, Entry{name, counted.n, hex.EncodeToString(hash.Sum(nil))})
	return nil
}

// byteCounter is a writer that counts bytes.
type byteCounter struct{ n int64 }

func (c *byteCounter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// readFiles lists the files and names them after the rows that show them.
func (e *exporter) readFiles(ctx context.Context) (err error) {
	if e.files, err = e.Files(ctx, e.snapshot); err != nil {
		return err
	}
	empty := len(e.files) == 0
	titles := newFileTitles()
	for _, table := range exported {
		err := db.ReadJSON(ctx, e.snapshot, e.DB.Dialect, table, func(row json.RawMessage) error {
			empty = false
			if !slices.Contains(tablesWithFiles, table) {
				return nil
			}
			if table == "products" {
				var work struct{ ID, Title string }
				if err := json.Unmarshal(row, &work); err != nil {
					return err
				}
				e.workTitles[work.ID] = work.Title
			}
			return titles.addRow(table, row)
		})
		if err != nil {
			return err
		}
	}
	if empty {
		return errSiteEmpty
	}
	nameFiles(e.files, titles)
	e.manifest.Files = len(e.files)
	return nil
}

func (e *exporter) writeTables(ctx context.Context, report Progress) error {
	for i, table := range exported {
		report("tables", i, len(exported))
		rows := int64(0)
		err := e.addList(tablesFolder+table+".json", func(each func(json.RawMessage) error) error {
			return db.ReadJSON(ctx, e.snapshot, e.DB.Dialect, table, func(row json.RawMessage) error {
				if table == "site_settings" {
					var setting struct{ Key string }
					if err := json.Unmarshal(row, &setting); err != nil {
						return err
					}
					if !settings.InArchive(setting.Key) {
						return nil
					}
				}
				rows++
				return each(row)
			})
		})
		if err != nil {
			return err
		}
		e.manifest.Rows[table] = rows
	}
	buckets, err := e.Buckets(ctx, e.snapshot)
	if err != nil {
		return err
	}
	if err := addValues(e, bucketsList, buckets); err != nil {
		return err
	}
	return addValues(e, filesList, e.files)
}

// addValues is addList for the values in list.
func addValues[T any](e *exporter, name string, list []T) error {
	return e.addList(name, func(each func(json.RawMessage) error) error {
		for _, value := range list {
			element, err := json.Marshal(value)
			if err == nil {
				err = each(element)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// addList writes an entry with a JSON array, one line for each element. list calls each with the elements.
func (e *exporter) addList(name string, list func(each func(json.RawMessage) error) error) error {
	return e.add(name, zip.Deflate, func(w io.Writer) error {
		before := "[\n"
		err := list(func(row json.RawMessage) error {
			_, err := fmt.Fprintf(w, "%s%s", before, row)
			before = ",\n"
			return err
		})
		if err != nil {
			return err
		}
		end := "\n]\n"
		if before == "[\n" {
			end = "[]\n"
		}
		_, err = io.WriteString(w, end)
		return err
	})
}

// writeFiles writes the originals without compression, because pictures and videos are compressed already.
func (e *exporter) writeFiles(ctx context.Context, report Progress) error {
	for i, f := range e.files {
		report("files", i, len(e.files))
		body, err := e.Open(ctx, f.BlobID)
		if errors.Is(err, fs.ErrNotExist) {
			return e.explainMissing(ctx, f)
		}
		if err != nil {
			return fmt.Errorf("read %s/%s: %w", f.Bucket, f.Name, err)
		}
		err = errors.Join(e.add(f.Path, zip.Store, func(w io.Writer) error {
			_, err := io.Copy(w, body)
			return err
		}), body.Close())
		if err != nil {
			return fmt.Errorf("read %s/%s: %w", f.Bucket, f.Name, err)
		}
		if last := e.manifest.Entries[len(e.manifest.Entries)-1]; last.Size != f.Size || last.SHA256 != f.SHA256 {
			return fmt.Errorf("the stored file of %s/%s is damaged: its content is not the one that was stored; restore it from a backup, or remove it", f.Bucket, f.Name)
		}
	}
	report("files", len(e.files), len(e.files))
	return nil
}

// explainMissing returns the error for a file that has no bytes: errEdited if it was removed or replaced since the snapshot.
func (e *exporter) explainMissing(ctx context.Context, f File) error {
	now, err := e.Files(ctx, e.DB)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(now, func(other File) bool { return other.BlobID == f.BlobID }) {
		return fmt.Errorf("the stored file of %s/%s is missing: restore it from a backup, or remove it", f.Bucket, f.Name)
	}
	return errEdited
}
