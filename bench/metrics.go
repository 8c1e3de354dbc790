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

// metricsRounds is the number of measurements of each server. It is large, because the cost of metrics is smaller than the noise of one
// measurement.
const metricsRounds = 25

// metricsTable prints what the metrics (numbers for Prometheus) cost. It measures the cached home page in turn on three servers: one with
// metrics and two without. The difference between the two equal servers is the noise of the measurement.
func metricsTable(ctx context.Context, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "atelie-bench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	metricsAddress, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	var servers []*server
	defer func() {
		for _, s := range servers {
			err = errors.Join(err, s.stop())
		}
	}()
	for _, listenAddress := range []string{metricsAddress, "", ""} { // "" turns the metrics off
		folder := filepath.Join(dir, strconv.Itoa(len(servers)))
		env := append(os.Environ(), "ATELIE_DATA_DIR="+folder, "ATELIE_LISTEN=127.0.0.1:0", "ATELIE_METRICS_LISTEN="+listenAddress)
		if err := os.Mkdir(folder, 0o700); err != nil {
			return err
		}
		s, err := startLogging(ctx, env, filepath.Join(folder, "log"))
		if err != nil {
			return err
		}
		servers = append(servers, s)
		_, serviceKey, err := keysOf(ctx, env)
		if err != nil {
			return err
		}
		if _, err := fillProducts(ctx, s.url, serviceKey, demoWorks); err != nil { // without pictures, which would be processed meanwhile
			return err
		}
	}
	for _, s := range servers {
		if err := waitUntilIdle(ctx, s); err != nil {
			return err
		}
	}
	home := call{"home", http.MethodGet, "/", "", browserHeader}
	var rates, cpus [2][]float64 // of the first server (with metrics) and the second one (without), relative to the third
	for round := range metricsRounds {
		var m [3]measurement
		for i := range servers {
			i = (i + round) % len(servers) // rotates, so that no server is always measured first
			if i == 0 {
				if err := get(ctx, "http://"+metricsAddress+"/metrics", ""); err != nil {
					return err
				}
			}
			if m[i], err = home.measure(ctx, clients, servers[i]); err != nil {
				return err
			}
		}
		for i := range rates {
			rates[i] = append(rates[i], m[i].rate/m[2].rate)
			cpus[i] = append(cpus[i], float64(m[i].cpu)/float64(m[2].cpu))
		}
	}
	begin := time.Now()
	if err := get(ctx, "http://"+metricsAddress+"/metrics", ""); err != nil {
		return err
	}
	scrape := time.Since(begin)
	_, err = fmt.Fprintf(out, "\nMetrics: the home page from memory, %d clients, median of %d pairs, beside the same program without them\n"+
		"  %-24s requests/s %.3f   CPU a request %.3f\n  %-24s requests/s %.3f   CPU a request %.3f\n  one scrape %.1f ms\n",
		clients, metricsRounds, "with metrics", median(rates[0]), median(cpus[0]), "without, for the noise", median(rates[1]), median(cpus[1]), ms(scrape))
	return err
}
