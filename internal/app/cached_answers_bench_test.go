package app

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// discardingWriter is a response writer that discards the body.
type discardingWriter struct{ h http.Header }

func (w discardingWriter) Header() http.Header         { return w.h }
func (w discardingWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w discardingWriter) WriteHeader(int)             {}

// BenchmarkCachedResponses measures the cost of a request that is served from the page cache or the response cache, through all of the
// program's middleware.
func BenchmarkCachedResponses(b *testing.B) {
	a := newApp(b, db.SQLite)
	a.log = slog.New(slog.NewJSONHandler(io.Discard, nil))
	h := a.Handler()
	public, err := a.Tokens.Key(identity.Anon)
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range []string{"/", "/rest/v1/products?select=*"} {
		b.Run(path, func(b *testing.B) {
			r := httptest.NewRequest("GET", path, nil)
			r.Header.Set("Accept-Encoding", "gzip, br")
			r.Header.Set("apikey", public)
			b.ReportAllocs()
			for b.Loop() {
				h.ServeHTTP(discardingWriter{http.Header{}}, r)
			}
		})
	}
}
