package deploy

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/test/program"
)

// scraped has the metrics that a program exposes: by the name of a metric the names of its labels, and by the name and labels of a series its
// value.
type scraped struct {
	labels map[string][]string
	values map[string]float64
}

var (
	series = regexp.MustCompile(`^([a-z_]+)(?:\{(.*)\})? (\S+)$`)
	label  = regexp.MustCompile(`([a-z_]+)="(?:[^"\\]|\\.)*"`)
)

// scrape returns the metrics at an address.
func scrape(t *testing.T, address string) scraped {
	t.Helper()
	response, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%v %s", err, response.Status)
	}
	s := scraped{labels: map[string][]string{}, values: map[string]float64{}}
	for line := range strings.Lines(string(body)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		found := series.FindStringSubmatch(strings.TrimSpace(line))
		if found == nil {
			t.Fatalf("%q is no series", line)
		}
		s.labels[found[1]] = nil
		for _, l := range label.FindAllStringSubmatch(found[2], -1) {
			s.labels[found[1]] = append(s.labels[found[1]], l[1])
		}
		if s.values[strings.TrimSpace(strings.TrimSuffix(line, found[3]+"\n"))], err = strconv.ParseFloat(found[3], 64); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// measured starts the program with metrics and returns their address.
func measured(t *testing.T, dialect db.Dialect) (n *node, metrics string) {
	t.Helper()
	metrics = "127.0.0.1:" + program.FreePort(t)
	env := []string{"ATELIE_DATA_DIR=" + t.TempDir(), "ATELIE_LISTEN=127.0.0.1:0", "ATELIE_METRICS_LISTEN=" + metrics}
	if dialect == db.Postgres {
		env = append(env, "ATELIE_DATABASE_URL="+dbtest.URL(t, dialect))
	}
	return start(t, env...), metrics
}

func TestMetricsOfTheProgram(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			n, metrics := measured(t, dialect)
			status := func(method, address string) int {
				t.Helper()
				r, err := http.NewRequestWithContext(t.Context(), method, "http://"+address, nil)
				if err != nil {
					t.Fatal(err)
				}
				response, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				_ = response.Body.Close()
				return response.StatusCode
			}
			before := scrape(t, metrics)
			for range 3 {
				if got := status("GET", n.address+"/"); got != http.StatusOK {
					t.Fatalf("the home page: %d", got)
				}
			}
			for _, c := range []struct {
				method, address string
				want            int
			}{
				{"GET", n.address + "/rest/v1/secret-table-name", http.StatusUnauthorized}, {"GET", n.address + "/metrics", http.StatusNotFound},
				{"GET", metrics + "/", http.StatusNotFound}, {"GET", metrics + "/rest/v1/products", http.StatusNotFound}, {"POST", metrics + "/metrics", http.StatusMethodNotAllowed},
			} {
				if got := status(c.method, c.address); got != c.want {
					t.Errorf("%s %s: %d", c.method, c.address, got)
				}
			}
			for name, more := range map[string]float64{
				`atelie_http_requests_total{status="2xx",surface="pages"}`: 3, `atelie_http_requests_total{status="4xx",surface="pages"}`: 1,
				`atelie_http_requests_total{status="4xx",surface="rest"}`: 1, `atelie_http_requests_total{status="4xx",surface="other"}`: 0,
				`atelie_http_request_duration_seconds_count{surface="pages"}`: 4,
			} {
				// A request is counted when its response is complete, possibly a moment after the client has received it.
				eventually(t, name+" has risen", func() bool { return scrape(t, metrics).values[name] >= before.values[name]+more })
				if got := scrape(t, metrics).values[name]; got != before.values[name]+more {
					t.Errorf("%s: %v after %v", name, got, before.values[name])
				}
			}
			after := scrape(t, metrics)
			for name, least := range map[string]float64{
				`atelie_disk_free_bytes`: 1, `atelie_disk_total_bytes`: 1, `process_resident_memory_bytes`: 1e6, `go_goroutines`: 1, `atelie_database_up`: 1,
				`atelie_database_connections_open{pool="` + map[db.Dialect]string{db.SQLite: "write", db.Postgres: "main"}[dialect] + `"}`: 1,
				`atelie_cache_requests_total{cache="pages",result="hit"}`:                                                                  1,
			} {
				if after.values[name] < least {
					t.Errorf("%s is %v", name, after.values[name])
				}
			}
			for name := range after.values {
				if strings.Contains(name, "secret-table-name") || strings.Contains(name, "127.0.0.1") {
					t.Errorf("%s has a value of a request", name)
				}
			}
			if strings.Contains(n.output.String(), `"path":"/metrics","status":200`) {
				t.Error("scrapes are in the access log")
			}
		})
	}
}

func TestMetricsAreRefusedAtTheSitesAddress(t *testing.T) {
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "serve")
	cmd.Env = append(os.Environ(), "ATELIE_DATA_DIR="+t.TempDir(), "ATELIE_LISTEN=127.0.0.1:8000", "ATELIE_METRICS_LISTEN=:8000")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "metrics-listen: the site listens on 127.0.0.1:8000") {
		t.Errorf("%v: %s", err, out)
	}
}

