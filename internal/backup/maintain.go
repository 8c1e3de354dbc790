package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/superfly/ltx"

	"atelie/internal/memory"
)

// This file merges the parts of an open replica, takes its snapshots, and removes what no moment of the retention needs. While nothing
// is written, it sends no request to the place: S3 servers charge for each one, and for each thousand listed names.

// levels are the intervals in which LTX files are merged: the files of level 0, one for each second with a write, become one file
// of level 1, and so on. A restore reads a snapshot and then few files of each level.
var levels = []time.Duration{10 * time.Second, 5 * time.Minute, time.Hour}

// Intervals and limits of maintain.
const (
	snapshotEvery = 24 * time.Hour   // a whole copy of the database, if anything was written
	firstSnapshot = 2 * time.Minute  // least time from the start to a snapshot
	mergeTimeout  = time.Hour        // of maintain
	mergeRetry    = time.Minute      // wait after an error of maintain
	localFor      = 15 * time.Minute // how long uploaded files stay in localDir, for liveClient

	// secondsKept is the number of files of level 0 that stay in the place, and so how far back each second can be restored: over the
	// whole retention for most sites, and over 27 hours of writing without a pause. Of earlier times, each interval of levels[0] can.
	secondsKept = 100_000
)

// maintain merges files, takes the daily snapshot and removes what no restore within the retention needs.
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
	r.snapshotAt = now.Add(snapshotEvery)
	if err := r.removeOld(ctx, now.Add(-retention)); err != nil {
		return fmt.Errorf("remove old parts of the database: %w", err)
	}
	memory.Release() // the buffers of a snapshot
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

// trim removes from the place the files of level 0 that are merged and not among the newest r.keep.
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

// trimLocal removes files of localDir that the place has.
func (r *replica) trimLocal() error {
	if r.newest[1] == nil || time.Since(r.trimmedLocal) < localFor/10 {
		return nil
	}
	r.trimmedLocal = time.Now()
	list, err := listParts(r.lite.LTXLevelDir(0), 0, 0, min(r.lite.Replica.Pos().TXID, r.newest[1].MaxTXID)) // not the newest, with which litestream goes on
	if err != nil {
		return err
	}
	for _, info := range list {
		if time.Since(info.CreatedAt) < localFor {
			break
		}
		if err := os.Remove(r.lite.LTXPath(0, info.MinTXID, info.MaxTXID)); err != nil {
			return err
		}
	}
	return nil
}

// takeSnapshot stores a snapshot unless the newest one has the same state. A newer one of that state would replace it under its name,
// and the moments between the two would have none.
func (r *replica) takeSnapshot(ctx context.Context) error {
	pos, err := r.lite.Pos()
	if err != nil || pos.TXID == r.snapshot {
		return err
	}
	info, err := r.lite.Snapshot(ctx)
	if err == nil {
		r.snapshot = info.MaxTXID
	}
	return err
}

// removeOld removes what only moments before a time need: the snapshots before the newest one from before that time, and the files of
// all levels that this snapshot contains.
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

// liveClient is the client of an open replica. litestream asks it for the files to merge, and lists whole levels to find the newest
// file. The files beside the database answer the first, and tell where a shorter listing can begin for the second.
type liveClient struct {
	ReplicaClient
	lite *litestream.DB
}

// LTXFiles implements litestream.ReplicaClient for litestream.Replica and Compactor, which use only the newest file if seek is 0.
func (c liveClient) LTXFiles(ctx context.Context, level int, seek ltx.TXID, useMetadata bool) (ltx.FileIterator, error) {
	if level > 0 && seek > 0 {
		return c.ReplicaClient.LTXFiles(ctx, level, seek, useMetadata)
	}
	local, err := listParts(c.lite.LTXLevelDir(0), 0, seek, 0)
	if err != nil {
		return nil, err
	}
	if seek > 0 {
		uploaded, next := c.lite.Replica.Pos().TXID, seek
		for _, info := range local {
			if info.MinTXID != next || next > uploaded {
				break
			}
			next = info.MaxTXID + 1
		}
		if next > uploaded {
			return ltx.NewFileInfoSliceIterator(local[:next-seek]), nil
		}
	} else if len(local) > 0 {
		found, err := c.LTXFilesBetween(ctx, level, local[0].MinTXID, 0)
		if err != nil || len(found) > 0 {
			return ltx.NewFileInfoSliceIterator(found), err
		}
	}
	return c.ReplicaClient.LTXFiles(ctx, level, seek, useMetadata)
}
