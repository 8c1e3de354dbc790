package storage

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/files"
	"atelie/internal/identity"
	"atelie/internal/storage/storagetest"
)

// store stores a picture with the service key.
func (s *site) store(name string) files.Object {
	s.T.Helper()
	o, err := s.Put(s.T.Context(), identity.Caller{Role: identity.Service}, "product-images", name, bytes.NewReader(storagetest.PNG(2, 2)), -1, PutOptions{Upsert: true})
	if err != nil {
		s.T.Fatal(err)
	}
	return o
}

// has reports whether a file exists. It fails the test if only its row or only its blob exists.
func (s *site) has(o files.Object) bool {
	s.T.Helper()
	_, err := findObject(s.T.Context(), s.db, o.Bucket, o.Name)
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		s.T.Fatal(err)
	}
	f, fileErr := s.blobs.Open(s.T.Context(), o.BlobID)
	if fileErr == nil {
		fileErr = f.Close()
	}
	if (err == nil) != (fileErr == nil) {
		s.T.Errorf("%s: row %v, file %v", o.Name, err, fileErr)
	}
	return err == nil
}

// referenced returns a function for RemoveUnreferenced that returns the given URLs.
func referenced(addresses ...string) func(context.Context) ([]string, error) {
	return func(context.Context) ([]string, error) { return addresses, nil }
}

// Proves A-up-orphans, F-change-orphans.
func TestRemoveUnreferenced(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		plain, hosted, accent, escapedTwice, lost := s.store("plain.png"), s.store("a/hosted.png"), s.store("ã b.png"), s.store("a%20b.png"), s.store("lost.png")
		shown := referenced(files.PublicPath+"product-images/plain.png", "https://site.example"+files.PublicPath+"product-images/a/hosted.png?width=3#x",
			files.PublicPath+"product-images/%C3%A3%20b.png", files.PublicPath+"product-images/a%2520b.png",
			// None of these URLs refers to lost.png.
			"", "%zz", "https://elsewhere.example/lost.png", files.PublicPath+"review-images/lost.png", files.PublicPath+"product-images/lost.png/x")

		s.Clock = s.Clock.Add(unreferencedAge)
		if n, err := s.RemoveUnreferenced(t.Context(), shown); n != 0 || err != nil {
			t.Errorf("after 48 hours to the second: removed %d, %v", n, err)
		}
		s.Clock = s.Clock.Add(time.Second)
		fresh := s.store("fresh.png")
		if n, err := s.RemoveUnreferenced(t.Context(), shown); n != 1 || err != nil {
			t.Errorf("removed %d, %v; want 1", n, err)
		}
		for o, want := range map[*files.Object]bool{&plain: true, &hosted: true, &accent: true, &escapedTwice: true, &lost: false, &fresh: true} {
			if s.has(*o) != want {
				t.Errorf("%s is there: %t, want %t", o.Name, !want, want)
			}
		}
		// The age of a replaced file counts from the replacement.
		s.store("plain.png")
		if n, err := s.RemoveUnreferenced(t.Context(), referenced()); n != 3 || err != nil {
			t.Errorf("removed %d, %v; want hosted, accent and twice", n, err)
		}
	})
}

func TestRemoveUnreferencedRemovesNothingIfTheURLsAreUnknown(t *testing.T) {
	s := newSite(t, dbtest.Open(t, db.SQLite))
	o := s.store("a.png")
	s.Clock = s.Clock.Add(100 * time.Hour)
	down := errors.New("down")
	if n, err := s.RemoveUnreferenced(t.Context(), func(context.Context) ([]string, error) { return nil, down }); n != 0 || !errors.Is(err, down) {
		t.Errorf("removed %d, %v", n, err)
	}
	if !s.has(o) {
		t.Error("the file is gone")
	}
}

func TestRemoveUnreferencedKeepsAFileThatIsReplacedMeanwhile(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.store("a.png")
		s.Clock = s.Clock.Add(100 * time.Hour)
		var replaced files.Object
		n, err := s.RemoveUnreferenced(t.Context(), func(context.Context) ([]string, error) {
			replaced = s.store("a.png")
			return nil, nil
		})
		if n != 0 || err != nil || !s.has(replaced) {
			t.Errorf("removed %d, %v: a file that was uploaded a moment ago", n, err)
		}
	})
}

// Proves A-up-still-life.
//
// TestStillIsKeptWithItsVideo matters because no row names a still. Without the still, pages show a black rectangle.
func TestStillIsKeptWithItsVideo(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		put := func(name string, content []byte) files.Object {
			o, err := s.Put(t.Context(), identity.Caller{Role: identity.Service}, "product-images", name, bytes.NewReader(content), -1, PutOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
		film, still := put("a.b.MOV", storagetest.ISO("qt  ", "qt  ")), put("a.b.still.jpg", storagetest.JPEG(2, 2))
		other := put("a.still.jpg", storagetest.JPEG(2, 2))
		s.Clock = s.Clock.Add(unreferencedAge + time.Second)
		if n, err := s.RemoveUnreferenced(t.Context(), referenced(files.PublicPath+"product-images/a.b.MOV")); n != 1 || err != nil || s.has(other) {
			t.Errorf("removed %d, %v; want only the still without a video", n, err)
		}
		if !s.has(film) || !s.has(still) {
			t.Error("the video or its still was removed while a row refers to the video")
		}
		if n, err := s.RemoveUnreferenced(t.Context(), referenced()); n != 2 || err != nil || s.has(film) || s.has(still) {
			t.Errorf("removed %d, %v; want both once no row shows the film", n, err)
		}
	})
}

func TestStillOf(t *testing.T) {
	for name, want := range map[string]string{"a.mp4": "a.still.jpg", "x/a.b.MOV": "x/a.b.still.jpg", "a.webm": "a.still.jpg", "a.jpg": "", "mp4": "", "a": "", "a.still.jpg": ""} {
		if got, ok := files.StillOf(name); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %t", name, got, ok)
		}
	}
}
