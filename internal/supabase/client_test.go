package supabase

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atelie/internal/imported"
)

// startProject starts a server with the handler answer, and returns it as a Project. The Project does not wait before a retry, but appends the
// wait to the returned list.
func startProject(t *testing.T, answer http.HandlerFunc) (*Project, *[]time.Duration) {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	waits := &[]time.Duration{}
	p, err := NewProject(s.URL, "key", func(_ context.Context, d time.Duration) error {
		*waits = append(*waits, d)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p, waits
}

// rowsOf returns the number of rows of a table.
func rowsOf(t *testing.T, p *Project, table string) (int, error) {
	t.Helper()
	n := 0
	err := p.Rows(t.Context(), table, func(map[string]any) error { n++; return nil })
	return n, err
}

func TestRequestsAreRetriedAfterRateLimitsAndFailures(t *testing.T) {
	calls := 0
	p, waits := startProject(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("apikey") != "key" || r.Header.Get("Authorization") != "Bearer key" {
			t.Errorf("headers: %v", r.Header)
		}
		switch calls++; calls {
		case 1:
			panic(http.ErrAbortHandler) // the connection breaks
		case 2:
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		case 3:
			w.WriteHeader(http.StatusBadGateway)
		default:
			_, _ = io.WriteString(w, "[]")
		}
	})
	if n, err := rowsOf(t, p, "products"); n != 0 || err != nil || calls != 4 {
		t.Errorf("%d rows, %d calls, %v", n, calls, err)
	}
	if len(*waits) != 3 || (*waits)[0] < time.Second || (*waits)[1] < 7*time.Second || (*waits)[2] < 4*time.Second {
		t.Errorf("waits: %v", *waits)
	}
}

func TestTruncatedResponseIsRequestedAgain(t *testing.T) {
	calls := 0
	p, waits := startProject(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls++; calls == 1 {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `[{"id":"`)
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, "[]")
	})
	if n, err := rowsOf(t, p, "products"); n != 0 || err != nil || calls != 2 || len(*waits) != 1 {
		t.Errorf("%d rows, %d calls, %v, %v", n, calls, *waits, err)
	}
}

func TestLongRetryAfterAndRepeatedFailuresEndTheImport(t *testing.T) {
	for status, want := range map[int]string{http.StatusTooManyRequests: "it asks for a pause of", http.StatusServiceUnavailable: "repeatedly", http.StatusUnauthorized: "service key"} {
		calls := 0
		p, _ := startProject(t, func(w http.ResponseWriter, _ *http.Request) {
			calls++
			if status == http.StatusTooManyRequests {
				w.Header().Set("Retry-After", "100000")
			}
			w.WriteHeader(status)
		})
		if _, err := rowsOf(t, p, "products"); err == nil || !strings.Contains(err.Error(), want) || calls > maxAttempts {
			t.Errorf("%d: %d calls, %v", status, calls, err)
		}
	}
}

// Proves H-supabase-key.
func TestRedirectsAreNotFollowed(t *testing.T) {
	p, _ := startProject(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/rest/v1/products" {
			t.Errorf("followed to %s", r.URL)
		}
		http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
	})
	if _, err := rowsOf(t, p, "products"); err == nil || !strings.Contains(err.Error(), "redirects are not followed") {
		t.Error(err)
	}
}

// Proves H-supabase-hostile.
func TestEndlessSourcesEndTheImport(t *testing.T) {
	endless := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		switch {
		case strings.HasPrefix(r.URL.Path, "/rest/"): // always the same page
			_, _ = io.WriteString(w, `[{"id":"10000000-0000-4000-8000-000000000001"}]`)
		case strings.HasPrefix(r.URL.Path, "/storage/"): // nested folders without an end
			var request struct {
				Offset int
			}
			if err := json.Unmarshal(body, &request); err != nil {
				t.Error(err)
			}
			if request.Offset > 0 {
				_, _ = io.WriteString(w, `[]`)
				return
			}
			_, _ = io.WriteString(w, `[{"name":"deeper","id":null}]`)
		}
	}
	p, _ := startProject(t, endless)
	if n, err := rowsOf(t, p, "products"); err == nil || n > 1 {
		t.Errorf("%d rows, %v", n, err)
	}
	if err := p.List(t.Context(), "b", func(File) error { return nil }); err == nil || !strings.Contains(err.Error(), "folders") {
		t.Error(err)
	}

	page := `[` + strings.Repeat(`{"name":"x","id":"1"},`, 999) + `{"name":"x","id":"1"}]`
	p, _ = startProject(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page) })
	if err := p.List(t.Context(), "b", func(File) error { return nil }); err == nil || !strings.Contains(err.Error(), "200000") {
		t.Errorf("a folder without end: %v", err)
	}

	p, _ = startProject(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `[{"id":"`)
		for range maxResponseBytes>>20 + 1 {
			if _, err := io.WriteString(w, strings.Repeat("x", 1<<20)); err != nil {
				return
			}
		}
	})
	if _, err := rowsOf(t, p, "products"); err == nil || !strings.Contains(err.Error(), "more than 32 MB") {
		t.Errorf("a huge row: %v", err)
	}
}

func TestAccountsWithoutEndEndTheImport(t *testing.T) {
	page := `{"users":[` + strings.TrimSuffix(strings.Repeat(`{"id":"`+"00000000-0000-4000-8000-000000000001"+`"},`, 1000), ",") + `]}`
	p, _ := startProject(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page) })
	i := &Import{Data: p, Print: func(string) error { return nil }, Site: Site{AddAccount: func(context.Context, imported.Account, bool) (bool, []string, error) { return false, nil, nil }}}
	if err := i.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 100000 accounts") {
		t.Error(err)
	}
}

