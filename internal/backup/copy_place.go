package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/benbjohnson/litestream"
	"github.com/superfly/ltx"
)

// copyPasses is the number of attempts to copy a place from which objects are removed during the copy.
const copyPasses = 5

// errRemoved is the error of an attempt after which copyPlace makes another one.
var errRemoved = errors.New("objects were removed from the place of the backup while it was copied")

// copyPlace makes the second place (to) equal to the first one (from). It adds objects first, and then removes those that the first
// place no longer has. site and engine are those of the first place's format.json.
func copyPlace(ctx context.Context, from, to Place, site, engine string) error {
	if _, err := Claim(ctx, to, site, engine); err != nil {
		return err
	}
	for range copyPasses {
		err := copyOnce(ctx, from, to)
		if !errors.Is(err, errRemoved) {
			return err
		}
	}
	return errRemoved
}

// copyOnce makes one attempt of copyPlace. The error is errRemoved if an object was removed from the first place meanwhile.
func copyOnce(ctx context.Context, from, to Place) error {
	removeParts, err := copyParts(ctx, from, to)
	if err != nil {
		return err
	}
	wanted, err := listPlace(ctx, from)
	if err != nil {
		return err
	}
	existing, err := listPlace(ctx, to)
	if err != nil {
		return err
	}
	// In reverse order, so that a snapshot (.zst) is complete before its description (.json), by which it is found.
	for _, name := range slices.Backward(sortedNames(wanted)) {
		// Blobs and snapshots never change. All other objects are small, and are copied each time.
		if size, ok := existing[name]; ok && size == wanted[name] && (strings.HasPrefix(name, BlobsDir+"/") || strings.HasSuffix(name, ".zst")) {
			continue
		}
		if err := copyObject(ctx, from, to, name); err != nil {
			return err
		}
	}
	for name := range existing {
		if _, ok := wanted[name]; ok {
			continue
		}
		if err := to.Delete(ctx, name); err != nil {
			return err
		}
	}
	return removeParts()
}

// listPlace returns the sizes of all objects by name, without the parts of the database.
func listPlace(ctx context.Context, p Place) (map[string]int64, error) {
	sizes := map[string]int64{}
	err := p.List(ctx, "", func(o Object) error {
		if !strings.HasPrefix(o.Name, DatabaseDir+"/") {
			sizes[o.Name] = o.Size
		}
		return nil
	})
	return sizes, err
}

func sortedNames(sizes map[string]int64) []string {
	names := make([]string, 0, len(sizes))
	for name := range sizes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func copyObject(ctx context.Context, from, to Place, name string) (err error) {
	body, err := from.Open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", name, errRemoved)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	if seeker, ok := body.(io.ReadSeeker); ok {
		return to.Write(ctx, name, seeker)
	}
	// The body of an S3 object cannot be read twice, which a failed upload needs.
	f, err := os.CreateTemp("", "atelie-backup-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	if _, err := io.Copy(f, reader{ctx, body}); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return to.Write(ctx, name, f)
}

// copyParts copies the parts of an SQLite database. They keep their times, because the client of litestream takes them from the parts'
// headers. The returned function removes the parts that the first place no longer has.
func copyParts(ctx context.Context, from, to Place) (remove func() error, err error) {
	source, err := openParts(ctx, from)
	if err != nil {
		return nil, err
	}
	target, err := openParts(ctx, to)
	if err != nil {
		return nil, err
	}
	key := func(i *ltx.FileInfo) string { return partName(i) }
	var gone []*ltx.FileInfo
	for level := litestream.SnapshotLevel; level >= 0; level-- {
		wanted, err := source.list(ctx, level, false)
		if err != nil {
			return nil, err
		}
		there, err := target.list(ctx, level, false)
		if err != nil {
			return nil, err
		}
		sizes := map[string]int64{}
		for _, info := range there {
			sizes[key(info)] = info.Size
		}
		for _, info := range wanted {
			if size, ok := sizes[key(info)]; !ok || size != info.Size {
				if err := copyPart(ctx, source, target, info); err != nil {
					return nil, err
				}
			}
			delete(sizes, key(info))
		}
		for _, info := range there {
			if _, left := sizes[key(info)]; left {
				gone = append(gone, info)
			}
		}
	}
	return func() error { return target.DeleteLTXFiles(ctx, gone) }, nil
}

func copyPart(ctx context.Context, source, target *parts, info *ltx.FileInfo) (err error) {
	body, err := source.OpenLTXFile(ctx, info.Level, info.MinTXID, info.MaxTXID, 0, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", partName(info), errRemoved)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	_, err = target.WriteLTXFile(ctx, info.Level, info.MinTXID, info.MaxTXID, reader{ctx, body})
	return err
}
