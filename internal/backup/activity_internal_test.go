package backup

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// destinationsInActivity returns the destinations that the activity lists.
func destinationsInActivity(t *testing.T, d *db.DB) []string {
	t.Helper()
	list, err := db.Collect(t.Context(), d, db.ScanOne[string], "select title from activity where kind = 'export' and action = 'backup-place' order by id")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Proves A-activity-site.
//
// TestANewDestinationIsInTheActivity checks that a first destination on the disk of the data folder is not listed. Any other destination
// is listed once, and a secondary destination after its first copy.
func TestANewDestinationIsInTheActivity(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		folder := func(name string) string { return filepath.Join(t.TempDir(), name) }
		begin := func(d *db.DB, destination string, sameDisk bool) *Service {
			t.Helper()
			s := New(d, Config{
				Destination: OpenDestination(DestinationConfig{Folder: destination}), OnDataDisk: sameDisk, Retention: 72 * time.Hour, SiteID: "11111111-2222-4333-8444-555555555555",
				Secrets: Secrets{Current: strings.Repeat("s", 40)}, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
			}, time.Now)
			if err := s.claim(t.Context()); err != nil {
				t.Fatal(err)
			}
			return s
		}
		first, next, second := folder("first"), folder("next"), folder("second")
		begin(d, first, true)
		if got := destinationsInActivity(t, d); len(got) > 0 {
			t.Errorf("the primary destination on the disk of the data folder: %q", got)
		}
		begin(d, next, true)
		s := begin(d, next, true) // a second start with the same destination
		if got := destinationsInActivity(t, d); !slices.Equal(got, []string{next}) {
			t.Errorf("another destination: %q", got)
		}
		s.cfg.Secondary = OpenDestination(DestinationConfig{Folder: second})
		for range 2 { // two copies, each after a restore test
			if err := s.recordSecondary(t.Context()); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(CopyDetail{Destination: second, Ended: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.storeSuccess(t.Context(), KindCopy, time.Now(), string(text)); err != nil {
				t.Fatal(err)
			}
		}
		if got := destinationsInActivity(t, d); !slices.Equal(got, []string{next, second}) {
			t.Errorf("a secondary destination: %q", got)
		}

		another, elsewhere := dbtest.Open(t, d.Dialect), folder("elsewhere")
		begin(another, elsewhere, false)
		if got := destinationsInActivity(t, another); !slices.Equal(got, []string{elsewhere}) {
			t.Errorf("a first destination on another disk: %q", got)
		}
	})
}
