package media

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/image/tiff"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/files"
	"atelie/internal/jobs"
	"atelie/internal/media/rendition"
	"atelie/internal/storage/storagetest"
)

// fakeEngine runs the program's own engine within the test's process, instead of in a worker process. It counts the renditions that it makes.
type fakeEngine struct {
	mu    sync.Mutex
	runs  int            // calls of Make
	made  map[string]int // how often each rendition was made, by name
	fail  error          // if not nil, Make returns it
	begun chan struct{}  // if not nil, each run sends a value when it begins, and waits for goOn
	goOn  chan struct{}
}

func (e *fakeEngine) Make(ctx context.Context, job rendition.Job) (rendition.Result, error) {
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

func (e *fakeEngine) CanDecode(mimeType string) bool { return mimeType != "image/heic" }
func (e *fakeEngine) AVIF() bool                     { return false }

// twice returns the names of renditions that were made more than once.
func (e *fakeEngine) twice() (out []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for name, n := range e.made {
		if n > 1 {
			out = append(out, name)
		}
	}
	return out
}

// newEngineSite is newSite with an engine and a queue, whose jobs run when run is called.
func newEngineSite(t *testing.T, d *db.DB) (*site, *fakeEngine) {
	t.Helper()
	s := newSite(t, d)
	return s, s.startEngine()
}

func (s *site) startEngine() *fakeEngine {
	e := &fakeEngine{}
	s.cfg.Engine = e
	s.cfg.Scratch = s.T.TempDir()
	s.cfg.Jobs = jobs.New(s.DB, []byte("a key for jobs, in tests"), nil, slog.New(slog.DiscardHandler), time.Now)
	s.cfg.Jobs.HandlePool(2, JobTimeout, map[string]jobs.Handler{JobFirst: s.MakeFirst})
	s.cfg.Jobs.HandlePool(2, JobTimeout, map[string]jobs.Handler{JobPicture: s.MakeLadder}, map[string]jobs.Handler{JobExtras: s.MakeExtras}, map[string]jobs.Handler{JobAVIF: s.MakeAVIF})
	s.T.Cleanup(s.Close)
	return e
}

// runJobs runs the queue until it is empty.
func (s *site) runJobs() {
	s.T.Helper()
	ctx, stop := context.WithCancel(s.T.Context())
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
		state, err := s.cfg.Jobs.State(s.T.Context(), "")
		if err != nil {
			s.T.Fatal(err)
		}
		if state.Waiting == 0 {
			return
		}
		if time.Now().After(deadline) {
			s.T.Fatalf("the queue does not get empty: %+v", state)
		}
		<-time.After(2 * time.Millisecond)
	}
}

func (s *site) media(bucket, name string) (files.Object, *media) {
	s.T.Helper()
	o, m, err := findMediaObject(s.T.Context(), s.db, bucket, name)
	if err != nil || m == nil {
		s.T.Fatalf("%s/%s: %v, %v", bucket, name, m, err)
	}
	return o, m
}

func (s *site) renditions(objectID string) (names []string) {
	s.T.Helper()
	rows, err := listRenditions(s.T.Context(), s.db, objectID)
	if err != nil {
		s.T.Fatal(err)
	}
	for _, r := range rows {
		names = append(names, r.Name)
	}
	return names
}