func TestTruncatedFileIsReadAgain(t *testing.T) {
	calls := 0
	p, _ := startProject(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/list/product-images"):
			body, err := io.ReadAll(r.Body)
			if err == nil && strings.Contains(string(body), `"offset":0`) {
				_, _ = io.WriteString(w, `[{"name":"a.png","id":"1","metadata":{"cacheControl":"max-age=60"}},{"name":"gone.png","id":"2"},{"name":".emptyFolderPlaceholder","id":"3"}]`)
				return
			}
			_, _ = io.WriteString(w, `[]`)
		case strings.HasPrefix(r.URL.Path, "/storage/v1/object/authenticated/product-images/a.png"):
			w.Header().Set("Content-Length", "10")
			if calls++; calls < maxReads {
				_, _ = io.WriteString(w, "half")
				panic(http.ErrAbortHandler)
			}
			_, _ = io.WriteString(w, "the whole!")
		case strings.Contains(r.URL.Path, "/authenticated/"):
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Path == "/auth/v1/admin/users":
			_, _ = io.WriteString(w, `{"users":[]}`)
		default:
			_, _ = io.WriteString(w, `[]`)
		}
	})
	var stored, lines []string
	i := &Import{Data: p, Files: p, Write: true, Print: func(line string) error { lines = append(lines, line); return nil }, Site: Site{
		FileChecksum: func(context.Context, string, string) (string, error) { return "", nil },
		AddFile: func(_ context.Context, bucket, name string, body io.Reader, size int64, cacheControl string) error {
			text, err := io.ReadAll(body)
			if err != nil {
				return err
			}
			stored = append(stored, fmt.Sprint(bucket, "/", name, " ", string(text), " ", size, " ", cacheControl))
			return nil
		},
	}}
	if err := i.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(stored) != 1 || stored[0] != "product-images/a.png the whole! 10 max-age=60" || i.Problems != 1 || !strings.Contains(strings.Join(lines, "\n"), "gone.png: "+ErrNoFile.Error()) {
		t.Errorf("%q %q", stored, lines)
	}
}

func TestProjectURLMustNotRevealTheKey(t *testing.T) {
	for _, bad := range []string{"", "abc.supabase.co", "http://abc.supabase.co", "ftp://x", "https://user@x.example", "https://x.example/rest/v1", "https://x.example?x", "http://203.0.113.9:80"} {
		if p, err := NewProject(bad, "key", nil); err == nil {
			t.Errorf("%q: %v", bad, p)
		}
	}
	for _, good := range []string{"https://abc.supabase.co/", "http://localhost:54321", "http://127.0.0.1:8000", "http://192.168.1.2", "http://kong:8000"} {
		if _, err := NewProject(good, "key", nil); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "two words", "line\nbreak"} {
		if _, err := NewProject("https://abc.supabase.co", bad, nil); err == nil || strings.Contains(err.Error(), "words") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestURLsOfTheSourceAreRewritten(t *testing.T) {
	for _, c := range []struct {
		in, out  string
		problems int
	}{
		{"https://abc.supabase.co/storage/v1/object/public/product-images/a%20b/c.jpg?t=1", "/storage/v1/object/public/product-images/a%20b/c.jpg", 0},
		{"http://ABC.supabase.co:80/storage/v1/object/public/review-images/c.jpg", "/storage/v1/object/public/review-images/c.jpg", 0},
		{"https://abc.supabase.co/storage/v1/render/image/public/cover-images/c.jpg?width=3", "/storage/v1/object/public/cover-images/c.jpg", 0},
		{"https://abc.supabase.co/storage/v1/object/sign/cover-images/c.jpg?token=x", "/storage/v1/object/public/cover-images/c.jpg", 0},
		{"https://abc.supabase.co/storage/v1/object/public/letters/c.pdf", "", 1},
		{"https://other.supabase.co/storage/v1/object/public/product-images/c.jpg", "", 1},
		{"https://abc.supabase.co.evil.example/storage/v1/object/public/product-images/c.jpg", "", 1},
		{"/storage/v1/object/public/product-images/c.jpg", "", 0},
		{"https://elsewhere.example/c.jpg", "", 0},
		{"https://%zz", "", 0},
		{"", "", 0},
	} {
		i := &Import{Origins: []string{"abc.supabase.co"}, Print: func(string) error { return nil }}
		want := c.out
		if want == "" {
			want = c.in
		}
		if got := i.rewriter("products")(c.in); got != want || i.Problems != c.problems {
			t.Errorf("%s became %s with %d problems", c.in, got, i.Problems)
		}
	}
}

func TestTextsOfTheSourceCannotChangeTheTerminal(t *testing.T) {
	if got := printable("a\x1b[2Jb\u202e\xff"); strings.ContainsAny(got, "\x1b\u202e") || got[0] != 'a' {
		t.Errorf("%q", got)
	}
	if got := []rune(printable(strings.Repeat("é", 1000))); len(got) != 201 {
		t.Error(len(got))
	}
}

func TestEndlessFileIsAnError(t *testing.T) {
	p, _ := startProject(t, func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	})
	i := &Import{Files: p, Site: Site{MaxFileBytes: 1000, FileChecksum: func(context.Context, string, string) (string, error) { return "x", nil }}}
	if _, broken, err := i.importFile(t.Context(), "product-images", File{Name: "a.png"}); broken != nil || !errors.Is(err, errFileDiffers) {
		t.Errorf("%v %v", broken, err)
	}
}
