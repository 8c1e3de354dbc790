// Command bench measures the built program and prints tables. In the same run it measures references, such as a Go handler that sends the
// same bytes. Absolute numbers depend on the machine, so only the ratios to the references count. bench also writes the ratios to
// .cache/bench.json.
//
//	bench                                      all tables except load and growth
//	bench TABLE                                one table
//	bench compare OLD-PROGRAM NEW-PROGRAM …    compares two builds
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// tables are the benchmarks, in the order in which they are printed. A new benchmark needs a row here.
var tables = []struct {
	name  string
	print func(context.Context, io.Writer) error
}{
	{"demo", demoTables},
	{"front", frontPage},
	{"pages", pageTable},
	{"page-script", pageScript},
	{"files", fileTable},
	{"edits", pageEdits},
	{"metrics", metricsTable},
	{"tables", tableCosts},
	{"nodes", nodeTable},
	{"upload", uploadTable},
	{"writes", writeCostTables},
	{"auth", authTables},
	{"links", linkTables},
	{"anonymous", anonymousTable},
	{"backup", backupTable},
	{"first-size", firstSizes},
	{"pictures", pictureTable},
}

func main() {
	if err := run(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	var name string
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	switch name {
	case "load":
		return pictureLoad(ctx, out)
	case "growth":
		return growthTable(ctx, out, args)
	case "compare":
		return compareBuilds(ctx, out, args)
	// The program starts itself with the names below: as a server to compare with, or for heavy work whose memory is measured in a process
	// of its own.
	case "reference":
		return runReference(args)
	case "recorded-answers":
		return serveRecorded(ctx, args[0])
	case "picture-generate":
		return generatePicture(args)
	case "picture-make":
		return makePictures(ctx, args)
	case "picture-similarity":
		return similarityTo(args, out)
	}
	var err error
	for _, t := range tables {
		if name == "" || name == t.name {
			err = errors.Join(err, t.print(ctx, out))
		}
	}
	return errors.Join(err, results.write(cmp.Or(os.Getenv(resultsVariable), ".cache/bench.json")))
}

// Variables with which compareBuilds starts this program again, for each of the builds.
const (
	programVariable = "ATELIE_BENCH_PROGRAM"
	resultsVariable = "ATELIE_BENCH_RESULTS"
)

// binary is the program that is measured.
var binary = cmp.Or(os.Getenv(programVariable), "bin/atelie")

// demoTables prints the tables about the start, requests and live changes, on a site with the demo content.
func demoTables(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "atelie-bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	env := append(os.Environ(), "ATELIE_DATA_DIR="+dir, "ATELIE_LISTEN=127.0.0.1:0")
	if err := loadDemo(ctx, env); err != nil {
		return err
	}
	anonKey, _, err := keysOf(ctx, env)
	if err != nil {
		return err
	}
	if err := startTable(ctx, out, env); err != nil {
		return err
	}
	if err := requestTable(ctx, out, env, anonKey); err != nil {
		return err
	}
	return liveTable(ctx, out, env)
}

// loadDemo loads the demo content into the site that env names.
func loadDemo(ctx context.Context, env []string) error {
	load := exec.CommandContext(ctx, binary, "demo")
	load.Env = env
	if msg, err := load.CombinedOutput(); err != nil {
		return fmt.Errorf("load demo: %w: %s", err, msg)
	}
	return nil
}

// keysOf returns the anon key and the service key of a site.
func keysOf(ctx context.Context, env []string) (anonKey, serviceKey string, err error) {
	c := exec.CommandContext(ctx, binary, "keys")
	c.Env = env
	printed, err := c.Output()
	if err != nil {
		return "", "", err
	}
	for line := range strings.Lines(string(printed)) {
		switch name, key, _ := strings.Cut(strings.TrimSpace(line), "="); name {
		case "ANON_KEY":
			anonKey = key
		case "SERVICE_ROLE_KEY":
			serviceKey = key
		}
	}
	if anonKey == "" || serviceKey == "" {
		return "", "", errors.New("no keys")
	}
	return anonKey, serviceKey, nil
}

// server is a running program that has printed its address in a line with "http://".
type server struct {
	process *exec.Cmd
	url     string
	folder  string // stop removes it after the program has ended; "" if there is none
}

// start starts a program and waits until it has printed its address.
func start(ctx context.Context, env []string, name string, args ...string) (*server, error) {
	s := &server{process: exec.CommandContext(ctx, name, args...)}
	s.process.Env = env
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if at := strings.Index(lines.Text(), "http://"); at >= 0 {
			s.url = strings.TrimSpace(lines.Text()[at:])
			return s, nil
		}
	}
	return nil, errors.Join(errors.New(name+" did not start"), s.stop())
}

