// Package backup keeps a continuous backup of a site in a place, which is a folder or a bucket: every commit of an SQLite database,
// nightly snapshots of a PostgreSQL database, each stored file once, and the site's secret. It restores sites from backups, and proves
// each night that the newest backup can be restored.
package backup

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/benbjohnson/litestream/file"
	"github.com/google/uuid"
	"github.com/superfly/ltx"

	"atelie/internal/datafolder"
	"atelie/internal/s3client"
)

// Names in a place. Names are paths with slashes, relative to the place.
const (
	DatabaseDir  = "database"  // the replica of an SQLite database, in litestream's format
	SnapshotsDir = "snapshots" // nightly snapshots of a PostgreSQL database
	BlobsDir     = "blobs"     // blobs by id, see BlobName
	ProofsDir    = "proofs"    // what the live database was when it was proven

	formatName       = "format.json" // see Format
	secretName       = "secret"      // the secrets, readable
	sealedSecretName = "secret.age"  // the secrets, sealed by a passphrase
	temporaryDir     = "tmp"         // unfinished objects of a folder
)

// BlobName returns the name of a blob's bytes in a place.
func BlobName(id string) string { return path.Join(BlobsDir, id[:2], id[2:4], id) }

// Place stores objects under names: in a folder, or in an S3 bucket under a prefix.
type Place interface {
	// Write stores body under name, in place of what was stored there. The object is whole or missing, and durable when Write
	// returns nil.
	Write(ctx context.Context, name string, body io.ReadSeeker) error
	// Add stores a file that never changes again. A place in a folder on the same disk stores a hard link instead of a copy.
	Add(ctx context.Context, name string, body io.ReadSeeker) error
	// Open reads an object. The error is fs.ErrNotExist if there is none.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	// List calls each for the objects whose names begin with prefix: the name of a folder and a slash, or "" for all objects. Only
	// objects of the same folder come in the order of their names.
	List(ctx context.Context, prefix string, each func(Object) error) error
	// Delete removes an object. A missing object is no error.
	Delete(ctx context.Context, name string) error
	// Sweep removes unfinished objects that interrupted writes have left before a time.
	Sweep(before time.Time) error
	// Label names the place in texts, without secrets.
	Label() string
	// ReplicaClient returns a new client of litestream for the database's replica. It is not initialized.
	ReplicaClient() ReplicaClient
}

// ReplicaClient is a client of litestream that can list a few parts among many. S3 servers charge for each thousand listed names.
type ReplicaClient interface {
	litestream.ReplicaClient
	// LTXFilesBetween lists the parts of a level whose first transaction is first or later, and before end unless end is 0. They are in
	// the order of their transactions, with the times of LTXFiles without metadata.
	LTXFilesBetween(ctx context.Context, level int, first, end ltx.TXID) ([]*ltx.FileInfo, error)
}

// Object is a stored object. Size is in bytes.
type Object struct {
	Name     string
	Size     int64
	Modified time.Time
}

// PlaceConfig says where a place is: Folder is an absolute path, or "" if Bucket is set.
type PlaceConfig struct {
	Folder string
	Bucket *s3client.Config
}

// OpenPlace returns a place without using it: it may be unreachable, and its folder or bucket may be missing.
func OpenPlace(cfg PlaceConfig) Place {
	if cfg.Bucket != nil {
		return newBucket(*cfg.Bucket)
	}
	return &folder{root: cfg.Folder}
}

// Format is the content of format.json, by which a place is recognized.
type Format struct {
	Format int    `json:"format"` // version of the layout
	Site   string `json:"site"`   // marker of the site's files, which the database has too
	Engine string `json:"engine"` // "sqlite" or "postgres"
}

// formatVersion is the version of the layout that this program writes.
const formatVersion = 1

// ErrOtherSite is the cause of errors about a place that holds another site's backup.
var ErrOtherSite = errors.New("this place holds the backup of another site")

