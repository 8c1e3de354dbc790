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
	_, err = a.Storage.Put(b.Context(), identity.Caller{Role: identity.Service}, "product-images", "a.jpg", bytes.NewReader(busy(1600, 1200, 50)), -1, storage.PutOptions{})
	if err != nil {
		b.Fatal(err)
	}
	const at = "/storage/v1/object/public/product-images/a.jpg"
	known, err := a.Media.Describe(b.Context(), []string{at}, false)
	if err != nil {
		b.Fatal(err)
	}
	var d struct{ V string }
	if err := json.Unmarshal(known[at], &d); err != nil {
		b.Fatal(err)
	}
	address := strings.Replace(at, "/object/", "/render/image/", 1) + "?width=640&format=webp&v=" + d.V
	plain, _, _ := strings.Cut(address, "&v=")
	rec := sendRequest(a, "GET", plain, "") // without a version, a request waits until the rendition is made
	if rec.Code != http.StatusOK {
		b.Fatal(rec.Body)
	}
	body := rec.Body.Bytes()
	b.Logf("%d bytes", len(body))
	b.Run("plain", func(b *testing.B) { load(b, a.Handler(), plain) })
	b.Run("versioned", func(b *testing.B) { load(b, a.Handler(), address) })
	b.Run("handler", func(b *testing.B) {
		load(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/webp")
			_, _ = w.Write(body) // an error means that the client has gone
		}), address)
	})
}

// busy returns a JPEG with noise, whose renditions have about as many bytes as those of paintings. More noise than 20 makes more.
func busy(w, h, level int) []byte {
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

func load(b *testing.B, h http.Handler, address string) {
	server := httptest.NewServer(h)
	defer server.Close()
	b.RunParallel(func(pb *testing.PB) {
		client := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{}).DialContext}}
		for pb.Next() {
			r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, server.URL+address, nil)
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
