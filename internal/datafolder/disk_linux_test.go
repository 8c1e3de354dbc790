package datafolder

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSameDisk(t *testing.T) {
	data := t.TempDir()
	link := filepath.Join(data, "link")
	if err := os.Symlink("/proc", link); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(data, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{
		data:                           true,
		filepath.Dir(data):             true,
		filepath.Join(data, "new/one"): true,
		filepath.Join(file, "new"):     true,
		"/proc/self":                   false, // another file system on every Linux
		"/proc/none/backups":           false,
		filepath.Join(link, "backups"): false,
	} {
		if same, err := SameDisk(data, dir); err != nil || same != want {
			t.Errorf("%s: %t, %v", dir, same, err)
		}
	}
}
