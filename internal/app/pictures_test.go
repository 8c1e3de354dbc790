//go:build !race

// The race detector would make these tests slow and would find nothing, because pictures are made in separate processes.
package app

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
	"atelie/internal/media"
	"atelie/internal/storage"
)

// appWithPictures returns a program to which pictures of different colours were uploaded. It runs no jobs, so there are no
// renditions.
func appWithPictures(t *testing.T, dialect db.Dialect, pictures int) *App {
	t.Helper()
	cfg := configuration(t)
	cfg.Database.URL = dbtest.URL(t, dialect)
	a := newAppOf(t, cfg, time.Now)
	for i := range pictures {
		if _, err := a.Storage.Put(t.Context(), identity.Caller{Role: identity.Service}, "product-images", fmt.Sprintf("%d.jpg", i), bytes.NewReader(gradient(700, 350, uint8(i))), -1, storage.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// Proves F-render-first.
//
// Fifteen pictures wait for renditions. No ladder may be begun before the first sizes of all of them are made or being made.
func TestFirstSizesAreMadeBeforeLadders(t *testing.T) {
	if testing.Short() {
		t.Skip("makes all renditions of many pictures")
	}
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			const pictures = 15
			a := appWithPictures(t, dialect, pictures)
			count := func(what string) (n int) {
				t.Helper()
				if err := a.DB.QueryRow(t.Context(), "select count(*) from "+what).Scan(&n); err != nil {
					t.Fatal(err)
				}
				return n
			}
			if n := count("jobs where kind = '" + media.JobFirst + "' and claim is null"); n != pictures {
				t.Fatalf("%d wait", n)
			}
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				a.Jobs.Run(ctx)
			}()
			defer func() {
				stop()
				<-done
			}()
			seen := 0
			for deadline := time.Now().Add(2 * time.Minute); ; <-time.After(2 * time.Millisecond) { // each new ladder sets a new deadline
				// The waiting pictures are counted last: if a ladder had begun before, none may wait now.
				begun := count("jobs where kind = '" + media.JobPicture + "' and claim is not null")
				ladders := count("media_renditions where name like 'frame-%'")
				waiting := count("jobs where kind = '" + media.JobFirst + "' and claim is null")
				if begun+ladders > 0 && waiting > 0 {
					t.Fatalf("%d ladders while %d pictures wait for their first sizes", begun+ladders, waiting)
				}
				if ladders == pictures {
					break
				}
				if ladders > seen {
					seen, deadline = ladders, time.Now().Add(2*time.Minute)
				}
				if time.Now().After(deadline) {
					t.Fatalf("%d of %d ladders", ladders, pictures)
				}
			}
			if n := count("media_renditions where name like 'contain-640x%'"); n != pictures {
				t.Errorf("%d first sizes", n)
			}
			if left := count("jobs where failed_at is not null"); left != 0 {
				t.Errorf("%d jobs failed", left)
			}
		})
	}
}

func TestMakeFirstSizesLeavesLaddersToJobs(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			const pictures = 3
			a := appWithPictures(t, dialect, pictures)
			made := func() (first, all int) {
				t.Helper()
				err := a.DB.QueryRow(t.Context(), "select count(case when name like 'contain-320x%' or name like 'contain-640x%' then 1 end), count(*) from media_renditions").Scan(&first, &all)
				if err != nil {
					t.Fatal(err)
				}
				return first, all
			}
			for range 2 { // the second call has nothing to do
				if err := a.Media.MakeFirstSizes(t.Context()); err != nil {
					t.Fatal(err)
				}
				if first, all := made(); first != 2*pictures || all != first {
					t.Errorf("%d first sizes of %d renditions", first, all)
				}
			}
		})
	}
}
