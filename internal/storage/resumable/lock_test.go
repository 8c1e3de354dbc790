package resumable

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// A request can end while the database gives it the lock. This test ends requests at many moments around that. None of them may leave the
// upload locked, because nobody would release the lock before it expires.
func TestRequestThatEndsWhileItLocksLeavesNoLock(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		id := insertUnfinished(t, d, time.Now())
		service := &Service{db: d, log: slog.New(slog.DiscardHandler), now: time.Now}
		for n := range 400 {
			l := &lock{service: service, id: id, token: uuid.NewString()}
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n)*5*time.Microsecond)
			if l.Lock(ctx, func() {}) == nil {
				if err := l.Unlock(); err != nil {
					t.Fatal(err)
				}
			}
			cancel()
			mine, _, err := lockState(t.Context(), d, id, l.token)
			if err != nil {
				t.Fatal(err)
			}
			if mine {
				t.Fatalf("request %d left the upload locked", n)
			}
		}
	})
}
