package media

import (
	"context"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/files"
	"atelie/internal/storage/storagetest"
)

// A call can end while the database gives it the lease. This test ends calls at many moments around that. None of them may leave a lease,
// because nobody would release it before it expires.
func TestCallThatEndsWhileItTakesTheLeaseLeavesNoLease(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newEngineSite(t, d)
		s.UploadFile("product-images/a.jpg", storagetest.Photo(40, 30))
		o, m := s.media("product-images", "a.jpg")
		another := newID()
		for n := range 400 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n)*5*time.Microsecond)
			err := s.withLease(ctx, o.ID, m.Version, func(context.Context, files.Object, *media) error { return nil })
			cancel()
			held, findErr := takeLease(t.Context(), d, o.ID, m.Version, another, s.now(), s.now().Add(leaseDuration))
			if findErr != nil {
				t.Fatal(findErr)
			}
			if !held {
				t.Fatalf("call %d left a lease; its error: %v", n, err)
			}
			if err := releaseLease(t.Context(), d, o.ID, another); err != nil {
				t.Fatal(err)
			}
		}
	})
}
