package app

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"

	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/storage"
	"atelie/internal/storage/storagetest"
)

// fileListener counts the bytes that its connections get directly from files, which package net sends by sendfile.
type fileListener struct {
	net.Listener
	sent atomic.Int64
}

func (l *fileListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	tcp, ok := c.(*net.TCPConn)
	if err == nil && !ok {
		err = errors.New("not TCP")
	}
	return &fileConn{tcp, l}, err
}

type fileConn struct {
	*net.TCPConn
	listener *fileListener
}

func (c *fileConn) ReadFrom(src io.Reader) (int64, error) {
	if limited, ok := src.(*io.LimitedReader); ok {
		if _, ok := limited.R.(*os.File); ok {
			c.listener.sent.Add(limited.N) // counted before they are sent, because the client may have received them before ReadFrom returns
		}
	}
	return c.TCPConn.ReadFrom(src)
}

// Proves F-download-memory.
//
// TestLargeFilesAreSentBySendfile checks that the program's middleware passes a file to the connection as a file.
func TestLargeFilesAreSentBySendfile(t *testing.T) {
	a := newApp(t, db.SQLite)
	film := storagetest.NoisyFilm(2<<20, 1)
	picture := noisyJPEG(1600, 1200, 255)
	service := identity.Caller{Role: identity.Service}
	for name, content := range map[string][]byte{"a.mp4": film, "a.jpg": picture} {
		if _, err := a.Storage.Put(t.Context(), service, "product-images", name, bytes.NewReader(content), -1, storage.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewUnstartedServer(a.Handler())
	listener := &fileListener{Listener: server.Listener}
	server.Listener = listener
	server.Start()
	defer server.Close()
	anon := key(t, a, identity.Anon)
	get := func(address, byteRange string) []byte {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/storage/v1"+address, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("apikey", anon)
		r.Header.Set("Authorization", "Bearer "+anon)
		if byteRange != "" {
			r.Header.Set("Range", byteRange)
		}
		resp, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode >= 300 {
			t.Fatalf("%s: %s, %v: %s", address, resp.Status, err, body[:min(len(body), 200)])
		}
		return body
	}
	rendition := get("/render/image/public/product-images/a.jpg?width=1600&format=jpeg", "")
	if len(rendition) <= 256<<10 {
		t.Fatalf("the rendition has only %d bytes", len(rendition))
	}
	for _, c := range []struct {
		what, address, byteRange string
		want                     []byte
	}{
		{"a film, whose row is read", "/object/public/product-images/a.mp4", "", film},
		{"a film, whose row is known", "/object/public/product-images/a.mp4", "", film},
		{"a range", "/object/public/product-images/a.mp4", "bytes=1000000-1999999", film[1000000:2000000]},
		{"a film with a key", "/object/authenticated/product-images/a.mp4", "", film},
		{"a rendition", "/render/image/public/product-images/a.jpg?width=1600&format=jpeg", "", rendition},
	} {
		before := listener.sent.Load()
		if got := get(c.address, c.byteRange); !bytes.Equal(got, c.want) {
			t.Errorf("%s: %d bytes, want %d", c.what, len(got), len(c.want))
		}
		const first = 512 // bytes that net/http may write by itself, with the headers
		if sent := listener.sent.Load() - before; sent < int64(len(c.want)-first) {
			t.Errorf("%s: %d bytes of %d were sent from the file", c.what, sent, len(c.want))
		}
	}
}
