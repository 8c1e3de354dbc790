package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/superfly/ltx"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/storage/blob/blobtest"
)

// clockDestination is a destination in which the LTX files of the database have the times of the test's clock, because litestream uses the
// system's clock. It counts the requests.
type clockDestination struct {
	Destination
	now          func() time.Time
	lists, opens *atomic.Int64
}

func (d clockDestination) RangeClient() RangeClient {
	return clockClient{d.Destination.RangeClient(), d}
}

type clockClient struct {
	RangeClient
	destination clockDestination
}

func (c clockClient) LTXFiles(ctx context.Context, level int, seek ltx.TXID, useMetadata bool) (ltx.FileIterator, error) {
	c.destination.lists.Add(1)
	return c.RangeClient.LTXFiles(ctx, level, seek, useMetadata)
}

func (c clockClient) LTXFilesBetween(ctx context.Context, level int, first, end ltx.TXID) ([]*ltx.FileInfo, error) {
	c.destination.lists.Add(1)
	return c.RangeClient.LTXFilesBetween(ctx, level, first, end)
}

func (c clockClient) OpenLTXFile(ctx context.Context, level int, first, last ltx.TXID, offset, size int64) (io.ReadCloser, error) {
	c.destination.opens.Add(1)
	return c.RangeClient.OpenLTXFile(ctx, level, first, last, offset, size)
}

func (c clockClient) WriteLTXFile(ctx context.Context, level int, first, last ltx.TXID, body io.Reader) (*ltx.FileInfo, error) {
	if level <= 1 || level == litestream.SnapshotLevel { // the other levels are compacted from LTX files in the destination
		dated, err := withTime(body, c.destination.now())
		if err != nil {
			return nil, err
		}
		body = dated
	}
	return c.RangeClient.WriteLTXFile(ctx, level, first, last, body)
}

