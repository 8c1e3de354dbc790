package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInterruptedExportLeavesNoFile(t *testing.T) {
	dir, folder := demoSite(t), t.TempDir()
	t.Setenv("ATELIE_DATA_DIR", dir)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var errOut bytes.Buffer
	file := filepath.Join(folder, "site.zip")
	out := &at{calls: map[string]func(){"Pages: ": interrupt}}
	if code := Run(ctx, []string{"export", "--to", file}, strings.NewReader(""), out, &errOut, "test"); code != 1 || errOut.String() != "atelie: interrupted: "+file+" was not written\n" {
		t.Errorf("%d: %s", code, errOut.String())
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("the folder has %v (%v)", left, err)
	}
}
