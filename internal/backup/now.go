package backup

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/superfly/ltx"

	"atelie/internal/db"
	"atelie/internal/interval"
)

// This file has functions for the commands `atelie backup now` and `atelie backup verify`. Usually another process, the server, keeps the
// backup. The commands therefore write a row into backup_status, and wait until the server has done the work.

// Kinds of rows in backup_status that only these commands write. The column last_ok_at is the time at which the row was written.
const (
	kindNow                Kind = "now"           // the command waits until the destination has the transaction that wrote the row
	kindRestoreTestRequest Kind = "proof request" // requests a restore test; databases have this value, so it must not change
)

// pollInterval is the interval at which a waiting command checks whether the work is done.
const pollInterval = 200 * time.Millisecond

// Waiting has the functions that a command calls every pollInterval while it waits for the server. An error of one of them ends the wait.
type Waiting struct {
	Ended func() error               // returns an error if the server has ended
	Each  func(failure string) error // receives the text of the failure that delays the server; "" if there is none
}

// until calls done every pollInterval, until done returns ok = true or an error. It passes the returned failure to w.Each.
func (w Waiting) until(ctx context.Context, done func() (ok bool, failure string, err error)) error {
	for {
		ok, failure, err := done()
		if err != nil || ok {
			return err
		}
		if err := errors.Join(w.Ended(), w.Each(failure)); err != nil {
			return err
		}
		if err := interval.Sleep(ctx, pollInterval); err != nil {
			return err
		}
	}
}

// BringUpToDate waits until the destination has everything that was written before the call. It returns the time of the latest state that
// can be restored from the destination. It does not wait for files that the site itself has lost. For a PostgreSQL database it takes a
// snapshot (a copy of the whole database). Service.Run must be running during the call, in this process or in another one.
func (s *Service) BringUpToDate(ctx context.Context, w Waiting) (newest time.Time, err error) {
	began := s.now()
	waiting, err := allWaiting(ctx, s.db) // ids of blobs, sorted
	if err != nil {
		return newest, err
	}
	if s.db.Dialect == db.Postgres {
		if err := s.snapshotSince(ctx, began); err != nil {
			return newest, err
		}
	} else if err := s.waitForDatabase(ctx, w); err != nil {
		return newest, err
	}
	err = w.until(ctx, func() (bool, string, error) {
		still, err := allWaiting(ctx, s.db)
		if err != nil {
			return false, "", err
		}
		first := slices.IndexFunc(waiting, func(id string) bool {
			_, isWaiting := slices.BinarySearch(still, id)
			return isWaiting
		})
		if first < 0 {
			return true, "", nil
		}
		waiting = waiting[first:] // the destination has all blobs before this one
		lost, err := s.isLost(ctx, waiting[0])
		if err == nil && lost {
			waiting = waiting[1:]
		}
		state, failed := s.failure(ctx)
		return false, state, errors.Join(err, failed)
	})
	if err != nil {
		return newest, err
	}
	return s.Newest(ctx)
}

// waitForDatabase waits until the destination has all commits from before the call. It waits for two new LTX files, and writes a row for
// each. One LTX file is not enough, because its time can be slightly later than the last commit in it. The second LTX file was begun after
// the first one was complete.
func (s *Service) waitForDatabase(ctx context.Context, w Waiting) error {
	for range 2 {
		if err := RecordSuccess(ctx, s.db, kindNow, s.now(), "{}"); err != nil {
			return err
		}
		written := s.now().UTC().Truncate(time.Millisecond)
		if err := w.until(ctx, func() (bool, string, error) {
			newest, err := s.Newest(ctx)
			if err == nil && !newest.Before(written) {
				return true, "", nil
			}
			state, failed := s.failure(ctx)
			if state == "" && err != nil {
				state = safeText(err)
			}
			return false, state, failed
		}); err != nil {
			return err
		}
	}
	return nil
}

// failure returns the text of the current failure of the backup, or "" if there is none.
func (s *Service) failure(ctx context.Context) (string, error) {
	status, err := s.Status(ctx)
	return status.BackupError, err
}

func allWaiting(ctx context.Context, q db.Querier) (all []string, err error) {
	for after := ""; ; {
		page, err := waitingBlobs(ctx, q, after, 1000)
		if err != nil || len(page) == 0 {
			slices.Sort(all)
			return all, err
		}
		all = append(all, page...)
		after = page[len(page)-1]
	}
}

// Newest returns the time of the latest restore point in the destination; zero if there is none.
func (s *Service) Newest(ctx context.Context) (time.Time, error) {
	if s.db.Dialect == db.Postgres {
		list, err := listSnapshots(ctx, s.cfg.Destination)
		if err != nil || len(list) == 0 {
			return time.Time{}, err
		}
		return list[len(list)-1].Time, nil
	}
	replica, err := newReplicaReader(ctx, s.cfg.Destination)
	if err != nil {
		return time.Time{}, err
	}
	local, err := listLTXFiles(filepath.FromSlash(litestream.LTXLevelDir(s.db.File()+localSuffix, 0)), 0, 0, 0)
	if err != nil {
		return time.Time{}, err
	}
	var known ltx.TXID
	if len(local) > 0 {
		known = local[0].MinTXID
	}
	newest, err := replica.newest(ctx, known)
	if err != nil || newest == nil {
		return time.Time{}, err
	}
	return replica.headerTime(ctx, newest)
}

// newest returns the LTX file with the newest transaction, or nil if there is none. It first lists only the LTX files that begin with the
// transaction known or a later one. Only if there is none, it lists all.
func (r *replicaReader) newest(ctx context.Context, known ltx.TXID) (*ltx.FileInfo, error) {
	for _, try := range []struct {
		level int
		first ltx.TXID
	}{{0, known}, {0, 0}, {1, 0}, {litestream.SnapshotLevel, 0}} { // compaction leaves the newest of each level
		list, err := r.LTXFilesBetween(ctx, try.level, try.first, 0)
		if err != nil {
			return nil, toDestinationError(err)
		}
		if len(list) > 0 {
			return list[len(list)-1], nil
		}
	}
	return nil, nil
}
