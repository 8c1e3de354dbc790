// Package metrics exports metrics of the running program to Prometheus. The values of labels come from fixed lists, never from a request
// (such as its path or host), because each new value would add time series.
package metrics

import (
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Surface is the part of the site that serves a request, by the prefix of its URL.
type Surface int

// The surfaces. Render is the part of /storage/v1 that responds with pictures in other sizes. Other is for requests that belong to
// no surface, such as health checks.
const (
	Auth Surface = iota
	Rest
	Storage
	Render
	Functions
	Realtime
	Pages
	Other
)

// surfaceNames are the values of the label surface.
var surfaceNames = [...]string{
	Auth: "auth", Rest: "rest", Storage: "storage", Render: "render", Functions: "functions", Realtime: "realtime", Pages: "pages", Other: "other",
}

// statusClasses are the values of the label status. A status below 100 or above 599 counts as 5xx.
var statusClasses = [...]string{"1xx", "2xx", "3xx", "4xx", "5xx"}

// durationBuckets are the upper limits of the buckets of durations, in seconds. The smallest is a millisecond, because most responses come
// from memory in less time. The largest is the timeout of requests that transfer no file.
var durationBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 40}

// Metrics counts requests, and responds to Prometheus with all metrics (a scrape).
type Metrics struct {
	requests  [len(surfaceNames)][len(statusClasses)]prometheus.Counter
	durations [len(surfaceNames)]prometheus.Observer
	scrape    http.Handler // responds with all metrics
}

// New returns the metrics of a program with these sources.
func New(s Sources, log *slog.Logger) *Metrics {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "atelie_http_requests_total", Help: "Requests handled, by surface and class of the status.",
	}, []string{"surface", "status"})
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "atelie_http_request_duration_seconds", Help: "Time from the request's headers to the end of the response, transfer included. Live connections are left out.",
		Buckets: durationBuckets,
	}, []string{"surface"})
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "atelie_build_info", Help: "Always 1. The labels are the version of the program, its database and the version of Go.",
	}, []string{"version", "database", "goversion"})
	build.WithLabelValues(s.Version, string(s.DB.Dialect), runtime.Version()).Set(1)

	m := &Metrics{}
	for surface, name := range surfaceNames {
		m.durations[surface] = durations.WithLabelValues(name)
		for class, status := range statusClasses {
			m.requests[surface][class] = requests.WithLabelValues(name, status)
		}
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(requests, durations, build, &collector{s, log},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.scrape = promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelError), ErrorHandling: promhttp.ContinueOnError,
		CoalesceGather: true, // scrapes at the same time read the database once
	})
	return m
}

// Observe counts a request after its response. It allocates nothing and takes no lock, because it runs in every request.
func (m *Metrics) Observe(surface Surface, status int, took time.Duration) {
	class := status/100 - 1
	if class < 0 || class >= len(statusClasses) {
		class = len(statusClasses) - 1
	}
	m.requests[surface][class].Inc()
	if status != http.StatusSwitchingProtocols { // a live connection lasts for hours
		m.durations[surface].Observe(took.Seconds())
	}
}

// ServeHTTP responds to GET /metrics. It requires no key: the operator of the site must make this address unreachable from outside.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case r.URL.Path != "/metrics":
		http.Error(w, "not_found: this address has only /metrics", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method_not_allowed: read /metrics with GET", http.StatusMethodNotAllowed)
	default:
		m.scrape.ServeHTTP(w, r)
	}
}