// ReadFormat reads what a place holds. The error is fs.ErrNotExist if it holds no backup.
func ReadFormat(ctx context.Context, p Place) (f Format, err error) {
	text, err := readAll(ctx, p, formatName)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return f, fmt.Errorf("%s is damaged: %w", formatName, err)
	}
	if f.Format > formatVersion {
		return f, fmt.Errorf("%s: the backup has format %d and this program knows %d: use the newer program", formatName, f.Format, formatVersion)
	}
	return f, nil
}

// Claim records in a place that it holds the backup of a site. created is true if the place held no backup before. The error wraps
// ErrOtherSite if the place holds the backup of another site.
func Claim(ctx context.Context, p Place, site, engine string) (created bool, err error) {
	want := Format{Format: formatVersion, Site: site, Engine: engine}
	found, err := ReadFormat(ctx, p)
	switch {
	case err == nil && found == want:
		return false, nil
	case err == nil && found.Site != site:
		return false, fmt.Errorf("%w: its site is %s, this one is %s; set another backup-url, or move what is there away", ErrOtherSite, found.Site, site)
	case errors.Is(err, fs.ErrNotExist):
		created = true
	case err != nil:
		return false, err
	}
	text, err := json.Marshal(want)
	if err != nil {
		return false, err
	}
	return created, p.Write(ctx, formatName, bytes.NewReader(append(text, '\n')))
}

// readAll reads a small object.
func readAll(ctx context.Context, p Place, name string) (text []byte, err error) {
	r, err := p.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return io.ReadAll(io.LimitReader(r, 1<<20))
}

// placeError is the error of a place that cannot be reached or read, and says nothing about what is stored there. A missing object is
// an fs.ErrNotExist instead.
type placeError struct{ err error }

func (e *placeError) Error() string { return e.err.Error() }
func (e *placeError) Unwrap() error { return e.err }

// toPlaceError returns an error that a place has returned as a placeError. io.EOF and fs.ErrNotExist stay as they are.
func toPlaceError(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, fs.ErrNotExist) || isPlaceError(err) {
		return err
	}
	return &placeError{err}
}

// isPlaceError reports whether an error is or wraps a placeError.
func isPlaceError(err error) bool {
	var failed *placeError
	return errors.As(err, &failed)
}

// placeBody is the body of an object.
type placeBody struct{ io.ReadCloser }

func (b placeBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	return n, toPlaceError(err)
}

// folder is a place in a folder. Only the user that runs the program has access to what it creates.
type folder struct{ root string }

func (f *folder) Label() string { return f.root }

func (f *folder) ReplicaClient() ReplicaClient {
	return folderReplica{file.NewReplicaClient(filepath.Join(f.root, DatabaseDir))}
}

// folderReplica is litestream's client for folders with another listing: the original reads the size and time of every part.
type folderReplica struct{ *file.ReplicaClient }

// LTXFiles implements litestream.ReplicaClient.
func (r folderReplica) LTXFiles(ctx context.Context, level int, seek ltx.TXID, _ bool) (ltx.FileIterator, error) {
	found, err := r.LTXFilesBetween(ctx, level, seek, 0)
	return ltx.NewFileInfoSliceIterator(found), err
}

// LTXFilesBetween implements ReplicaClient.
func (r folderReplica) LTXFilesBetween(_ context.Context, level int, first, end ltx.TXID) ([]*ltx.FileInfo, error) {
	return listParts(r.LTXLevelDir(level), level, first, end)
}

// listParts lists the parts in a folder, as LTXFilesBetween. A missing folder has none.
func listParts(dir string, level int, first, end ltx.TXID) (found []*ltx.FileInfo, err error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	low, high := first.String(), end.String()
	for _, name := range names {
		if name < low || end > 0 && name >= high { // a name begins with the first transaction
			continue
		}
		minTXID, maxTXID, err := ltx.ParseFilename(name)
		if err != nil {
			continue // a temporary file
		}
		info, err := os.Lstat(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, &ltx.FileInfo{Level: level, MinTXID: minTXID, MaxTXID: maxTXID, Size: info.Size(), CreatedAt: info.ModTime().UTC()})
	}
	slices.SortFunc(found, compareParts)
	return found, nil
}