// withTime returns an LTX file with another time in its header.
func withTime(body io.Reader, at time.Time) (io.Reader, error) {
	from := ltx.NewDecoder(body)
	if err := from.DecodeHeader(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	to, err := ltx.NewEncoder(&out)
	if err != nil {
		return nil, err
	}
	header := from.Header()
	header.Timestamp = at.UnixMilli()
	if err := to.EncodeHeader(header); err != nil {
		return nil, err
	}
	for page := make([]byte, header.PageSize); ; {
		var h ltx.PageHeader
		err := from.DecodePage(&h, page)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = to.EncodePage(h, page)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := from.Close(); err != nil {
		return nil, err
	}
	to.SetPostApplyChecksum(from.Trailer().PostApplyChecksum)
	return &out, to.Close()
}

// history is a site that writes for weeks, with its own clock.
type history struct {
	t           *testing.T
	d           *db.DB
	r           *replica
	destination clockDestination
	at          time.Time
	journal     []time.Time // of the writes
}

const testRetention = 30 * 24 * time.Hour

func newHistory(t *testing.T, destination Destination) *history {
	t.Helper()
	h := &history{t: t, at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	h.destination = clockDestination{destination, func() time.Time { return h.at }, new(atomic.Int64), new(atomic.Int64)}
	h.d = dbtest.Open(t, db.SQLite)
	s := New(h.d, Config{Destination: h.destination, Retention: testRetention, SiteID: "site", Secrets: Secrets{Current: strings.Repeat("s", 40)}, Log: slog.New(slog.DiscardHandler)}, h.destination.now)
	var err error
	if h.r, err = s.startReplica(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.r.abandon(context.WithoutCancel(t.Context())) })
	return h
}

// write inserts a row and syncs the replica.
func (h *history) write() {
	h.t.Helper()
	name := fmt.Sprint(len(h.journal))
	if err := db.Exec(h.t.Context(), h.d, "insert into rate_limits (name, subject, bucket_start, hits) values ($1, $1, 0, 1)", name); err != nil {
		h.t.Fatal(err)
	}
	if err := errors.Join(h.r.lite.Sync(h.t.Context()), h.r.lite.Replica.Sync(h.t.Context())); err != nil {
		h.t.Fatal(err)
	}
	h.journal = append(h.journal, h.at)
	h.maintain()
}

func (h *history) maintain() {
	h.t.Helper()
	if err := h.r.maintain(h.t.Context(), h.at, testRetention); err != nil {
		h.t.Fatal(err)
	}
}

// pass advances the clock. A running service would compact the written LTX files after ten seconds.
func (h *history) advance(d time.Duration) {
	h.t.Helper()
	if d > levels[0] {
		h.at = h.at.Add(levels[0])
		h.maintain()
		d -= levels[0]
	}
	h.at = h.at.Add(d)
}

// restored returns how many writes the state at a time contains.
func (h *history) restored(at time.Time) int {
	h.t.Helper()
	found, err := findRestorePoint(h.t.Context(), h.destination, string(db.SQLite), at)
	if err != nil {
		h.t.Fatalf("%s: %v", at, err)
	}
	file := filepath.Join(h.t.TempDir(), "restored.db")
	if err := found.restore(h.t.Context(), file); err != nil {
		h.t.Fatalf("%s: %v", at, err)
	}
	d, err := db.Open(h.t.Context(), "sqlite:"+file, db.NoHooks)
	if err != nil {
		h.t.Fatal(err)
	}
	n, err := db.One[int64](h.t.Context(), d, "select count(*) from rate_limits")
	if err := errors.Join(err, d.Close()); err != nil {
		h.t.Fatal(err)
	}
	return int(n)
}

// level lists the LTX files of a level.
func (h *history) level(n int) []*ltx.FileInfo {
	h.t.Helper()
	list, err := h.destination.Destination.RangeClient().LTXFilesBetween(h.t.Context(), n, 0, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	return list
}

// eachHistory runs fn with a history in a folder and one in a bucket.
func eachHistory(t *testing.T, fn func(t *testing.T, h *history)) {
	t.Run("folder", func(t *testing.T) {
		fn(t, newHistory(t, OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})))
	})
	t.Run("s3", func(t *testing.T) {
		bucket := blobtest.Bucket(t)
		bucket.Prefix = "of this site/"
		fn(t, newHistory(t, OpenDestination(DestinationConfig{Bucket: &bucket})))
	})
}

// S3 servers charge for requests, and a site is idle most of the time.
//
// Proves H-backup-retention.
func TestIdleReplicaSendsNoRequests(t *testing.T) {
	eachHistory(t, func(t *testing.T, h *history) {
		for range 3 {
			h.write()
			h.advance(2 * time.Hour)
		}
		h.maintain()
		h.destination.lists.Store(0)
		h.destination.opens.Store(0)
		for range 3 {
			h.advance(2 * time.Hour)
			h.maintain()
		}
		if err := h.r.lite.Replica.Sync(t.Context()); err != nil {
			t.Error(err)
		}
		if lists, opens := h.destination.lists.Load(), h.destination.opens.Load(); lists+opens > 0 {
			t.Errorf("%d listings, %d LTX files opened", lists, opens)
		}
		// A compaction of level 0 needs only local files. Compactions of the two other levels list and read the new LTX file.
		h.write()
		h.advance(time.Minute)
		if lists, opens := h.destination.lists.Load(), h.destination.opens.Load(); lists != 2 || opens != 2 || len(h.level(1)) != 4 {
			t.Errorf("three compactions: %d listings, %d LTX files opened; %d LTX files of level 1", lists, opens, len(h.level(1)))
		}
	})
}

// A daily copy of the whole database would be expensive for a site that does not change, and would replace a copy of the same state.
//
// Proves H-backup-retention.
func TestAMonthWithoutWritesHasOneSnapshotAndAllItsRestorePoints(t *testing.T) {
	eachHistory(t, func(t *testing.T, h *history) {
		h.write()
		for range 40 {
			h.advance(25 * time.Hour)
			h.maintain()
		}
		h.write()
		snapshots := h.level(litestream.SnapshotLevel)
		if len(snapshots) != 1 {
			t.Fatalf("%d snapshots", len(snapshots))
		}
		replica, err := newReplicaReader(t.Context(), h.destination)
		if err != nil {
			t.Fatal(err)
		}
		if at, err := replica.headerTime(t.Context(), snapshots[0]); err != nil || !at.Equal(h.journal[0].Add(25*time.Hour)) {
			t.Errorf("the snapshot is of %s, %v", at, err)
		}
		for _, ago := range []time.Duration{testRetention, time.Hour} {
			if got := h.restored(h.at.Add(-ago)); got != 1 {
				t.Errorf("%s ago: %d writes", ago, got)
			}
		}
	})
}

// Proves H-restore-moment.
func TestRestorePointsOfManyPartsNeedFewRequests(t *testing.T) {
	eachHistory(t, func(t *testing.T, h *history) {
		for range 4 {
			for range 150 {
				h.advance(3 * time.Second)
				h.write()
			}
			h.advance(24 * time.Hour)
		}
		list := h.level(0)
		if len(list) < 600 {
			t.Fatalf("%d LTX files", len(list))
		}
		all, err := newReplicaReader(t.Context(), h.destination)
		if err != nil {
			t.Fatal(err)
		}
		var want []Day
		for _, info := range list {
			at, err := all.headerTime(t.Context(), info)
			if err != nil {
				t.Fatal(err)
			}
			want = addDay(want, Day{at, at, 1})
		}
		h.destination.opens.Store(0)
		days, err := ListRestorePoints(t.Context(), h.destination)
		if err != nil || !slices.Equal(days, want) {
			t.Errorf("got %+v, %v; want %+v", days, err, want)
		}
		if opens := h.destination.opens.Load(); opens > 80 {
			t.Errorf("%d headers read to list %d states", opens, len(list))
		}
		h.destination.opens.Store(0)
		h.destination.lists.Store(0)
		found, err := findRestorePoint(t.Context(), h.destination, string(db.SQLite), h.journal[200])
		if err != nil || !found.time.Equal(h.journal[200]) {
			t.Errorf("got %+v, %v", found, err)
		}
		if opens := h.destination.opens.Load(); opens > 60 {
			t.Errorf("%d headers read to find a restore point among %d LTX files", opens, len(list))
		}
	})
}
