package httpx

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"atelie/internal/apperr"
	"atelie/internal/db"
)

// writeCode writes the code and the message of an error as text.
func writeCode(w http.ResponseWriter, _ *http.Request, e *apperr.Error) {
	w.WriteHeader(e.Status)
	_, _ = w.Write([]byte(e.Code + " " + e.Message))
}

func TestErrorsAreWrittenOnceAndExplainedInTheLog(t *testing.T) {
	var out bytes.Buffer
	logged := Log(slog.New(slog.NewJSONHandler(&out, nil)), nil, nil)
	for _, c := range []struct {
		name   string
		h      Handler
		status int
		body   string
		level  string
		cause  string
	}{
		{"refusal", func(http.ResponseWriter, *http.Request) error {
			return apperr.New(422, "weak_password", "Too short").Becausef("5 characters")
		}, 422, "weak_password Too short", "WARN", "5 characters"},
		{"refusal with a long cause", func(http.ResponseWriter, *http.Request) error {
			return apperr.New(422, "weak_password", "Too short").Becausef("%s", strings.Repeat("é", 20_000))
		}, 422, "weak_password Too short", "WARN", strings.Repeat("é", 500) + "…"},
		{"unknown error hides its cause", func(http.ResponseWriter, *http.Request) error { return errors.New("disk on fire") },
			500, "unexpected_failure Unexpected failure, please check server logs for more information", "ERROR", "disk on fire"},
		{"panic", func(http.ResponseWriter, *http.Request) error { panic("nil map") },
			500, "unexpected_failure Unexpected failure, please check server logs for more information", "ERROR", "nil map"},
		{"an error after the response has begun", func(w http.ResponseWriter, _ *http.Request) error {
			_, _ = w.Write([]byte("half"))
			return errors.New("cut")
		}, 200, "half", "WARN", "cut"},
		{"success", func(w http.ResponseWriter, _ *http.Request) error { return JSON(w, 201, map[string]int{"a": 1}) }, 201, `{"a":1}`, "INFO", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out.Reset()
			rec := httptest.NewRecorder()
			logged(Handle(writeCode, c.h)).ServeHTTP(rec, httptest.NewRequest("GET", "/x", nil))
			if rec.Code != c.status || rec.Body.String() != c.body {
				t.Errorf("got %d %q", rec.Code, rec.Body)
			}
			var line map[string]any
			if err := json.Unmarshal(out.Bytes(), &line); err != nil {
				t.Fatal(err)
			}
			if line["level"] != c.level || line["id"] != rec.Header().Get("X-Request-Id") {
				t.Errorf("log line %v", line)
			}
			if cause, _ := line["cause"].(string); !strings.Contains(cause, c.cause) || (c.cause == "") != (cause == "") {
				t.Errorf("cause %q", cause)
			}
		})
	}
}

func TestDisconnectedClientIsNotAFailure(t *testing.T) {
	ctx, hangUp := context.WithCancel(t.Context())
	rec := httptest.NewRecorder()
	Handle(writeCode, func(_ http.ResponseWriter, r *http.Request) error {
		hangUp()
		return fmt.Errorf("query: %w", r.Context().Err())
	}).ServeHTTP(rec, httptest.NewRequest("GET", "/x", nil).WithContext(ctx))
	if rec.Code != 499 {
		t.Errorf("got %d %s", rec.Code, rec.Body)
	}
}

// Proves P-outage-hang.
//
// TestTimeoutOfAPartOfARequest uses a timeout of a part of the request. The request itself still has time.
func TestTimeoutOfAPartOfARequest(t *testing.T) {
	for name, cause := range map[string]error{
		"its context":                   context.DeadlineExceeded,
		"the database ended it":         apperr.Timeout.Becausef("57014"),
		"the server could not be asked": fmt.Errorf("%w: %w", db.ErrUnavailable, context.DeadlineExceeded),
	} {
		rec := httptest.NewRecorder()
		Handle(writeCode, func(_ http.ResponseWriter, r *http.Request) error {
			return fmt.Errorf("query: %w", cause)
		}).ServeHTTP(rec, httptest.NewRequest("GET", "/x", nil))
		want := 504
		if errors.Is(cause, db.ErrUnavailable) {
			want = 503
		}
		if rec.Code != want {
			t.Errorf("%s: got %d %s", name, rec.Code, rec.Body)
		}
	}
}

func TestTimeoutOfARequest(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	rec := httptest.NewRecorder()
	Handle(writeCode, func(_ http.ResponseWriter, r *http.Request) error {
		<-r.Context().Done()
		return fmt.Errorf("query: %w", r.Context().Err())
	}).ServeHTTP(rec, httptest.NewRequest("GET", "/x", nil).WithContext(ctx))
	if rec.Code != 504 {
		t.Errorf("got %d %s", rec.Code, rec.Body)
	}
}