// Proves F-render-ladder.
func TestJobsMakeTheLadderOfAnUpload(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s, e := newEngineSite(t, d)
		up := s.UploadFile("product-images/a.jpg", storagetest.Photo(700, 350))
		o, m := s.media("product-images", "a.jpg")
		if o.ID != up.ID || m.State != stateWaiting || m.Facts.Width != 700 || m.Facts.Height != 350 || m.Original != nil {
			t.Fatalf("before: %+v", m)
		}
		s.runJobs()
		_, m = s.media("product-images", "a.jpg")
		if m.State != stateReady || m.Engine != "atelie" || len(m.Facts.Thumbhash) < 5 || !strings.HasPrefix(m.Facts.Color, "#") || m.Facts.Width != 700 {
			t.Errorf("after: %+v", m)
		}
		var want []string
		for _, w := range []int{128, 192, 256, 320, 400, 512, 640, 64, 700} { // in the order of their names
			want = append(want, fmt.Sprintf("contain-%dx0-q0.webp", w))
		}
		want = append(want, "frame-1200x630-q0.jpeg")
		if got := s.renditions(o.ID); !slices.Equal(got, want) || e.runs != 2 || len(e.twice()) > 0 {
			t.Errorf("%q in %d decodes", got, e.runs)
		}
		s.HoldsFiles(1, 1+len(want))
		// A second run makes nothing.
		if err := s.makeStages(t.Context(), o.ID, o.BlobID, stageCount-1); err != nil || e.runs != 2 {
			t.Errorf("%v, %d runs", err, e.runs)
		}
		// Renditions move with their object, are deleted when it is replaced, and are collected with it.
		s.Change("admin", "move", `{"bucketId":"product-images","sourceKey":"a.jpg","destinationKey":"b.jpg","destinationBucket":"cover-images"}`)
		if _, m := s.media("cover-images", "b.jpg"); m.State != stateReady || len(s.renditions(m.ObjectID)) != len(want) {
			t.Errorf("moved: %+v", m)
		}
		s.UploadFile("cover-images/b.jpg", storagetest.Photo(30, 20), "x-upsert", "true")
		if _, m := s.media("cover-images", "b.jpg"); m.State != stateWaiting || m.ObjectID != up.ID || len(s.renditions(up.ID)) != 0 {
			t.Errorf("replaced: %+v", m)
		}
		s.HoldsFiles(1, 1)
		s.runJobs()
		s.HoldsFiles(1, 3) // 30 pixels wide, and the share picture
		if rec := s.Call("admin", "DELETE", "/object/cover-images/b.jpg", nil); rec.Code != 200 {
			t.Error(rec.Body)
		}
		s.Holds(0)
		if n := s.Count("media") + s.Count("media_renditions"); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}

// Proves F-render-preview.
func TestEmbeddedPreviewBecomesThePlaceholder(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s, e := newEngineSite(t, d)
		s.UploadFile("product-images/a.jpg", storagetest.WithPreview(storagetest.Photo(300, 600), 6, storagetest.Photo(160, 160)))
		_, before := s.media("product-images", "a.jpg")
		if before.State != stateWaiting || before.Facts.Width != 600 || len(before.Facts.Thumbhash) < 5 || len(before.Facts.Color) != 7 || e.runs != 0 {
			t.Fatalf("before the jobs: %+v, %d runs", before, e.runs)
		}
		s.runJobs()
		_, after := s.media("product-images", "a.jpg")
		if after.State != stateReady || !after.isDecoded() || bytes.Equal(after.Facts.Thumbhash, before.Facts.Thumbhash) {
			t.Errorf("after the jobs: %+v, and the placeholder was %x", after, before.Facts.Thumbhash)
		}
		// Unusable previews: damaged, too large, truncated.
		photo := storagetest.Photo(160, 120)
		for i, preview := range [][]byte{[]byte("a"), storagetest.Photo(600, 20), photo[:len(photo)/2]} {
			name := fmt.Sprintf("product-images/%d.jpg", i)
			s.UploadFile(name, storagetest.WithPreview(storagetest.Photo(300, 600), 1, preview))
			if _, m := s.media("product-images", fmt.Sprintf("%d.jpg", i)); m.State != stateWaiting || m.Facts.Thumbhash != nil || m.Facts.Color != "" {
				t.Errorf("%s: %+v", name, m)
			}
		}
	})
}

