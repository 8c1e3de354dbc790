package main

import (
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
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// This file measures the home page under a load of a million visits an hour.

const (
	visitRate     = 278                    // visits a second: a million an hour
	targetPageP99 = 100 * time.Millisecond // for the page's response time; oneNode prints a line if it misses a target
	targetPeakMB  = 300.0                  // for the server's resident memory
	saveInterval  = time.Second            // between two edits of the owner
	photoInterval = 10 * time.Second       // between two uploads of the owner
)

// Durations of the measurements. ATELIE_BENCH_VISITS sets the duration for one node with a working owner (60s by default).
const (
	warmUp            = 5 * time.Second  // before each measurement, at a quarter of visitRate; these visits are not counted
	referenceDuration = 15 * time.Second // for the Go handler, and for one node (server of the site) while no owner edits
	furtherDuration   = 30 * time.Second // for three nodes, and for nginx
)

// frontPage replays first visits of the home page, at the rate of a million an hour, to three targets: one node, three nodes on PostgreSQL,
// and nginx as a cache in front of one node. Meanwhile the owner saves every second and uploads a photo of 24 MP every ten seconds. The
// reference is a Go handler that writes the same bytes from memory. The servers and the visitors share the machine.
func frontPage(ctx context.Context, out io.Writer) error {
	duration := time.Minute
	if text := os.Getenv("ATELIE_BENCH_VISITS"); text != "" {
		var err error
		if duration, err = time.ParseDuration(text); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "atelie-bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	f := &frontBench{out: out, dir: dir}
	folder, err := runNode(ctx, "bench/demo-folder.mjs")
	if err != nil {
		return err
	}
	f.demoFolder = strings.TrimSpace(string(folder))
	if f.photo, err = generateUpload(ctx, filepath.Join(dir, "photo.jpg")); err != nil {
		return err
	}
	return errors.Join(f.oneNode(ctx, duration), f.threeNodes(ctx), f.behindNginx(ctx))
}

// frontBench is the state that the measurements share.
type frontBench struct {
	out        io.Writer
	dir        string // temporary files
	demoFolder string // data folder of a site with the demo content
	photo      []byte // the owner's upload

	recordings []recording
	reference  load // of the Go handler
}

// load is the result of one measurement.
type load struct {
	visits
	owner          ownerTimes
	cpu            time.Duration // CPU time of the servers per visit
	usedCPUs       float64       // average number of processors used by servers, their worker processes, database and visitors
	machineCPUs    float64       // average number of processors used by all processes of the machine
	waitingThreads float64       // average number of the servers' threads that waited for a processor; 0 on an idle machine
	serverPeakMB   float64       // peak resident memory of the largest server
	treePeakMB     float64       // peak memory of a server with the processes that it has started; shared memory counts once
	databaseCPUs   float64       // average number of processors used by PostgreSQL
}

// startDemo starts a node on a copy of demoFolder.
func (f *frontBench) startDemo(ctx context.Context, name string, more ...string) (*server, []string, error) {
	folder := filepath.Join(f.dir, name)
	if err := os.CopyFS(folder, os.DirFS(f.demoFolder)); err != nil {
		return nil, nil, err
	}
	return f.startNode(ctx, name, append(more, "ATELIE_DATA_DIR="+folder)...)
}

// startNode starts a node and waits until it is idle.
func (f *frontBench) startNode(ctx context.Context, name string, more ...string) (*server, []string, error) {
	env := append(append(os.Environ(), more...), "ATELIE_LISTEN=127.0.0.1:0", "ATELIE_VIPS=off") // as the demo was made: nothing is left to make
	s, err := startLogging(ctx, env, filepath.Join(f.dir, name+".log"))
	if err != nil {
		return nil, nil, err
	}
	if err := waitUntilIdle(ctx, s); err != nil {
		return nil, nil, errors.Join(err, s.stop())
	}
	return s, env, nil
}

func (f *frontBench) oneNode(ctx context.Context, duration time.Duration) (err error) {
	s, env, err := f.startDemo(ctx, "one")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if f.recordings, err = recordVisits(ctx, s.url+"/"); err != nil {
		return err
	}
	if err := f.printHead(); err != nil {
		return err
	}
	if err := f.measureReference(ctx, s); err != nil {
		return err
	}
	alone, err := f.measure(ctx, referenceDuration, nil, []*server{s}, []*server{s}, nil)
	if err != nil {
		return err
	}
	if err := f.print("one node, no owner", alone); err != nil {
		return err
	}
	l, err := f.measure(ctx, duration, env, []*server{s}, []*server{s}, s)
	if err != nil {
		return err
	}
	if err := f.print("one node, SQLite", l); err != nil {
		return err
	}
	recordCost("front page, one node, p99 of the page, of the wanted", float64(percentile(l.pages, 99))/float64(targetPageP99))
	recordCost("front page, one node, CPU of a visit, of a Go handler", float64(l.cpu)/float64(f.reference.cpu))
	recordCost("front page, one node, memory, of the wanted", l.serverPeakMB/targetPeakMB)
	if l.refused > 0 || percentile(l.pages, 99) > targetPageP99 || l.serverPeakMB > targetPeakMB {
		_, err = fmt.Fprintf(f.out, "  not reached: nothing refused, p99 of the page in %v, and %.0f MB\n", targetPageP99, targetPeakMB)
	}
	return err
}

func (f *frontBench) printHead() error {
	for _, r := range f.recordings {
		if _, err := fmt.Fprintf(f.out, "\nFirst visit of the home page on a %s, recorded from Chromium: %d requests, %.0f kB", r.Device, len(r.Requests), float64(r.bytes())/1000); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(f.out, "\n%d visits a second, a million an hour, each from an address of its own, on %d processors that servers and visitors share; the owner saves\neach %v and uploads %.1f MB each %v; times from the moment at which a visit is due\n  %-26s %7s %8s %28s %20s %20s %26s %26s %30s\n",
		visitRate, runtime.NumCPU(), saveInterval, float64(len(f.photo))/1e6, photoInterval,
		"", "visits", "refused", "page p50, p99, max ms", "visit p50, p99 ms", "CPU ms a visit", "cores: ours, all, missed", "MB: server, with workers", "owner's p99 ms: save, upload")
	return err
}

func (f *frontBench) print(name string, l load) error {
	ratio := ""
	if f.reference.cpu > 0 {
		ratio = fmt.Sprintf(" (%.1f x)", float64(l.cpu)/float64(f.reference.cpu))
	}
	_, err := fmt.Fprintf(f.out, "  %-26s %7d %8d %12.1f %7.1f %7.1f %12.1f %7.1f %11.2f%8s %10.2f %7.2f %7.2f %14.0f %11.0f %14.0f %7.0f\n", name, len(l.pages)+l.refused, l.refused,
		ms(percentile(l.pages, 50)), ms(percentile(l.pages, 99)), ms(percentile(l.pages, 100)), ms(percentile(l.wholes, 50)), ms(percentile(l.wholes, 99)),
		ms(l.cpu), ratio, l.usedCPUs, l.machineCPUs, l.waitingThreads, l.serverPeakMB, l.treePeakMB, ms(percentile(l.owner.saves, 99)), ms(percentile(l.owner.uploads, 99)))
	if err == nil && l.cause != nil {
		_, err = fmt.Fprintf(f.out, "    the first refused visit: %v\n", l.cause)
	}
	return err
}

// measureReference replays the visits to a Go handler in another process that writes the same bytes from memory.
func (f *frontBench) measureReference(ctx context.Context, s *server) (err error) {
	responses := map[string]recordedResponse{}
	for _, r := range f.recordings {
		for _, request := range r.Requests {
			header := http.Header{}
			for _, h := range request.Headers {
				header.Set(h[0], h[1])
			}
			body, got, err := call{method: http.MethodGet, path: request.Path, header: header}.response(ctx, s.url)
			if err != nil {
				return err
			}
			responses[request.Path] = recordedResponse{Type: got.Get("Content-Type"), Encoding: got.Get("Content-Encoding"), Body: body}
		}
	}
	text, err := json.Marshal(responses)
	if err != nil {
		return err
	}
	file := filepath.Join(f.dir, "answers.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	reference, err := start(ctx, os.Environ(), self(), "recorded-answers", file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reference.stop()) }()
	l, err := f.measure(ctx, referenceDuration, nil, []*server{reference}, []*server{reference}, nil)
	if err != nil {
		return err
	}
	err = f.print("a Go handler, memory", l)
	f.reference = l
	return err
}

type recordedResponse struct {
	Type, Encoding string
	Body           []byte
}

// serveRecorded runs a web server until SIGTERM. It responds to each path with the bytes that measureReference has stored in a file.
func serveRecorded(ctx context.Context, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var responses map[string]recordedResponse
	if err := json.Unmarshal(text, &responses); err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Println("http://" + listener.Addr().String()); err != nil {
		return err
	}
	s := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response, known := responses[r.RequestURI]
		if !known {
			http.NotFound(w, r)
			return
		}
		header := w.Header()
		header.Set("Content-Type", response.Type)
		header.Set("Content-Length", strconv.Itoa(len(response.Body)))
		if response.Encoding != "" {
			header.Set("Content-Encoding", response.Encoding)
		}
		_, _ = w.Write(response.Body) // the visitor may have gone
	})}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() { <-stop; _ = s.Close() }()
	if err := s.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// measure replays the visits to the visited servers. nodes are the further servers that serve them, and those whose memory counts. The
// owner works on a server with the environment env, or nobody does if owner is nil.
func (f *frontBench) measure(ctx context.Context, duration time.Duration, env []string, visited, nodes []*server, owner *server) (l load, err error) {
	if warm := replayFor(ctx, f.recordings, visitRate/4, warmUp, visited...); warm.cause != nil {
		return l, warm.cause
	}
	servers := slices.Clone(nodes)
	for _, s := range visited {
		if !slices.Contains(servers, s) {
			servers = append(servers, s)
		}
	}
	working, stopWork := context.WithCancel(ctx)
	defer stopWork()
	worked := make(chan ownerTimes, 1)
	if owner != nil {
		_, serviceKey, err := keysOf(ctx, env)
		if err != nil {
			return l, err
		}
		go func() { worked <- f.work(working, owner.url, serviceKey) }()
	}
	clocks := []func() (time.Duration, error){
		func() (time.Duration, error) { return cpuOf(servers) }, func() (time.Duration, error) { return workersCPU(servers) }, databaseCPU, ownCPU, machineCPU,
	}
	read := func() ([]time.Duration, error) {
		all := make([]time.Duration, len(clocks))
		for i, clock := range clocks {
			var err error
			if all[i], err = clock(); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	stops := make([]func(), len(nodes))
	trees := make([]*float64, len(nodes))
	for i, s := range nodes {
		stops[i], trees[i] = watchMemory(s.process.Process.Pid, sharedMemory)
	}
	before, err := read()
	if err != nil {
		return l, err
	}
	waitedBefore := waitedForProcessor(servers)
	begin := time.Now()
	l.visits = replayFor(ctx, f.recordings, visitRate, duration, visited...)
	elapsed := time.Since(begin)
	after, err := read()
	l.waitingThreads = (waitedForProcessor(servers) - waitedBefore).Seconds() / elapsed.Seconds()
	stopWork()
	for i, s := range nodes {
		stops[i]()
		peak, bad := s.memory("VmHWM")
		err = errors.Join(err, bad)
		l.serverPeakMB, l.treePeakMB = max(l.serverPeakMB, peak), max(l.treePeakMB, *trees[i])
	}
	if owner != nil {
		l.owner = <-worked
		err = errors.Join(err, l.owner.err)
	}
	if err != nil {
		return l, err
	}
	var ours time.Duration
	for i := range clocks[:4] {
		ours += max(after[i]-before[i], 0)
	}
	l.cpu = (after[0] - before[0]) / time.Duration(len(l.pages)+l.refused)
	l.databaseCPUs = (after[2] - before[2]).Seconds() / elapsed.Seconds()
	l.usedCPUs, l.machineCPUs = ours.Seconds()/elapsed.Seconds(), (after[4]-before[4]).Seconds()/elapsed.Seconds()
	return l, nil
}

// waitedForProcessor returns how long the threads of the servers were ready to run, but other work had the processors.
func waitedForProcessor(servers []*server) (total time.Duration) {
	for _, s := range servers {
		files, err := filepath.Glob("/proc/" + strconv.Itoa(s.process.Process.Pid) + "/task/*/schedstat")
		if err != nil {
			continue // the pattern is valid
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue // the thread has ended
			}
			if fields := strings.Fields(string(text)); len(fields) == 3 { // nanoseconds that it ran and waited, and how often it ran
				if ns, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
					total += time.Duration(ns)
				}
			}
		}
	}
	return total
}

// workersCPU returns the CPU time of all processes that the servers have started and that have ended.
func workersCPU(servers []*server) (total time.Duration, err error) {
	for _, s := range servers {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(s.process.Process.Pid) + "/stat")
		if err != nil {
			return 0, err
		}
		p, err := parseStat(string(stat))
		if err != nil {
			return 0, err
		}
		total += p.childrens
	}
	return total, nil
}

// ownerTimes has how long the owner's saves and uploads took, sorted.
type ownerTimes struct {
	saves, uploads []time.Duration
	err            error
}

// work saves and uploads until the context ends.
func (f *frontBench) work(ctx context.Context, url, serviceKey string) (t ownerTimes) {
	owner := http.Header{"Apikey": {serviceKey}, "Authorization": {"Bearer " + serviceKey}, "Content-Type": {"application/json"}, "Prefer": {"return=minimal"}}
	id, err := featuredWork(ctx, url, owner)
	if err != nil {
		return ownerTimes{err: err}
	}
	var both sync.WaitGroup
	var failed [2]error
	repeat := func(every time.Duration, times *[]time.Duration, failure *error, do func(ctx context.Context, n int) error) {
		both.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				begin := time.Now()
				if err := do(context.WithoutCancel(ctx), n); err != nil {
					*failure = err
					return
				}
				*times = append(*times, time.Since(begin))
				select {
				case <-ctx.Done():
				case <-time.After(every - time.Since(begin)):
				}
			}
		})
	}
	repeat(saveInterval, &t.saves, &failed[0], func(ctx context.Context, n int) error {
		_, err := call{method: http.MethodPatch, path: "/rest/v1/products?id=eq." + id, body: fmt.Sprintf(`{"title":"Edited %d"}`, n), header: owner}.do(ctx, url)
		return err
	})
	name := strconv.FormatInt(time.Now().UnixNano(), 36)
	repeat(photoInterval, &t.uploads, &failed[1], func(ctx context.Context, n int) error {
		return uploadPicture(ctx, url, serviceKey, fmt.Sprintf("product-images/front-%s-%d.jpg", name, n), f.photo)
	})
	both.Wait()
	slices.Sort(t.saves)
	slices.Sort(t.uploads)
	t.err = errors.Join(failed[:]...)
	return t
}

