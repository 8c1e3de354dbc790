package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"atelie/internal/db"
	"atelie/internal/interval"
)

// This file takes the nightly snapshot of a PostgreSQL database. A snapshot is an SQLite database with all rows, read in one transaction.
// To restore a state between two snapshots, the operator needs PostgreSQL's own archiving (docs/hosting.md).

// Schedule of the snapshots.
const (
	snapshotHour         = 3           // hour of the day, in the server's time zone
	snapshotPollInterval = time.Minute // how often a node (a server of the site) checks whether a snapshot is due
	// snapshotLease is the duration of the lease (a lock in the database that ends by itself) under which one node takes a snapshot or runs a
	// restore test (a trial restore). The node renews the lease while it works.
	snapshotLease = 10 * time.Minute
)

// snapshotTimeLayout is the format of the time (UTC) with which the name of a snapshot begins, as in 20060102T150405Z-1a2b3c4d.db.zst. The
// name also contains the first digits of the checksum, because `atelie backup now` can take a snapshot in the same second as the server.
const snapshotTimeLayout = "20060102T150405Z"

// Snapshot is the description of a snapshot, stored beside it as JSON.
type Snapshot struct {
	Time   time.Time          `json:"time"`   // when its rows were read
	Name   string             `json:"name"`   // name of the object: the SQLite database, compressed with zstd
	SHA256 string             `json:"sha256"` // of the object's bytes
	Size   int64              `json:"size"`   // of the object, in bytes
	Schema int64              `json:"schema"` // schema version of its database; 0 in descriptions of earlier versions
	Tables []db.TableChecksum `json:"tables"` // checksums of its rows
}

// runSnapshots takes a snapshot each night, on one node. If there is no snapshot yet, it takes one immediately.
func (s *Service) runSnapshots(ctx context.Context) {
	interval.Every(ctx, snapshotPollInterval, func() {
		if err := s.snapshotIfDue(ctx); err != nil {
			s.failed(ctx, KindSnapshot, err)
		}
	})
}

// lastNight returns the most recent time before now at which it was hour, today or yesterday.
func lastNight(now time.Time, hour int) time.Time {
	night := time.Date(now.Year(), now.Month(), now.Day(), hour, 0, 0, 0, now.Location())
	if night.After(now) {
		night = night.AddDate(0, 0, -1)
	}
	return night
}

// snapshotIfDue takes a snapshot if there is none since lastNight and no other node takes one. If the newest snapshot was stored, but a later
// step such as the removal of old snapshots failed, it repeats the removal and records that the failure has ended.
func (s *Service) snapshotIfDue(ctx context.Context) error {
	states, err := ReadStates(ctx, s.db)
	if err != nil {
		return err
	}
	now := s.now()
	night := lastNight(now, snapshotHour)
	if state := states[KindSnapshot]; !state.LastOK.Before(night) && !s.snapshotFailed(state) {
		return nil
	}
	return s.withLease(ctx, KindSnapshot, func(ctx context.Context) error {
		if err := s.claim(ctx); err != nil { // before the state is read again: in a new destination a snapshot is due
			return err
		}
		// Another node may have taken the snapshot just before this one got the lease.
		states, err := ReadStates(ctx, s.db)
		if err != nil {
			return err
		}
		state := states[KindSnapshot]
		if state.LastOK.Before(night) {
			return s.snapshotSince(ctx, night)
		}
		if !s.snapshotFailed(state) {
			return nil
		}
		if err := s.removeSnapshots(ctx, now); err != nil {
			return err
		}
		return s.storeSuccess(ctx, KindSnapshot, state.LastOK, "{}")
	})
}

// snapshotFailed reports whether the newest attempt failed, on this node or, according to the stored state, on another one.
func (s *Service) snapshotFailed(state State) bool {
	return state.Error != "" || s.hasFailed(KindSnapshot)
}

// snapshotSince takes a snapshot unless this process has taken one at since or later. If a snapshot is being taken, it waits for that one.
// The snapshots of other nodes do not count, because their clocks can be ahead.
func (s *Service) snapshotSince(ctx context.Context, since time.Time) error {
	s.snapshot.Lock()
	defer s.snapshot.Unlock()
	if !s.snapshot.time.Before(since) {
		return nil
	}
	at, err := s.TakeSnapshot(ctx)
	if err == nil {
		s.snapshot.time = at
	}
	return err
}

