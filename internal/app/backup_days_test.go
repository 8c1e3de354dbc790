package app

import (
	"testing"
	"time"
)

// Proves S2-privacy-3.
//
// Deleted data is in backups for the retention, in whole days, and three more: snapshots are deleted two days after the retention, and those
// at the secondary destination a night later.
func TestPagesContainTheRetentionOfBackups(t *testing.T) {
	a := &App{}
	for _, c := range []struct {
		url       string
		retention time.Duration
		want      int // days
	}{
		{"", 720 * time.Hour, 33},
		{"", 25 * time.Hour, 5},
		{"/mnt/copies", 60 * 24 * time.Hour, 63},
		{"off", 720 * time.Hour, 0},
	} {
		cfg := configuration(t)
		cfg.Backup.URL, cfg.Backup.Retention = c.url, c.retention
		a.cfg = cfg
		if got := a.backupDays(); got != c.want {
			t.Errorf("%q, %s: %d days, want %d", c.url, c.retention, got, c.want)
		}
	}
}