// featuredWork returns the id of a work that the home page shows.
func featuredWork(ctx context.Context, url string, owner http.Header) (string, error) {
	found, err := call{method: http.MethodGet, path: "/rest/v1/products?select=id&is_featured=eq.true&order=created_at.desc&limit=1", header: owner}.do(ctx, url)
	if err != nil {
		return "", err
	}
	var works []struct{ ID string }
	if err := json.Unmarshal(found, &works); err != nil || len(works) != 1 {
		return "", errors.Join(err, errors.New("no featured work: "+string(found)))
	}
	return works[0].ID, nil
}

// threeNodes measures three nodes that share PostgreSQL and a data folder. Visitors come to each in turn.
func (f *frontBench) threeNodes(ctx context.Context) (err error) {
	address, err := dbtest.FreshPostgres(ctx)
	defer func() { err = errors.Join(err, dbtest.Stop()) }()
	if err != nil {
		return err
	}
	folder := filepath.Join(f.dir, "three")
	fill := exec.CommandContext(ctx, binary, "copy")
	fill.Env = append(os.Environ(), "ATELIE_COPY_FROM="+f.demoFolder, "ATELIE_COPY_TO="+address, "ATELIE_COPY_TO_FILES="+filepath.Join(folder, "files"))
	if msg, err := fill.CombinedOutput(); err != nil {
		return fmt.Errorf("copy the demo: %w: %s", err, msg)
	}
	more := []string{"ATELIE_DATA_DIR=" + folder, "ATELIE_DATABASE_URL=" + address}
	first, env, err := f.startNode(ctx, "three", more...)
	if err != nil {
		return err
	}
	servers := []*server{first}
	defer func() {
		for _, s := range servers {
			err = errors.Join(err, s.stop())
		}
	}()
	for len(servers) < 3 {
		s, _, err := f.startNode(ctx, fmt.Sprintf("three-%d", len(servers)), more...)
		if err != nil {
			return err
		}
		servers = append(servers, s)
	}
	before, err := transactions(ctx, address)
	if err != nil {
		return err
	}
	begin := time.Now()
	l, err := f.measure(ctx, furtherDuration, env, servers, servers, first)
	if err != nil {
		return err
	}
	seconds := time.Since(begin).Seconds()
	after, err := transactions(ctx, address)
	if err != nil {
		return err
	}
	if err := f.print("three nodes, PostgreSQL", l); err != nil {
		return err
	}
	recordCost("front page, three nodes, CPU of a visit, of a Go handler", float64(l.cpu)/float64(f.reference.cpu))
	_, err = fmt.Fprintf(f.out, "    PostgreSQL: %.0f transactions a second, %.2f cores; the memory is that of the largest node\n", float64(after-before)/seconds, l.databaseCPUs)
	return err
}

