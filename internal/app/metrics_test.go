package app

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"atelie/internal/auth"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/i18n"
	"atelie/internal/identity"
	"atelie/internal/mail"
	"atelie/internal/pages"
)

// newMeasuredApp returns a program with metrics.
func newMeasuredApp(t *testing.T, dialect db.Dialect) *App {
	t.Helper()
	cfg := configuration(t)
	cfg.Database.URL, cfg.Server.MetricsListen = dbtest.URL(t, dialect), "127.0.0.1:0"
	return newAppOf(t, cfg, time.Now)
}

// scrape returns the program's own metrics by name and labels, without those of Go and of the process.
func scrape(t *testing.T, a *App) map[string]float64 {
	t.Helper()
	rec := httptest.NewRecorder()
	a.metrics.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	values := map[string]float64{}
	for line := range strings.Lines(rec.Body.String()) {
		if !strings.HasPrefix(line, "atelie_") {
			continue
		}
		space := strings.LastIndex(line, " ") // between name and value
		value, err := strconv.ParseFloat(strings.TrimSpace(line[space:]), 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		values[line[:space]] = value
	}
	return values
}

// requestsOf returns the name and the labels of the counter of requests of a surface with a status, such as "2xx".
func requestsOf(surface, status string) string {
	return `atelie_http_requests_total{status="` + status + `",surface="` + surface + `"}`
}

func TestMetricsCountRequestsBySurface(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newMeasuredApp(t, dialect)
			h := a.Handler()
			anon := key(t, a, identity.Anon)
			for _, c := range []struct{ method, target, token, surface string }{
				{"GET", "/auth/v1/settings", anon, "auth"},
				{"GET", "/auth/v1/user", "", "auth"},
				{"GET", "/rest/v1/products", anon, "rest"},
				{"GET", "/rest/v1//products", anon, "rest"},
				{"OPTIONS", "/rest/v1/products", "", "rest"},
				{"GET", "/storage/v1/bucket", anon, "storage"},
				{"GET", "/storage/v1/object/public/product-images/none.jpg", "", "storage"},
				{"GET", "/storage/v1/render/image/public/product-images/none.jpg?width=320", "", "render"},
				{"POST", "/functions/v1/submit-contact", anon, "functions"},
				{"POST", "/realtime/v1/api/broadcast", anon, "realtime"},
				{"GET", "/", "", "pages"},
				{"GET", "/metrics", "", "pages"}, // not served to the public
				{"GET", "/robots.txt", "", "pages"},
				{"GET", "/health/live", "", "other"},
				{"POST", pages.ReportPath, "", "other"},
			} {
				before := scrape(t, a)
				r := httptest.NewRequest(c.method, c.target, nil)
				if c.token != "" {
					r.Header.Set("apikey", c.token)
				}
				rec := httptest.NewRecorder()
				h.ServeHTTP(rec, r)
				after := scrape(t, a)
				if c.target == "/metrics" && (rec.Code == 200 || strings.Contains(rec.Body.String(), "atelie_http_requests_total")) {
					t.Errorf("the public address serves /metrics: %d", rec.Code)
				}
				counted := requestsOf(c.surface, strconv.Itoa(rec.Code/100)+"xx")
				timed := `atelie_http_request_duration_seconds_count{surface="` + c.surface + `"}`
				for name, value := range after {
					want := before[name]
					if name == counted || name == timed {
						want++
					}
					if value != want && (strings.HasPrefix(name, "atelie_http_requests") || strings.Contains(name, "_seconds_count")) {
						t.Errorf("%s %s (%d): %s is %v, not %v", c.method, c.target, rec.Code, name, value, want)
					}
				}
			}
		})
	}
}

