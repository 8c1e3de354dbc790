package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"atelie/internal/activity"
	"atelie/internal/db"
)

// lockUntil locks the database of a data folder, like a server that writes without a pause. The lock ends when the first line about the
// wait is written to the returned writer.
func lockUntil(t *testing.T, dir string) *untilWaiting {
	t.Helper()
	d, err := db.Open(t.Context(), "sqlite:"+filepath.Join(dir, "atelie.db"), db.NoHooks)
	if err != nil {
		t.Fatal(err)
	}
	w := &untilWaiting{waiting: make(chan struct{})}
	locked, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		// t.Context() would end when the test returns, perhaps before the commit.
		ended <- d.WithTx(context.WithoutCancel(t.Context()), func(tx *db.Tx) error {
			err := db.Exec(t.Context(), tx, "update rate_limits set hits = hits")
			close(locked)
			<-w.waiting
			return err
		})
	}()
	<-locked
	t.Cleanup(func() {
		w.once.Do(func() { close(w.waiting) })
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// untilWaiting closes waiting when a line about a wait is written.
type untilWaiting struct {
	bytes.Buffer
	once    sync.Once
	waiting chan struct{}
}

func (w *untilWaiting) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("waiting until the database is not locked")) {
		w.once.Do(func() { close(w.waiting) })
	}
	return w.Buffer.Write(p)
}

// Proves H-command-locked.
//
// TestCommandsWaitForTheLockOfABusyServer checks that commands that write print what they wait for, and succeed.
func TestCommandsWaitForTheLockOfABusyServer(t *testing.T) {
	base := t.TempDir()
	run := func(dir string, errOut *untilWaiting, args ...string) (int, string) {
		var out bytes.Buffer
		return Run(t.Context(), append(args, "--data-dir", dir), strings.NewReader("a wall of whitewash\n"), &out, errOut, "test"), out.String()
	}
	for _, args := range [][]string{{"owner", "add", "ana@example.com", "--password-stdin"}, {"owner", "add", "rui@example.com", "--password-stdin"}} {
		errOut := &untilWaiting{waiting: make(chan struct{})}
		if code, out := run(base, errOut, args...); code != 0 {
			t.Fatalf("%s%s", out, errOut)
		}
	}
	for _, args := range []string{
		"owner add eva@example.com", "owner password ana@example.com --password-stdin", "owner remove rui@example.com", "keys rotate anon", "keys revoke service 1", "sso renew-key", "copy",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel() // each command waits as long as SQLite does
			dir := filepath.Join(t.TempDir(), "data")
			if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
				t.Fatal(err)
			}
			words := strings.Fields(args)
			if args == "copy" {
				words = []string{"copy", "--from", dir, "--to", filepath.Join(t.TempDir(), "copy")}
			}
			errOut := lockUntil(t, dir)
			code, out := run(dir, errOut, words...)
			if code != 0 || strings.Count(errOut.String(), "waiting until") != 1 || strings.Contains(out, "does not list this copy") {
				t.Errorf("%d\n%s%s", code, out, errOut)
			}
			if args == "copy" {
				if got := siteActivity(t, "sqlite:"+filepath.Join(dir, "atelie.db")); len(got) != 1 || !strings.HasPrefix(got[0], activity.SiteCopy) {
					t.Errorf("the activity lists %q", got)
				}
			}
		})
	}
}

// Proves H-command-locked.
func TestALockedDatabaseIsAnErrorThatSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	must(t, dir, "keys")
	locked := lockUntil(t, dir)
	d, err := db.Open(t.Context(), "sqlite:"+filepath.Join(dir, "atelie.db"), db.NoHooks)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	_, err = d.Exec(t.Context(), "delete from products")
	locked.once.Do(func() { close(locked.waiting) })
	var out bytes.Buffer
	if code := printErrors(&out, err, exitError); code != exitError || out.String() != "atelie: "+lockedText+"\n" || !strings.Contains(lockedText, "run the command again") {
		t.Errorf("%v: %d, %s", err, code, &out)
	}
}