// transactions returns how many transactions a PostgreSQL database has committed.
func transactions(ctx context.Context, address string) (count int64, err error) {
	d, err := db.Open(ctx, address, db.NoHooks)
	if err != nil {
		return 0, err
	}
	count, err = db.One[int64](ctx, d, "select xact_commit from pg_stat_database where datname = current_database()")
	return count, errors.Join(err, d.Close())
}

// behindNginx measures nginx with deploy/nginx/cached.conf in front of one node, without TLS. Visitors come to nginx, the owner to the
// node.
func (f *frontBench) behindNginx(ctx context.Context) (err error) {
	s, env, err := f.startDemo(ctx, "cached", "ATELIE_CDN=on", "ATELIE_TRUSTED_PROXIES=127.0.0.1")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	cache, err := startCache(ctx, filepath.Join(f.dir, "nginx"), s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cache.stop()) }()
	before, err := s.cpu()
	if err != nil {
		return err
	}
	begin := time.Now()
	l, err := f.measure(ctx, furtherDuration, env, []*server{cache}, []*server{s}, s)
	if err != nil {
		return err
	}
	seconds := time.Since(begin).Seconds()
	after, err := s.cpu()
	if err != nil {
		return err
	}
	if err := f.print("nginx as a cache of one", l); err != nil {
		return err
	}
	_, err = fmt.Fprintf(f.out, "    the node used %.2f cores, for what the owner does and for what nginx asked again; the memory is the node's\n", (after-before).Seconds()/seconds)
	return err
}

