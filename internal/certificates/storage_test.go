package certificates

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var sealKey = bytes.Repeat([]byte{7}, 32)

func open(d *db.DB, key []byte, now func() time.Time) *storage {
	return newStorage(d, key, slog.New(slog.DiscardHandler), now)
}

func TestStorage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, s := t.Context(), open(d, sealKey, time.Now)
		for _, name := range []string{"a/b/site.key", "a/b/site.crt", "a/c", "a", "ab/x", "a0"} {
			if err := s.Store(ctx, name, []byte("old")); err != nil {
				t.Fatal(err)
			}
			if err := s.Store(ctx, name, []byte("PRIVATE "+name)); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := s.Load(ctx, "a/b/site.key"); err != nil || string(got) != "PRIVATE a/b/site.key" {
			t.Errorf("load: %q, %v", got, err)
		}
		sealed, _, err := readValue(ctx, d, s.keyID, "a/b/site.key")
		if err != nil || bytes.Contains(sealed, []byte("PRIVATE")) {
			t.Errorf("in the database: %q, %v", sealed, err)
		}
		for _, c := range []struct {
			folder    string
			recursive bool
			want      []string
		}{
			{"a", false, []string{"a/b", "a/c"}},
			{"a", true, []string{"a/b/site.crt", "a/b/site.key", "a/c"}},
			{"a/b/", false, []string{"a/b/site.crt", "a/b/site.key"}},
			{"", false, []string{"a", "a0", "ab"}},
		} {
			got, err := s.List(ctx, c.folder, c.recursive)
			slices.Sort(got)
			if err != nil || !slices.Equal(slices.Compact(got), c.want) {
				t.Errorf("list %q, %v: %q, %v", c.folder, c.recursive, got, err)
			}
		}
		if info, err := s.Stat(ctx, "a/c"); err != nil || !info.IsTerminal || info.Size != int64(len("PRIVATE a/c")) || time.Since(info.Modified) > time.Minute {
			t.Errorf("stat of a file: %+v, %v", info, err)
		}
		if info, err := s.Stat(ctx, "a/b"); err != nil || info.IsTerminal {
			t.Errorf("stat of a folder: %+v, %v", info, err)
		}
		if err := s.Delete(ctx, "a"); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]bool{"a": false, "a/c": false, "a/b/site.key": false, "a/b": false, "ab/x": true, "ab": true, "a0": true} {
			if s.Exists(ctx, name) != want {
				t.Errorf("%s exists: %v", name, !want)
			}
		}
		if err := s.Delete(ctx, "a"); err != nil {
			t.Errorf("deleting a missing value: %v", err)
		}
		for _, missing := range []func() error{
			func() error { _, err := s.Load(ctx, "a"); return err },
			func() error { _, err := s.Stat(ctx, "a"); return err },
			func() error { _, err := s.List(ctx, "a", true); return err },
		} {
			if err := missing(); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("missing: %v", err)
			}
		}
	})
}

func TestValuesOfAnotherKeyAreInvisibleAndMovedOnesRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, now := t.Context(), time.Now()
		before := open(d, sealKey, func() time.Time { return now })
		after := open(d, bytes.Repeat([]byte{8}, 32), func() time.Time { return now })
		if err := errors.Join(before.Store(ctx, "x", []byte("1")), before.Store(ctx, "y", []byte("2"))); err != nil {
			t.Fatal(err)
		}
		if after.Exists(ctx, "x") {
			t.Error("values of another secret are listed")
		}
		// A value that is copied to another name cannot be decrypted there.
		sealed, _, err := readValue(ctx, d, before.keyID, "x")
		if err != nil {
			t.Fatal(err)
		}
		if err := saveValue(ctx, d, before.keyID, "y", sealed, now); err != nil {
			t.Fatal(err)
		}
		if got, err := before.Load(ctx, "y"); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a moved value: %q, %v", got, err)
		}
		if err := deleteValuesOfOtherKeys(ctx, d, after.keyID, now.Add(-time.Second)); err != nil || !before.Exists(ctx, "x") {
			t.Errorf("a value in use was deleted: %v", err)
		}
		if err := deleteValuesOfOtherKeys(ctx, d, before.keyID, now.Add(time.Second)); err != nil || !before.Exists(ctx, "x") {
			t.Errorf("values of the current key were deleted: %v", err)
		}
		if err := deleteValuesOfOtherKeys(ctx, d, after.keyID, now.Add(time.Second)); err != nil || before.Exists(ctx, "x") {
			t.Errorf("an old value of another secret was not deleted: %v", err)
		}
	})
}

