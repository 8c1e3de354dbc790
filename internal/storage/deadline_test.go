package storage

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/storage/blob/blobtest"
)

// TestSlowTransfersMayExceedTheRequestTimeout uploads and downloads a file so slowly that each takes longer than the timeouts of the HTTP server.
func TestSlowTransfersMayExceedTheRequestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, dbtest.Open(t, db.SQLite))
		const limit = 20 * time.Second
		dial := blobtest.ServePipes(t, &http.Server{Handler: s.HTTP, ReadTimeout: limit, WriteTimeout: limit, IdleTimeout: time.Hour})

		content := noise(4 << 20)
		r, err := http.NewRequest("POST", "http://site.example/storage/v1/object/product-images/slow.mp4", bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.Keys["admin"])
		rawRequest := request(t, r)
		conn, err := dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		in := bufio.NewReader(conn)
		for i := range 4 {
			if _, err := conn.Write(rawRequest[i*len(rawRequest)/4 : (i+1)*len(rawRequest)/4]); err != nil {
				t.Fatal(err)
			}
			time.Sleep(limit / 2)
		}
		response, err := http.ReadResponse(in, r)
		if err != nil || response.StatusCode != 200 {
			t.Fatalf("slow upload: %v, %v", response, err)
		}
		_, err = io.Copy(io.Discard, response.Body)
		if err = errors.Join(err, response.Body.Close()); err != nil {
			t.Fatal(err)
		}

		// The same connection after a pause: no deadline of the upload may still be set.
		time.Sleep(limit / 2)
		get, err := http.NewRequest("GET", "http://site.example/storage/v1/object/public/product-images/slow.mp4", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(request(t, get)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * limit) // less than stallTimeout, but more than the server's own limit for a response
		response, err = http.ReadResponse(in, get)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		if got, err := io.ReadAll(response.Body); err != nil || !bytes.Equal(got, content) {
			t.Errorf("slow download: %d bytes of %d, %v", len(got), len(content), err)
		}
	})
}
