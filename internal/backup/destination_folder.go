package backup

import (
	"cmp"
	"context"
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

	"github.com/benbjohnson/litestream/file"
	"github.com/google/uuid"
	"github.com/superfly/ltx"

	"atelie/internal/datafolder"
)

// folder is a Destination (where a backup is stored) in a folder of this machine. Only the user that runs the program can read the files.
type folder struct{ root string }

func (f *folder) Label() string { return f.root }

func (f *folder) RangeClient() RangeClient {
	return folderReplica{file.NewReplicaClient(filepath.Join(f.root, DatabaseDir))}
}

// folderReplica is a RangeClient for the replica in a folder. Its listings are faster than those of file.ReplicaClient, which reads the size
// and the modification time of every LTX file of a level. folderReplica reads them only for the LTX files in the range.
type folderReplica struct{ *file.ReplicaClient }

// LTXFiles implements litestream.ReplicaClient. It ignores useMetadata, the last parameter: the time of an LTX file is always its
// modification time.
func (r folderReplica) LTXFiles(ctx context.Context, level int, first ltx.TXID, _ bool) (ltx.FileIterator, error) {
	found, err := r.LTXFilesBetween(ctx, level, first, 0 /* no upper limit */)
	return ltx.NewFileInfoSliceIterator(found), err
}

// LTXFilesBetween implements RangeClient.
func (r folderReplica) LTXFilesBetween(_ context.Context, level int, first, end ltx.TXID) ([]*ltx.FileInfo, error) {
	return listLTXFiles(r.LTXLevelDir(level), level, first, end)
}

// WriteLTXFile implements litestream.ReplicaClient. It never replaces an LTX file of level 0 (one that is not compacted), because an earlier
// upload that arrives late must not replace a newer LTX file of the same name. If the destination already has such a file, WriteLTXFile
// returns its FileInfo, and errLTXConflict if its content differs from body. It may replace LTX files of higher levels.
func (r folderReplica) WriteLTXFile(ctx context.Context, level int, first, last ltx.TXID, body io.Reader) (*ltx.FileInfo, error) {
	local, isSeekable := body.(io.ReadSeeker) // litestream uploads LTX files of level 0 from local files, which are seekable
	if level > 0 || !isSeekable {
		return r.ReplicaClient.WriteLTXFile(ctx, level, first, last, body)
	}
	stored, err := os.Stat(r.LTXFilePath(level, first, last))
	if errors.Is(err, fs.ErrNotExist) {
		return r.ReplicaClient.WriteLTXFile(ctx, level, first, last, body)
	}
	if err != nil {
		return nil, err
	}
	info := &ltx.FileInfo{Level: level, MinTXID: first, MaxTXID: last, Size: stored.Size(), CreatedAt: stored.ModTime().UTC()}
	return info, checkSame(ctx, r, info, local)
}

// listLTXFiles lists the LTX files in a folder as RangeClient.LTXFilesBetween does. For a missing folder the list is empty.
func listLTXFiles(dir string, level int, first, end ltx.TXID) (found []*ltx.FileInfo, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, missingAs(err, nil)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	low, high := first.String(), end.String()
	for _, name := range names {
		if name < low || end > 0 && name >= high { // the name of an LTX file begins with its first transaction
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
	slices.SortFunc(found, compareLTXFiles)
	return found, nil
}

// compareLTXFiles compares LTX files of a level by their transactions.
func compareLTXFiles(a, b *ltx.FileInfo) int {
	return cmp.Or(cmp.Compare(a.MinTXID, b.MinTXID), cmp.Compare(a.MaxTXID, b.MaxTXID))
}

func (f *folder) path(name string) (string, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", fmt.Errorf("%q is not a valid name in a backup", name)
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

// put stores a file atomically: create writes a temporary file, which put then renames to name.
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
		return errors.Join(err, datafolder.RemoveFile(temporary))
	}
	// A rename of a hard link onto another one of the same file leaves both names, by POSIX.
	if err := datafolder.RemoveFile(temporary); err != nil {
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
		return nil, toDestinationError(err) // not opened: a nil *os.File in an interface is not nil
	}
	return folderBody{opened}, nil
}

// folderBody is the body of an object in a folder. Its read errors are destinationErrors.
type folderBody struct{ file *os.File }

func (b folderBody) Read(p []byte) (int, error) {
	n, err := b.file.Read(p)
	return n, toDestinationError(err)
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
			return toDestinationError(err)
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
			return toDestinationError(err)
		}
		return each(Object{Name: name, Size: info.Size(), Modified: info.ModTime()})
	})
	return missingAs(err, nil)
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
		err = errors.Join(err, missingAs(statErr, nil))
	}
	return err
}

func (f *folder) Delete(_ context.Context, name string) error {
	p, err := f.path(name)
	if err != nil {
		return err
	}
	return datafolder.RemoveFile(p)
}