// Proves F-clean-public, F-clean-copy.
func TestPublicPictureHasNoPrivateMetadata(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newEngineSite(t, d)
		plain := storagetest.Photo(40, 30)
		file := storagetest.WithComment(plain, "at home, 38.7 N 9.1 W")
		s.UploadFile("product-images/a.jpg", file)
		o, m := s.media("product-images", "a.jpg")
		public := s.PublicFile("product-images/a.jpg")
		if strings.Contains(public, "at home") || m.Original == nil || o.Size != int64(len(public)) || m.Original.Size != int64(len(file)) {
			t.Fatalf("%d of %d bytes are public, %+v", len(public), len(file), m.Original)
		}
		rec := s.Call("admin", "GET", "/object/authenticated/product-images/a.jpg?original", nil)
		if !bytes.Equal(rec.Body.Bytes(), file) || rec.Header().Get("Cache-Control") != "no-store" || rec.Header().Get("ETag") != files.Quote(m.Original.ETag) {
			t.Errorf("original: %d, %d bytes, %v", rec.Code, rec.Body.Len(), rec.Header())
		}
		for _, who := range []string{"anon", "user"} {
			storagetest.Refused(t, s.Call(who, "GET", "/object/authenticated/product-images/a.jpg?original", nil), "403", "Unauthorized")
			storagetest.Refused(t, s.Call(who, "GET", "/object/product-images/a.jpg?original=1", nil), "403", "Unauthorized")
		}
		storagetest.Refused(t, s.Call("nobody", "GET", "/object/public/product-images/a.jpg?original", nil), "403", "Unauthorized")
		storagetest.Refused(t, s.Call("nobody", "GET", s.SignedURL("admin", "product-images/a.jpg", `{"expiresIn":60}`)+"&original", nil), "403", "Unauthorized")
		// A copy within the site's buckets includes the original. A copy into another bucket is the public file.
		s.makeVault()
		s.Change("service", "copy", `{"bucketId":"product-images","sourceKey":"a.jpg","destinationKey":"b.jpg"}`)
		s.Change("service", "copy", `{"bucketId":"product-images","sourceKey":"a.jpg","destinationKey":"c.jpg","destinationBucket":"vault"}`)
		if _, m := s.media("product-images", "b.jpg"); m.Original == nil || m.Original.Size != int64(len(file)) {
			t.Errorf("copy: %+v", m)
		}
		if o, m := s.media("vault", "c.jpg"); m.Original != nil || o.Size != int64(len(public)) {
			t.Errorf("copy elsewhere: %+v %+v", o, m)
		}
		s.HoldsFiles(3, 5)
		// A file in a bucket that is not the site's is returned byte for byte.
		if rec := s.Call("service", "POST", "/object/vault/d.jpg", bytes.NewReader(file)); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		if got := s.Call("service", "GET", "/object/vault/d.jpg", nil); !bytes.Equal(got.Body.Bytes(), file) {
			t.Errorf("%d of %d bytes", got.Body.Len(), len(file))
		}
	})
}

// makeVault creates a private bucket that is not one of the site's.
func (s *site) makeVault() {
	s.T.Helper()
	if rec := s.Call("service", "POST", "/bucket", strings.NewReader(`{"id":"vault","name":"vault","public":false}`)); rec.Code != 200 {
		s.T.Fatal(rec.Body)
	}
}

// Proves F-render-failed.
func TestUndecodablePictureIsMarkedAsFailed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, e := newEngineSite(t, d)
		file := storagetest.Photo(400, 300)
		e.fail = rendition.ErrUnreadable
		s.UploadFile("product-images/a.jpg", file)
		s.runJobs()
		_, m := s.media("product-images", "a.jpg")
		if m.State != stateFailed || m.Reason != rendition.ErrUnreadable.Code || e.runs != 1 {
			t.Errorf("%+v after %d runs", m, e.runs)
		}
		if e := storagetest.Refused(t, s.Call("nobody", "GET", "/render/image/public/product-images/a.jpg?width=320", nil), "422", "InvalidRequest"); e.Message != rendition.ErrUnreadable.Message {
			t.Error(e.Message)
		}
		if e.runs != 1 {
			t.Error("tried again")
		}
		e.fail = nil
		s.UploadFile("product-images/a.jpg", file, "x-upsert", "true")
		s.runJobs()
		if _, m := s.media("product-images", "a.jpg"); m.State != stateReady || m.Reason != "" {
			t.Errorf("%+v", m)
		}
	})
}