func TestLocksExcludeOtherNodesAndExpire(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var mu sync.Mutex
		clock := time.Now()
		now := func() time.Time { mu.Lock(); defer mu.Unlock(); return clock }
		ctx, one, two := t.Context(), open(d, sealKey, now), open(d, sealKey, now)
		if err := one.Lock(ctx, "issue"); err != nil {
			t.Fatal(err)
		}
		if got, err := two.TryLock(ctx, "issue"); got || err != nil {
			t.Errorf("a second holder: %v, %v", got, err)
		}
		if got, err := two.TryLock(ctx, "other"); !got || err != nil {
			t.Errorf("another lock: %v, %v", got, err)
		}
		waiting, cancel := context.WithCancel(ctx)
		cancel()
		if err := two.Lock(waiting, "issue"); !errors.Is(err, context.Canceled) {
			t.Errorf("who does not want to wait any more: %v", err)
		}
		// The waiting node continues as soon as the first node releases the lock.
		got := make(chan error, 1)
		go func() { got <- two.Lock(ctx, "issue") }()
		if err := one.Unlock(ctx, "issue"); err != nil {
			t.Fatal(err)
		}
		if err := <-got; err != nil {
			t.Fatal(err)
		}
		if err := one.Unlock(ctx, "issue"); err == nil {
			t.Error("a lock of another node was released")
		}
		// A dead node holds the lock until the lease expires. Then another node takes it, and the dead one cannot renew it.
		token := two.held["issue"].token
		two.held["issue"].stop()
		two.held["issue"].renewal.Wait()
		mu.Lock()
		clock = clock.Add(leaseDuration - time.Second)
		mu.Unlock()
		if got, err := one.TryLock(ctx, "issue"); got || err != nil {
			t.Errorf("before the lease ran out: %v, %v", got, err)
		}
		mu.Lock()
		clock = clock.Add(2 * time.Second)
		mu.Unlock()
		if got, err := one.TryLock(ctx, "issue"); !got || err != nil {
			t.Errorf("after the lease ran out: %v, %v", got, err)
		}
		if mine, err := renewLock(ctx, d, "issue", token, now()); mine || err != nil {
			t.Errorf("the dead node renewed: %v, %v", mine, err)
		}
		if err := errors.Join(one.unlockAll(ctx), two.unlockAll(ctx)); err != nil {
			t.Fatal(err)
		}
		var left int
		if err := d.QueryRow(ctx, "select count(*) from certificate_locks").Scan(&left); err != nil || left != 0 {
			t.Errorf("%d locks are left, %v", left, err)
		}
	})
}

// Proves A-keys-9.
func TestReseal(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		old, next := []byte("the-key-of-exactly-thirty-2-byte"), []byte("another-key-of-exactly-32-bytes!")
		ctx := t.Context()
		before := newStorage(d, old, slog.New(slog.DiscardHandler), time.Now)
		after := newStorage(d, next, slog.New(slog.DiscardHandler), time.Now)
		for _, err := range []error{before.Store(ctx, "a/key", []byte("old key")), before.Store(ctx, "a/both", []byte("old")), after.Store(ctx, "a/both", []byte("new"))} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, step := range []struct {
			write bool
			found int
		}{{false, 2}, {true, 2}, {false, 0}} {
			if found, err := Reseal(ctx, d, next, old, step.write); err != nil || found != step.found {
				t.Errorf("%+v: %d, %v", step, found, err)
			}
		}
		for name, want := range map[string]string{"a/key": "old key", "a/both": "new"} {
			if value, err := after.Load(ctx, name); err != nil || string(value) != want {
				t.Errorf("%s: %q, %v", name, value, err)
			}
		}
	})
}
