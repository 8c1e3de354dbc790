package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"atelie/internal/db/dbtest"
)

// This file measures how much anonymous clients slow down the server for others. Anonymous clients have only the public API key; here they
// send the most expensive queries that this key allows.

const (
	anonymousClients = 8               // clients that send expensive queries
	anonymousWorks   = 20_000          // works in the table that they search
	attackTime       = 8 * time.Second // duration of each measurement
	recoveryTime     = time.Minute     // time from the end of the expensive queries until memory is measured again
)

// anonymousTable prints the response times of the home page and of a sign-in, with and without the expensive queries. Then it prints the
// server's memory before, during and after the largest responses.
func anonymousTable(ctx context.Context, out io.Writer) (err error) {
	defer func() { err = errors.Join(err, dbtest.Stop()) }() // ends the PostgreSQL server that FreshPostgres starts
	for _, engine := range engines {
		databaseURL, err := engine.url(ctx)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "\nHome page and sign-in on %s while %d anonymous clients send expensive queries on %d works; "+
			"in brackets, how many times as long as without these clients\n", engine.name, anonymousClients, anonymousWorks); err != nil {
			return err
		}
		if err := anonymousRows(ctx, out, databaseURL); err != nil {
			return fmt.Errorf("%s: %w", engine.name, err)
		}
	}
	return nil
}