func TestPanicDuringAResponseClosesTheConnection(t *testing.T) {
	half := func(w http.ResponseWriter, _ *http.Request) error {
		_, _ = w.Write([]byte("half"))
		panic("late")
	}
	for name, h := range map[string]http.Handler{
		"in a surface":       Handle(writeCode, half),
		"outside":            http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _ = half(w, r) }),
		"behind compression": gzhttp.GzipHandler(Handle(writeCode, half)),
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var out bytes.Buffer
			server := httptest.NewServer(Log(slog.New(slog.NewJSONHandler(writerFunc(func(p []byte) (int, error) {
				mu.Lock()
				defer mu.Unlock()
				return out.Write(p)
			}), nil)), nil, nil)(h))
			res, err := server.Client().Get(server.URL)
			if err == nil {
				_, err = io.ReadAll(res.Body)
				_ = res.Body.Close()
			}
			server.Close() // waits for the log line
			mu.Lock()
			defer mu.Unlock()
			if err == nil || !strings.Contains(out.String(), "late") {
				t.Errorf("error %v, log %s", err, out.String())
			}
		})
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestDecodeJSON(t *testing.T) {
	for _, c := range []struct {
		body string
		want error
	}{
		{`{"a":"b"}`, nil}, {``, nil}, {`{"a":`, ErrBadJSON}, {`[1]`, ErrBadJSON}, {`{"a":"` + strings.Repeat("x", 200) + `"}`, ErrTooLarge},
	} {
		var dst struct{ A string }
		err := DecodeJSON(httptest.NewRecorder(), httptest.NewRequest("POST", "/", strings.NewReader(c.body)), 100, &dst)
		if c.want == nil {
			if err != nil {
				t.Errorf("%q: %v", c.body, err)
			}
			continue
		}
		if got := apperr.From(err); got.Code != apperr.From(c.want).Code {
			t.Errorf("%q: got %v", c.body, err)
		}
	}
}

// Proves A-safe-23.
func TestForwardedAddressesNeedATrustedProxy(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for _, c := range []struct{ remote, forwarded, want string }{
		{"203.0.113.9:1", "198.51.100.1", "203.0.113.9"},
		{"10.0.0.1:1", "198.51.100.1", "198.51.100.1"},
		{"10.0.0.1:1", "6.6.6.6, 198.51.100.1, 10.0.0.2", "198.51.100.1"},
		{"10.0.0.1:1", "", "10.0.0.1"},
		{"10.0.0.1:1", "nonsense", "10.0.0.1"},
		{"[::ffff:10.0.0.1]:1", "198.51.100.1", "198.51.100.1"},
		{"10.0.0.1:1", "fe80::1%\xff\xfe", "fe80::1"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.remote
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		if got := clientIP(r, trusted); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

// Proves A-surface-3.
func TestPreflightIsAcceptedFromAnyOrigin(t *testing.T) {
	r := httptest.NewRequest("OPTIONS", "/rest/v1/products", nil)
	r.Header.Set("Access-Control-Request-Method", "PATCH")
	r.Header.Set("Access-Control-Request-Headers", "authorization, x-client-info, apikey, content-type, x-region")
	rec := httptest.NewRecorder()
	CORS(http.NotFoundHandler()).ServeHTTP(rec, r)
	if rec.Code != 204 || rec.Header().Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(rec.Header().Get("Access-Control-Allow-Headers"), "x-region") {
		t.Errorf("got %d %v", rec.Code, rec.Header())
	}
}

func TestUntrustedProxyIsLoggedOnce(t *testing.T) {
	var lines bytes.Buffer
	log := slog.New(slog.NewTextHandler(&lines, nil))
	h := Log(log, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, nil)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	sendRequest := func(from, forwarded string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = from
		if forwarded != "" {
			r.Header.Set("X-Forwarded-For", forwarded)
		}
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	sendRequest("10.0.0.1:80", "198.51.100.7")
	sendRequest("203.0.113.9:80", "")
	if strings.Contains(lines.String(), "X-Forwarded-For") {
		t.Errorf("logged for a trusted proxy, or without a proxy: %s", lines.String())
	}
	for range 3 {
		sendRequest("203.0.113.9:80", "198.51.100.7")
	}
	if got := lines.String(); strings.Count(got, "X-Forwarded-For") != 1 || !strings.Contains(got, "address=203.0.113.9") || !strings.Contains(got, "level=WARN") {
		t.Errorf("log:\n%s", got)
	}
	var f forwardedWarning
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr, r.Header = "203.0.113.9:80", http.Header{"X-Forwarded-For": {"198.51.100.7"}}
	lines.Reset()
	now := time.Now()
	for _, after := range []time.Duration{0, 59 * time.Minute, 61 * time.Minute} {
		f.check(r, log, nil, now.Add(after))
	}
	if n := strings.Count(lines.String(), "X-Forwarded-For"); n != 2 {
		t.Errorf("%d lines in an hour and a minute", n)
	}
}

// A file that net/http copies itself is counted in the access log like bytes that a handler writes.
func TestCopiedFilesAreLogged(t *testing.T) {
	var out bytes.Buffer
	content := strings.Repeat("x", 100_000)
	h := Log(slog.New(slog.NewJSONHandler(&out, nil)), nil, nil)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, ok := w.(io.ReaderFrom); !ok {
			t.Error("the writer cannot copy by itself")
		}
		if _, err := io.Copy(w, struct{ io.Reader }{strings.NewReader(content)}); err != nil { // without WriteTo, which io.Copy would prefer
			t.Error(err)
		}
	}))
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest("GET", "/x", nil))
	if logged := out.String(); rec.Body.String() != content || !strings.Contains(logged, `"status":200,"bytes":100000,`) {
		t.Errorf("%d bytes, logged: %s", rec.Body.Len(), logged)
	}
}
