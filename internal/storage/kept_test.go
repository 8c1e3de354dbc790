package storage

import (
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
