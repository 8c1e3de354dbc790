package blob

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"atelie/internal/s3client"
	"atelie/internal/storage/blob/blobtest"
)

// Proves H-backup-stalls.
func TestStalledDownloadContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests []string
		cfg := s3client.Config{Endpoint: "http://s3.example", Region: "us-east-1", KeyID: "k", Secret: "s", PathStyle: true}
		s := &S3{bucket: "b", client: s3client.NewOver(cfg, blobtest.Pipes(t, func(w http.ResponseWriter, r *http.Request) {
			requests = append(requests, r.Header.Get("Range")+" "+r.Header.Get("If-Match"))
			w.Header().Set("ETag", `"one"`)
			if len(requests) == 1 {
				w.Header().Set("Content-Length", "10")
				blobtest.Stall(w, r, "0123")
				return
			}
			w.Header().Set("Content-Length", "6")
			w.WriteHeader(http.StatusPartialContent)
			if _, err := io.WriteString(w, "456789"); err != nil {
				t.Error(err)
			}
		}))}
		began := time.Now()
		f, err := s.Open(t.Context(), uuid.NewString())
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		if err != nil || string(got) != "0123456789" || time.Since(began) != 30*time.Second {
			t.Errorf("%q after %s, %v", got, time.Since(began), err)
		}
		if len(requests) != 2 || requests[1] != `bytes=4- "one"` {
			t.Errorf("requested %q", requests)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}
