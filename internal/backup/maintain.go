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

// This file maintains the replica of an SQLite database. The replica consists of parts. A part is an LTX file: the database pages that some
// transactions have changed. maintain runs after uploads. It merges parts, takes snapshots, and removes the parts that no restore within
// the retention (how far back the site can be restored) needs. While the site writes nothing, maintain sends no requests to the
// destination, because S3 servers charge for each request.

// levels[i] is the interval at which the new parts of level i are merged into one part of level i+1. Level 0 has one part for each second
// with a write, level 1 one for ten seconds, and so on. A restore reads a snapshot and then a few parts of each level.
var levels = []time.Duration{10 * time.Second, 5 * time.Minute, time.Hour}

// Intervals and limits of maintain.
const (
	snapshotEvery      = 24 * time.Hour   // interval between snapshots, if anything was written
	snapshotStartDelay = 2 * time.Minute  // a snapshot begins this long after the start of the program at the earliest
	maintainTimeout    = time.Hour        // limit of one call of maintain
	maintainRetry      = time.Minute      // wait after an error of maintain
	snapshotOverdue    = 6 * time.Hour    // how long a due snapshot may fail because the log was restarted; then the failure is reported
	localRetention     = 15 * time.Minute // how long uploaded parts stay in the local folder, from which they are merged

	// secondsKept is the number of parts of level 0 that stay in the destination. Each of them is a restore point. For most sites they
	// cover the whole retention. For a site that writes in every second, they cover the last 27 hours, and earlier restore points are ten
	// seconds apart (level 1).
	secondsKept = 100_000
)

// maintain merges parts, takes the daily snapshot and removes what no restore within the retention needs.
func (r *replica) maintain(ctx context.Context, now time.Time, retention time.Duration) error {
	if err := r.merge(ctx, now); err != nil {
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
	r.snapshotAt, r.overdueAt = now.Add(snapshotEvery), now.Add(snapshotEvery+snapshotOverdue)
	if err := r.removeOld(ctx, now.Add(-retention)); err != nil {
		return fmt.Errorf("remove old parts of the database: %w", err)
	}
	memory.Release() // the memory of the snapshot's buffers
	return nil
}

// merge merges each level into the next one, if that is due and there is anything new.
func (r *replica) merge(ctx context.Context, now time.Time) error {
	source := r.lite.Replica.Pos().TXID // the newest transaction of the lower level
	for i, every := range levels {
		target := r.newest[i+1]
		if now.Sub(r.merged[i]) >= every && (target == nil || target.MaxTXID < source) {
			r.merged[i] = now
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

// trim removes merged files of level 0 from the destination, except the newest r.keep files.
func (r *replica) trim(ctx context.Context) error {
	uploaded := r.lite.Replica.Pos().TXID
	if uploaded < r.trimAt || r.newest[1] == nil {
		return nil
	}
	if merged := min(uploaded, r.newest[1].MaxTXID); uploaded > r.keep {
		old, err := r.client.LTXFilesBetween(ctx, 0, 0, min(uploaded-r.keep, merged)+1)
		if err != nil {
			return err
		}
		if err := r.client.DeleteLTXFiles(ctx, old); err != nil {
			return err
		}
	}
	r.trimAt = uploaded + r.keep/100 // then a page of a listing has what is to be removed
	return nil
}

// trimLocal removes local files that the destination has.
func (r *replica) trimLocal() error {
	uploaded := r.lite.Replica.Pos().TXID // 0 after a failed upload, and until the destination was listed
	if uploaded == 0 || r.newest[1] == nil || time.Since(r.trimmedLocal) < localRetention/10 {
		return nil
	}
	r.trimmedLocal = time.Now()
	list, err := listParts(r.lite.LTXLevelDir(0), 0, 0, min(uploaded, r.newest[1].MaxTXID)) // not the newest, with which litestream goes on
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

// storeSnapshot stores a snapshot in the destination, after all parts that it contains. If local files were removed before their upload,
// later parts would have the same numbers, and would not continue the snapshot. check is called when the snapshot is read; if it fails,
// nothing is stored.
func (r *replica) storeSnapshot(ctx context.Context, check func() error) (_ *ltx.FileInfo, err error) {
	upload := func() error {
		limited, cancel := context.WithTimeout(ctx, uploadTimeout) // the upload of new parts waits for this one
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
	old, err := (&parts{ReplicaClient: r.client}).beginning(ctx, list, before)
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

// liveClient is litestream's client for an open replica. It saves requests: litestream lists files to merge them, and lists a whole level
// to find its newest file. For the first, liveClient uses the local files; for the second, it lists only from the oldest local file on.
type liveClient struct {
	ReplicaClient
	lite *litestream.DB
}

// LTXFiles implements litestream.ReplicaClient for litestream.Replica and Compactor, which use only the newest file if seek is 0. For level 0
// that file must be the local one of the same name, because the backup continues after it.
func (c liveClient) LTXFiles(ctx context.Context, level int, seek ltx.TXID, useMetadata bool) (ltx.FileIterator, error) {
	if seek > 0 {
		return c.filesToMerge(ctx, level, seek, useMetadata)
	}
	local, err := listParts(c.lite.LTXLevelDir(0), 0, 0, 0)
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
	if err != nil {
		return nil, err
	}
	return ltx.NewFileInfoSliceIterator(found), nil
}

// filesToMerge returns the parts of a level that begin with the transaction seek or a later one.
func (c liveClient) filesToMerge(ctx context.Context, level int, seek ltx.TXID, useMetadata bool) (ltx.FileIterator, error) {
	if level == 0 {
		local, err := listParts(c.lite.LTXLevelDir(0), 0, seek, 0)
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
	return c.ReplicaClient.LTXFiles(ctx, level, seek, useMetadata)
}
