package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/superfly/ltx"
	"golang.org/x/sync/errgroup"
)

// This file reads the replica of an SQLite database. Its parts are LTX files. Each has the pages that a range of transactions has
// changed. Merging makes parts of a higher level from those of a lower one. A part of the snapshot level has all pages.

// headersAtOnce is the number of parts whose headers are read at the same time.
const headersAtOnce = 16

// parts reads the parts of a replica. It lists each level once, so that a plan and the reads of the plan's parts agree.
type parts struct {
	litestream.ReplicaClient
	levels map[int][]*ltx.FileInfo
	dated  map[int]bool               // the times of the level's parts are those of their headers
	failed atomic.Pointer[placeError] // the newest error of the place: litestream's own errors do not always tell of it
}

func openParts(ctx context.Context, p Place) (*parts, error) {
	client := p.ReplicaClient()
	client.SetLogger(slog.New(slog.DiscardHandler)) // its errors are returned
	if err := client.Init(ctx); err != nil {
		return nil, toPlaceError(err)
	}
	return &parts{ReplicaClient: client, levels: map[int][]*ltx.FileInfo{}, dated: map[int]bool{}}, nil
}

// LTXFiles lists the parts of a level that begin with the transaction seek or a later one. If exact is true, their times are read from
// the parts' headers: in a place that another program has copied, the times of the files can be wrong.
func (p *parts) LTXFiles(ctx context.Context, level int, seek ltx.TXID, exact bool) (ltx.FileIterator, error) {
	list, err := p.list(ctx, level, exact)
	if err != nil {
		return nil, err
	}
	start := slices.IndexFunc(list, func(i *ltx.FileInfo) bool { return i.MinTXID >= seek })
	if start < 0 {
		start = len(list)
	}
	return ltx.NewFileInfoSliceIterator(slices.Clone(list[start:])), nil
}

// list lists the parts of a level, with the times of their headers if exact is true.
func (p *parts) list(ctx context.Context, level int, exact bool) ([]*ltx.FileInfo, error) {
	list, known := p.levels[level]
	if !known {
		found, err := p.ReplicaClient.LTXFiles(ctx, level, 0, false)
		if err != nil {
			return nil, toPlaceError(err)
		}
		for found.Next() {
			info := *found.Item()
			list = append(list, &info)
		}
		if err := errors.Join(found.Err(), found.Close()); err != nil {
			return nil, toPlaceError(err)
		}
		p.levels[level] = list
	}
	if !exact || p.dated[level] {
		return list, nil
	}
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(headersAtOnce)
	gone := make([]bool, len(list))
	for i, info := range list {
		group.Go(func() error {
			at, err := p.time(reading, info)
			if errors.Is(err, fs.ErrNotExist) { // merged meanwhile, and removed
				gone[i] = true
				return nil
			}
			info.CreatedAt = at
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var there []*ltx.FileInfo
	for i, info := range list {
		if !gone[i] {
			there = append(there, info)
		}
	}
	p.levels[level], p.dated[level] = there, true
	return there, nil
}

// all lists the parts of all levels, the snapshots first.
func (p *parts) all(ctx context.Context, exact bool) (all []*ltx.FileInfo, err error) {
	for level := litestream.SnapshotLevel; level >= 0; level-- {
		list, err := p.list(ctx, level, exact)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
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
	var failed *placeError
	if errors.As(err, &failed) {
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
