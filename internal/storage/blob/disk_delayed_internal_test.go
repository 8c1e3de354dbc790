package blob

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"atelie/internal/datafolder"
)

// TestDelayedFoldersAreSyncedOnceAfterTheirLastBlob checks that no folder is synced while blobs are stored, and that each folder is
// synced once afterwards with all of its entries.
func TestDelayedFoldersAreSyncedOnceAfterTheirLastBlob(t *testing.T) {
	var (
		mu     sync.Mutex
		synced = map[string]int{} // for each folder, its number of entries at the last call of syncFolder
		calls  int                // of syncFolder
	)
	syncFolder = func(dir string) error {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		synced[dir] = len(entries)
		calls++
		return datafolder.SyncFolder(dir)
	}
	t.Cleanup(func() { syncFolder = datafolder.SyncFolder })
	root := filepath.Join(t.TempDir(), "files")
	d, err := NewDisk(root, Unbounded)
	if err != nil {
		t.Fatal(err)
	}
	d.DelaySync()
	folders := map[string]bool{root: true}
	for i := range 60 {
		id := []string{"aaaa", "aabb", "ccdd"}[i%3] + uuid.NewString()[4:]
		if _, err := Put(t.Context(), d, id, strings.NewReader(id)); err != nil {
			t.Fatal(err)
		}
		folders[filepath.Join(root, id[:2])], folders[filepath.Join(root, id[:2], id[2:4])] = true, true
	}
	if calls != 0 {
		t.Errorf("%d calls while blobs were stored", calls)
	}
	for range 2 { // the second call has nothing to do
		if err := d.SyncFolders(); err != nil {
			t.Fatal(err)
		}
	}
	if calls != len(folders) || len(synced) != len(folders) {
		t.Errorf("%d calls for %d folders: %v", calls, len(folders), synced)
	}
	for dir := range folders {
		if entries, err := os.ReadDir(dir); err != nil || synced[dir] != len(entries) {
			t.Errorf("%s: synced with %d of %d entries, %v", dir, synced[dir], len(entries), err)
		}
	}
	// Without the delay a blob is durable once it is stored.
	calls = 0
	other, err := NewDisk(filepath.Join(t.TempDir(), "files"), Unbounded)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Put(t.Context(), other, uuid.NewString(), strings.NewReader("a")); err != nil || calls != 3 {
		t.Errorf("%d calls, %v", calls, err)
	}
}
