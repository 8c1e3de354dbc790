package backup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/klauspost/compress/zstd"
	"github.com/superfly/ltx"

	"atelie/internal/db"
)

// This file finds the restore points of a backup (the points in time whose state of the database can be restored), and restores the
// database. The backup of an SQLite database consists of LTX files (see RangeClient), that of a PostgreSQL database of snapshots.

// restorePoint is a state of the database that can be restored from a destination.
type restorePoint struct {
	time time.Time // time of the state, to the millisecond
	gap  string    // text about missing LTX files, without which no newer state can be restored; "" if none is missing

	destination Destination
	replica     *replicaReader  // reads the LTX files of an SQLite database; nil for PostgreSQL
	plan        []*ltx.FileInfo // the LTX files to read, in order
	snapshot    *Snapshot       // the snapshot of a PostgreSQL database; nil for SQLite
}

// ErrNoRestorePoint is wrapped by the error for a destination that has no restore point, or none at the requested time or before.
var ErrNoRestorePoint = errors.New("the backup has no state of the database")

// findRestorePoint returns the latest restore point that is not later than at. If at is zero, it returns the latest of all. engine says
// whether the database is SQLite or PostgreSQL (Format.Engine).
func findRestorePoint(ctx context.Context, dest Destination, engine string, at time.Time) (*restorePoint, error) {
	if engine == string(db.Postgres) {
		return findSnapshot(ctx, dest, at)
	}
	found, err := findState(ctx, dest, at, 0 /* no particular transaction */)
	if errors.Is(err, litestream.ErrTxNotAvailable) {
		return nil, noRestorePoint(at)
	}
	return found, err
}

// findTransaction returns the restore point whose newest transaction is txid.
func findTransaction(ctx context.Context, dest Destination, txid ltx.TXID) (*restorePoint, error) {
	found, err := findState(ctx, dest, time.Time{} /* no particular time */, txid)
	if errors.Is(err, litestream.ErrTxNotAvailable) {
		return nil, restoreTestFailure{fmt.Sprintf("parts of the database are missing in the backup: the transaction %s cannot be restored", txid), err}
	}
	return found, err
}

// findState returns the restore point whose newest transaction is txid. If txid is 0, it returns the latest restore point that is not later
// than at, or the latest of all if at is zero. At first it lists only the LTX files of the days around the state. If these are not enough, it
// lists all LTX files.
func findState(ctx context.Context, dest Destination, at time.Time, txid ltx.TXID) (*restorePoint, error) {
	near, err := newReplicaReader(ctx, dest)
	if err == nil {
		err = near.limit(ctx, at, txid)
	}
	if err != nil {
		return nil, err
	}
	found, err := near.state(ctx, dest, at, txid)
	hasListedAll := near.first == 0 && near.end == 0
	isComplete := err == nil && found.gap == ""
	otherError := err != nil && !errors.Is(err, litestream.ErrTxNotAvailable) // not about a missing LTX file
	if hasListedAll || isComplete || otherError {
		return found, err
	}
	all, err := newReplicaReader(ctx, dest)
	if err != nil {
		return nil, err
	}
	return all.state(ctx, dest, at, txid)
}

// limit restricts the listings to LTX files around the state that findState looks for: from the second snapshot before the state to the
// second snapshot after it. One snapshot on each side would not be enough, because compacted LTX files can span a snapshot.
func (r *replicaReader) limit(ctx context.Context, at time.Time, txid ltx.TXID) error {
	list, err := r.list(ctx, litestream.SnapshotLevel)
	if err != nil {
		return err
	}
	usable := list
	if !at.IsZero() {
		if usable, err = r.beginning(ctx, list, at); err != nil {
			return err
		}
	} else if txid > 0 {
		usable = list[:sort.Search(len(list), func(i int) bool { return list[i].MaxTXID > txid })]
	}
	if n := len(usable) - 2; n >= 0 {
		r.first = usable[n].MaxTXID
	}
	if n := len(usable) + 1; n < len(list) {
		r.end = list[n].MaxTXID + 1
	}
	return nil
}

