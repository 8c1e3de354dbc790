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

// This file reads the replica of an SQLite database, for restores and proofs. A replica consists of parts: LTX files of litestream. Each
// part has the database pages that a range of transactions has changed. Several parts of one level are merged into one part of the next
// level. A part of the snapshot level has all pages.

// parts reads the parts of a replica. It lists each level only once, so that the plan of a restore and the later reads use the same parts.
type parts struct {
	ReplicaClient
	// Only parts whose first transaction has a number from first up to, but not including, end are listed. If end is 0, there is no upper
	// limit. The snapshot level is always listed completely.
	first, end ltx.TXID
	levels     map[int][]*ltx.FileInfo          // the listed parts of each level
	failed     atomic.Pointer[destinationError] // the newest error of the destination; litestream's own errors do not always wrap it
}

func openParts(ctx context.Context, p Destination) (*parts, error) {
	client := p.ReplicaClient()
	client.SetLogger(slog.New(slog.DiscardHandler)) // the client also returns its errors
	if err := client.Init(ctx); err != nil {
		return nil, toDestinationError(err)
	}
	return &parts{ReplicaClient: client, levels: map[int][]*ltx.FileInfo{}}, nil
}

// LTXFiles lists the parts of a level that begin with the transaction seek or a later one. The last parameter (useMetadata) has no effect:
// the time of a part is the modification time of its file.
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
		return nil, toDestinationError(err)
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

// until drops all parts whose time is later than at.
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

// beginning returns the parts of a list whose time is not later than at. The list has parts of one level in the order of their times, so a
// binary search reads the times of few.
func (p *parts) beginning(ctx context.Context, list []*ltx.FileInfo, at time.Time) ([]*ltx.FileInfo, error) {
	low, high := 0, len(list)
	for low < high {
		middle := (low + high) / 2
		middleTime, err := p.timeOf(ctx, list[middle])
		if err != nil {
			return nil, err
		}
		if middleTime.After(at) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return list[:low], nil
}

// timeOf returns the time of a part from its header. The time of the file is not used, because it can be wrong in a destination that
// another program has copied. Only for a part that is damaged or was removed meanwhile timeOf returns the file's time; if a restore needs
// that part, verify finds the damage.
func (p *parts) timeOf(ctx context.Context, info *ltx.FileInfo) (time.Time, error) {
	at, err := p.headerTime(ctx, info)
	var broken *Damage
	if errors.As(err, &broken) || errors.Is(err, fs.ErrNotExist) {
		return info.CreatedAt, nil
	}
	return at, err
}

// OpenLTXFile opens a part. Errors of opening it and of reading it are destinationErrors.
func (p *parts) OpenLTXFile(ctx context.Context, level int, first, last ltx.TXID, offset, size int64) (io.ReadCloser, error) {
	body, err := p.ReplicaClient.OpenLTXFile(ctx, level, first, last, offset, size)
	if err != nil {
		return nil, p.recordFailure(err)
	}
	return partBody{body, p}, nil
}

// partBody is an open part. It records the errors of reading it in parts.failed.
type partBody struct {
	io.ReadCloser
	parts *parts
}

func (b partBody) Read(data []byte) (int, error) {
	n, err := b.ReadCloser.Read(data)
	return n, b.parts.recordFailure(err)
}

// recordFailure returns an error of the destination as a destinationError, and stores it in failed.
func (p *parts) recordFailure(err error) error {
	err = toDestinationError(err)
	if failed, ok := errors.AsType[*destinationError](err); ok {
		p.failed.Store(failed)
	}
	return err
}

// headerTime returns the time in a part's header, to the millisecond. The part has all commits up to that time.
func (p *parts) headerTime(ctx context.Context, info *ltx.FileInfo) (time.Time, error) {
	header, err := litestream.FetchLTXHeader(ctx, p, info)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || isDestinationError(err) || ctx.Err() != nil {
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
	source := &destinationReader{from: reader{ctx, body}}
	decoder := ltx.NewDecoder(source)
	if err := decoder.Verify(); err != nil {
		if source.err != nil { // the destination failed, not the part
			return 0, 0, source.err
		}
		return 0, 0, damage(partName(info), err)
	}
	return decoder.Header().Commit, decoder.Header().PageSize, nil
}

// destinationReader records the error of a read. If there is one, the destination has failed; otherwise a part that cannot be decoded is
// damaged.
type destinationReader struct {
	from io.Reader
	err  error
}

func (c *destinationReader) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// partName returns the name of a part in its destination.
func partName(info *ltx.FileInfo) string {
	return litestream.LTXFilePath(DatabaseDir, info.Level, info.MinTXID, info.MaxTXID)
}

// Damage is the error for an object in a destination whose content is not what was written.
type Damage struct {
	Name string // name of the object
	err  error
}

func (d *Damage) Error() string { return d.Name + " is damaged" }

// Unwrap returns the cause.
func (d *Damage) Unwrap() error { return d.err }

func damage(name string, cause error) error { return &Damage{name, cause} }
