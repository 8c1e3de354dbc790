package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/storage/blob"
	"atelie/internal/storage/blob/blobtest"
	"atelie/internal/storage/storagetest"
)

// Proves F-download-outage.
//
// TestStoreOutage checks that requests that need the S3 server get 503 while it is down, that other requests work, and that everything works
// again afterwards.
func TestStoreOutage(t *testing.T) {
	server, err := blobtest.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Remove(); err != nil {
			t.Error(err)
		}
	})
	content := storagetest.PNG(5, 5)
	for i, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			cfg := server.Config(fmt.Sprintf("files%d", i))
			cfg.Create = true
			blobs, err := blob.NewS3(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			s := (&site{Site: storagetest.NewWithStore(t, dbtest.Open(t, dialect), blobs)}).wire()
			for _, name := range []string{"kept.png", "removed.png"} {
				s.UploadFile("product-images/"+name, content)
			}
			signed := s.SignedURL("admin", "product-images/kept.png", `{"expiresIn":60}`)
			if err := server.Kill(); err != nil {
				t.Fatal(err)
			}
			newRequest := func(who, method, address, body string, headers ...string) func() *httptest.ResponseRecorder {
				return func() *httptest.ResponseRecorder {
					return s.Call(who, method, address, strings.NewReader(body), headers...)
				}
			}
			var requests sync.WaitGroup // concurrent, because each request fails only after several tries
			for name, c := range map[string]struct {
				send   func() *httptest.ResponseRecorder
				status int
			}{
				"upload":   {newRequest("admin", "POST", "/object/product-images/new.png", string(content)), 503},
				"replace":  {newRequest("admin", "PUT", "/object/product-images/kept.png", string(content)), 503},
				"download": {newRequest("admin", "GET", "/object/product-images/kept.png", ""), 503},
				"public":   {newRequest("nobody", "GET", "/object/public/product-images/kept.png", ""), 503},
				"range":    {newRequest("nobody", "GET", "/object/public/product-images/kept.png", "", "Range", "bytes=3-9"), 503},
				"signed":   {newRequest("nobody", "GET", signed, ""), 503},
				"copy":     {newRequest("admin", "POST", "/object/copy", `{"bucketId":"product-images","sourceKey":"kept.png","destinationKey":"copy.png"}`), 503},
				"list":     {newRequest("admin", "POST", "/object/list/product-images", `{"prefix":""}`), 200},
				"remove":   {newRequest("admin", "DELETE", "/object/product-images", `{"prefixes":["removed.png"]}`), 200},
			} {
				requests.Go(func() {
					rec := c.send()
					var e struct{ StatusCode, Error, Message string }
					if rec.Code != c.status {
						t.Errorf("%s: %d %s", name, rec.Code, rec.Body)
					} else if c.status == 503 && (json.Unmarshal(rec.Body.Bytes(), &e) != nil || e.StatusCode != "503" || e.Error == "" || e.Message == "" || strings.Contains(rec.Body.String(), "127.0.0.1")) {
						t.Errorf("%s: %s", name, rec.Body)
					}
				})
			}
			requests.Wait()
			if err := server.Run(context.WithoutCancel(t.Context())); err != nil {
				t.Fatal(err)
			}
			if rec := s.Call("nobody", "GET", "/object/public/product-images/kept.png", nil); rec.Code != 200 || !bytes.Equal(rec.Body.Bytes(), content) {
				t.Errorf("after its return: %d", rec.Code)
			}
			s.UploadFile("product-images/new.png", content)
			storagetest.Refused(t, s.Call("nobody", "GET", "/object/public/product-images/removed.png", nil), "404", "not_found")
			storagetest.Refused(t, s.Call("nobody", "GET", "/object/public/product-images/copy.png", nil), "404", "not_found")
		})
	}
}

// Proves F-download-middle.
//
// TestRangeOfARemovedObjectIsCompleted checks that a client that reads a range gets the old bytes up to its end if the object is removed or
// replaced meanwhile.
func TestRangeOfARemovedObjectIsCompleted(t *testing.T) {
	old, other := storagetest.NoisyFilm(maxUpload-1000, 1), storagetest.NoisyFilm(maxUpload-1000, 2)
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		server := httptest.NewServer(s.HTTP)
		defer server.Close()
		for name, change := range map[string]func() *httptest.ResponseRecorder{
			"removed.mp4": func() *httptest.ResponseRecorder {
				return s.Call("admin", "DELETE", "/object/product-images/removed.mp4", nil)
			},
			"replaced.mp4": func() *httptest.ResponseRecorder {
				return s.Call("admin", "PUT", "/object/product-images/replaced.mp4", bytes.NewReader(other))
			},
		} {
			s.UploadFile("product-images/"+name, old)
			response := s.fetchRange(server.URL, name, 1000)
			if response.StatusCode != http.StatusPartialContent {
				t.Fatalf("%s: %d", name, response.StatusCode)
			}
			got := make([]byte, 64<<10)
			if _, err := io.ReadFull(response.Body, got); err != nil {
				t.Fatal(err)
			}
			if rec := change(); rec.Code != 200 {
				t.Fatalf("%s: %d %s", name, rec.Code, rec.Body)
			}
			if err := s.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(response.Body)
			if err = errors.Join(err, response.Body.Close()); err != nil || !bytes.Equal(append(got, rest...), old[1000:]) {
				t.Errorf("%s: %d bytes of %d, %v", name, len(got)+len(rest), len(old)-1000, err)
			}
		}
	})
}

func (s *site) fetchRange(base, name string, from int) *http.Response {
	s.T.Helper()
	r, err := http.NewRequestWithContext(s.T.Context(), http.MethodGet, base+"/storage/v1/object/public/product-images/"+name, nil)
	if err != nil {
		s.T.Fatal(err)
	}
	r.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.T.Fatal(err)
	}
	return response
}

// vanishing is a store whose blobs disappear after a few bytes, as on S3 if a connection breaks after the removal.
type vanishing struct{ blob.Store }

func (v vanishing) Open(ctx context.Context, id string) (io.ReadSeekCloser, error) {
	f, err := v.Store.Open(ctx, id)
	return &vanishingReader{f, 1 << 20}, err
}

type vanishingReader struct {
	io.ReadSeekCloser
	left int
}

func (r *vanishingReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, blob.ErrUnavailable.Because(fs.ErrNotExist)
	}
	n, err := r.ReadSeekCloser.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}

// Proves F-download-middle.
//
// TestInterruptedRangeIsCut checks that the client gets correct bytes and then an error, because the rest is missing.
func TestInterruptedRangeIsCut(t *testing.T) {
	content := storagetest.NoisyFilm(maxUpload-1000, 3)
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		disk, err := blob.NewDisk(t.TempDir(), blob.Unbounded)
		if err != nil {
			t.Fatal(err)
		}
		s := (&site{Site: storagetest.NewWithStore(t, d, vanishing{disk})}).wire()
		server := httptest.NewServer(s.HTTP)
		defer server.Close()
		s.UploadFile("product-images/a.mp4", content)
		response := s.fetchRange(server.URL, "a.mp4", 100)
		defer func() { _ = response.Body.Close() }()
		got, err := io.ReadAll(response.Body)
		if response.StatusCode != http.StatusPartialContent || !errors.Is(err, io.ErrUnexpectedEOF) || len(got) == 0 || !bytes.HasPrefix(content[100:], got) {
			t.Errorf("%d, %d bytes, %v", response.StatusCode, len(got), err)
		}
	})
}
