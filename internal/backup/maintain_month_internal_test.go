//go:build !race

package backup

import (
	"testing"
	"time"

	"github.com/benbjohnson/litestream"
)

// Proves H-backup-retention, H-restore-moment.
//
// The test writes for 36 days, which is longer than the retention, and then restores the state after each of the writes that can still be
// restored exactly, and after some of the earlier ones.
func TestEachRestorePointOfTheRetentionIsRestoredAndOlderPartsAreRemoved(t *testing.T) {
	eachHistory(t, func(t *testing.T, h *history) {
		h.r.keep = 60 // LTX files of level 0
		// The times between the writes of a day.
		intervals := []time.Duration{time.Second, time.Second, 2 * time.Second, 17 * time.Second, time.Second, 4 * time.Minute, 3 * time.Minute, time.Second, 70 * time.Minute, time.Second}
		for range 36 {
			began := h.at
			for _, d := range intervals {
				h.advance(d)
				h.write()
			}
			h.advance(24*time.Hour - h.at.Sub(began))
		}

		snapshots := h.level(litestream.SnapshotLevel)
		if len(snapshots) < 31 || len(snapshots) > 33 {
			t.Errorf("%d snapshots for 30 days", len(snapshots))
		}
		if n := len(h.level(0)); n < 60 || n > 62 {
			t.Errorf("%d LTX files of level 0, of which 60 are kept", n)
		}
		for level := 1; level <= len(levels); level++ {
			list := h.level(level)
			if len(list) < 31 || len(snapshots) == 0 || list[0].MaxTXID < snapshots[0].MaxTXID {
				t.Errorf("level %d: %d LTX files, of which some are older than the oldest snapshot", level, len(list))
			}
		}

		oldest := h.at.Add(-testRetention)
		exact := len(h.journal) - 50 // each second can still be restored from this write on
		for i, at := range h.journal {
			if at.Before(oldest) && i+1 < len(h.journal) && !h.journal[i+1].After(oldest) || i%7 > 0 && i < exact {
				continue
			}
			if at.Before(oldest) {
				at = oldest
			}
			got := h.restored(at)
			if i >= exact && got != i+1 || got > i+1 || got <= i && h.journal[got].Before(at.Add(-levels[0])) {
				t.Errorf("at %s: the state has %d writes; %d were made", at, got, i+1)
			}
		}
	})
}