// withLease calls fn while this node has the lease of a kind, and renews the lease meanwhile. If another node has the lease, withLease does
// not call fn. If another node gets it, the context of fn ends.
func (s *Service) withLease(ctx context.Context, kind Kind, fn func(context.Context) error) (err error) {
	holder := uuid.NewString()
	acquire := func(ctx context.Context) (bool, error) {
		now := s.now()
		return Lease(ctx, s.db, kind, holder, now, now.Add(snapshotLease))
	}
	if acquired, err := acquire(ctx); err != nil || !acquired {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go interval.After(ctx, snapshotLease/4, func() (again bool) {
		acquired, err := acquire(ctx)
		if err == nil && !acquired {
			cancel()
		}
		return err != nil || acquired
	})
	defer func() { err = errors.Join(err, EndLease(context.WithoutCancel(ctx), s.db, kind, holder)) }()
	return fn(ctx)
}

// TakeSnapshot stores a snapshot of the database in the destination and returns its time. It removes the snapshots that the retention does
// not need. Servers can use the database meanwhile, because the snapshot has the rows that one transaction sees.
func (s *Service) TakeSnapshot(ctx context.Context) (at time.Time, err error) {
	if err := s.claim(ctx); err != nil {
		return at, err
	}
	dir, err := os.MkdirTemp(s.cfg.ScratchDir, "snapshot-*")
	if err != nil {
		return at, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	schema, err := db.SchemaVersion()
	if err != nil {
		return at, err
	}
	file := filepath.Join(dir, "snapshot.db")
	var sums []db.TableChecksum
	err = s.db.Snapshot(ctx, func(q db.Querier) (err error) {
		at = s.now().UTC()
		target, err := db.OpenExclusive(ctx, "sqlite:"+file, false)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, target.Close()) }()
		empty := func(context.Context) error { return nil }
		job, err := db.BeginCopy(ctx, q, s.db.Dialect, target, "backup", empty, func(string, int64) {})
		if err != nil {
			return err
		}
		if err := job.CopyRows(ctx, q); err != nil {
			return err
		}
		if sums, err = job.Verify(ctx, q); err != nil {
			return err
		}
		return job.Finish(ctx)
	})
	if err != nil {
		return at, err
	}
	if err := s.storeSnapshot(ctx, file, Snapshot{Time: at, Schema: schema, Tables: sums}); err != nil {
		return at, err
	}
	if err := s.storeSuccess(ctx, KindSnapshot, at, "{}"); err != nil {
		return at, err
	}
	return at, s.removeSnapshots(ctx, at)
}

// storeSnapshot compresses a database into the destination and names it. The description follows the snapshot: one without it is not
// complete.
func (s *Service) storeSnapshot(ctx context.Context, file string, d Snapshot) (err error) {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(file+".zst", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	hash := sha256.New()
	z, err := zstd.NewWriter(io.MultiWriter(out, hash), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return err
	}
	_, err = io.Copy(z, reader{ctx, in})
	if err := errors.Join(err, z.Close()); err != nil {
		return err
	}
	if d.Size, err = out.Seek(0, io.SeekCurrent); err != nil {
		return err
	}
	d.SHA256 = hex.EncodeToString(hash.Sum(nil))
	d.Name = path.Join(SnapshotsDir, d.Time.Format(snapshotTimeLayout)+"-"+d.SHA256[:8]+".db.zst")
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := out.Sync(); err != nil { // it may become a hard link in the destination
		return err
	}
	if err := s.cfg.Destination.Add(ctx, d.Name, out); err != nil {
		return err
	}
	text, _ := json.MarshalIndent(d, "", "  ") // cannot fail: it has only texts, numbers and a time
	return s.cfg.Destination.Write(ctx, strings.TrimSuffix(d.Name, ".db.zst")+".json", bytes.NewReader(append(text, '\n')))
}

// removeSnapshots removes the snapshots that are older than the newest one from before the retention.
func (s *Service) removeSnapshots(ctx context.Context, now time.Time) error {
	limit := path.Join(SnapshotsDir, now.Add(-s.cfg.Retention).UTC().Format(snapshotTimeLayout))
	old, err := listNames(ctx, s.cfg.Destination, SnapshotsDir+"/", func(o Object) bool {
		stem, ok := strings.CutSuffix(o.Name, ".db.zst")
		return ok && stem < limit
	})
	if err != nil || len(old) == 0 {
		return err
	}
	slices.Sort(old)
	for _, name := range old[:len(old)-1] {
		// In this order, because a description without its snapshot would be a restore point.
		for _, part := range []string{strings.TrimSuffix(name, ".db.zst") + ".json", name} {
			if err := s.cfg.Destination.Delete(ctx, part); err != nil {
				return err
			}
		}
	}
	return nil
}
