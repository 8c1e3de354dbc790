// Package memory measures the resident memory of the started program.
package memory

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/test/program"
	"atelie/test/soak"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

const (
	works    = 1000 // the maximum number of rows in a response
	clients  = 8
	requests = 25      // number of requests that each client sends
	noise    = 4 << 20 // difference of memory between two starts of a program in the same state
)

// Proves T-limits-memory.
//
// TestMemoryIsBackAfterHostileQueries sends the queries with the largest responses, which name columns many times, and the largest queries that
// are refused. A minute later the program must use about as much memory as before. The tests of both databases run in parallel, because they
// mostly wait.
func TestMemoryIsBackAfterHostileQueries(t *testing.T) {
	soak.Only(t)
	binary, err := program.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			s := start(t, binary, dialect)
			s.fill()
			s.stop()
			s.serve()
			s.get("/", "", "192.0.2.1")
			s.get("/rest/v1/products?select=id,title,description&limit=1000", s.public, "192.0.2.1")
			before := s.resident()
			peak := s.attack()
			if peak < before+before/2 {
				t.Errorf("the queries used little: %d MB, %d MB at most", before>>20, peak>>20)
			}
			begin := time.Now()
			now := s.resident()
			for now > before+before/5+noise && time.Since(begin) < time.Minute {
				time.Sleep(100 * time.Millisecond)
				now = s.resident()
			}
			t.Logf("%d MB before, %d MB at most, %d MB after %s", before>>20, peak>>20, now>>20, time.Since(begin).Round(time.Second))
			if now > before+before/5+noise {
				t.Errorf("%d MB before the queries, %d MB a minute after them", before>>20, now>>20)
			}
		})
	}
}

// site is the program under test.
type site struct {
	t              *testing.T
	binary         string
	env            []string
	url            string
	public, secret string
	process        *exec.Cmd
	logs           bytes.Buffer
}

func start(t *testing.T, binary string, dialect db.Dialect) *site {
	t.Helper()
	s := &site{t: t, binary: binary, env: append(os.Environ(), "ATELIE_DATA_DIR="+t.TempDir(), "ATELIE_LISTEN=127.0.0.1:0", "ATELIE_TRUSTED_PROXIES=127.0.0.1")}
	if dialect == db.Postgres {
		s.env = append(s.env, "ATELIE_DATABASE_URL="+dbtest.URL(t, dialect))
	}
	keys := exec.CommandContext(t.Context(), binary, "keys")
	keys.Env = s.env
	out, err := keys.Output()
	if err != nil {
		t.Fatal(err)
	}
	s.public, s.secret = program.Value(t, string(out), "ANON_KEY"), program.Value(t, string(out), "SERVICE_ROLE_KEY")
	s.serve()
	t.Cleanup(s.stop)
	return s
}

// serve starts the program and waits until it listens.
func (s *site) serve() {
	s.t.Helper()
	s.process = exec.Command(s.binary, "serve")
	s.process.Env, s.process.Stderr = s.env, &s.logs
	out, err := s.process.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for s.url = ""; s.url == "" && lines.Scan(); {
		s.url, _ = strings.CutPrefix(lines.Text(), "Ateliê: ")
	}
	if s.url == "" {
		s.t.Fatalf("did not start: %v\n%s", s.process.Wait(), s.logs.String())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
}

// stop ends the program, if it runs.
func (s *site) stop() {
	if s.process.ProcessState != nil {
		return
	}
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Error(err)
	}
	if err := s.process.Wait(); err != nil {
		s.t.Errorf("%v\n%s", err, s.logs.String())
	}
}

// fill inserts works whose rows give large responses.
func (s *site) fill() {
	s.t.Helper()
	rows := make([]map[string]string, works)
	for i := range rows {
		rows[i] = map[string]string{"title": fmt.Sprintf("Work %d", i), "description": strings.Repeat(fmt.Sprintf("%08d", i), 180)}
	}
	body, err := json.Marshal(rows)
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+"/rest/v1/products", bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Apikey", s.secret)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		s.t.Fatalf("%d", response.StatusCode)
	}
}

// get reads a response completely and returns its status. address is the client's IP address.
func (s *site) get(path, key, address string) int {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		s.t.Error(err)
		return 0
	}
	r.Header.Set("X-Forwarded-For", address)
	if key != "" {
		r.Header.Set("Apikey", key)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Error(err)
		return 0
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		s.t.Error(err)
	}
	return response.StatusCode
}

// attack sends the queries and returns the largest resident memory during them.
func (s *site) attack() (peak int) {
	s.t.Helper()
	selects := []string{}
	for _, named := range []int{5, 60} {
		var fields []string
		for i := range named {
			fields = append(fields, fmt.Sprintf("a%d:description", i))
		}
		selects = append(selects, strings.Join(fields, ","))
	}
	var sending sync.WaitGroup
	for client := range clients {
		sending.Go(func() {
			for n := range requests {
				for _, columns := range selects {
					switch status := s.get(fmt.Sprintf("/rest/v1/products?limit=1000&offset=%d&select=%s", client*requests+n, columns), s.public, fmt.Sprintf("198.51.100.%d", client)); status {
					case http.StatusOK, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests, http.StatusGatewayTimeout:
					default:
						s.t.Errorf("status %d", status)
					}
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { sending.Wait(); close(done) }()
	for {
		peak = max(peak, s.resident())
		select {
		case <-done:
			return peak
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// resident returns the resident memory of the program in bytes.
func (s *site) resident() int {
	s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			if err != nil {
				s.t.Fatal(err)
			}
			return kb << 10
		}
	}
	s.t.Fatal("no VmRSS")
	return 0
}
