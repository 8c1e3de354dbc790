package storage

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
)

func (s *site) store(name string) Object {
	s.t.Helper()
	o, err := s.Put(s.t.Context(), identity.Caller{Role: identity.Service}, "product-images", name, bytes.NewReader(pngFile(2, 2)), -1, PutOptions{Upsert: true})
	if err != nil {
		s.t.Fatal(err)
	}
	return o
}

func (s *site) has(o Object) bool {
	s.t.Helper()
	_, err := findObject(s.t.Context(), s.db, o.Bucket, o.Name)
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		s.t.Fatal(err)
	}
	f, fileErr := s.blobs.Open(s.t.Context(), o.BlobID)
	if fileErr == nil {
		fileErr = f.Close()
	}
	if (err == nil) != (fileErr == nil) {
		s.t.Errorf("%s: row %v, file %v", o.Name, err, fileErr)
	}
	return err == nil
}

func these(addresses ...string) func(context.Context) ([]string, error) {
	return func(context.Context) ([]string, error) { return addresses, nil }
}

func TestCollectUnreferenced(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		plain, hosted, accent, twice, lost := s.store("plain.png"), s.store("a/hosted.png"), s.store("ã b.png"), s.store("a%20b.png"), s.store("lost.png")
		shown := these(publicPath+"product-images/plain.png", "https://site.example"+publicPath+"product-images/a/hosted.png?width=3#x",
			publicPath+"product-images/%C3%A3%20b.png", publicPath+"product-images/a%2520b.png",
			// None of these names lost.png.
			"", "%zz", "https://elsewhere.example/lost.png", publicPath+"review-images/lost.png", publicPath+"product-images/lost.png/x")

		s.clock = s.clock.Add(unreferencedAge)
		if n, err := s.CollectUnreferenced(t.Context(), shown); n != 0 || err != nil {
			t.Errorf("after 48 hours to the second: removed %d, %v", n, err)
		}
		s.clock = s.clock.Add(time.Second)
		fresh := s.store("fresh.png")
		if n, err := s.CollectUnreferenced(t.Context(), shown); n != 1 || err != nil {
			t.Errorf("removed %d, %v; want 1", n, err)
		}
		for o, want := range map[*Object]bool{&plain: true, &hosted: true, &accent: true, &twice: true, &lost: false, &fresh: true} {
			if s.has(*o) != want {
				t.Errorf("%s is there: %t, want %t", o.Name, !want, want)
			}
		}
		// A file that was replaced counts from then on.
		s.store("plain.png")
		if n, err := s.CollectUnreferenced(t.Context(), these()); n != 3 || err != nil {
			t.Errorf("removed %d, %v; want hosted, accent and twice", n, err)
		}
	})
}

func TestCollectUnreferencedKeepsAllWhenTheAddressesAreUnknown(t *testing.T) {
	s := newSite(t, dbtest.Open(t, db.SQLite))
	o := s.store("a.png")
	s.clock = s.clock.Add(100 * time.Hour)
	down := errors.New("down")
	if n, err := s.CollectUnreferenced(t.Context(), func(context.Context) ([]string, error) { return nil, down }); n != 0 || !errors.Is(err, down) {
		t.Errorf("removed %d, %v", n, err)
	}
	if !s.has(o) {
		t.Error("the file is gone")
	}
}

func TestCollectUnreferencedSparesWhatIsReplacedMeanwhile(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.store("a.png")
		s.clock = s.clock.Add(100 * time.Hour)
		var replaced Object
		n, err := s.CollectUnreferenced(t.Context(), func(context.Context) ([]string, error) {
			replaced = s.store("a.png")
			return nil, nil
		})
		if n != 0 || err != nil || !s.has(replaced) {
			t.Errorf("removed %d, %v: a file that was uploaded a moment ago", n, err)
		}
	})
}

// TestAStillStaysAsLongAsItsFilm matters: no row names a still, and without it the page shows a black rectangle.
func TestAStillStaysAsLongAsItsFilm(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		put := func(name string, content []byte) Object {
			o, err := s.Put(t.Context(), identity.Caller{Role: identity.Service}, "product-images", name, bytes.NewReader(content), -1, PutOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
		film, still := put("a.b.MOV", isoFile("qt  ", "qt  ")), put("a.b.still.jpg", jpegFile(2, 2))
		other := put("a.still.jpg", jpegFile(2, 2))
		s.clock = s.clock.Add(unreferencedAge + time.Second)
		if n, err := s.CollectUnreferenced(t.Context(), these(publicPath+"product-images/a.b.MOV")); n != 1 || err != nil || s.has(other) {
			t.Errorf("removed %d, %v; want the still of no film alone", n, err)
		}
		if !s.has(film) || !s.has(still) {
			t.Error("the film or its still is gone while a row shows the film")
		}
		if n, err := s.CollectUnreferenced(t.Context(), these()); n != 2 || err != nil || s.has(film) || s.has(still) {
			t.Errorf("removed %d, %v; want both once no row shows the film", n, err)
		}
	})
}

func TestStillOf(t *testing.T) {
	for name, want := range map[string]string{"a.mp4": "a.still.jpg", "x/a.b.MOV": "x/a.b.still.jpg", "a.webm": "a.still.jpg", "a.jpg": "", "mp4": "", "a": "", "a.still.jpg": ""} {
		if got, ok := stillOf(name); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %t", name, got, ok)
		}
	}
}
