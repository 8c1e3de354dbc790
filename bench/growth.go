package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// This file measures how the costs of a site grow with its number of works.

// growthSizes are the numbers of works for which growthTable prints a line if it has no arguments.
var growthSizes = []int{100, 1_000, 10_000, 100_000}

// growthEdits is the number of edits in a measurement. After each edit, the first request for a page is measured.
const growthEdits = 15

// growthTable prints a line for each number of works, measured on a new site on SQLite:
//
//   - the size of the database, and the memory of the server
//   - the CPU time of the server for a cached page and for queries
//   - the time of a save, and of the first request for a page after a save
//
// The arguments are the numbers of works (default: growthSizes).
func growthTable(ctx context.Context, out io.Writer, args []string) error {
	sizes := growthSizes
	if len(args) > 0 {
		sizes = nil
		for _, arg := range args {
			size, err := strconv.Atoi(arg)
			if err != nil {
				return err
			}
			sizes = append(sizes, size)
		}
	}
	if _, err := fmt.Fprintf(out, "\nCost of a growing site on SQLite, %d clients; CPU of the server in microseconds a request, "+
		"times in milliseconds, p50 of %d; works without pictures of their own\n  %9s %8s %9s %9s %7s %7s %9s %7s %7s %9s %9s %9s %10s %9s\n",
		clients, growthEdits, "works", "fill/s", "disk MB", "MB idle", "MB max", "start", "home CPU", "list", "by id", "home new", "gallery", "work page", "sitemap", "save"); err != nil {
		return err
	}
	for _, size := range sizes {
		if err := growthRow(ctx, out, size); err != nil {
			return fmt.Errorf("%d works: %w", size, err)
		}
	}
	return nil
}

// growthRow prints the line for one number of works.
func growthRow(ctx context.Context, out io.Writer, size int) (err error) {
	dir, err := os.MkdirTemp("", "atelie-bench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	env := append(os.Environ(), "ATELIE_DATA_DIR="+dir, "ATELIE_LISTEN=127.0.0.1:0")
	fillServer, err := start(ctx, env, binary, "serve")
	if err != nil {
		return err
	}
	anonKey, serviceKey, err := keysOf(ctx, env)
	if err != nil {
		return errors.Join(err, fillServer.stop())
	}
	begin := time.Now()
	id, err := fillProducts(ctx, fillServer.url, serviceKey, size)
	fillTime := time.Since(begin)
	if err = errors.Join(err, fillServer.stop()); err != nil {
		return err
	}
	begin = time.Now()
	s, err := start(ctx, env, binary, "serve")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := get(ctx, s.url+"/", ""); err != nil {
		return err
	}
	startTime := time.Since(begin)
	if err := waitUntilIdle(ctx, s); err != nil {
		return err
	}
	idleMB, err := s.resident()
	if err != nil {
		return err
	}
	reader := http.Header{"Apikey": {serviceKey}} // the service key, because its responses are not cached
	costs := []call{
		{"home", http.MethodGet, "/", "", browserHeader},
		{"list", http.MethodGet, "/rest/v1/products?select=*&order=created_at.desc&limit=24", "", reader},
		{"by id", http.MethodGet, "/rest/v1/products?select=*&id=eq." + id, "", reader},
	}
	cpu := make([]time.Duration, len(costs))
	for i, c := range costs {
		m, err := c.measure(ctx, clients, s)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		cpu[i] = m.cpu
	}
	owner := http.Header{"Apikey": {serviceKey}, "Authorization": {"Bearer " + serviceKey}, "Content-Type": {"application/json"}, "Prefer": {"return=minimal"}}
	var saves []time.Duration
	visits := []string{"/", "/gallery/all", "/gallery/all?art=" + id, "/sitemap.xml"}
	first := make([][]time.Duration, len(visits))
	for n := range growthEdits {
		for i, path := range visits {
			begin := time.Now()
			edit := call{method: http.MethodPatch, path: "/rest/v1/products?id=eq." + id, body: fmt.Sprintf(`{"title":"Edited %d"}`, n), header: owner}
			if _, err := edit.do(ctx, s.url); err != nil {
				return err
			}
			saves = append(saves, time.Since(begin))
			begin = time.Now()
			if _, err := (call{method: http.MethodGet, path: path, header: browserHeader}).do(ctx, s.url); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			first[i] = append(first[i], time.Since(begin))
		}
	}
	if err := get(ctx, s.url+"/rest/v1/products?select=id&limit=1", anonKey); err != nil { // the site still responds to visitors
		return err
	}
	peakMB, err := s.memory("VmHWM")
	if err != nil {
		return err
	}
	diskMB, err := databaseBytes(dir)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "  %9d %8.0f %9.1f %9.0f %7.0f %7.0f %9d %7d %7d %9.1f %9.1f %9.1f %10.1f %9.1f\n", size, float64(size)/fillTime.Seconds(), diskMB, idleMB, peakMB, ms(startTime),
		cpu[0].Microseconds(), cpu[1].Microseconds(), cpu[2].Microseconds(), ms(median(first[0])), ms(median(first[1])), ms(median(first[2])), ms(median(first[3])), ms(median(saves)))
	return err
}

// databaseBytes returns the size of the database's files in a data folder in MB, with the log of SQLite.
func databaseBytes(folder string) (float64, error) {
	files, err := filepath.Glob(filepath.Join(folder, "atelie.db*"))
	total := 0.0
	for _, file := range files {
		stat, bad := os.Stat(file)
		if bad != nil {
			return 0, bad
		}
		total += float64(stat.Size()) / 1e6
	}
	return total, err
}