// Proves F-clean-hidden.
//
// A picture whose metadata cannot be removed is served as renditions only. A picture that no engine decodes is refused with an explanation.
func TestTypesWhoseMetadataCannotBeRemoved(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newEngineSite(t, d)
		var file bytes.Buffer
		if err := tiff.Encode(&file, storagetest.Picture(400, 300), nil); err != nil {
			t.Fatal(err)
		}
		s.UploadFile("product-images/a.tif", file.Bytes())
		s.runJobs()
		if _, m := s.media("product-images", "a.tif"); m.State != stateReady || m.Facts.Width != 400 {
			t.Errorf("%+v", m)
		}
		if _, got := s.rendered("nobody", "public/product-images/a.tif?width=320"); got != "webp 320x240" {
			t.Error(got)
		}
		if _, got := s.rendered("nobody", "public/product-images/a.tif?width=320&format=origin"); got != "png 320x240" {
			t.Error(got)
		}
		storagetest.Refused(t, s.Call("nobody", "GET", "/object/public/product-images/a.tif", nil), "403", "Unauthorized")
		storagetest.Refused(t, s.Call("user", "GET", "/object/authenticated/product-images/a.tif", nil), "403", "Unauthorized")
		for _, query := range []string{"", "?original"} {
			if rec := s.Call("admin", "GET", "/object/authenticated/product-images/a.tif"+query, nil); !bytes.Equal(rec.Body.Bytes(), file.Bytes()) {
				t.Errorf("%q: %d %d bytes", query, rec.Code, rec.Body.Len())
			}
		}
		for _, c := range []struct {
			name, language, part string
			file                 []byte
		}{
			{"b.heic", "", "Most Compatible", storagetest.ISO("heic", "mif1")},
			{"b.heic", "pt-PT,pt;q=0.9", "Mais compatível", storagetest.ISO("heic", "mif1")},
			{"b.jpg", "", "damaged or not complete", storagetest.Photo(400, 300)[:200]},
			{"b.jpg", "pt-PT,pt;q=0.9", "danificada ou incompleta", storagetest.Photo(400, 300)[:200]},
		} {
			e := storagetest.Refused(t, s.Call("admin", "POST", "/object/product-images/"+c.name, bytes.NewReader(c.file), "Accept-Language", c.language), "415", "invalid_mime_type")
			if !strings.Contains(e.Message, c.part) || e.Code != "InvalidMimeType" {
				t.Errorf("%q: %+v", c.language, e)
			}
		}
		s.HoldsFiles(1, 9)
	})
}

// Proves F-clean-copy.
func TestPicturesCannotBeMovedIntoSiteBuckets(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newEngineSite(t, d)
		s.makeVault()
		file := storagetest.WithComment(storagetest.Photo(40, 30), "at home")
		if rec := s.Call("service", "POST", "/object/vault/a.jpg", bytes.NewReader(file)); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		const to = `{"bucketId":"vault","sourceKey":"a.jpg","destinationBucket":"product-images","destinationKey":"a.jpg"}`
		storagetest.Refused(t, s.Change("service", "move", to), "400", "FeatureNotEnabled")
		if rec := s.Change("service", "copy", to); rec.Code != 200 || strings.Contains(s.PublicFile("product-images/a.jpg"), "at home") {
			t.Errorf("%d, or not cleaned", rec.Code)
		}
	})
}

// Proves F-render-failed.
//
// The server stops during the last try of a job. The queue runs the job again after the next start, so the picture has not failed.
func TestStopDuringTheLastTryDoesNotFailThePicture(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, e := newEngineSite(t, d)
		e.begun, e.goOn = make(chan struct{}, 1), make(chan struct{})
		s.UploadFile("product-images/a.jpg", storagetest.Photo(400, 300))
		const lastTry = 10
		if _, err := d.Exec(t.Context(), "update jobs set tries = $1", lastTry-1); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.cfg.Jobs.Run(ctx)
		}()
		<-e.begun
		stop()
		<-done
		if _, m := s.media("product-images", "a.jpg"); m.State != stateWaiting {
			t.Errorf("after the stop: %+v", m)
		}
		e.begun = nil
		s.runJobs()
		if _, m := s.media("product-images", "a.jpg"); m.State != stateReady {
			t.Errorf("after the next start: %+v", m)
		}
	})
}
