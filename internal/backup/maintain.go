package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/superfly/ltx"

	"atelie/internal/memory"
)

// This file maintains the replica of an SQLite database, which consists of LTX files. An LTX file (litestream's format) has the database
// pages that a range of transactions has changed. maintain runs after uploads. It compacts LTX files, takes snapshots, and removes the LTX
// files that no restore within the retention (how far back the site can be restored) needs. While the site writes nothing, maintain sends no
// requests to the destination, because S3 servers charge for each request.

// levels[i] is the interval at which the new LTX files of level i are compacted into one LTX file of level i+1. Level 0 has an LTX file for
// each second with a write, level 1 has one for ten seconds, and so on. A restore reads a snapshot and then a few LTX files of each level.
var levels = []time.Duration{10 * time.Second, 5 * time.Minute, time.Hour}

// Intervals and limits of maintain.
const (
	snapshotInterval   = 24 * time.Hour   // interval between snapshots, if anything was written
	snapshotStartDelay = 2 * time.Minute  // a snapshot begins this long after the start of the program at the earliest
	maintainTimeout    = time.Hour        // limit of one call of maintain
	maintainRetryDelay = time.Minute      // wait after an error of maintain
	snapshotGrace      = 6 * time.Hour    // for this time after a snapshot is due, failures because of a restarted log are not reported
	localRetention     = 15 * time.Minute // how long uploaded LTX files stay in the local folder, from which they are compacted

	// level0Kept is the number of LTX files of level 0 that stay in the destination. Each of them is a restore point. For most sites they
	// cover the whole retention. For a site that writes in every second, they cover the last 27 hours, and earlier restore points are ten
	// seconds apart (level 1).
	level0Kept = 100_000
)

// maintain compacts LTX files, takes the daily snapshot, and removes the LTX files that no restore within the retention needs.
func (r *replica) maintain(ctx context.Context, now time.Time, retention time.Duration) error {
	if err := r.compact(ctx, now); err != nil {
		return fmt.Errorf("merge the parts of the database: %w", err)
	}
	if err := errors.Join(r.trimLocal(), r.trim(ctx)); err != nil {
		return fmt.Errorf("remove merged parts of the database: %w", err)
	}
	if now.Before(r.snapshotAt) {
		return nil
	}
	if err := r.takeSnapshot(ctx); err != nil {
		return fmt.Errorf("snapshot of the database: %w", err)
	}
	r.snapshotAt, r.overdueAt = now.Add(snapshotInterval), now.Add(snapshotInterval+snapshotGrace)
	if err := r.removeOld(ctx, now.Add(-retention)); err != nil {
		return fmt.Errorf("remove old parts of the database: %w", err)
	}
	memory.Release() // the memory of the snapshot's buffers
	return nil
}

// compact compacts the new LTX files of each level into one LTX file of the next level, if a compaction is due and there are new files.
func (r *replica) compact(ctx context.Context, now time.Time) error {
	source := r.lite.Replica.Pos().TXID // the newest transaction of the lower level
	for i, interval := range levels {
		target := r.newest[i+1]
		if now.Sub(r.compactedAt[i]) >= interval && (target == nil || target.MaxTXID < source) {
			r.compactedAt[i] = now
			if _, err := r.compactor.Compact(ctx, i+1); err != nil && !errors.Is(err, litestream.ErrNoCompaction) {
				return err
			}
			target = r.newest[i+1]
		}
		source = 0
		if target != nil {
			source = target.MaxTXID
		}
	}
	return nil
}

// trim removes compacted files of level 0 from the destination, except the newest r.keep files.
func (r *replica) trim(ctx context.Context) error {
	uploaded := r.lite.Replica.Pos().TXID
	if uploaded < r.trimAt || r.newest[1] == nil {
		return nil
	}
	if compacted := min(uploaded, r.newest[1].MaxTXID); uploaded > r.keep {
		old, err := r.client.LTXFilesBetween(ctx, 0, 0, min(uploaded-r.keep, compacted)+1)
		if err != nil {
			return err
		}
		if err := r.client.DeleteLTXFiles(ctx, old); err != nil {
			return err
		}
	}
	r.trimAt = uploaded + r.keep/100 // with level0Kept 1000 transactions later, as many as a page of an S3 listing has names
	return nil
}

// trimLocal removes local files that the destination has.
func (r *replica) trimLocal() error {
	uploaded := r.lite.Replica.Pos().TXID // 0 after a failed upload, and until the destination was listed
	if uploaded == 0 || r.newest[1] == nil || time.Since(r.trimmedLocal) < localRetention/10 {
		return nil
	}
	r.trimmedLocal = time.Now()
	list, err := listLTXFiles(r.lite.LTXLevelDir(0), 0, 0, min(uploaded, r.newest[1].MaxTXID)) // without the newest, which litestream continues
	if err != nil {
		return err
	}
	for _, info := range list {
		if time.Since(info.CreatedAt) < localRetention {
			break
		}
		if err := os.Remove(r.lite.LTXPath(0, info.MinTXID, info.MaxTXID)); err != nil {
			return err
		}
	}
	return nil
}

// takeSnapshot stores a snapshot unless the newest one has the same state. A second snapshot of that state would have the same name and
// replace the first; restore points between the two times would then have no snapshot before them.
func (r *replica) takeSnapshot(ctx context.Context) error {
	pos, err := r.lite.Pos()
	if err != nil || pos.TXID == r.snapshot {
		return err
	}
	before, err := readLogSalts(r.lite.WALPath())
	if err != nil {
		return err
	}
	// litestream restarts the log in none of its checkpoints meanwhile, but a write may do it after a checkpoint before. The snapshot can
	// then have pages of both logs, and must not be stored.
	info, err := r.storeSnapshot(ctx, func() error {
		after, err := readLogSalts(r.lite.WALPath())
		if err == nil && after != before {
			err = errLogRestarted
		}
		return err
	})
	if err == nil {
		r.snapshot = info.MaxTXID
	}
	return err
}

