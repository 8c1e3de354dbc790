package backup

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// checkedDestination is a destination that calls check after each change.
type checkedDestination struct {
	Destination
	t *testing.T
}

// check fails the test if the destination has the description of a snapshot without the snapshot.
func (d checkedDestination) check() {
	d.t.Helper()
	found, err := listDestination(d.t.Context(), d.Destination)
	if err != nil {
		d.t.Fatal(err)
	}
	for name := range found {
		if stem, ok := strings.CutSuffix(name, ".json"); ok && strings.HasPrefix(name, SnapshotsDir) {
			if _, ok := found[stem+".db.zst"]; !ok {
				d.t.Errorf("%s is there without its snapshot", name)
			}
		}
	}
}

func (d checkedDestination) Add(ctx context.Context, name string, body io.ReadSeeker) error {
	defer d.check()
	return d.Destination.Add(ctx, name, body)
}

func (d checkedDestination) Write(ctx context.Context, name string, body io.ReadSeeker) error {
	defer d.check()
	return d.Destination.Write(ctx, name, body)
}

func (d checkedDestination) Delete(ctx context.Context, name string) error {
	defer d.check()
	return d.Destination.Delete(ctx, name)
}

// The copy to the secondary destination may be interrupted at any time. So there must never be a description without its snapshot, because
// the descriptions are the list of snapshots.
func TestSnapshotIsWrittenBeforeItsDescriptionAndRemovedAfterIt(t *testing.T) {
	from := OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "first")})
	to := checkedDestination{OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "second")}), t}
	for _, stem := range []string{"20260301T020000Z-aaaaaaaa", "20260302T020000Z-bbbbbbbb", "20260303T020000Z-cccccccc", "20260304T020000Z-dddddddd"} {
		name := SnapshotsDir + "/" + stem
		for _, ending := range []string{".db.zst", ".json"} {
			if err := from.Write(t.Context(), name+ending, strings.NewReader(stem)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := copyOnce(t.Context(), from, to); err != nil {
			t.Fatal(err)
		}
		for _, ending := range []string{".json", ".db.zst"} {
			if err := from.Delete(t.Context(), name+ending); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := to.Open(t.Context(), SnapshotsDir+"/20260303T020000Z-cccccccc.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a snapshot that is gone from the primary destination: %v", err)
	}
}