// stop ends the program by SIGTERM and waits until it has ended.
func (s *server) stop() error {
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return errors.Join(s.process.Wait(), os.RemoveAll(s.folder))
}

// resident returns the resident memory of the process now, in MB.
func (s *server) resident() (float64, error) { return s.memory("VmRSS") }

// memory returns the memory of the process in MB: VmRSS is the resident memory now, VmHWM its peak.
func (s *server) memory(name string) (float64, error) {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(s.process.Process.Pid) + "/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kb, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			return kb / 1000, err
		}
	}
	return 0, errors.New("no " + name)
}

// startTable prints the time from the start until the first response, compared with an empty Go server.
func startTable(ctx context.Context, out io.Writer, env []string) error {
	const runs = 11
	var ours, empty []time.Duration
	for range runs {
		for _, c := range []struct {
			times *[]time.Duration
			name  string
			args  []string
		}{{&ours, binary, []string{"serve"}}, {&empty, self(), []string{"reference"}}} {
			begin := time.Now()
			s, err := start(ctx, env, c.name, c.args...)
			if err != nil {
				return err
			}
			if err := get(ctx, s.url+"/", ""); err != nil {
				return err
			}
			*c.times = append(*c.times, time.Since(begin))
			if err := s.stop(); err != nil {
				return err
			}
		}
	}
	stat, err := os.Stat(binary)
	if err != nil {
		return err
	}
	a, b := median(ours), median(empty)
	recordCost("start to the first response, of an empty server", float64(a)/float64(b))
	_, err = fmt.Fprintf(out, "Start to the first 200, demo content, median of %d\n  atelie serve           %6.1f ms\n  an empty Go server     %6.1f ms   ratio %.1f\n  binary                 %6.1f MB\n\n",
		runs, ms(a), ms(b), float64(a)/float64(b), float64(stat.Size())/1e6)
	return err
}

// requestTable prints requests per second, compared with a Go handler that writes the same bytes.
func requestTable(ctx context.Context, out io.Writer, env []string, anonKey string) error {
	s, err := start(ctx, env, binary, "serve")
	if err != nil {
		return err
	}
	defer func() { _ = s.stop() }()
	if _, err := fmt.Fprintf(out, "Requests per second, %d clients, beside a Go handler that writes the same bytes from memory (median of %d rounds)\n", clients, rounds); err != nil {
		return err
	}
	if err := waitUntilIdle(ctx, s); err != nil { // the demo's pictures are made in the background
		return err
	}
	picture, err := renditionOf(ctx, s.url, anonKey)
	if err != nil {
		return err
	}
	for _, c := range []struct{ name, path string }{
		{"home page", "/"},
		{"picture of 640 px", picture},
		{"public list, all works", "/rest/v1/products?select=*&order=created_at.desc"},
		{"public list, 24 murals", "/rest/v1/products?select=*&artwork_type=eq.mural&order=created_at.desc&limit=24"},
		{"one work by id", "/rest/v1/products?select=*&limit=1"},
	} {
		body, err := fetch(ctx, s.url+c.path, anonKey)
		if err != nil {
			return err
		}
		reference, err := serveBytes(body)
		if err != nil {
			return err
		}
		var ours, theirs []float64
		for range rounds {
			a, err := rate(ctx, s.url+c.path, anonKey)
			if err != nil {
				return err
			}
			b, err := rate(ctx, reference.url, anonKey)
			if err != nil {
				return err
			}
			ours, theirs = append(ours, a), append(theirs, b)
		}
		if err := reference.close(); err != nil {
			return err
		}
		a, b := median(ours), median(theirs)
		record(c.name+", requests of a Go handler", a/b)
		if _, err := fmt.Fprintf(out, "  %-24s %7d bytes %8.0f/s   reference %8.0f/s   ratio %.2f\n", c.name, len(body), a, b, a/b); err != nil {
			return err
		}
	}
	mb, err := s.resident()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "  resident memory afterwards %.0f MB\n", mb)
	return err
}