// startCache starts nginx with the example of deploy/nginx, but without TLS and at a free port, as one process.
func startCache(ctx context.Context, dir string, node *server) (*server, error) {
	text, err := os.ReadFile("deploy/nginx/cached.conf")
	if err != nil {
		return nil, err
	}
	var ports [2]string
	for i := range ports {
		if ports[i], err = freeAddress(ctx); err != nil {
			return nil, err
		}
	}
	config := string(text)
	for _, change := range [][2]string{
		{"127.0.0.1:8000", strings.TrimPrefix(node.url, "http://")}, {"/var/cache/nginx/", dir + "/"},
		{"listen 80;", "listen " + ports[0] + ";"}, {"listen 443 ssl http2;", "listen " + ports[1] + ";"},
		{"keepalive 32;", "keepalive 32; keepalive_requests 1000000;"},
	} {
		if !strings.Contains(config, change[0]) {
			return nil, fmt.Errorf("deploy/nginx/cached.conf has no %q", change[0])
		}
		config = strings.ReplaceAll(config, change[0], change[1])
	}
	var lines, temporary strings.Builder
	for line := range strings.Lines(config) {
		if !strings.HasPrefix(strings.TrimSpace(line), "ssl_") {
			lines.WriteString(line)
		}
	}
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&temporary, "%s_temp_path %s;\n", kind, filepath.Join(dir, kind))
	}
	main := filepath.Join(dir, "nginx.conf")
	if err := errors.Join(
		os.MkdirAll(dir, 0o755),
		os.WriteFile(main, []byte("daemon off;\nmaster_process off;\npid "+filepath.Join(dir, "pid")+";\nevents { worker_connections 8192; }\nhttp {\nsendfile on;\ntcp_nopush on;\naccess_log "+
			filepath.Join(dir, "access.log")+";\n"+temporary.String()+lines.String()+"}\n"), 0o600),
	); err != nil {
		return nil, err
	}
	s := &server{process: exec.CommandContext(ctx, nginxProgram(), "-e", filepath.Join(dir, "error.log"), "-p", dir, "-c", main), url: "http://" + ports[1]}
	if err := s.process.Start(); err != nil {
		return nil, fmt.Errorf("nginx (make deps-bench installs it): %w", err)
	}
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := get(ctx, s.url+"/health/ready", "")
		if err == nil {
			return s, nil
		}
		if time.Since(begun) > 5*time.Second {
			return nil, errors.Join(errors.New("nginx did not start"), err, s.stop())
		}
	}
}

// freeAddress returns a local address at a port that was free a moment ago.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
