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

// describedSnapshots is a destination that calls check after each change.
type describedSnapshots struct {
	Destination
	t *testing.T
}

// check fails the test if the destination has the description of a snapshot without the snapshot.
func (p describedSnapshots) check() {
	p.t.Helper()
	found, err := listDestination(p.t.Context(), p.Destination)
	if err != nil {
		p.t.Fatal(err)
	}
	for name := range found {
		if stem, ok := strings.CutSuffix(name, ".json"); ok && strings.HasPrefix(name, SnapshotsDir) {
			if _, ok := found[stem+".db.zst"]; !ok {
				p.t.Errorf("%s is there without its snapshot", name)
			}
		}
	}
}

func (p describedSnapshots) Add(ctx context.Context, name string, body io.ReadSeeker) error {
	defer p.check()
	return p.Destination.Add(ctx, name, body)
}

func (p describedSnapshots) Write(ctx context.Context, name string, body io.ReadSeeker) error {
	defer p.check()
	return p.Destination.Write(ctx, name, body)
}

func (p describedSnapshots) Delete(ctx context.Context, name string) error {
	defer p.check()
	return p.Destination.Delete(ctx, name)
}

// The copy to the secondary destination may be interrupted at any time. So there must never be a description without its snapshot, because
// the descriptions are the list of snapshots.
func TestSnapshotIsWrittenBeforeItsDescriptionAndRemovedAfterIt(t *testing.T) {
	from := OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "first")})
	to := describedSnapshots{OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "second")}), t}
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
