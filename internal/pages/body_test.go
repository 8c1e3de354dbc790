package pages

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Proves P-drawn-first.
func TestPagesAreCompressedForTheRequestedEncoding(t *testing.T) {
	b := newPageBody([]byte(strings.Repeat("<p>A page</p>", 500)))
	estimated := b.size()
	expectEncoding := func(accepted, want string) {
		t.Helper()
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", accepted)
		rec := httptest.NewRecorder()
		if err := b.write(rec, r, http.StatusOK); err != nil || rec.Header().Get("Content-Encoding") != want || rec.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: %v, %v", accepted, rec.Header(), err)
		}
	}
	// expectCompressed checks for each of encodings whether the body was compressed with it.
	expectCompressed := func(want ...bool) {
		t.Helper()
		for i, v := range b.variants[:len(encodings)] {
			if (v.encoded.Load() != nil) != want[i] {
				t.Errorf("%s is compressed: %v", v.encoding, !want[i])
			}
		}
	}
	expectEncoding("identity", "")
	expectCompressed(false, false, false)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { expectEncoding("gzip, deflate", "gzip") })
	}
	wg.Wait()
	expectCompressed(false, false, true)
	expectEncoding("gzip, br, zstd", "br")
	expectCompressed(true, false, true)
	expectEncoding("zstd", "zstd")
	if size := b.size(); size > estimated {
		t.Errorf("%d bytes were expected and there are %d", estimated, size)
	}
	b = newPageBody([]byte("short"))
	expectEncoding("br, gzip", "")
}
