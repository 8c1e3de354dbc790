package media

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/storage/storagetest"
)

// Proves F-render-verify.
func TestVerifyAndRebuild(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, e := newEngineSite(t, d)
		s.UploadFile("product-images/a.jpg", storagetest.WithComment(storagetest.Photo(400, 300), "x"))
		s.UploadFile("product-images/b.jpg", storagetest.Photo(60, 40))
		s.UploadFile("product-images/film.mp4", videoFile(testVideo{}))
		var lines []string
		report := func(_, _ int, name, problem string) error {
			lines = append(lines, strings.TrimSpace(name+" "+problem))
			return nil
		}
		// verify expects one problem with each of the texts.
		verify := func(want ...string) {
			t.Helper()
			lines = nil
			problems, err := s.VerifyMedia(t.Context(), report)
			bad := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !strings.Contains(l, " ") })
			if err != nil || problems != len(want) || len(bad) != len(want) || len(lines) != 3 {
				t.Fatalf("%d problems, %v: %q", problems, err, lines)
			}
			for i, w := range want {
				if !strings.Contains(bad[i], w) {
					t.Errorf("%q, want %q", bad[i], w)
				}
			}
		}
		verify("waiting", "waiting")
		s.runJobs()
		verify()
		rebuild := func(all bool) {
			t.Helper()
			if problems, err := s.RebuildMedia(t.Context(), all, report); err != nil || problems != 0 {
				t.Fatalf("%d problems, %v: %q", problems, err, lines)
			}
		}
		runs := e.runs
		rebuild(false)
		if e.runs != runs {
			t.Error("a complete picture was rebuilt")
		}
		before, _ := s.media("product-images", "a.jpg")
		rows, err := listRenditions(t.Context(), d, before.ID)
		if err != nil {
			t.Fatal(err)
		}
		path := func(id string) string { return filepath.Join(s.Root, id[:2], id[2:4], id) }
		if err := os.Remove(path(rows[0].BlobID)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path(rows[1].BlobID), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		verify("the file is missing")
		rebuild(false)
		verify()
		if e.runs != runs+1 {
			t.Errorf("%d runs after %d", e.runs, runs)
		}
		if _, err := d.Exec(t.Context(), "update media_renditions set revision = revision - 1"); err != nil {
			t.Fatal(err)
		}
		verify("older program", "older program")
		if rec := s.Call("nobody", "GET", "/render/image/public/product-images/a.jpg?width=320", nil, "Accept", browser); rec.Code != 200 {
			t.Errorf("an older one is not shown: %s", rec.Body)
		}
		rebuild(false)
		verify()
		runs = e.runs
		if _, got := s.rendered("service", "authenticated/product-images/a.jpg?width=99"); got != "webp 99x74" {
			t.Error(got)
		}
		rebuild(true)
		verify()
		if after, m := s.media("product-images", "a.jpg"); e.runs != runs+5 || m.State != stateReady || after.ETag != before.ETag {
			t.Errorf("%d runs after %d, %+v", e.runs, runs, m)
		}
		original, _, err := findMediaObject(t.Context(), d, "product-images", "a.jpg")
		if err != nil || original.BlobID != before.BlobID {
			t.Error("the picture itself has changed")
		}
		s.HoldsFiles(3, 3+1+len(widths(400, 300))+1+2) // without the rendition that is made on request
		if err := os.Remove(path(before.BlobID)); err != nil {
			t.Fatal(err)
		}
		verify("the picture: the file is missing")
	})
}

// Proves F-render-verify.
//
// Pictures from before this program made renditions get them at its first start.
func TestOldPicturesGetTheirRenditions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, e := newEngineSite(t, d)
		s.UploadFile("product-images/a.jpg", storagetest.Photo(400, 300))
		if _, err := d.Exec(t.Context(), "delete from media"); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Exec(t.Context(), "delete from jobs"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := s.EnsureMedia(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.runJobs()
		}
		if _, m := s.media("product-images", "a.jpg"); m.State != stateReady || e.runs != 2 {
			t.Errorf("%+v, %d runs", m, e.runs)
		}
	})
}
