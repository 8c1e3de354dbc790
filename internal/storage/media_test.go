package storage

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/image/tiff"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/jobs"
	"atelie/internal/storage/rendition"
)

// studio is the program's own engine without the process around it; it counts what is made.
type studio struct {
	mu    sync.Mutex
	runs  int
	made  map[string]int
	fail  error
	begun chan struct{} // when set, a run tells that it has begun and waits
	goOn  chan struct{}
}

func (e *studio) Make(ctx context.Context, job rendition.Job) (rendition.Result, error) {
	if e.begun != nil {
		e.begun <- struct{}{}
		select {
		case <-e.goOn:
		case <-ctx.Done():
			return rendition.Result{}, ctx.Err()
		}
	}
	e.mu.Lock()
	e.runs++
	if e.made == nil {
		e.made = map[string]int{}
	}
	for _, o := range job.Orders {
		e.made[nameOf(o)]++
	}
	err := e.fail
	e.mu.Unlock()
	if err != nil {
		return rendition.Result{}, err
	}
	return rendition.Make(ctx, job, rendition.Limits{})
}

func (e *studio) Takes(mimeType string) bool { return mimeType != "image/heic" }
func (e *studio) AVIF() bool                 { return false }

// twice names what was made more than once.
func (e *studio) twice() (out []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for name, n := range e.made {
		if n > 1 {
			out = append(out, name)
		}
	}
	return out
}

// newStudio is newSite with an engine and a queue, whose jobs run when run is called.
func newStudio(t *testing.T, d *db.DB) (*site, *studio) {
	t.Helper()
	s := newSite(t, d)
	e := &studio{}
	s.cfg.Engine = e
	s.cfg.Scratch = t.TempDir()
	s.cfg.Jobs = jobs.New(d, []byte("a key for jobs, in tests"), slog.New(slog.DiscardHandler), time.Now)
	s.cfg.Jobs.HandleSlow(2, JobTime, jobs.Slow{Kind: JobPicture, Do: s.MakeLadder}, jobs.Slow{Kind: JobExtras, Do: s.MakeExtras})
	return s, e
}

// runJobs runs the queue until it is empty.
func (s *site) runJobs() {
	s.t.Helper()
	ctx, stop := context.WithCancel(s.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.cfg.Jobs.Run(ctx)
	}()
	defer func() {
		stop()
		<-done
	}()
	for deadline := time.Now().Add(time.Minute); ; {
		state, err := s.cfg.Jobs.State(s.t.Context(), "")
		if err != nil {
			s.t.Fatal(err)
		}
		if state.Waiting == 0 {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the queue does not get empty: %+v", state)
		}
		<-time.After(2 * time.Millisecond)
	}
}