// state returns the restore point that findState looks for, from the listed LTX files. The error is litestream.ErrTxNotAvailable if the
// listed files are not enough.
func (r *replicaReader) state(ctx context.Context, destination Destination, at time.Time, txid ltx.TXID) (*restorePoint, error) {
	if !at.IsZero() {
		if err := r.until(ctx, at); err != nil {
			return nil, err
		}
	}
	var limit time.Time
	if txid == 0 {
		limit = time.Now().AddDate(100, 0, 0) // without a limit, a missing LTX file is an error; with one, the plan ends before it
	}
	plan, err := litestream.CalcRestorePlan(ctx, r, txid, limit, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	last := plan[len(plan)-1]
	found := &restorePoint{destination: destination, replica: r, plan: plan}
	if found.time, err = r.headerTime(ctx, last); err != nil || txid > 0 {
		return found, err
	}
	all, err := r.all(ctx)
	if err != nil {
		return nil, err
	}
	for _, info := range all {
		if info.MaxTXID > last.MaxTXID {
			found.gap = fmt.Sprintf("parts of the database between the transactions %s and %s are missing: what was written then and later is not there", last.MaxTXID, info.MinTXID)
			break
		}
	}
	return found, nil
}

func noRestorePoint(at time.Time) error {
	if at.IsZero() {
		return ErrNoRestorePoint
	}
	return fmt.Errorf("%w at %s; atelie backup list shows the restore points", ErrNoRestorePoint, at.UTC().Format(time.RFC3339))
}

func findSnapshot(ctx context.Context, dest Destination, at time.Time) (*restorePoint, error) {
	list, err := listSnapshots(ctx, dest)
	if err != nil {
		return nil, err
	}
	for _, s := range slices.Backward(list) {
		if at.IsZero() || !s.Time.After(at) {
			return &restorePoint{time: s.Time, destination: dest, snapshot: &s}, nil
		}
	}
	return nil, noRestorePoint(at)
}

// listSnapshots reads the descriptions of all snapshots, the oldest first.
func listSnapshots(ctx context.Context, dest Destination) (list []Snapshot, err error) {
	found, err := listNames(ctx, dest, SnapshotsDir+"/", func(o Object) bool { return strings.HasSuffix(o.Name, ".json") })
	if err != nil {
		return nil, err
	}
	for _, name := range found {
		text, err := readAll(ctx, dest, name)
		if err != nil {
			return nil, err
		}
		var s Snapshot
		if err := json.Unmarshal(text, &s); err != nil || s.Name == "" {
			return nil, damage(name, err)
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Snapshot) int { return a.Time.Compare(b.Time) })
	return list, nil
}

// verify verifies the LTX files of which the state is made. It returns the size of the database in bytes, or 0 if the state is a snapshot.
func (p *restorePoint) verify(ctx context.Context, report func(done, all int)) (size int64, err error) {
	for i, info := range p.plan {
		pages, pageSize, err := p.replica.verify(ctx, info)
		if err != nil {
			return 0, err
		}
		size = int64(pages) * int64(pageSize)
		report(i+1, len(p.plan))
	}
	return size, nil
}

// restore writes the database into a new file.
func (p *restorePoint) restore(ctx context.Context, file string) (err error) {
	if p.snapshot != nil {
		return p.restoreSnapshot(ctx, file)
	}
	replica := litestream.NewReplicaWithClient(nil, p.replica)
	if err := replica.Restore(ctx, litestream.RestoreOptions{OutputPath: file, TXID: p.plan[len(p.plan)-1].MaxTXID}); err != nil {
		if failed := p.replica.failed.Load(); failed != nil && !isDestinationError(err) {
			err = fmt.Errorf("%w (%w)", err, failed)
		}
		return fmt.Errorf("restore the database: %w", err)
	}
	return os.Chmod(file, 0o600)
}

func (p *restorePoint) restoreSnapshot(ctx context.Context, file string) (err error) {
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := p.decompress(ctx, out); err != nil {
		return err
	}
	return out.Sync()
}

// decompress writes a snapshot's database into out. The error is a *Damage if the snapshot is not what was written.
func (p *restorePoint) decompress(ctx context.Context, out io.Writer) (err error) {
	body, err := p.destination.Open(ctx, p.snapshot.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	hash := sha256.New()
	source := &destinationReader{from: io.TeeReader(reader{ctx, body}, hash)}
	written := &diskWriter{to: out}
	z, err := zstd.NewReader(source, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer z.Close()
	_, err = io.Copy(written, z)
	if err == nil {
		_, err = io.Copy(io.Discard, source) // what follows the compressed data belongs to the hash too
	}
	if err := cmp.Or(source.err, written.err); err != nil { // the destination or the disk failed, not the snapshot
		return err
	}
	if err != nil || hex.EncodeToString(hash.Sum(nil)) != p.snapshot.SHA256 {
		return damage(p.snapshot.Name, err)
	}
	return nil
}

// diskWriter records the error of a write. If there is one, the disk has failed; otherwise a snapshot that cannot be decompressed is
// damaged.
type diskWriter struct {
	to  io.Writer
	err error
}

func (w *diskWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	if err != nil {
		w.err = err
	}
	return n, err
}

// openRestored opens a restored database and runs SQLite's integrity check on it.
func openRestored(ctx context.Context, file string) (*db.DB, error) {
	d, err := db.Open(ctx, "sqlite:"+file, db.NoHooks)
	if err != nil {
		return nil, err
	}
	if err := d.CheckIntegrity(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the restored database: %w", err), d.Close())
	}
	return d, nil
}

// closeRestored closes a restored database and makes sure that all of it is in its file.
func closeRestored(d *db.DB, file string) error {
	if err := d.Close(); err != nil {
		return err
	}
	left, err := filepath.Glob(file + "-wal")
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("%s: another program has the restored database open", file)
	}
	return err
}