// checkedBody calls check when everything is read. Its error ends the upload, so that nothing is stored.
type checkedBody struct {
	io.Reader
	check func() error
}

func (b checkedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		if failed := b.check(); failed != nil {
			err = failed
		}
	}
	return n, err
}

// errNotUploaded is the error for a snapshot that cannot be stored yet.
var errNotUploaded = errors.New("the snapshot of the database has transactions that are not uploaded")

// storeSnapshot stores a snapshot in the destination, after all LTX files that it contains. If local files were removed before their upload,
// later LTX files would have the same numbers, and would not continue the snapshot. check is called when the snapshot is read; if it fails,
// nothing is stored.
func (r *replica) storeSnapshot(ctx context.Context, check func() error) (_ *ltx.FileInfo, err error) {
	upload := func() error {
		limited, cancel := context.WithTimeout(ctx, uploadTimeout) // the upload of new LTX files waits for this one
		defer cancel()
		return r.upload(limited)
	}
	if err := upload(); err != nil { // first, because no checkpoint can run while the snapshot is read
		return nil, err
	}
	pos, body, err := r.lite.SnapshotReader(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	if pos.TXID > r.lite.Replica.Pos().TXID { // the log was read meanwhile
		if err := upload(); err != nil {
			return nil, err
		}
	}
	if pos.TXID > r.lite.Replica.Pos().TXID { // another upload has failed
		return nil, errNotUploaded
	}
	return r.client.WriteLTXFile(ctx, litestream.SnapshotLevel, 1, pos.TXID, checkedBody{body, check})
}

// removeOld removes the files that only restore points before a time need. It keeps the newest snapshot from before that time, and removes
// the older snapshots and the files of all levels that the kept snapshot contains.
func (r *replica) removeOld(ctx context.Context, before time.Time) error {
	list, err := r.client.LTXFilesBetween(ctx, litestream.SnapshotLevel, 0, 0)
	if err != nil {
		return err
	}
	old, err := (&replicaReader{RangeClient: r.client}).beginning(ctx, list, before)
	if err != nil || len(old) == 0 {
		return err
	}
	oldest := old[len(old)-1]
	if err := r.client.DeleteLTXFiles(ctx, old[:len(old)-1]); err != nil {
		return err
	}
	for level := range len(levels) + 1 {
		if err := r.removeBefore(ctx, level, oldest.MaxTXID); err != nil {
			return err
		}
	}
	return nil
}

// removeBefore removes the files of a level that end before a transaction, except the newest file: the next one continues it.
func (r *replica) removeBefore(ctx context.Context, level int, txid ltx.TXID) error {
	newest := r.lite.Replica.Pos().TXID
	if level > 0 {
		info, err := r.compactor.MaxLTXFileInfo(ctx, level)
		if err != nil {
			return err
		}
		newest = info.MaxTXID
	}
	list, err := r.client.LTXFilesBetween(ctx, level, 0, txid)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(info *ltx.FileInfo) bool { return info.MaxTXID >= min(txid, newest) })
	return r.client.DeleteLTXFiles(ctx, list)
}

// liveClient is litestream's client for an open replica. It saves requests. When litestream lists files that it will compact, liveClient
// lists the local files instead. When litestream lists a level only to find its newest file, liveClient lists only the files from the oldest
// local file on.
type liveClient struct {
	RangeClient
	lite *litestream.DB
}

// LTXFiles implements litestream.ReplicaClient for litestream.Replica and Compactor, which use only the newest file if seek is 0. For level 0
// that file must be the local one of the same name, because the backup continues after it.
func (c liveClient) LTXFiles(ctx context.Context, level int, seek ltx.TXID, useMetadata bool) (ltx.FileIterator, error) {
	if seek > 0 {
		return c.filesToCompact(ctx, level, seek, useMetadata)
	}
	local, err := listLTXFiles(c.lite.LTXLevelDir(0), 0, 0, 0)
	if err != nil {
		return nil, err
	}
	var found []*ltx.FileInfo
	if len(local) > 0 {
		found, err = c.LTXFilesBetween(ctx, level, local[0].MinTXID, 0)
	}
	if err == nil && len(found) == 0 {
		found, err = c.LTXFilesBetween(ctx, level, 0, 0)
	}
	if err == nil && level == 0 {
		err = c.checkNewest(ctx, found)
	}
	return ltx.NewFileInfoSliceIterator(found), err
}

// filesToCompact returns the LTX files of a level that begin with the transaction seek or a later one.
func (c liveClient) filesToCompact(ctx context.Context, level int, seek ltx.TXID, useMetadata bool) (ltx.FileIterator, error) {
	if level == 0 {
		local, err := listLTXFiles(c.lite.LTXLevelDir(0), 0, seek, 0)
		if err != nil {
			return nil, err
		}
		uploaded, next, n := c.lite.Replica.Pos().TXID, seek, 0
		for _, info := range local {
			if info.MinTXID != next || next > uploaded {
				break
			}
			next = info.MaxTXID + 1
			n++
		}
		if next > uploaded {
			return ltx.NewFileInfoSliceIterator(local[:n]), nil
		}
	}
	return c.RangeClient.LTXFiles(ctx, level, seek, useMetadata)
}
