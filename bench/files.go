package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"atelie/internal/storage/storagetest"
)

// This file measures how fast public files are served: renditions (pictures in other sizes) and a video.

// pictureHeader contains the request headers of a browser that requests a picture.
var pictureHeader = http.Header{"Accept": {"image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"}, "Accept-Encoding": {"gzip, deflate, br, zstd"}}

// fileRounds is the number of measurements of each request. It is larger than in other benchmarks (rounds), because the times of short
// requests vary more.
const fileRounds = 9

// fileTable prints how fast a site with SQLite and files on disk serves public files, compared with a Go handler in another process that
// writes the same bytes from memory.
func fileTable(ctx context.Context, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "atelie-bench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	env := append(os.Environ(), "ATELIE_DATA_DIR="+dir, "ATELIE_LISTEN=127.0.0.1:0")
	if err := loadDemo(ctx, env); err != nil {
		return err
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
	if err := waitUntilIdle(ctx, s); err != nil { // the demo's pictures are made in the background
		return err
	}
	versionedPath, err := renditionOf(ctx, s.url, anonKey)
	if err != nil {
		return err
	}
	path, query, _ := strings.Cut(versionedPath, "?")
	plainQuery, _, _ := strings.Cut(query, "&v=")
	videoPath, err := uploadVideo(ctx, s.url, serviceKey)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "\nPublic files, %d clients, median of %d rounds; "+
		"in brackets the ratio to a Go handler that writes the same bytes from memory, in the same round\n  %-38s %8s %18s %16s %18s\n",
		clients, fileRounds, "", "bytes", "requests/s", "p99 ms", "CPU us/request"); err != nil {
		return err
	}
	for _, c := range []call{
		{"640 px rendition, plain address", http.MethodGet, path + "?" + plainQuery, "", pictureHeader},
		{"640 px rendition, address with version", http.MethodGet, versionedPath, "", pictureHeader},
		{"film of 2 MB, from the disk", http.MethodGet, videoPath, "", pictureHeader},
	} {
		if err := c.compareWithHandler(ctx, out, s); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	residentMB, err := s.resident()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "  resident memory afterwards %.0f MB\n", residentMB)
	return err
}

// uploadVideo uploads a video that is too large for the server's cache in memory, and returns its path.
func uploadVideo(ctx context.Context, url, serviceKey string) (string, error) {
	const name = "product-images/bench.mp4"
	c := call{method: http.MethodPost, path: "/storage/v1/object/" + name, body: string(storagetest.NoisyFilm(2<<20, 1 /* seed */)), header: http.Header{"Authorization": {"Bearer " + serviceKey}}}
	_, err := c.do(ctx, url)
	return "/storage/v1/object/public/" + name, err
}

// compareWithHandler measures a call to the program and to a Go handler in turns, and prints a line.
func (c call) compareWithHandler(ctx context.Context, out io.Writer, s *server) error {
	body, _, err := c.response(ctx, s.url)
	if err != nil {
		return err
	}
	handler, err := startReference(ctx, body)
	if err != nil {
		return err
	}
	defer func() { _ = handler.stop() }()
	var ours []measurement
	var rates, p99s, cpus []float64 // ratios of the two measurements of a round
	for range fileRounds {
		a, err := c.measure(ctx, clients, s)
		if err != nil {
			return err
		}
		b, err := c.measure(ctx, clients, handler)
		if err != nil {
			return err
		}
		ours = append(ours, a)
		rates, p99s, cpus = append(rates, a.rate/b.rate), append(p99s, float64(a.p99)/float64(b.p99)), append(cpus, float64(a.cpu)/float64(b.cpu))
	}
	record(c.name+", requests of a Go handler", median(rates))
	a := medianOf(ours)
	_, err = fmt.Fprintf(out, "  %-38s %8d %11.0f (%.2f) %9.2f (%.2f) %11d (%.2f)\n", c.name, len(body), a.rate, median(rates), ms(a.p99), median(p99s), a.cpu.Microseconds(), median(cpus))
	return err
}
