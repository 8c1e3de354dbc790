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

// This file reads the replica of an SQLite database, for restores and restore tests. The replica consists of LTX files in several levels (see
// RangeClient). An LTX file of the snapshot level has all pages of the database.

// replicaReader reads the LTX files of a replica. It lists each level only once, so that the plan of a restore and the later reads use the
// same LTX files.
type replicaReader struct {
	RangeClient
	// Only LTX files whose first transaction is first or later, and before end, are listed. If end is 0, there is no upper limit. The
	// snapshot level is always listed completely.
	first, end ltx.TXID
	levels     map[int][]*ltx.FileInfo          // the listed LTX files of each level
	failed     atomic.Pointer[destinationError] // the newest error of the destination; litestream's own errors do not always wrap it
}

func newReplicaReader(ctx context.Context, dest Destination) (*replicaReader, error) {
	client := dest.RangeClient()
	client.SetLogger(slog.New(slog.DiscardHandler)) // errors need no log, because the client also returns them
	if err := client.Init(ctx); err != nil {
		return nil, toDestinationError(err)
	}
	return &replicaReader{RangeClient: client, levels: map[int][]*ltx.FileInfo{}}, nil
}

// LTXFiles lists the LTX files of a level that begin with the transaction first or a later one. It ignores useMetadata, the last parameter:
// the time of an LTX file is always its modification time.
func (r *replicaReader) LTXFiles(ctx context.Context, level int, first ltx.TXID, _ bool) (ltx.FileIterator, error) {
	list, err := r.list(ctx, level)
	start := sort.Search(len(list), func(i int) bool { return list[i].MinTXID >= first })
	return ltx.NewFileInfoSliceIterator(slices.Clone(list[start:])), err
}

// list lists the LTX files of a level.
func (r *replicaReader) list(ctx context.Context, level int) ([]*ltx.FileInfo, error) {
	if list, known := r.levels[level]; known {
		return list, nil
	}
	first, end := r.first, r.end
	if level == litestream.SnapshotLevel {
		first, end = 0, 0
	}
	list, err := r.LTXFilesBetween(ctx, level, first, end)
	if err != nil {
		return nil, toDestinationError(err)
	}
	r.levels[level] = list
	return list, nil
}

// all lists the LTX files of all levels, the snapshots first.
func (r *replicaReader) all(ctx context.Context) (all []*ltx.FileInfo, err error) {
	for level := litestream.SnapshotLevel; level >= 0; level-- {
		list, err := r.list(ctx, level)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// until removes all LTX files whose time is later than at from the lists.
func (r *replicaReader) until(ctx context.Context, at time.Time) error {
	for level := litestream.SnapshotLevel; level >= 0; level-- {
		list, err := r.list(ctx, level)
		if err != nil {
			return err
		}
		if r.levels[level], err = r.beginning(ctx, list, at); err != nil {
			return err
		}
	}
	return nil
}

// beginning returns the LTX files of a list whose time is not later than at. The list has LTX files of one level, sorted by time, so a binary
// search reads the times of few files.
func (r *replicaReader) beginning(ctx context.Context, list []*ltx.FileInfo, at time.Time) ([]*ltx.FileInfo, error) {
	var failed error
	end := sort.Search(len(list), func(i int) bool {
		if failed != nil { // no more files are read
			return true
		}
		fileTime, err := r.timeOf(ctx, list[i])
		failed = err
		return fileTime.After(at)
	})
	return list[:end], failed
}

// timeOf returns the time of an LTX file from its header. The modification time is not used, because it can be wrong in a destination that
// another program has copied. timeOf returns it only for an LTX file that is damaged or was removed meanwhile; if a restore needs such a
// file, verify finds the damage.
func (r *replicaReader) timeOf(ctx context.Context, info *ltx.FileInfo) (time.Time, error) {
	at, err := r.headerTime(ctx, info)
	if isDamaged(err) {
		return info.CreatedAt, nil
	}
	return at, err
}

// OpenLTXFile opens an LTX file. Errors of opening it and of reading it are destinationErrors.
func (r *replicaReader) OpenLTXFile(ctx context.Context, level int, first, last ltx.TXID, offset, size int64) (io.ReadCloser, error) {
	body, err := r.RangeClient.OpenLTXFile(ctx, level, first, last, offset, size)
	if err != nil {
		return nil, r.recordFailure(err)
	}
	return ltxFileBody{body, r}, nil
}

// ltxFileBody is an open LTX file. It records the errors of reading it in replicaReader.failed.
type ltxFileBody struct {
	io.ReadCloser
	reader *replicaReader
}

func (b ltxFileBody) Read(data []byte) (int, error) {
	n, err := b.ReadCloser.Read(data)
	return n, b.reader.recordFailure(err)
}

// recordFailure returns an error of the destination as a destinationError, and stores it in failed.
func (r *replicaReader) recordFailure(err error) error {
	err = toDestinationError(err)
	if failed, ok := errors.AsType[*destinationError](err); ok {
		r.failed.Store(failed)
	}
	return err
}

// headerTime returns the time in an LTX file's header, to the millisecond. The LTX file has all commits up to that time.
func (r *replicaReader) headerTime(ctx context.Context, info *ltx.FileInfo) (time.Time, error) {
	header, err := litestream.FetchLTXHeader(ctx, r, info)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || isDestinationError(err) || ctx.Err() != nil {
			return time.Time{}, err
		}
		return time.Time{}, damage(ltxFileName(info), err)
	}
	return time.UnixMilli(header.Timestamp).UTC(), nil
}

// verify reads an LTX file and compares its checksum. The error is a *Damage if it is not what was written. pages is the size of the
// database after this LTX file.
func (r *replicaReader) verify(ctx context.Context, info *ltx.FileInfo) (pages, pageSize uint32, err error) {
	body, err := r.OpenLTXFile(ctx, info.Level, info.MinTXID, info.MaxTXID, 0, 0)
	if err != nil {
		return 0, 0, missingAs(err, fmt.Errorf("%s: %w", ltxFileName(info), fs.ErrNotExist))
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	source := &destinationReader{from: reader{ctx, body}}
	decoder := ltx.NewDecoder(source)
	if err := decoder.Verify(); err != nil {
		if source.err != nil { // the destination failed, not the LTX file
			return 0, 0, source.err
		}
		return 0, 0, damage(ltxFileName(info), err)
	}
	return decoder.Header().Commit, decoder.Header().PageSize, nil
}

// destinationReader records the error of a read. If there is one, the destination has failed; otherwise an LTX file that cannot be decoded is
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

// ltxFileName returns the name of an LTX file in its destination.
func ltxFileName(info *ltx.FileInfo) string {
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
