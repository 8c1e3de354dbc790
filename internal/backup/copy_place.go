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
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/superfly/ltx"
)

// Limits of a copy. A copy that exceeds them continues after the next proof.
const (
	copyPasses  = 5 // attempts; another one is needed if objects were removed from the first place while the copy read them
	copyTimeout = 20 * time.Hour
)

// errRemoved is the error of a pass after which another pass is needed.
var errRemoved = errors.New("objects were removed from the place of the backup while it was copied")

// CopyDetail is the detail of KindCopy: how many objects of the second place were compared after the newest copy, and how many of them
// were copied again because they were damaged there.
type CopyDetail struct {
	Place    string    `json:"place"` // label of the second place
	Ended    time.Time `json:"ended"` // when the copy was done
	Compared int       `json:"compared"`
	Mended   int       `json:"mended"`
}

// copyBackup makes the second place a copy of the first one, and compares a part of the copy by content.
func (s *Service) copyBackup(ctx context.Context) (detail CopyDetail, err error) {
	ctx, cancel := context.WithTimeout(ctx, copyTimeout)
	defer cancel()
	if _, err := Claim(ctx, s.cfg.CopyTo, s.cfg.Site, string(s.db.Dialect)); err != nil {
		return detail, err
	}
	for range copyPasses {
		wanted, err := copyOnce(ctx, s.cfg.Place, s.cfg.CopyTo)
		if err == nil {
			err = s.checkCopy(ctx, wanted, &detail)
		}
		if !errors.Is(err, errRemoved) {
			return detail, err
		}
	}
	return detail, errRemoved
}

// copyOnce copies the objects that the second place lacks, then removes those that the first place no longer has. It returns the names
// of all objects except the parts of the database.
func copyOnce(ctx context.Context, from, to Place) (names []string, err error) {
	removeParts, err := copyParts(ctx, from, to)
	if err != nil {
		return nil, err
	}
	wanted, err := listPlace(ctx, from)
	if err != nil {
		return nil, err
	}
	there, err := listPlace(ctx, to)
	if err != nil {
		return nil, err
	}
	names = sortedNames(wanted)
	// In the order of the names a snapshot (.db.zst) comes before its description (.json), without which it does not count.
	for _, name := range names {
		// Blobs and snapshots never change; the others are small.
		if size, ok := there[name]; ok && size == wanted[name] && (strings.HasPrefix(name, BlobsDir+"/") || strings.HasSuffix(name, ".zst")) {
			continue
		}
		if err := copyObject(ctx, from, to, name); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Backward(sortedNames(there)) { // the description first
		if _, ok := wanted[name]; ok {
			continue
		}
		if err := to.Delete(ctx, name); err != nil {
			return nil, err
		}
	}
	return names, removeParts()
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

// copyParts copies the parts of an SQLite database. They keep their times, which the client of litestream takes from their headers. Of
// level 0 it copies what is not merged yet and the newest merged part, with which a site goes on in that place: the others are many, and
// each would cost a request. remove removes the parts that the second place does not need.
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
		if merged := source.levels[1]; level == 0 && len(merged) > 0 {
			source.first = merged[len(merged)-1].MaxTXID
		}
		wanted, err := source.list(ctx, level)
		if err != nil {
			return nil, err
		}
		there, err := target.list(ctx, level)
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
