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

// placesInActivity returns the places that the activity lists.
func placesInActivity(t *testing.T, d *db.DB) []string {
	t.Helper()
	list, err := db.Collect(t.Context(), d, db.ScanOne[string], "select title from activity where kind = 'export' and action = 'backup-place' order by id")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Proves A-activity-site.
//
// TestANewPlaceIsInTheActivity: a first place on the disk of the data folder is not listed, any other one is, once; so is a second place
// after its first copy.
func TestANewPlaceIsInTheActivity(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		folder := func(name string) string { return filepath.Join(t.TempDir(), name) }
		begin := func(d *db.DB, place string, sameDisk bool) *Service {
			t.Helper()
			s := New(d, Config{
				Place: OpenPlace(PlaceConfig{Folder: place}), SameDisk: sameDisk, Retention: 72 * time.Hour, Site: "11111111-2222-4333-8444-555555555555",
				Secrets: Secrets{Current: strings.Repeat("s", 40)}, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
			}, time.Now)
			if err := s.claim(t.Context()); err != nil {
				t.Fatal(err)
			}
			return s
		}
		first, next, second := folder("first"), folder("next"), folder("second")
		begin(d, first, true)
		if got := placesInActivity(t, d); len(got) > 0 {
			t.Errorf("the first place on the disk of the data folder: %q", got)
		}
		begin(d, next, true)
		s := begin(d, next, true) // the next start
		if got := placesInActivity(t, d); !slices.Equal(got, []string{next}) {
			t.Errorf("another place: %q", got)
		}
		s.cfg.CopyTo = OpenPlace(PlaceConfig{Folder: second})
		for range 2 { // after each proof
			if err := s.recordSecondPlace(t.Context()); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(CopyDetail{Place: second, Ended: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
			s.succeededWith(t.Context(), KindCopy, time.Now(), string(text))
		}
		if got := placesInActivity(t, d); !slices.Equal(got, []string{next, second}) {
			t.Errorf("a second place: %q", got)
		}

		another, elsewhere := dbtest.Open(t, d.Dialect), folder("elsewhere")
		begin(another, elsewhere, false)
		if got := placesInActivity(t, another); !slices.Equal(got, []string{elsewhere}) {
			t.Errorf("a first place on another disk: %q", got)
		}
	})
}