// renditionOf returns the path of a rendition that the site's pages request. The server makes the rendition at the first
// request.
func renditionOf(ctx context.Context, site, anonKey string) (string, error) {
	body, err := fetch(ctx, site+"/rest/v1/products?select=image_url,media&order=id&limit=1", anonKey)
	if err != nil {
		return "", err
	}
	var works []struct {
		Address string                        `json:"image_url"`
		Media   map[string]struct{ V string } `json:"media"`
	}
	if err := json.Unmarshal(body, &works); err != nil {
		return "", err
	}
	if len(works) == 0 || works[0].Media[works[0].Address].V == "" {
		return "", errors.New("the demo has no work with a picture")
	}
	at := strings.Replace(works[0].Address, "/object/", "/render/image/", 1)
	return at + "?width=640&format=webp&v=" + works[0].Media[works[0].Address].V, nil
}

const (
	clients = 8           // concurrent clients
	rounds  = 3           // of each measurement; their median is printed
	period  = time.Second // duration of a round
)

// rate returns how many requests per second the server handles at an address.
func rate(ctx context.Context, url, key string) (float64, error) {
	done, elapsed, err := repeat(ctx, func(ctx context.Context, _ int) error { return get(ctx, url, key) })
	return float64(done) / elapsed.Seconds(), err
}

// repeat repeats do in all clients for a period. It returns how often do has succeeded, and the time until all clients had ended.
func repeat(ctx context.Context, do func(ctx context.Context, clientID int) error) (done int64, elapsed time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, period)
	defer cancel()
	var (
		count  atomic.Int64
		failed atomic.Value
		wg     sync.WaitGroup
	)
	begin := time.Now()
	for i := range clients {
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := do(ctx, i); err != nil {
					if ctx.Err() == nil {
						failed.Store(err)
					}
					return
				}
				count.Add(1)
			}
		})
	}
	wg.Wait()
	err, _ = failed.Load().(error)
	return count.Load(), time.Since(begin), err
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: nodeClients, DisableCompression: true}}

// fetch returns the body of a GET request. A status other than 200 is an error.
func fetch(ctx context.Context, url, key string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("apikey", key)
	response, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s: %s", url, response.Status, body)
	}
	return body, nil
}

func get(ctx context.Context, url, key string) error {
	_, err := fetch(ctx, url, key)
	return err
}

// localReference is a server in this process that responds to all requests with the same bytes.
type localReference struct {
	url   string
	close func() error
}

func serveBytes(body []byte) (*localReference, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(body) // clients close their connections at the end of a period
	})}
	go func() { _ = s.Serve(listener) }() // ends with Close
	return &localReference{url: "http://" + listener.Addr().String(), close: s.Close}, nil
}

// runReference runs a minimal Go web server until SIGTERM. It responds to all requests with the bytes of a file, or with "ok".
func runReference(args []string) error {
	body := []byte("ok")
	if len(args) == 1 {
		var err error
		if body, err = os.ReadFile(args[0]); err != nil {
			return err
		}
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Println("http://" + listener.Addr().String()); err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	s := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })}
	signal.Notify(stop, syscall.SIGTERM)
	go func() { <-stop; _ = s.Close() }()
	if err := s.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func median[T time.Duration | float64](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
