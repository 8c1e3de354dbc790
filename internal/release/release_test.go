package release

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Proves H-upgrade-https.
func TestReadFromAServer(t *testing.T) {
	var requests []string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.Method+" "+r.URL.String()+" "+r.UserAgent())
		switch r.URL.Path {
		case "/release.json":
			_, _ = w.Write([]byte(`{"version": "1.2.0", "date": "2026-12-01"}`))
		case "/moved":
			http.Redirect(w, r, "/release.json", http.StatusFound)
		case "/plain":
			http.Redirect(w, r, "http://"+r.Host+"/release.json", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	client := newClient()
	client.Transport = server.Client().Transport
	for _, path := range []string{"/release.json", "/moved"} {
		if r, err := read(t.Context(), client, server.URL+path); err != nil || r.Version != "1.2.0" {
			t.Errorf("%s: %+v, %v", path, r, err)
		}
	}
	if requests[0] != "GET /release.json atelie" {
		t.Errorf("the request has %q", requests[0])
	}
	for path, want := range map[string]string{"/plain": "without https", "/loop": "redirects too often", "/missing": "404"} {
		if _, err := read(t.Context(), client, server.URL+path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestIsNewer(t *testing.T) {
	for _, c := range []struct {
		version, own string
		want         bool
	}{
		{"1.2.0", "1.1.9", true}, {"1.10.0", "v1.9.0", true}, {"1.2.0", "1.2.0", false}, {"1.2.0", "1.3.0", false},
		{"1.2.0", "dev", false}, {"1.2.0", "1.1.0-5-g885be2b6b", false}, {"no version", "1.1.0", false},
	} {
		if got := IsNewer(c.version, c.own); got != c.want {
			t.Errorf("%s after %s: %t", c.version, c.own, got)
		}
	}
}
