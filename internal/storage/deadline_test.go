package storage

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// TestSlowTransfersOutlastTheServersLimits sends and fetches a file for longer than the server gives a whole request.
func TestSlowTransfersOutlastTheServersLimits(t *testing.T) {
	s := newSite(t, dbtest.Open(t, db.SQLite))
	server := httptest.NewUnstartedServer(s.HTTP)
	const limit = 200 * time.Millisecond
	server.Config.ReadTimeout, server.Config.WriteTimeout, server.Config.IdleTimeout = limit, limit, time.Minute
	server.Config.ReadHeaderTimeout = time.Minute // only bodies are slow here
	server.Start()
	defer server.Close()

	content := noise(4 << 20)
	r, err := http.NewRequest("POST", server.URL+"/storage/v1/object/product-images/slow.mp4", bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.Keys["admin"])
	whole := request(t, r)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	for i := range 4 {
		if _, err := conn.Write(whole[i*len(whole)/4 : (i+1)*len(whole)/4]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(limit / 2)
	}
	answer, err := http.ReadResponse(in, r)
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("slow upload: %v, %v", answer, err)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		t.Fatal(err)
	}

	// The same connection, after a pause: no deadline of the upload may end it.
	time.Sleep(limit / 2)
	get, err := http.NewRequest("GET", server.URL+"/storage/v1/object/public/product-images/slow.mp4", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(request(t, get)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * limit) // by now the server's own limit for the answer is over
	answer, err = http.ReadResponse(in, get)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if got, err := io.ReadAll(answer.Body); err != nil || !bytes.Equal(got, content) {
		t.Errorf("slow download: %d bytes of %d, %v", len(got), len(content), err)
	}
}
