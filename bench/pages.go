package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// browserHeader contains the request headers of a browser on which a response depends.
var browserHeader = http.Header{"Accept-Encoding": {"gzip, deflate, br, zstd"}}

// demoWorks is the number of works in the demo content.
const demoWorks = 22

// pageTable prints how fast the program serves cached pages and a cached list of works (/rest/v1). The references are nginx and a Go
// handler, which send the same bytes. Then it prints how long page views take while works are added, and the memory with full caches.
func pageTable(ctx context.Context, out io.Writer) error {
	if _, err := fmt.Fprintf(out, "\nPages and anonymous answers from memory, %d clients, median of %d rounds; "+
		"nginx writes its access log to a file, as it does by default, and we ours\n  %-30s %8s %12s %16s %16s %12s %14s\n",
		clients, pageRounds, "", "bytes", "requests/s", "of nginx", "of a Go handler", "p99 ms", "CPU us/request"); err != nil {
		return err
	}
	for _, works := range []int{demoWorks, 20_000} {
		if err := pageRows(ctx, out, works); err != nil {
			return fmt.Errorf("%d works: %w", works, err)
		}
	}
	return nil
}

// pageRounds is the number of measurements of each request. It is larger than in other benchmarks (rounds), because the times of short
// requests vary more.
const pageRounds = 5

