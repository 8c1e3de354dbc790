package storage

import (
	"context"
	"errors"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/files"
)

// Proves A-history-files.
//
// The second call has found the kept object, and waits for its lock when the first one has restored it.
func TestAFileThatIsRestoredTwiceAtOnceIsNotMissing(t *testing.T) {
	d := dbtest.Open(t, db.Postgres)
	s := newSite(t, d)
	removed := s.store("a.png")
	if err := d.WithTx(t.Context(), func(tx *db.Tx) error { return s.moveToKept(t.Context(), tx, removed) }); err != nil {
		t.Fatal(err)
	}
	type result struct {
		missing []string
		err     error
	}
	second := make(chan result, 1)
	err := d.WithTx(t.Context(), func(tx *db.Tx) error {
		restored, err := s.restoreObject(t.Context(), tx, removed.Bucket, removed.Name, time.Time{})
		if err != nil {
			return err
		}
		if !restored {
			return errors.New("the kept object was not restored")
		}
		go func() {
			missing, err := s.RestoreFiles(t.Context(), []string{files.PublicPath + "product-images/a.png"}, time.Time{})
			second <- result{missing, err}
		}()
		return dbtest.WaitForLock(t.Context(), d)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := <-second; got.err != nil || len(got.missing) > 0 {
		t.Errorf("missing %v, %v", got.missing, got.err)
	}
	if !s.has(removed) {
		t.Error("the file is not at its URL")
	}
}

// Proves A-history-files.
//
// A revision that is erased had the file of a URL, and so has one that remains. The replaced file stays for the one that remains.
func TestAKeptFileThatARemainingRevisionNeedsIsNotReleased(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.cfg.KeptFor = time.Hour
		removed := s.store("a.png")
		urls := []string{files.PublicPath + "product-images/a.png"}
		none := func(context.Context) ([]string, error) { return nil, nil }
		if err := d.WithTx(t.Context(), func(tx *db.Tx) error { return s.moveToKept(t.Context(), tx, removed) }); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			remaining []string
			collected int
		}{{urls, 0}, {nil, 1}} {
			if err := d.WithTx(t.Context(), func(tx *db.Tx) error { return s.ReleaseKept(t.Context(), tx, urls, c.remaining) }); err != nil {
				t.Fatal(err)
			}
			if n, err := s.CollectKept(t.Context(), none); err != nil || n != c.collected {
				t.Errorf("with %v remaining %d files were removed, want %d: %v", c.remaining, n, c.collected, err)
			}
		}
	})
}