// TestNoLabelComesFromARequest checks that requests cannot add time series.
func TestNoLabelComesFromARequest(t *testing.T) {
	a := newMeasuredApp(t, db.SQLite)
	h := a.Handler()
	before := slices.Sorted(maps.Keys(scrape(t, a)))
	secret := key(t, a, identity.Service)
	for _, method := range []string{"GET", "POST", "HEAD", "BREW", "X-Ünknown", strings.Repeat("M", 300)} {
		for _, target := range []string{"/", "/a-path", "/auth/v1/who", "/rest/v1/no_table?x=y", "/storage/v1/object/public/b/secret-name", "/storage/v1/render/image/public/b/n", "/functions/v1/named", "/realtime/v1/x", "/health/x", "/%00\"} "} {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Method, r.URL.Path, r.Host, r.Header = method, target, "evil\"}.example", http.Header{"User-Agent": {"named"}, "Apikey": {secret}, "X-Forwarded-For": {"203.0.113.77"}}
			h.ServeHTTP(httptest.NewRecorder(), r)
		}
	}
	for _, name := range []string{"named.kind", "{kind=\"x\"}"} {
		enqueue(t, a, name, 1)
	}
	if after := slices.Sorted(maps.Keys(scrape(t, a))); !slices.Equal(after, before) {
		t.Errorf("before\n%s\nafter\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
}

func TestMetricsDescribeQueueMailAndCaches(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newMeasuredApp(t, dialect)
			enqueue(t, a, auth.JobSMS, 1) // no worker runs
			enqueue(t, a, auth.JobMail, 1)
			enqueue(t, a, "a kind of tomorrow", 1)
			if err := db.Exec(t.Context(), a.DB, "update jobs set failed_at = $1 where kind = $2", time.Now(), auth.JobMail); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Mail.Send(t.Context(), mail.Message{Kind: mail.Test, To: "ana@example.com", Language: i18n.Choose("en"), At: time.Now()}); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Mail.Send(t.Context(), mail.Message{Kind: mail.Test, To: "nobody", At: time.Now()}); err == nil {
				t.Error("a mail without a recipient was sent")
			}
			anon := key(t, a, identity.Anon)
			for range 3 {
				if rec := sendRequest(a, "GET", "/rest/v1/products", anon); rec.Code != 200 {
					t.Fatal(rec.Body)
				}
			}
			want := map[string]float64{
				`atelie_jobs_waiting{kind="auth.sms"}`: 1, `atelie_jobs_failed{kind="auth.sms"}`: 0,
				`atelie_jobs_waiting{kind="auth.mail"}`: 0, `atelie_jobs_failed{kind="auth.mail"}`: 1,
				`atelie_jobs_waiting{kind="film"}`: 0, `atelie_jobs_waiting{kind="other"}`: 1,
				`atelie_mail_attempts_total{result="delivered"}`: 1, `atelie_mail_attempts_total{result="failed"}`: 1,
				`atelie_cache_requests_total{cache="responses",result="hit"}`: 2, `atelie_cache_requests_total{cache="responses",result="miss"}`: 1,
				`atelie_cache_requests_total{cache="file_rows",result="hit"}`: 0, `atelie_cache_requests_total{cache="files",result="miss"}`: 0,
				`atelie_database_up`: 1, `atelie_live_sockets`: 0,
			}
			if sendRequest(a, "GET", "/", "").Code == 200 { // only if the checkout has a built site
				if rec := sendRequest(a, "GET", "/", ""); rec.Code != 200 {
					t.Fatal(rec.Code)
				}
				want[`atelie_cache_requests_total{cache="pages",result="hit"}`], want[`atelie_cache_requests_total{cache="pages",result="miss"}`] = 1, 1
			}
			got := scrape(t, a)
			for name, value := range want {
				if have, ok := got[name]; !ok || have != value {
					t.Errorf("%s is %v (%v), not %v", name, have, ok, value)
				}
			}
			if free, total := got["atelie_disk_free_bytes"], got["atelie_disk_total_bytes"]; free <= 0 || free >= total {
				t.Errorf("%v of %v bytes are free", free, total)
			}
		})
	}
}

func TestMetricsCountLiveSockets(t *testing.T) {
	a := newMeasuredApp(t, db.SQLite)
	server := httptest.NewServer(a.Handler())
	t.Cleanup(server.Close)
	socket, response, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http")+"/realtime/v1/websocket?vsn=2.0.0&apikey="+key(t, a, identity.Anon), nil)
	if err != nil {
		t.Fatal(err)
	}
	if response.Body != nil {
		defer func() { _ = response.Body.Close() }()
	}
	wait := func(name string, want float64) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); scrape(t, a)[name] != want; <-time.After(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s is %v, not %v", name, scrape(t, a)[name], want)
			}
		}
	}
	wait("atelie_live_sockets", 1)
	if err := socket.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Fatal(err)
	}
	wait("atelie_live_sockets", 0)
	wait(requestsOf("realtime", "1xx"), 1)
	if n := scrape(t, a)[`atelie_http_request_duration_seconds_count{surface="realtime"}`]; n != 0 {
		t.Errorf("%v live connections are in the latencies", n)
	}
}

func TestWithoutMetricsNothingIsCounted(t *testing.T) {
	a := newApp(t, db.SQLite)
	if a.metrics != nil || a.newObserver(surfaceOf) != nil {
		t.Error("metrics exist although they have no address")
	}
}