// compareParts compares parts of a level by their transactions.
func compareParts(a, b *ltx.FileInfo) int {
	return cmp.Or(cmp.Compare(a.MinTXID, b.MinTXID), cmp.Compare(a.MaxTXID, b.MaxTXID))
}

func (f *folder) path(name string) (string, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", fmt.Errorf("%q is no name in a backup", name)
	}
	return filepath.Join(f.root, filepath.FromSlash(name)), nil
}

func (f *folder) Write(ctx context.Context, name string, body io.ReadSeeker) error {
	return f.put(name, func(temporary string) error { return writeFile(ctx, temporary, body) })
}

func (f *folder) Add(ctx context.Context, name string, body io.ReadSeeker) error {
	return f.put(name, func(temporary string) error {
		if source, ok := body.(*os.File); ok && os.Link(source.Name(), temporary) == nil {
			return nil
		}
		return writeFile(ctx, temporary, body)
	})
}

// put calls create, which writes a temporary file, and renames that file to name.
func (f *folder) put(name string, create func(temporary string) error) (err error) {
	target, err := f.path(name)
	if err != nil {
		return err
	}
	temporary := filepath.Join(f.root, temporaryDir, uuid.NewString())
	for _, dir := range []string{filepath.Dir(temporary), filepath.Dir(target)} {
		if err := f.makeDir(dir); err != nil {
			return err
		}
	}
	if err = create(temporary); err == nil {
		err = os.Rename(temporary, target)
	}
	if err != nil {
		if gone := os.Remove(temporary); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return err
	}
	// A rename of a hard link onto another one of the same file leaves both names, by POSIX.
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return datafolder.SyncFolder(filepath.Dir(target))
}

// makeDir creates the folders down to dir and syncs their entries.
func (f *folder) makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for ; len(dir) > len(f.root); dir = filepath.Dir(dir) {
		if err := datafolder.SyncFolder(filepath.Dir(dir)); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(ctx context.Context, name string, body io.Reader) error {
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, reader{ctx, body})
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// reader is a reader whose Read fails when its context has ended.
type reader struct {
	ctx  context.Context // a field, because Read has no context parameter
	from io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

func (f *folder) Open(_ context.Context, name string) (io.ReadCloser, error) {
	p, err := f.path(name)
	if err != nil {
		return nil, err
	}
	opened, err := datafolder.OpenShared(p, os.O_RDONLY, 0)
	if err != nil {
		return nil, toPlaceError(err) // not opened: a nil *os.File in an interface is not nil
	}
	return folderBody{opened}, nil
}

// folderBody is a file of a folder.
type folderBody struct{ file *os.File }

func (b folderBody) Read(p []byte) (int, error) {
	n, err := b.file.Read(p)
	return n, toPlaceError(err)
}

func (b folderBody) Seek(offset int64, whence int) (int64, error) { return b.file.Seek(offset, whence) }
func (b folderBody) Close() error                                 { return b.file.Close() }

func (f *folder) List(ctx context.Context, prefix string, each func(Object) error) error {
	top, err := f.path(path.Join(".", prefix))
	if err != nil {
		return err
	}
	err = filepath.WalkDir(top, func(p string, e fs.DirEntry, err error) error {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return toPlaceError(err)
		}
		name, err := filepath.Rel(f.root, p)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if e.IsDir() {
			if name == temporaryDir {
				return fs.SkipDir
			}
			return nil
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) || strings.HasSuffix(name, ".tmp") { // litestream's own temporary files
			return nil
		}
		if err != nil {
			return toPlaceError(err)
		}
		return each(Object{Name: name, Size: info.Size(), Modified: info.ModTime()})
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (f *folder) Sweep(before time.Time) error {
	dir := filepath.Join(f.root, temporaryDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		info, statErr := e.Info()
		if statErr == nil && info.ModTime().Before(before) {
			statErr = os.Remove(filepath.Join(dir, e.Name()))
		}
		if !errors.Is(statErr, fs.ErrNotExist) {
			err = errors.Join(err, statErr)
		}
	}
	return err
}

func (f *folder) Delete(_ context.Context, name string) error {
	p, err := f.path(name)
	if err != nil {
		return err
	}
	if err := os.Remove(p); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
