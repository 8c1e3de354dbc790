package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atelie/internal/config"
)

func TestHealth(t *testing.T) {
	status, body := http.StatusOK, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/health/ready" {
			t.Errorf("requested %s", r.URL.Path)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body)) // the command reports an incomplete body
	}))
	address := server.Listener.Addr().String()
	if r := atelie(t, t.TempDir(), "", "health", "--listen", address); r.code != 0 || r.out != "ready\n" {
		t.Errorf("ready: %+v", r)
	}
	if r := atelie(t, t.TempDir(), "", "health", "--domains=a.example", "--listen-http", address); r.code != 0 {
		t.Errorf("with a domain: %+v", r)
	}
	status = http.StatusServiceUnavailable
	if r := atelie(t, t.TempDir(), "", "health", "--listen", address); r.code != 1 || !strings.Contains(r.err, "not ready") {
		t.Errorf("not ready: %+v", r)
	}
	body = `{"status":"the folder for files is missing"}`
	if r := atelie(t, t.TempDir(), "", "health", "--listen", address); r.code != 1 || r.err != "atelie: health: the server is not ready: the folder for files is missing\n" {
		t.Errorf("the reason: %+v", r)
	}
	server.Close()
	// The server's own port is not used, because another program may have it by now.
	if r := atelie(t, t.TempDir(), "", "health", "--listen", "127.0.0.1:1"); r.code != 1 || !strings.Contains(r.err, "health:") {
		t.Errorf("no server: %+v", r)
	}
}

func TestHealthAddressOfAWildcardListener(t *testing.T) {
	for listen, want := range map[string]string{":8000": "127.0.0.1:8000", "0.0.0.0:80": "127.0.0.1:80", "[::]:80": "127.0.0.1:80", "192.0.2.1:80": "192.0.2.1:80", "[::1]:80": "[::1]:80"} {
		if got, err := healthAddress(&config.Server{Listen: listen}); err != nil || got != want {
			t.Errorf("%s: %s, %v", listen, got, err)
		}
	}
}