// photo is a JPEG in colours that change across it.
func photo(w, h int) []byte {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetRGBA(x, y, color.RGBA{uint8(x * 255 / w), uint8(y * 255 / h), 90, 255})
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// withComment puts a comment into a JPEG, which the cleaned file has no more.
func withComment(file []byte, text string) []byte {
	segment := append([]byte{0xff, 0xfe, byte((len(text) + 2) >> 8), byte(len(text) + 2)}, text...)
	return slices.Concat(file[:2], segment, file[2:])
}

func (s *site) media(bucket, name string) (Object, *media) {
	s.t.Helper()
	o, m, err := findShown(s.t.Context(), s.db, bucket, name)
	if err != nil || m == nil {
		s.t.Fatalf("%s/%s: %v, %v", bucket, name, m, err)
	}
	return o, m
}

func (s *site) renditions(objectID string) (names []string) {
	s.t.Helper()
	rows, err := listMade(s.t.Context(), s.db, objectID)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, r := range rows {
		names = append(names, r.Name)
	}
	return names
}

func TestAnUploadGetsItsLadder(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		s, e := newStudio(t, d)
		up := s.upload("product-images/a.jpg", photo(700, 350))
		o, m := s.media("product-images", "a.jpg")
		if o.ID != up.ID || m.State != waiting || m.Facts.Width != 700 || m.Facts.Height != 350 || m.Original != nil {
			t.Fatalf("before: %+v", m)
		}
		s.runJobs()
		_, m = s.media("product-images", "a.jpg")
		if m.State != ready || m.Engine != "atelie" || len(m.Facts.Thumbhash) < 5 || !strings.HasPrefix(m.Facts.Color, "#") || m.Facts.Width != 700 {
			t.Errorf("after: %+v", m)
		}
		var want []string
		for _, w := range []int{128, 192, 256, 320, 400, 512, 640, 64, 700} { // as texts are sorted
			want = append(want, fmt.Sprintf("contain-%dx0-q0.webp", w))
		}
		want = append(want, "frame-1200x630-q0.jpeg")
		if got := s.renditions(o.ID); !slices.Equal(got, want) || e.runs != 1 {
			t.Errorf("%q in %d decodes", got, e.runs)
		}
		s.holdsFiles(1, 1+len(want))
		// Again: nothing is left to do.
		if err := s.makeSet(t.Context(), o.ID, o.BlobID); err != nil || e.runs != 1 {
			t.Errorf("%v, %d runs", err, e.runs)
		}
		// They move with it, go with what replaces it, and are collected with it.
		s.shift("admin", "move", `{"bucketId":"product-images","sourceKey":"a.jpg","destinationKey":"b.jpg","destinationBucket":"cover-images"}`)
		if _, m := s.media("cover-images", "b.jpg"); m.State != ready || len(s.renditions(m.ObjectID)) != len(want) {
			t.Errorf("moved: %+v", m)
		}
		s.upload("cover-images/b.jpg", photo(30, 20), "x-upsert", "true")
		if _, m := s.media("cover-images", "b.jpg"); m.State != waiting || m.ObjectID != up.ID || len(s.renditions(up.ID)) != 0 {
			t.Errorf("replaced: %+v", m)
		}
		s.holdsFiles(1, 1)
		s.runJobs()
		s.holdsFiles(1, 3) // 30 pixels wide, and the share picture
		if rec := s.call("admin", "DELETE", "/object/cover-images/b.jpg", nil); rec.Code != 200 {
			t.Error(rec.Body)
		}
		s.holds(0)
		if n := s.count("media") + s.count("media_renditions"); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}

func TestThePublicPictureIsClean(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStudio(t, d)
		plain := photo(40, 30)
		file := withComment(plain, "at home, 38.7 N 9.1 W")
		s.upload("product-images/a.jpg", file)
		o, m := s.media("product-images", "a.jpg")
		public := s.public("product-images/a.jpg")
		if strings.Contains(public, "at home") || m.Original == nil || o.Size != int64(len(public)) || m.Original.Size != int64(len(file)) {
			t.Fatalf("%d of %d bytes are public, %+v", len(public), len(file), m.Original)
		}
		rec := s.call("admin", "GET", "/object/authenticated/product-images/a.jpg?original", nil)
		if !bytes.Equal(rec.Body.Bytes(), file) || rec.Header().Get("Cache-Control") != "private, no-cache" || rec.Header().Get("ETag") != quoted(m.Original.ETag) {
			t.Errorf("original: %d, %d bytes, %v", rec.Code, rec.Body.Len(), rec.Header())
		}
		for _, who := range []string{"anon", "user"} {
			refused(t, s.call(who, "GET", "/object/authenticated/product-images/a.jpg?original", nil), "403", "Unauthorized")
			refused(t, s.call(who, "GET", "/object/product-images/a.jpg?original=1", nil), "403", "Unauthorized")
		}
		refused(t, s.call("nobody", "GET", "/object/public/product-images/a.jpg?original", nil), "403", "Unauthorized")
		refused(t, s.call("nobody", "GET", s.signedURL("admin", "product-images/a.jpg", `{"expiresIn":60}`)+"&original", nil), "403", "Unauthorized")
		// A copy within the site brings the original along; what goes into another bucket is what everybody sees.
		s.makeVault()
		s.shift("service", "copy", `{"bucketId":"product-images","sourceKey":"a.jpg","destinationKey":"b.jpg"}`)
		s.shift("service", "copy", `{"bucketId":"product-images","sourceKey":"a.jpg","destinationKey":"c.jpg","destinationBucket":"vault"}`)
		if _, m := s.media("product-images", "b.jpg"); m.Original == nil || m.Original.Size != int64(len(file)) {
			t.Errorf("copy: %+v", m)
		}
		if o, m := s.media("vault", "c.jpg"); m.Original != nil || o.Size != int64(len(public)) {
			t.Errorf("copy elsewhere: %+v %+v", o, m)
		}
		s.holdsFiles(3, 5)
		// In a bucket that is not the site's a program gets back what it stored.
		if rec := s.call("service", "POST", "/object/vault/d.jpg", bytes.NewReader(file)); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		if got := s.call("service", "GET", "/object/vault/d.jpg", nil); !bytes.Equal(got.Body.Bytes(), file) {
			t.Errorf("%d of %d bytes", got.Body.Len(), len(file))
		}
	})
}

