package metrics

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"atelie/internal/content"
	"atelie/internal/datafolder"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/jobs"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func open(t *testing.T, d *db.DB) *Metrics {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	queue := jobs.New(d, []byte("key"), nil, log, time.Now)
	return New(Sources{
		Version: "v1", DB: d, Jobs: queue, Space: datafolder.NewSpace(t.TempDir(), 0, log), Caches: map[string]*content.Lookups{"pages": {}},
		Sockets: func() int { return 3 }, Mails: func() (delivered, failed int64) { return 5, 7 },
		Backup: func(context.Context) (BackupState, error) {
			return BackupState{On: true, Age: 90 * time.Second, Waiting: 4}, nil
		},
	}, log)
}

func sendRequest(m *Metrics, method, target string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	m.ServeHTTP(rec, httptest.NewRequest(method, target, nil))
	return rec
}

func TestOnlyMetricsAreServed(t *testing.T) {
	m := open(t, dbtest.Open(t, db.SQLite))
	for _, c := range []struct {
		method, target string
		status         int
		body           string
	}{
		{"GET", "/metrics", 200, "atelie_live_sockets 3\n"},
		{"HEAD", "/metrics", 200, ""},
		{"GET", "/metrics?name[]=atelie_live_sockets", 200, "atelie_live_sockets 3\n"},
		{"POST", "/metrics", 405, "method_not_allowed: "},
		{"PUT", "/metrics", 405, "method_not_allowed: "},
		{"DELETE", "/metrics", 405, "method_not_allowed: "},
		{"OPTIONS", "/metrics", 405, "method_not_allowed: "},
		{"GET", "/", 404, "not_found: "},
		{"GET", "/metrics/", 404, "not_found: "},
		{"GET", "//metrics", 404, "not_found: "},
		{"GET", "/debug/pprof/", 404, "not_found: "},
		{"POST", "/rest/v1/products", 404, "not_found: "},
	} {
		rec := sendRequest(m, c.method, c.target)
		if rec.Code != c.status || !strings.Contains(rec.Body.String(), c.body) {
			t.Errorf("%s %s: %d %.200s", c.method, c.target, rec.Code, rec.Body)
		}
		if allow := rec.Header().Get("Allow"); (rec.Code == http.StatusMethodNotAllowed) != (allow == "GET, HEAD") {
			t.Errorf("%s %s: Allow %q", c.method, c.target, allow)
		}
	}
	if kind := sendRequest(m, "GET", "/metrics").Header().Get("Content-Type"); !strings.HasPrefix(kind, "text/plain; version=0.0.4") {
		t.Errorf("Content-Type %q", kind)
	}
}

// promlint is Prometheus' own check of names, units and help texts.
func TestMetricsFollowTheConventions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		body := sendRequest(open(t, d), "GET", "/metrics").Body.String()
		problems, err := promlint.New(strings.NewReader(body)).Lint()
		if err != nil || len(problems) > 0 {
			t.Errorf("%v, %v", problems, err)
		}
		want := []string{
			`atelie_build_info{database="` + string(d.Dialect) + `",goversion="go`, "atelie_database_up 1", "atelie_disk_free_bytes ", "atelie_disk_total_bytes ", "atelie_backup_age_seconds 90", "atelie_backup_waiting_files 4",
			`atelie_jobs_waiting{kind="other"} 0`, `atelie_mail_attempts_total{result="failed"} 7`, `atelie_mail_attempts_total{result="delivered"} 5`,
			`atelie_database_connections_open{pool="anonymous"} `, `atelie_cache_requests_total{cache="pages",result="miss"} 0`, "go_goroutines ", "process_open_fds ",
		}
		for _, surface := range surfaceNames {
			want = append(want, fmt.Sprintf(`atelie_http_requests_total{status="5xx",surface=%q} 0`, surface), fmt.Sprintf(`atelie_http_request_duration_seconds_count{surface=%q} 0`, surface))
		}
		for _, line := range want {
			if !strings.Contains(body, "\n"+line) {
				t.Errorf("no %s in\n%s", line, body)
			}
		}
	})
}

// TestScrapeWithoutTheDatabase checks that with a closed database only the metrics of the jobs are missing.
func TestScrapeWithoutTheDatabase(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		m := open(t, d)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		rec := sendRequest(m, "GET", "/metrics")
		if body := rec.Body.String(); rec.Code != 200 || !strings.Contains(body, "\natelie_database_up 0\n") || strings.Contains(body, "atelie_jobs_waiting{") || !strings.Contains(body, "\natelie_live_sockets 3\n") {
			t.Errorf("%d %s", rec.Code, body)
		}
	})
}

func TestRequestsAreCountedByStatusClass(t *testing.T) {
	m := open(t, dbtest.Open(t, db.SQLite))
	for status, class := range map[int]string{101: "1xx", 204: "2xx", 304: "3xx", 499: "4xx", 599: "5xx", 0: "5xx", 99: "5xx", 600: "5xx", -7: "5xx", 1 << 40: "5xx"} {
		count := fmt.Sprintf("atelie_http_requests_total{status=%q,surface=\"render\"} ", class)
		value := func() (n int) {
			_, rest, _ := strings.Cut(sendRequest(m, "GET", "/metrics").Body.String(), count)
			if _, err := fmt.Sscan(rest, &n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := value()
		if m.Observe(Render, status, time.Millisecond); value() != before+1 {
			t.Errorf("status %d is not counted as %s", status, class)
		}
	}
	body := sendRequest(m, "GET", "/metrics").Body.String()
	for _, line := range []string{ // nine of the ten requests, without the live connection
		`atelie_http_request_duration_seconds_bucket{surface="render",le="0.001"} 9`, `atelie_http_request_duration_seconds_count{surface="render"} 9`,
		`atelie_http_request_duration_seconds_count{surface="pages"} 0`,
	} {
		if !strings.Contains(body, "\n"+line+"\n") {
			t.Errorf("no %s", line)
		}
	}
	if n := testing.AllocsPerRun(1000, func() { m.Observe(Pages, 200, time.Millisecond) }); n != 0 {
		t.Errorf("a request costs %v allocations", n)
	}
}

func BenchmarkObserve(b *testing.B) {
	d, err := db.Open(b.Context(), "sqlite:"+b.TempDir()+"/a.db", db.NoHooks)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := d.Close(); err != nil {
			b.Error(err)
		}
	})
	m := New(Sources{DB: d}, slog.New(slog.DiscardHandler))
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			m.Observe(Pages, 200, 300*time.Microsecond)
		}
	})
}
