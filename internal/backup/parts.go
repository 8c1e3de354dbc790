package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"sort"
	"sync/atomic"
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/superfly/ltx"
)

// This file reads the replica of an SQLite database. It consists of parts, which are LTX files of litestream: each part has the
// database pages that a range of transactions has changed. Merging parts of one level gives a part of the next level. A part of the
// snapshot level has all pages.

// parts reads the parts of a replica. It lists each level once, so that a plan and the reads of the plan's parts agree.
type parts struct {
	ReplicaClient
	first, end ltx.TXID // only parts of the levels below the snapshots that begin with first or later and before end; 0 for no end
	levels     map[int][]*ltx.FileInfo
	failed     atomic.Pointer[placeError] // the newest error of the place: litestream's own errors do not always tell of it
}

func openParts(ctx context.Context, p Place) (*parts, error) {
	client := p.ReplicaClient()
	client.SetLogger(slog.New(slog.DiscardHandler)) // its errors are returned
	if err := client.Init(ctx); err != nil {
		return nil, toPlaceError(err)
	}
	return &parts{ReplicaClient: client, levels: map[int][]*ltx.FileInfo{}}, nil
}

// LTXFiles lists the parts of a level that begin with the transaction seek or a later one. Their times are those of the files.
func (p *parts) LTXFiles(ctx context.Context, level int, seek ltx.TXID, _ bool) (ltx.FileIterator, error) {
	list, err := p.list(ctx, level)
	if err != nil {
		return nil, err
	}
	start := sort.Search(len(list), func(i int) bool { return list[i].MinTXID >= seek })
	return ltx.NewFileInfoSliceIterator(slices.Clone(list[start:])), nil
}

// list lists the parts of a level.
func (p *parts) list(ctx context.Context, level int) ([]*ltx.FileInfo, error) {
	if list, known := p.levels[level]; known {
		return list, nil
	}
	first, end := p.first, p.end
	if level == litestream.SnapshotLevel {
		first, end = 0, 0
	}
	list, err := p.LTXFilesBetween(ctx, level, first, end)
	if err != nil {
		return nil, toPlaceError(err)
	}
	p.levels[level] = list
	return list, nil
}

// all lists the parts of all levels, the snapshots first.
func (p *parts) all(ctx context.Context) (all []*ltx.FileInfo, err error) {
	for level := litestream.SnapshotLevel; level >= 0; level-- {
		list, err := p.list(ctx, level)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// until leaves out all parts that stand for a later moment than at.
func (p *parts) until(ctx context.Context, at time.Time) error {
	for level := litestream.SnapshotLevel; level >= 0; level-- {
		list, err := p.list(ctx, level)
		if err != nil {
			return err
		}
		if p.levels[level], err = p.beginning(ctx, list, at); err != nil {
			return err
		}
	}
	return nil
}

// beginning returns the parts that do not stand for a later moment than at, of a list of parts of one level. As later parts stand for
// later moments, it needs the times of few.
func (p *parts) beginning(ctx context.Context, list []*ltx.FileInfo, at time.Time) ([]*ltx.FileInfo, error) {
	low, high := 0, len(list)
	for low < high {
		middle := (low + high) / 2
		moment, err := p.momentOf(ctx, list[middle])
		if err != nil {
			return nil, err
		}
		if moment.After(at) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return list[:low], nil
}

// momentOf returns the moment for which a part stands: the time of its header, as that of the file can be wrong in a place which another
// program has copied. If the part is damaged or removed meanwhile, the file's time must do: verify tells if the part is needed.
func (p *parts) momentOf(ctx context.Context, info *ltx.FileInfo) (time.Time, error) {
	at, err := p.time(ctx, info)
	var broken *Damage
	if errors.As(err, &broken) || errors.Is(err, fs.ErrNotExist) {
		return info.CreatedAt, nil
	}
	return at, err
}

// OpenLTXFile opens a part. Errors of the place are a placeError, also those of reading the part.
func (p *parts) OpenLTXFile(ctx context.Context, level int, first, last ltx.TXID, offset, size int64) (io.ReadCloser, error) {
	body, err := p.ReplicaClient.OpenLTXFile(ctx, level, first, last, offset, size)
	if err != nil {
		return nil, p.note(err)
	}
	return partBody{body, p}, nil
}

// partBody is a part that is read.
type partBody struct {
	io.ReadCloser
	parts *parts
}

func (b partBody) Read(data []byte) (int, error) {
	n, err := b.ReadCloser.Read(data)
	return n, b.parts.note(err)
}

// note returns an error of the place as a placeError, and stores it in failed.
func (p *parts) note(err error) error {
	err = toPlaceError(err)
	if failed, ok := errors.AsType[*placeError](err); ok {
		p.failed.Store(failed)
	}
	return err
}

// time returns the moment whose state a part completes, to the millisecond: the part has all commits up to then.
func (p *parts) time(ctx context.Context, info *ltx.FileInfo) (time.Time, error) {
	header, err := litestream.FetchLTXHeader(ctx, p, info)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || isPlaceError(err) || ctx.Err() != nil {
			return time.Time{}, err
		}
		return time.Time{}, damage(partName(info), err)
	}
	return time.UnixMilli(header.Timestamp).UTC(), nil
}

// verify reads a part and compares its checksum. The error is a *Damage if it is not what was written. pages is the size of the
// database after this part.
func (p *parts) verify(ctx context.Context, info *ltx.FileInfo) (pages, pageSize uint32, err error) {
	body, err := p.OpenLTXFile(ctx, info.Level, info.MinTXID, info.MaxTXID, 0, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, fmt.Errorf("%s: %w", partName(info), fs.ErrNotExist)
	}
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	kept := &placeReader{from: reader{ctx, body}}
	decoder := ltx.NewDecoder(kept)
	if err := decoder.Verify(); err != nil {
		if kept.err != nil { // the place failed, not the part
			return 0, 0, kept.err
		}
		return 0, 0, damage(partName(info), err)
	}
	return decoder.Header().Commit, decoder.Header().PageSize, nil
}

// placeReader keeps the error of a read, which tells a failure of the place from damage.
type placeReader struct {
	from io.Reader
	err  error
}

func (c *placeReader) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// partName returns the name of a part in its place.
func partName(info *ltx.FileInfo) string {
	return litestream.LTXFilePath(DatabaseDir, info.Level, info.MinTXID, info.MaxTXID)
}

// Damage is the error of an object in a place that is not what was written.
type Damage struct {
	Name string // of the object
	err  error
}

func (d *Damage) Error() string { return d.Name + " is damaged" }

// Unwrap returns the cause.
func (d *Damage) Unwrap() error { return d.err }

func damage(name string, cause error) error { return &Damage{name, cause} }