// pageRows prints the table for a site with the given number of works. For demoWorks, the site has the demo content.
func pageRows(ctx context.Context, out io.Writer, works int) (err error) {
	dir, err := os.MkdirTemp("", "atelie-bench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	env := append(os.Environ(), "ATELIE_DATA_DIR="+dir, "ATELIE_LISTEN=127.0.0.1:0")
	if works == demoWorks {
		if err := loadDemo(ctx, env); err != nil {
			return err
		}
	}
	s, err := startLogging(ctx, env, filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	anonKey, serviceKey, err := keysOf(ctx, env)
	if err != nil {
		return err
	}
	if works != demoWorks {
		if _, err := fillProducts(ctx, s.url, serviceKey, works); err != nil {
			return err
		}
	}
	reader := browserHeader.Clone()
	reader.Set("apikey", anonKey)
	home := call{"home", http.MethodGet, "/", "", browserHeader}
	for _, c := range []call{
		home,
		{"home without compression", http.MethodGet, "/", "", http.Header{"Accept-Encoding": {"identity"}}},
		{"gallery", http.MethodGet, "/gallery", "", browserHeader},
		{"public list, 24 newest", http.MethodGet, "/rest/v1/products?select=*,media&order=created_at.desc&limit=24", "", reader},
	} {
		if err := c.compareWithOthers(ctx, out, s, works); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if err := home.whileOwnerEdits(ctx, out, s, serviceKey); err != nil {
		return err
	}
	if works != demoWorks {
		return fillMemory(ctx, out, s, anonKey)
	}
	return nil
}

// startLogging starts the program with its log in a file, because writing the log is part of the cost of a request.
func startLogging(ctx context.Context, env []string, file string) (*server, error) {
	return start(ctx, env, "/bin/sh", "-c", `exec "$0" serve 2>"$1"`, binary, file)
}

// compareWithOthers measures a call to the program, to nginx and to a Go handler in turns, and prints a line.
func (c call) compareWithOthers(ctx context.Context, out io.Writer, s *server, works int) error {
	body, header, err := c.response(ctx, s.url)
	if err != nil {
		return err
	}
	plain, err := startReference(ctx, body)
	if err != nil {
		return err
	}
	defer func() { _ = plain.stop() }()
	other, err := startNginx(ctx, body, header)
	if err != nil {
		return err
	}
	defer func() { _ = other.stop() }()
	sides := []*server{s, other, plain}
	figures := make([][]measurement, len(sides))
	for range pageRounds {
		for i, side := range sides {
			one, err := c.measure(ctx, clients, side)
			if err != nil {
				return err
			}
			figures[i] = append(figures[i], one)
		}
	}
	ours, nginx, handler := medianOf(figures[0]), medianOf(figures[1]), medianOf(figures[2])
	record(fmt.Sprintf("%s, %d works, requests of a Go handler", c.name, works), ours.rate/handler.rate)
	_, err = fmt.Fprintf(out, "  %-30s %8d %12.0f %9.0f (%.2f) %9.0f (%.2f) %5.2f (%4.2f) %7d (%4.2f)\n", fmt.Sprintf("%s, %d works", c.name, works), len(body),
		ours.rate, nginx.rate, ours.rate/nginx.rate, handler.rate, ours.rate/handler.rate, ms(ours.p99), ms(nginx.p99), ours.cpu.Microseconds(), float64(ours.cpu)/float64(handler.cpu))
	return err
}

// response sends the call without its body, and returns the body and the headers of the response.
func (c call) response(ctx context.Context, url string) ([]byte, http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, c.method, url+c.path, nil)
	if err != nil {
		return nil, nil, err
	}
	r.Header = c.header
	response, err := client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return body, response.Header, err
}

// nginxConfig responds to all URLs with one file. The other settings are those of Debian's package.
const nginxConfig = `daemon off;
worker_processes auto;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log;
events { worker_connections 768; }
http {
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000;
  access_log %[1]s/access.log;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
  default_type "%[3]s";
  server {
    listen %[2]s;
    root %[1]s;
    add_header Content-Encoding "%[4]s";
    location / { rewrite ^ /page break; }
  }
}
`

// nginxProgram returns the path of nginx.
func nginxProgram() string {
	program, err := exec.LookPath("nginx")
	if err != nil {
		return "/usr/sbin/nginx" // where Debian keeps it, which is not in every PATH
	}
	return program
}

// startNginx starts a server that sends body from a file.
func startNginx(ctx context.Context, body []byte, header http.Header) (s *server, err error) {
	dir, err := os.MkdirTemp("", "atelie-nginx")
	if err != nil {
		return nil, err
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "nginx.conf")
	if err := errors.Join(
		os.Chmod(dir, 0o755), // nginx's workers run as another user
		os.WriteFile(config, fmt.Appendf(nil, nginxConfig, dir, address, header.Get("Content-Type"), header.Get("Content-Encoding")), 0o644),
		os.WriteFile(filepath.Join(dir, "page"), body, 0o644),
	); err != nil {
		return nil, err
	}
	s = &server{process: exec.CommandContext(ctx, nginxProgram(), "-p", dir, "-c", config), url: "http://" + address, folder: dir}
	if err := s.process.Start(); err != nil {
		return nil, fmt.Errorf("nginx (make deps-bench installs it): %w", err)
	}
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		got, _, err := call{method: http.MethodGet, path: "/"}.response(ctx, s.url)
		if err == nil && string(got) == string(body) {
			return s, nil
		}
		if time.Since(begun) > 5*time.Second {
			return nil, errors.Join(errors.New("nginx did not start"), err, s.stop())
		}
	}
}

// whileOwnerEdits measures how long the first page view after a change takes, and page views while a work is added once a
// second.
func (c call) whileOwnerEdits(ctx context.Context, out io.Writer, s *server, serviceKey string) error {
	owner := http.Header{"Apikey": {serviceKey}, "Authorization": {"Bearer " + serviceKey}, "Content-Type": {"application/json"}, "Prefer": {"return=minimal"}}
	edit := func(n int) error {
		body, err := json.Marshal(map[string]any{"title": fmt.Sprintf("Edited %d", n), "price": 0})
		if err != nil {
			return err
		}
		_, err = call{method: http.MethodPost, path: "/rest/v1/products", body: string(body), header: owner}.do(ctx, s.url)
		return err
	}
	var first []time.Duration
	for n := range 15 {
		if err := edit(n); err != nil {
			return err
		}
		begun := time.Now()
		if _, err := c.do(ctx, s.url); err != nil {
			return err
		}
		first = append(first, time.Since(begun))
	}
	editing, stop := context.WithCancel(ctx)
	edited := make(chan error, 1)
	go func() {
		for n := 100; ; n++ {
			if err := edit(n); err != nil {
				edited <- err
				return
			}
			select {
			case <-editing.Done():
				edited <- nil
				return
			case <-time.After(time.Second):
			}
		}
	}()
	var quiet, busy []measurement
	for range pageRounds {
		m, err := c.measure(ctx, clients, s)
		if err != nil {
			stop()
			return errors.Join(err, <-edited)
		}
		busy = append(busy, m)
	}
	stop()
	if err := <-edited; err != nil {
		return err
	}
	for range pageRounds {
		m, err := c.measure(ctx, clients, s)
		if err != nil {
			return err
		}
		quiet = append(quiet, m)
	}
	a, b := medianOf(busy), medianOf(quiet)
	slices.Sort(first)
	_, err := fmt.Fprintf(out, "    the first view after a change %.2f ms (at most %.2f); with one change a second p99 %.2f ms, without %.2f; %.0f requests/s, without %.0f\n",
		ms(median(first)), ms(first[len(first)-1]), ms(a.p99), ms(b.p99), a.rate, b.rate)
	return err
}

// fillMemory requests more different pages and lists than the caches can hold, and prints the memory of the process.
func fillMemory(ctx context.Context, out io.Writer, s *server, anonKey string) error {
	reader := browserHeader.Clone()
	reader.Set("apikey", anonKey)
	body, err := call{method: http.MethodGet, path: "/rest/v1/products?select=id&artwork_type=eq.mural&limit=1000", header: http.Header{"Apikey": {anonKey}}}.do(ctx, s.url)
	if err != nil {
		return err
	}
	var works []struct{ ID string }
	if err := json.Unmarshal(body, &works); err != nil {
		return err
	}
	begun, asked := time.Now(), 0
	for i, w := range works {
		for _, c := range []call{
			{method: http.MethodGet, path: "/gallery?art=" + w.ID, header: browserHeader},
			{method: http.MethodGet, path: "/gallery/mural?lang=pt&art=" + w.ID, header: browserHeader},
			{method: http.MethodGet, path: fmt.Sprintf("/rest/v1/products?select=*&order=id&limit=100&offset=%d", i), header: reader},
			{method: http.MethodGet, path: fmt.Sprintf("/rest/v1/products?select=*&order=id&limit=100&offset=%d", i), header: http.Header{"Apikey": {anonKey}, "Accept-Encoding": {"identity"}}},
		} {
			if _, err := c.do(ctx, s.url); err != nil {
				return err
			}
			asked++
		}
	}
	took := time.Since(begun)
	now, err := s.resident()
	if err != nil {
		return err
	}
	most, err := s.memory("VmHWM")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "    memory after %d different pages and lists (%.0f/s): %.0f MB, at most %.0f MB\n", asked, float64(asked)/took.Seconds(), now, most)
	return err
}
