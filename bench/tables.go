package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"atelie/internal/db/dbtest"
)

// This file measures requests on tables (/rest/v1). The other benchmarks also use its types call and measurement.

// tableSizes are the numbers of rows for which requests are measured. A request that uses an index should cost the same for both.
var tableSizes = []int{200, 20_000}

// engines are the database engines on which requests are measured.
var engines = []struct {
	name string
	url  func(context.Context) (string, error) // returns the URL of a new database; "" for SQLite in the data folder
}{
	{"SQLite", func(context.Context) (string, error) { return "", nil }},
	{"PostgreSQL (without fsync)", dbtest.FreshPostgres},
}

// call is a request that is measured.
type call struct {
	name, method, path, body string
	header                   http.Header
}

// measurement is the result of sending a call to a server again and again for a period.
type measurement struct {
	rate     float64       // requests per second
	p50, p99 time.Duration // percentiles of the response time
	cpu      time.Duration // CPU time of the server for one request
}

// tableCosts prints the cost of requests on tables, compared with a Go server in another process that writes the same bytes
// from memory.
func tableCosts(ctx context.Context, out io.Writer) (err error) {
	defer func() { err = errors.Join(err, dbtest.Stop()) }() // ends the PostgreSQL server that FreshPostgres starts
	for _, engine := range engines {
		if _, err := fmt.Fprintf(out, "\nTables on %s, %d clients, median of %d rounds; "+
			"in brackets the ratio to a Go handler that writes the same bytes from memory\n  %-34s %8s %22s %18s %18s %20s\n",
			engine.name, clients, rounds, "", "bytes", "requests/s", "p50 ms", "p99 ms", "CPU us/request"); err != nil {
			return err
		}
		results := map[string][]measurement{} // by the name of the call; one measurement for each of tableSizes
		for _, size := range tableSizes {
			databaseURL, err := engine.url(ctx)
			if err != nil {
				return err
			}
			if err := tableCostRows(ctx, out, engine.name, databaseURL, size, results); err != nil {
				return err
			}
		}
		for _, name := range []string{"24 newest", "24 newest murals", "one by id"} {
			small, large := results[name][0], results[name][1]
			if _, err := fmt.Fprintf(out, "  %s: %d rows cost %.2f times the CPU of %d\n", name, tableSizes[1], float64(large.cpu)/float64(small.cpu), tableSizes[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

// tableCostRows measures all calls on a new site with size works. It prints the measurements and appends them to results, by the names of
// the calls. engine is the name of the database engine. databaseURL is "" for SQLite in the data folder.
func tableCostRows(ctx context.Context, out io.Writer, engine, databaseURL string, size int, results map[string][]measurement) error {
	dir, err := os.MkdirTemp("", "atelie-bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	env := append(os.Environ(), "ATELIE_DATA_DIR="+dir, "ATELIE_LISTEN=127.0.0.1:0", "ATELIE_DATABASE_URL="+databaseURL)
	s, err := start(ctx, env, binary, "serve")
	if err != nil {
		return err
	}
	defer func() { _ = s.stop() }()
	anonKey, serviceKey, err := keysOf(ctx, env)
	if err != nil {
		return err
	}
	id, err := fillProducts(ctx, s.url, serviceKey, size)
	if err != nil {
		return err
	}
	reader := func(more ...string) http.Header {
		h := http.Header{"Apikey": {anonKey}}
		for i := 0; i < len(more); i += 2 {
			h.Set(more[i], more[i+1])
		}
		return h
	}
	writer := http.Header{"Apikey": {serviceKey}, "Authorization": {"Bearer " + serviceKey}, "Content-Type": {"application/json"}, "Prefer": {"return=minimal"}}
	work, err := json.Marshal(product(size))
	if err != nil {
		return err
	}
	for _, c := range []call{
		{"24 newest", http.MethodGet, "/rest/v1/products?select=*&order=created_at.desc&limit=24", "", reader()},
		{"24 newest murals", http.MethodGet, "/rest/v1/products?select=*&artwork_type=eq.mural&order=created_at.desc&limit=24", "", reader()},
		{"count", http.MethodHead, "/rest/v1/products?select=*", "", reader("Prefer", "count=exact")},
		{"one by id", http.MethodGet, "/rest/v1/products?select=*&id=eq." + id, "", reader("Accept", "application/vnd.pgrst.object+json")},
		{"create", http.MethodPost, "/rest/v1/products", string(work), writer},
	} {
		m, err := compareWithReference(ctx, out, s, c, engine, size)
		if err != nil {
			return fmt.Errorf("%s of %d: %w", c.name, size, err)
		}
		results[c.name] = append(results[c.name], m)
	}
	return nil
}

// compareWithReference measures a call alternately with the program and with a reference server. It prints both results and returns that of
// the program.
func compareWithReference(ctx context.Context, out io.Writer, s *server, c call, engine string, size int) (measurement, error) {
	body, err := c.do(ctx, s.url)
	if err != nil {
		return measurement{}, err
	}
	m, err := startReference(ctx, body)
	if err != nil {
		return measurement{}, err
	}
	defer func() { _ = m.stop() }()
	var ours, theirs []measurement
	for range rounds {
		for _, side := range []struct {
			to   *[]measurement
			from *server
		}{{&ours, s}, {&theirs, m}} {
			one, err := c.measure(ctx, clients, side.from)
			if err != nil {
				return measurement{}, err
			}
			*side.to = append(*side.to, one)
		}
	}
	a, b := medianOf(ours), medianOf(theirs)
	record(fmt.Sprintf("%s: %s of %d, requests of a Go handler", engine, c.name, size), a.rate/b.rate)
	_, err = fmt.Fprintf(out, "  %-34s %8d %14.0f (%.2f) %11.2f (%4.1f) %11.2f (%4.1f) %13d (%4.1f)\n", fmt.Sprintf("%s of %d", c.name, size), len(body),
		a.rate, a.rate/b.rate, ms(a.p50), float64(a.p50)/float64(b.p50), ms(a.p99), float64(a.p99)/float64(b.p99), a.cpu.Microseconds(), float64(a.cpu)/float64(b.cpu))
	return a, err
}

// medianOf returns the median of each field.
func medianOf(all []measurement) measurement {
	var rates []float64
	var p50, p99, cpu []time.Duration
	for _, m := range all {
		rates, p50, p99, cpu = append(rates, m.rate), append(p50, m.p50), append(p99, m.p99), append(cpu, m.cpu)
	}
	return measurement{median(rates), median(p50), median(p99), median(cpu)}
}

// do sends the call once and returns the body of the response. A status from 300 on is an error.
func (c call) do(ctx context.Context, url string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, c.method, url+c.path, strings.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	r.Header = c.header
	response, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return body, err
}

// measure sends the call from count clients for a period. Each client uses one of the servers.
func (c call) measure(ctx context.Context, count int, servers ...*server) (measurement, error) {
	ctx, cancel := context.WithTimeout(ctx, period)
	defer cancel()
	before, err := cpuOf(servers)
	if err != nil {
		return measurement{}, err
	}
	var wg sync.WaitGroup
	took := make([][]time.Duration, count)
	failed := make([]error, count)
	begin := time.Now()
	for i := range count {
		s := servers[i%len(servers)]
		wg.Go(func() {
			for ctx.Err() == nil {
				sent := time.Now()
				if _, err := c.do(ctx, s.url); err != nil {
					if ctx.Err() == nil {
						failed[i] = err
					}
					return
				}
				took[i] = append(took[i], time.Since(sent))
			}
		})
	}
	wg.Wait()
	elapsed := time.Since(begin)
	if err := errors.Join(failed...); err != nil {
		return measurement{}, err
	}
	after, err := cpuOf(servers)
	if err != nil {
		return measurement{}, err
	}
	all := slices.Concat(took...)
	if len(all) == 0 {
		return measurement{}, errors.New("no request was answered in time")
	}
	slices.Sort(all)
	return measurement{float64(len(all)) / elapsed.Seconds(), all[len(all)/2], all[len(all)*99/100], (after - before) / time.Duration(len(all))}, nil
}

func cpuOf(servers []*server) (total time.Duration, err error) {
	for _, s := range servers {
		one, err := s.cpu()
		if err != nil {
			return 0, err
		}
		total += one
	}
	return total, nil
}

// product returns a work with about as many bytes as a real one.
func product(n int) map[string]any {
	return map[string]any{
		"title": fmt.Sprintf("Roofs in the morning, no. %d", n), "description": strings.Repeat("Painted wet in one sitting, then left alone. ", 6),
		"artwork_type": []string{"digital", "watercolour", "mural", "oil", "acrylic"}[n%5], "image_url": fmt.Sprintf("/storage/v1/object/public/product-images/%d.jpg", n),
		"image_gallery": []string{"/storage/v1/object/public/product-images/a.jpg", "/storage/v1/object/public/product-images/b.jpg"}, "is_featured": n%7 == 0,
		"dimensions": "46 × 60 cm", "medium": "Watercolour on cotton paper", "creation_date": "2024-03-12", "tags": []string{"roofs", "city", "morning"},
	}
}

// fillProducts inserts works by HTTP and returns the id of one of them.
func fillProducts(ctx context.Context, url, serviceKey string, size int) (id string, err error) {
	begin := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for from := 0; from < size; from += 1000 {
		rows := []map[string]any{}
		for n := from; n < min(size, from+1000); n++ {
			p := product(n)
			p["created_at"] = begin.Add(time.Duration(n) * time.Hour)
			rows = append(rows, p)
		}
		body, err := json.Marshal(rows)
		if err != nil {
			return "", err
		}
		c := call{method: http.MethodPost, path: "/rest/v1/products?select=id", body: string(body), header: http.Header{
			"Apikey": {serviceKey}, "Authorization": {"Bearer " + serviceKey}, "Content-Type": {"application/json"}, "Prefer": {"return=representation"},
		}}
		response, err := c.do(ctx, url)
		if err != nil {
			return "", err
		}
		var stored []struct{ ID string }
		if err := json.Unmarshal(response, &stored); err != nil {
			return "", err
		}
		id = stored[len(stored)/2].ID
	}
	return id, nil
}

// startReference starts this program again as a server that responds to all requests with the given bytes.
func startReference(ctx context.Context, body []byte) (*server, error) {
	file, err := os.CreateTemp("", "atelie-bench")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(file.Name()) }() // the reference reads the file before it prints its address
	_, err = file.Write(body)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	return start(ctx, os.Environ(), self(), "reference", file.Name())
}