// makeVault makes a bucket that is neither the site's nor public.
func (s *site) makeVault() {
	s.t.Helper()
	if rec := s.call("service", "POST", "/bucket", strings.NewReader(`{"id":"vault","name":"vault","public":false}`)); rec.Code != 200 {
		s.t.Fatal(rec.Body)
	}
}

func TestAPictureThatCannotBeReadHasFailed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, e := newStudio(t, d)
		file := photo(400, 300)
		e.fail = rendition.ErrUnreadable
		s.upload("product-images/a.jpg", file)
		s.runJobs()
		_, m := s.media("product-images", "a.jpg")
		if m.State != failed || m.Reason != rendition.ErrUnreadable.Code || e.runs != 1 {
			t.Errorf("%+v after %d runs", m, e.runs)
		}
		if e := refused(t, s.call("nobody", "GET", "/render/image/public/product-images/a.jpg?width=320", nil), "422", "InvalidRequest"); e.Message != rendition.ErrUnreadable.Message {
			t.Error(e.Message)
		}
		if e.runs != 1 {
			t.Error("tried again")
		}
		e.fail = nil
		s.upload("product-images/a.jpg", file, "x-upsert", "true")
		s.runJobs()
		if _, m := s.media("product-images", "a.jpg"); m.State != ready || m.Reason != "" {
			t.Errorf("%+v", m)
		}
	})
}

// What cannot be cleaned is shown as renditions alone, and what no engine reads is refused with a way out.
func TestPicturesWithoutACleaner(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStudio(t, d)
		var file bytes.Buffer
		if err := tiff.Encode(&file, picture(400, 300), nil); err != nil {
			t.Fatal(err)
		}
		s.upload("product-images/a.tif", file.Bytes())
		s.runJobs()
		if _, m := s.media("product-images", "a.tif"); m.State != ready || m.Facts.Width != 400 {
			t.Errorf("%+v", m)
		}
		if _, got := s.rendered("nobody", "public/product-images/a.tif?width=320"); got != "webp 320x240" {
			t.Error(got)
		}
		if _, got := s.rendered("nobody", "public/product-images/a.tif?width=320&format=origin"); got != "jpeg 320x240" {
			t.Error(got)
		}
		refused(t, s.call("nobody", "GET", "/object/public/product-images/a.tif", nil), "403", "Unauthorized")
		refused(t, s.call("user", "GET", "/object/authenticated/product-images/a.tif", nil), "403", "Unauthorized")
		for _, query := range []string{"", "?original"} {
			if rec := s.call("admin", "GET", "/object/authenticated/product-images/a.tif"+query, nil); !bytes.Equal(rec.Body.Bytes(), file.Bytes()) {
				t.Errorf("%q: %d %d bytes", query, rec.Code, rec.Body.Len())
			}
		}
		for _, c := range []struct {
			name, language, part string
			file                 []byte
		}{
			{"b.heic", "", "Most Compatible", isoFile("heic", "mif1")},
			{"b.heic", "pt-PT,pt;q=0.9", "Mais compatível", isoFile("heic", "mif1")},
			{"b.jpg", "", "damaged or not complete", photo(400, 300)[:200]},
			{"b.jpg", "pt-PT,pt;q=0.9", "danificada ou incompleta", photo(400, 300)[:200]},
		} {
			e := refused(t, s.call("admin", "POST", "/object/product-images/"+c.name, bytes.NewReader(c.file), "Accept-Language", c.language), "415", "invalid_mime_type")
			if !strings.Contains(e.Message, c.part) || e.Code != "InvalidMimeType" {
				t.Errorf("%q: %+v", c.language, e)
			}
		}
		s.holdsFiles(1, 9)
	})
}

func TestNoPictureMovesIntoTheSiteUncleaned(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStudio(t, d)
		s.makeVault()
		file := withComment(photo(40, 30), "at home")
		if rec := s.call("service", "POST", "/object/vault/a.jpg", bytes.NewReader(file)); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		const to = `{"bucketId":"vault","sourceKey":"a.jpg","destinationBucket":"product-images","destinationKey":"a.jpg"}`
		refused(t, s.shift("service", "move", to), "400", "FeatureNotEnabled")
		if rec := s.shift("service", "copy", to); rec.Code != 200 || strings.Contains(s.public("product-images/a.jpg"), "at home") {
			t.Errorf("%d, or not cleaned", rec.Code)
		}
	})
}
