package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"atelie/internal/backup"
	"atelie/internal/db"
)

const (
	backupPairs   = 9               // pairs of measurements, with a backup and without
	backupWriters = 8               // concurrent writers
	backupTime    = 5 * time.Second // duration of one measurement
)

// backupTable prints how much the continuous backup of an SQLite database slows down writes. It measures two databases in turn: one with a
// backup into a folder on the same disk, and one without.
func backupTable(ctx context.Context, out io.Writer) (err error) {
	dir, err := os.MkdirTemp(".", "atelie-bench") // not in a temporary folder, which can be in memory, because writes wait for the disk
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var databases [2]*db.DB // with a backup, and without
	for i := range databases {
		if databases[i], err = db.Open(ctx, "sqlite:"+filepath.Join(dir, fmt.Sprintf("%d.db", i)), db.NoHooks); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, databases[i].Close()) }()
		if err := databases[i].Migrate(ctx); err != nil {
			return err
		}
	}
	service := backup.New(databases[0], backup.Config{
		Destination: backup.OpenDestination(backup.DestinationConfig{Folder: filepath.Join(dir, "backups")}), Retention: 720 * time.Hour, SiteID: uuid.NewString(),
		Secrets:  backup.Secrets{Current: uuid.NewString() + uuid.NewString()},
		OpenBlob: func(context.Context, string) (io.ReadSeekCloser, error) { return nil, fs.ErrNotExist },
		DiskFull: func() bool { return false }, FreeSpace: func() int64 { return math.MaxInt64 }, ScratchDir: dir, Log: slog.New(slog.DiscardHandler),
	}, time.Now)
	runCtx, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { service.Run(runCtx) })
	defer func() { stop(); wg.Wait() }()
	var rates, p99s [2][]float64
	for pair := range backupPairs {
		for turn := range databases {
			i := (turn + pair) % 2 // alternates, so that neither database is always measured first
			rate, p99, err := writeFor(ctx, databases[i])
			if err != nil {
				return err
			}
			rates[i], p99s[i] = append(rates[i], rate), append(p99s[i], p99)
		}
	}
	status, err := service.Status(ctx)
	if err != nil {
		return err
	}
	if status.LastBackup.IsZero() || status.BackupError != "" {
		return fmt.Errorf("the backup did not run: %+v", status)
	}
	_, err = fmt.Fprintf(out, "\nContinuous backup of an SQLite database into a folder on the same disk, %d writers, medians of %d pairs of %s\n"+
		"  %-14s writes/s %7.0f   p99 %6.1f ms\n  %-14s writes/s %7.0f   p99 %6.1f ms\n  ratio of the writes %.3f\n",
		backupWriters, backupPairs, backupTime, "with backup", median(rates[0]), median(p99s[0]), "without", median(rates[1]), median(p99s[1]), median(rates[0])/median(rates[1]))
	return err
}

// writeFor writes to the database for backupTime, one row in each transaction. It returns the writes per second, and the 99th percentile of
// their durations in milliseconds.
func writeFor(ctx context.Context, d *db.DB) (rate, p99 float64, err error) {
	var (
		mu      sync.Mutex
		times   []float64
		writers sync.WaitGroup
	)
	begin := time.Now()
	for range backupWriters {
		writers.Go(func() {
			for time.Since(begin) < backupTime {
				started := time.Now()
				failed := d.WithTx(ctx, func(tx *db.Tx) error {
					return db.Exec(ctx, tx, "insert into rate_limits (name, subject, bucket_start, hits) values ('bench', $1, 0, 1)", uuid.NewString())
				})
				mu.Lock()
				times, err = append(times, ms(time.Since(started))), errors.Join(err, failed)
				mu.Unlock()
				if failed != nil {
					return
				}
			}
		})
	}
	writers.Wait()
	if err != nil {
		return 0, 0, err
	}
	slices.Sort(times)
	return float64(len(times)) / time.Since(begin).Seconds(), times[len(times)*99/100], nil
}
