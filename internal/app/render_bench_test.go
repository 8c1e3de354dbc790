package app

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/jpeg"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/storage"
)

// BenchmarkCachedRendition measures requests for a cached rendition through the whole program with its log, and a handler that only
// writes the same bytes.
func BenchmarkCachedRendition(b *testing.B) {
	a := newApp(b, db.SQLite)
	log, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = log.Close() })
	a.log = slog.New(slog.NewJSONHandler(log, nil))
	_, err = a.Storage.Put(b.Context(), identity.Caller{Role: identity.Service}, "product-images", "a.jpg", bytes.NewReader(noisyJPEG(1600, 1200, 50)), -1, storage.PutOptions{})
	if err != nil {
		b.Fatal(err)
	}
	const original = "/storage/v1/object/public/product-images/a.jpg"
	descriptions, err := a.Media.Describe(b.Context(), []string{original}, false)
	if err != nil {
		b.Fatal(err)
	}
	var d struct{ V string }
	if err := json.Unmarshal(descriptions[original], &d); err != nil {
		b.Fatal(err)
	}
	versioned := strings.Replace(original, "/object/", "/render/image/", 1) + "?width=640&format=webp&v=" + d.V
	unversioned, _, _ := strings.Cut(versioned, "&v=")
	rec := sendRequest(a, "GET", unversioned, "") // without a version, a request waits until the rendition is made
	if rec.Code != http.StatusOK {
		b.Fatal(rec.Body)
	}
	body := rec.Body.Bytes()
	b.Logf("%d bytes", len(body))
	b.Run("plain", func(b *testing.B) { load(b, a.Handler(), unversioned) })
	b.Run("versioned", func(b *testing.B) { load(b, a.Handler(), versioned) })
	b.Run("handler", func(b *testing.B) {
		load(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/webp")
			_, _ = w.Write(body) // an error means that the client has gone
		}), versioned)
	})
}

// noisyJPEG returns a JPEG with noise. With the level 20 its renditions have about as many bytes as those of paintings, with a higher level
// more.
func noisyJPEG(w, h, level int) []byte {
	img := image.NewGray(image.Rect(0, 0, w, h))
	noise := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = uint8(i%w*200/w + noise.IntN(level))
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, img, nil); err != nil {
		panic(err)
	}
	return file.Bytes()
}

func load(b *testing.B, h http.Handler, versioned string) {
	server := httptest.NewServer(h)
	defer server.Close()
	b.RunParallel(func(pb *testing.PB) {
		client := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{}).DialContext}}
		for pb.Next() {
			r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, server.URL+versioned, nil)
			if err != nil {
				b.Error(err)
				return
			}
			resp, err := client.Do(r)
			if err != nil {
				b.Error(err)
				return
			}
			n, err := io.Copy(io.Discard, resp.Body)
			if err != nil || n < 1000 {
				b.Error(n, err)
			}
			_ = resp.Body.Close()
		}
		client.CloseIdleConnections()
	})
}
