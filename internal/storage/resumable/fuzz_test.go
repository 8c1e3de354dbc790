package resumable

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
	"atelie/internal/media"
	"atelie/internal/storage"
	"atelie/internal/storage/blob"
)

// FuzzCreation checks that a request with any metadata and length either creates an upload or is refused, and never causes
// an error of the server (500).
func FuzzCreation(f *testing.F) {
	d := dbtest.Open(f, db.SQLite)
	blobs, err := blob.NewDisk(f.TempDir(), blob.Unbounded)
	if err != nil {
		f.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	stored := storage.NewBlobs(d, blobs, storage.NoRecorder, log, time.Now)
	uploads := storage.New(d, stored, media.New(d, stored, media.Config{}, log, time.Now), storage.Config{MaxUpload: maxUpload}, time.Now)
	if err := uploads.EnsureBuckets(f.Context()); err != nil {
		f.Fatal(err)
	}
	s, err := New(d, uploads, "https://api.example", maxUpload, time.Hour, log, time.Now)
	if err != nil {
		f.Fatal(err)
	}
	create := func(w http.ResponseWriter, r *http.Request) {
		if err := s.Create(w, r); err != nil {
			f.Error(err)
		}
	}
	f.Add("70", metadata("bucketName", "product-images", "objectName", "a.png", "contentType", "image/png"), "")
	f.Add("70", metadata("bucketName", "product-images", "objectName", "../a.png", "metadata", `{"a":1}`, "cacheControl", "x"), "noise")
	f.Add("-1", "bucketName", "\x89PNG\r\n\x1a\n")
	f.Add("9223372036854775808", "a !!!,,b  c", "")
	f.Add("0", metadata("bucketName", "product-images", "objectName", "a.png", "metadata", "[]"), "")
	f.Fuzz(func(t *testing.T, length, meta, body string) {
		r := httptest.NewRequestWithContext(identity.With(t.Context(), identity.Caller{Role: identity.Service}), http.MethodPost, Path, strings.NewReader(body))
		r.Header.Set("Tus-Resumable", "1.0.0")
		r.Header.Set("Upload-Length", length)
		r.Header.Set("Upload-Metadata", meta)
		if body != "" {
			r.Header.Set("Content-Type", "application/offset+octet-stream")
		}
		w := httptest.NewRecorder()
		create(w, r)
		text, err := io.ReadAll(w.Body)
		if err != nil || w.Code >= 500 || (w.Code >= 400 && len(text) == 0) {
			t.Fatalf("%q of %q: %d %s", meta, length, w.Code, text)
		}
		if w.Code != http.StatusCreated {
			return
		}
		size, err := strconv.ParseInt(length, 10, 64)
		if err != nil || size < 0 || size > maxUpload || !strings.HasPrefix(w.Header().Get("Location"), "https://api.example"+Path+"/") {
			t.Errorf("%q of %q is at %q", meta, length, w.Header().Get("Location"))
		}
	})
}