// dashboard is the part of a Grafana dashboard that names metrics.
type dashboard struct {
	SchemaVersion int
	Templating    struct {
		List []struct{ Name, Type, Definition string }
	}
	Panels []struct {
		ID      int
		Type    string
		Title   string
		GridPos struct{ X, Y, W, H int }
		Targets []struct{ RefID, Expr string }
	}
}

var (
	quoted   = regexp.MustCompile(`"[^"]*"`)
	matchers = regexp.MustCompile(`\{([^}]*)\}`)
	grouping = regexp.MustCompile(`\b(?:by|without) \(([^)]*)\)`)
	duration = regexp.MustCompile(`\[[^\]]*\]`)
	word     = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)
	call     = regexp.MustCompile(`([a-z_]+)\s*\(`)
	// functions are the functions of Prometheus that the dashboard uses.
	functions = []string{"sum", "min", "max", "rate", "increase", "histogram_quantile", "clamp_min", "label_values"}
	// scrapeLabels are the labels that Prometheus itself adds.
	scrapeLabels = []string{"instance", "job"}
)

// namesOf returns the metrics and the labels in a query.
func namesOf(query string) (metrics, labels []string) {
	rest := duration.ReplaceAllString(quoted.ReplaceAllString(query, ""), "")
	for _, part := range []*regexp.Regexp{matchers, grouping} {
		for _, found := range part.FindAllStringSubmatch(rest, -1) {
			labels = append(labels, word.FindAllString(found[1], -1)...)
		}
		rest = part.ReplaceAllString(rest, "")
	}
	return word.FindAllString(call.ReplaceAllString(rest, "("), -1), labels
}

// TestDashboardNamesWhatIsExposed checks that every metric and label of the dashboard's queries exists in the running program.
func TestDashboardNamesWhatIsExposed(t *testing.T) {
	var d dashboard
	if err := json.Unmarshal([]byte(example(t, "grafana.json")), &d); err != nil {
		t.Fatal(err)
	}
	_, metrics := measured(t, db.SQLite)
	exposed := scrape(t, metrics)
	used := map[string]bool{}
	check := func(where, query string) {
		t.Helper()
		if query == "" {
			t.Errorf("%s has no query", where)
		}
		for _, f := range call.FindAllStringSubmatch(grouping.ReplaceAllString(query, ""), -1) {
			if !slices.Contains(functions, f[1]) {
				t.Errorf("%s: unknown function %s in %s", where, f[1], query)
			}
		}
		names, labels := namesOf(query)
		var known []string
		for _, name := range names {
			of, ok := exposed.labels[name]
			if !ok {
				t.Errorf("%s: no metric %s in the program: %s", where, name, query)
			}
			used[name], known = true, append(known, of...)
		}
		for _, l := range labels {
			if !slices.Contains(append(known, scrapeLabels...), l) {
				t.Errorf("%s: no metric has a label %s: %s", where, l, query)
			}
		}
	}
	ids := map[int]bool{}
	for i, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || p.GridPos.W < 1 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %d: id %d is not its own, or title or place are wrong: %+v", i, p.ID, p.GridPos)
		}
		ids[p.ID] = true
		for _, q := range d.Panels[:i] {
			if a, b := p.GridPos, q.GridPos; a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("%s lies on %s", p.Title, q.Title)
			}
		}
		if (p.Type == "row") != (len(p.Targets) == 0) {
			t.Errorf("%s is a %s with %d queries", p.Title, p.Type, len(p.Targets))
		}
		for _, target := range p.Targets {
			check(p.Title+" "+target.RefID, target.Expr)
		}
	}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			inner := strings.TrimSuffix(strings.TrimPrefix(v.Definition, "label_values("), ")")
			name, l, _ := strings.Cut(inner, ", ")
			check("variable "+v.Name, name+"{"+l+"}")
		}
	}
	if d.SchemaVersion < 41 || len(used) < 15 {
		t.Errorf("schema %d, %d metrics", d.SchemaVersion, len(used))
	}
}

// TestHostingPageNamesTheMetrics checks that docs/hosting.md names each metric of the program, and no other.
func TestHostingPageNamesTheMetrics(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "hosting.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, metrics := measured(t, db.SQLite)
	exposed := map[string]bool{}
	for name := range scrape(t, metrics).labels {
		if strings.HasPrefix(name, "atelie_") {
			exposed[regexp.MustCompile(`_seconds_(bucket|sum|count)$`).ReplaceAllString(name, "_seconds")] = true
		}
	}
	for _, name := range regexp.MustCompile(`atelie_[a-z_]+`).FindAllString(string(page), -1) {
		if !exposed[name] {
			t.Errorf("docs/hosting.md names %s, which the program does not expose", name)
		}
		exposed[name] = false
	}
	for name, missing := range exposed {
		if missing {
			t.Errorf("docs/hosting.md does not name %s", name)
		}
	}
}
