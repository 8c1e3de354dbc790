package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/superfly/ltx"
)

// This file copies the backup from the primary to the secondary destination, each night after the restore test (a trial restore, restore_tests.go).

// Limits of a copy. A copy that exceeds one of them fails. The copy after the next restore test continues it.
const (
	// copyPasses is the maximum number of passes. A pass copies the objects and checks the copy. If objects were removed from the primary
	// destination meanwhile, another pass follows.
	copyPasses  = 5
	copyTimeout = 20 * time.Hour // for all passes together
)

// errRemoved is the error of a pass during which objects were removed from the primary destination, for example because they had expired.
var errRemoved = errors.New("objects were removed from the backup destination while it was copied")

// CopyDetail describes the newest copy to the secondary destination. It is stored as JSON in the table backup_status. Its keys must not
// change, because earlier versions have stored them too.
type CopyDetail struct {
	Destination string    `json:"place"`    // label of the secondary destination
	Ended       time.Time `json:"ended"`    // when the copy was complete
	Compared    int       `json:"compared"` // objects that were compared by content
	Repaired    int       `json:"mended"`   // how many of the compared objects were damaged and copied again
}

// copyBackup makes the secondary destination a copy of the primary one, and compares a sample of the copy by content (checkCopy).
func (s *Service) copyBackup(ctx context.Context) (detail CopyDetail, err error) {
	ctx, cancel := context.WithTimeout(ctx, copyTimeout)
	defer cancel()
	if _, err := Claim(ctx, s.cfg.Secondary, s.cfg.SiteID, string(s.db.Dialect)); err != nil { // the backup there may be of another site
		return detail, err
	}
	for range copyPasses {
		wanted, err := copyOnce(ctx, s.cfg.Destination, s.cfg.Secondary)
		if err == nil {
			err = s.checkCopy(ctx, wanted, &detail)
		}
		if !errors.Is(err, errRemoved) {
			return detail, err
		}
	}
	return detail, errRemoved
}

// copyOnce copies the objects that the secondary destination lacks. Then it removes the objects that the primary destination no longer has.
// It returns the names of all objects of the primary destination, except the LTX files.
func copyOnce(ctx context.Context, from, to Destination) (names []string, err error) {
	removeLTXFiles, err := copyLTXFiles(ctx, from, to)
	if err != nil {
		return nil, err
	}
	wanted, err := listDestination(ctx, from)
	if err != nil {
		return nil, err
	}
	existing, err := listDestination(ctx, to)
	if err != nil {
		return nil, err
	}
	names = slices.Sorted(maps.Keys(wanted))
	// A snapshot of a PostgreSQL database (.db.zst) is ignored until its description (.json) exists. Sorted by name, the snapshot comes
	// before its description, so an interrupted copy has no description without its snapshot.
	for _, name := range names {
		// Blobs and snapshots never change. The other objects are small and are copied each time.
		if size, ok := existing[name]; ok && size == wanted[name] && (strings.HasPrefix(name, BlobsDir+"/") || strings.HasSuffix(name, ".zst")) {
			continue
		}
		if err := copyObject(ctx, from, to, name); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(existing))) { // a description before its snapshot
		if _, ok := wanted[name]; ok {
			continue
		}
		if err := to.Delete(ctx, name); err != nil {
			return nil, err
		}
	}
	return names, removeLTXFiles()
}

// listDestination returns the sizes of all objects by name, except the LTX files of the database.
func listDestination(ctx context.Context, dest Destination) (map[string]int64, error) {
	sizes := map[string]int64{}
	err := dest.List(ctx, "", func(o Object) error {
		if !strings.HasPrefix(o.Name, DatabaseDir+"/") {
			sizes[o.Name] = o.Size
		}
		return nil
	})
	return sizes, err
}

func copyObject(ctx context.Context, from, to Destination, name string) (err error) {
	body, err := from.Open(ctx, name)
	if err != nil {
		return missingAs(err, fmt.Errorf("%s: %w", name, errRemoved))
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

// copyLTXFiles copies the LTX files of an SQLite database. The copies keep the times of the originals, because litestream's client takes the
// times from the headers. Level 0 has many LTX files, and each costs a request. So copyLTXFiles copies only those of level 0 that are not
// compacted yet, and the newest compacted one, from which a site could continue its backup in the secondary destination. After all other
// objects were copied, the caller must call remove, which deletes the LTX files that the secondary destination no longer needs.
func copyLTXFiles(ctx context.Context, from, to Destination) (remove func() error, err error) {
	source, err := newReplicaReader(ctx, from)
	if err != nil {
		return nil, err
	}
	target, err := newReplicaReader(ctx, to)
	if err != nil {
		return nil, err
	}
	var obsolete []*ltx.FileInfo
	for level := litestream.SnapshotLevel; level >= 0; level-- {
		if compacted := source.levels[1]; level == 0 && len(compacted) > 0 {
			source.first = compacted[len(compacted)-1].MaxTXID
		}
		wanted, err := source.list(ctx, level)
		if err != nil {
			return nil, err
		}
		existing, err := target.list(ctx, level)
		if err != nil {
			return nil, err
		}
		sizes := map[string]int64{}
		for _, info := range existing {
			sizes[ltxFileName(info)] = info.Size
		}
		for _, info := range wanted {
			if size, ok := sizes[ltxFileName(info)]; !ok || size != info.Size {
				if err := copyLTXFile(ctx, source, target, info); err != nil {
					return nil, err
				}
			}
			delete(sizes, ltxFileName(info))
		}
		for _, info := range existing {
			if _, left := sizes[ltxFileName(info)]; left {
				obsolete = append(obsolete, info)
			}
		}
	}
	return func() error { return target.DeleteLTXFiles(ctx, obsolete) }, nil
}

func copyLTXFile(ctx context.Context, source, target *replicaReader, info *ltx.FileInfo) (err error) {
	body, err := source.OpenLTXFile(ctx, info.Level, info.MinTXID, info.MaxTXID, 0, 0)
	if err != nil {
		return missingAs(err, fmt.Errorf("%s: %w", ltxFileName(info), errRemoved))
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	_, err = target.WriteLTXFile(ctx, info.Level, info.MinTXID, info.MaxTXID, reader{ctx, body})
	return err
}