// anonymousRows measures a new site on one database and prints its rows. databaseURL is "" for SQLite.
func anonymousRows(ctx context.Context, out io.Writer, databaseURL string) (err error) {
	dir, err := os.MkdirTemp("", "atelie-bench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	env := append(os.Environ(), "ATELIE_DATA_DIR="+dir, "ATELIE_LISTEN=127.0.0.1:0", "ATELIE_RATE_LIMITS=off", "ATELIE_DATABASE_URL="+databaseURL)
	add := exec.CommandContext(ctx, binary, "owner", "add", ownerEmail, "--password-stdin")
	add.Env, add.Stdin = env, strings.NewReader(ownerPassword+"\n")
	if msg, err := add.CombinedOutput(); err != nil {
		return fmt.Errorf("add owner: %w: %s", err, msg)
	}
	anonKey, serviceKey, err := keysOf(ctx, env)
	if err != nil {
		return err
	}
	s, err := start(ctx, env, binary, "serve")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if _, err := fillProducts(ctx, s.url, serviceKey, anonymousWorks); err != nil {
		return err
	}
	b := &anonymousBench{server: s, out: out, anonKey: anonKey}
	if err := b.responseTimes(ctx); err != nil {
		return err
	}
	return b.memory(ctx)
}

// anonymousBench measures one running server.
type anonymousBench struct {
	server  *server
	out     io.Writer // receives the rows
	anonKey string    // the API key of anonymous clients
}

// visitTimes has the response times of the home page and of sign-ins in one measurement, each in ascending order.
type visitTimes struct{ home, signIn []time.Duration }

// responseTimes prints the response times of the home page and of sign-ins, without and with expensive queries.
func (b *anonymousBench) responseTimes(ctx context.Context) error {
	idle, err := b.visit(ctx)
	if err != nil {
		return err
	}
	if err := b.print("nobody else", idle, idle, ""); err != nil {
		return err
	}
	for _, patterns := range []int{190, 20} {
		stop, statusCounts := b.attack(ctx, func(n int64) string { return search(patterns, n) })
		busy, err := b.visit(ctx)
		stop()
		if err := errors.Join(err, b.print(fmt.Sprintf("queries with %d patterns", patterns), busy, idle, statusCounts())); err != nil {
			return err
		}
	}
	return nil
}

// search returns the address of a query with the given number of patterns. n makes each query different, so that no cache
// answers.
func search(patterns int, n int64) string {
	var parts []string
	for i := range patterns {
		parts = append(parts, fmt.Sprintf("description.ilike.*a*e*i*%d-%d*", n, i))
	}
	return "/rest/v1/products?select=id&or=" + url.QueryEscape("("+strings.Join(parts, ",")+")")
}

// visit loads the home page and signs in, each again and again and both at the same time, for attackTime.
func (b *anonymousBench) visit(ctx context.Context) (p visitTimes, err error) {
	ctx, cancel := context.WithTimeout(ctx, attackTime)
	defer cancel()
	login, err := json.Marshal(map[string]string{"email": ownerEmail, "password": ownerPassword})
	if err != nil {
		return p, err
	}
	var wg sync.WaitGroup
	failed := make([]error, 2)
	for i, c := range []struct {
		call  call
		times *[]time.Duration
	}{
		{call{method: http.MethodGet, path: "/", header: browserHeader}, &p.home},
		{call{method: http.MethodPost, path: "/auth/v1/token?grant_type=password", body: string(login), header: http.Header{"Apikey": {b.anonKey}, "Content-Type": {"application/json"}}}, &p.signIn},
	} {
		wg.Go(func() {
			for ctx.Err() == nil {
				sent := time.Now()
				if _, err := c.call.do(context.WithoutCancel(ctx), b.server.url); err != nil {
					failed[i] = err
					return
				}
				*c.times = append(*c.times, time.Since(sent))
				time.Sleep(20 * time.Millisecond) // as slow as a single visitor
			}
		})
	}
	wg.Wait()
	slices.Sort(p.home)
	slices.Sort(p.signIn)
	return p, errors.Join(failed...)
}

// attack sends requests to the addresses that path returns, from anonymousClients clients, until stop is called.
// statusCounts returns the number of responses by status.
func (b *anonymousBench) attack(ctx context.Context, path func(int64) string) (stop func(), statusCounts func() string) {
	ctx, cancel := context.WithCancel(ctx)
	var (
		wg     sync.WaitGroup
		number atomic.Int64
		mu     sync.Mutex
		counts = map[int]int{}
	)
	for range anonymousClients {
		wg.Go(func() {
			for ctx.Err() == nil {
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.server.url+path(number.Add(1)), nil)
				if err != nil {
					return
				}
				r.Header.Set("apikey", b.anonKey)
				response, err := client.Do(r)
				if err != nil {
					continue // the attack has ended
				}
				_, _ = io.Copy(io.Discard, response.Body) // an error when the attack ends
				_ = response.Body.Close()
				mu.Lock()
				counts[response.StatusCode]++
				mu.Unlock()
				if response.StatusCode >= 400 {
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}
	return func() { cancel(); wg.Wait() }, func() string {
		mu.Lock()
		defer mu.Unlock()
		return fmt.Sprint(counts)
	}
}

func (b *anonymousBench) print(name string, p, idle visitTimes, statusCounts string) error {
	at := func(times []time.Duration, percent int) time.Duration {
		return times[min(len(times)-1, len(times)*percent/100)]
	}
	line := fmt.Sprintf("  %-28s", name)
	for _, c := range []struct {
		name        string
		times, idle []time.Duration
	}{{"home", p.home, idle.home}, {"sign-in", p.signIn, idle.signIn}} {
		if len(c.times) == 0 {
			return errors.New("nothing was answered")
		}
		for _, percent := range []int{50, 99} {
			took, before := at(c.times, percent), at(c.idle, percent)
			line += fmt.Sprintf("  %s p%d %7.1f ms (%5.1f)", c.name, percent, ms(took), float64(took)/float64(before))
		}
	}
	_, err := fmt.Fprintln(b.out, line, statusCounts)
	return err
}

// memory requests the largest responses from all anonymous clients, and prints the server's memory before, meanwhile and a
// minute later.
func (b *anonymousBench) memory(ctx context.Context) error {
	before, err := b.server.resident()
	if err != nil {
		return err
	}
	for _, named := range []int{60, 5} {
		var fields []string
		for i := range named {
			fields = append(fields, fmt.Sprintf("a%d:description", i))
		}
		stop, statusCounts := b.attack(ctx, func(n int64) string {
			return fmt.Sprintf("/rest/v1/products?limit=1000&offset=%d&select=%s", n%1000, strings.Join(fields, ","))
		})
		peak := 0.0
		for begin := time.Now(); time.Since(begin) < attackTime; time.Sleep(50 * time.Millisecond) {
			now, err := b.server.resident()
			if err != nil {
				return err
			}
			peak = max(peak, now)
		}
		stop()
		time.Sleep(recoveryTime)
		after, err := b.server.resident()
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(b.out, "  a column named %2d times: resident %.0f MB before, %.0f MB at most (%.1f), %.0f MB a minute after (%.2f) %s\n",
			named, before, peak, peak/before, after, after/before, statusCounts()); err != nil {
			return err
		}
	}
	return nil
}
