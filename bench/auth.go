package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// This file measures whether the response times of /auth/v1 reveal which accounts exist. links.go and writes.go also use its type benchSite.

// The account of the owner on each measured site.
const (
	ownerEmail    = "owner@example.com"
	ownerPassword = "a wall of whitewash"
)

// authTables prints the response times for addresses with and without an account. It uses a new site on SQLite.
func authTables(ctx context.Context, out io.Writer) error {
	site, err := newBenchSite(ctx, out, "" /* SQLite */)
	if err != nil {
		return err
	}
	defer site.close()
	return site.timingTable(ctx)
}

// newBenchSite starts a new site with an owner's account and without rate limits. databaseURL is "" for SQLite in the data folder. The caller
// must call close.
func newBenchSite(ctx context.Context, out io.Writer, databaseURL string) (b *benchSite, err error) {
	dir, err := os.MkdirTemp("", "atelie-bench")
	if err != nil {
		return nil, err
	}
	b = &benchSite{out: out, dir: dir}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	env := append(os.Environ(),
		"ATELIE_DATA_DIR="+b.dir,
		"ATELIE_LISTEN=127.0.0.1:0",
		"ATELIE_DATABASE_URL="+databaseURL,
		"ATELIE_RATE_LIMITS=off",
		"ATELIE_SIGNUP=open",
		"ATELIE_MAIL_MIN_INTERVAL=1ms",
		"ATELIE_MESSAGES_PER_HOUR=0",       // no limit
		"ATELIE_TRUSTED_PROXIES=127.0.0.1", // send sets X-Forwarded-For
	)
	add := exec.CommandContext(ctx, binary, "owner", "add", ownerEmail, "--password-stdin")
	add.Env, add.Stdin = env, strings.NewReader(ownerPassword+"\n")
	if msg, err := add.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("add owner: %w: %s", err, msg)
	}
	if b.anonKey, b.serviceKey, err = keysOf(ctx, env); err != nil {
		return nil, err
	}
	b.server, err = start(ctx, env, binary, "serve")
	return b, err
}

// close stops the server and removes the data folder.
func (b *benchSite) close() {
	_ = b.server.stop()
	_ = os.RemoveAll(b.dir)
}

// benchSite is a running site with an owner's account.
type benchSite struct {
	server              *server
	out                 io.Writer // receives the tables
	anonKey, serviceKey string
	dir                 string // the data folder; also has temporary files of the benchmark
	engine              string // name of the database engine, for the printed rows
}

// send sends a request and returns the body of the response. A status other than 200 and those of want is an error.
func (b *benchSite) send(ctx context.Context, method, url, bearer string, body any, want ...int) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Header.Set("apikey", b.anonKey)
	r.Header.Set("Authorization", "Bearer "+bearer)
	r.Header.Set("X-Forwarded-For", fmt.Sprintf("10.%d.%d.%d", rand.IntN(256), rand.IntN(256), rand.IntN(256))) // another visitor each time
	response, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK || slices.Contains(want, response.StatusCode) {
		return got, nil
	}
	return nil, fmt.Errorf("%s %s: %s: %s", method, url, response.Status, got)
}

// tokens are the tokens of a session.
type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

func (b *benchSite) signIn(ctx context.Context) (t tokens, body []byte, err error) {
	body, err = b.send(ctx, http.MethodPost, b.server.url+"/auth/v1/token?grant_type=password", b.anonKey, map[string]string{"email": ownerEmail, "password": ownerPassword})
	if err != nil {
		return t, nil, err
	}
	err = json.Unmarshal(body, &t)
	return t, body, err
}

// flood repeats do in all clients for a period. It returns the requests per second, and the server's CPU time per request in
// µs.
func flood(ctx context.Context, s *server, do func(ctx context.Context, clientID int) error) (perSecond, cpuMicros float64, err error) {
	var (
		done    int64
		elapsed time.Duration
	)
	cpu, err := spent(s.cpu, func() (err error) {
		done, elapsed, err = repeat(ctx, do)
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	return float64(done) / elapsed.Seconds(), float64(cpu.Microseconds()) / float64(done), nil
}

// cpu returns the CPU time that the process has used, with a resolution of 10 ms.
func (s *server) cpu() (time.Duration, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(s.process.Process.Pid) + "/stat")
	if err != nil {
		return 0, err
	}
	p, err := parseStat(string(stat))
	return p.own, err
}

// cpuTimes has the CPU time that a process has used, and that of its children that have ended.
type cpuTimes struct {
	parent         string // process id
	own, childrens time.Duration
}

// parseStat parses the content of /proc/…/stat. Its resolution is 10 ms.
func parseStat(stat string) (p cpuTimes, err error) {
	_, rest, _ := strings.Cut(stat, ") ")
	fields := strings.Fields(rest)
	if len(fields) < 15 {
		return p, errors.New("unreadable /proc stat")
	}
	p.parent = fields[1]
	p.own, err = ticks(fields[11:13])
	if err == nil {
		p.childrens, err = ticks(fields[13:15])
	}
	return p, err
}

// ticks returns the sum of numbers that count hundredths of a second.
func ticks(fields []string) (total time.Duration, err error) {
	for _, field := range fields {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		total += time.Duration(n) * 10 * time.Millisecond
	}
	return total, nil
}

// ownCPU returns the CPU time that this process has used.
func ownCPU() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// spent returns the CPU time that do has used. clock returns the CPU time that a process has used so far.
func spent(clock func() (time.Duration, error), do func() error) (time.Duration, error) {
	before, err := clock()
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := clock()
	return after - before, err
}

const (
	timedTries  = 500
	distinctAtP = 0.01 // below this p value the times are reported as different
	// jobPause is the pause after a request, in which the server runs the job of the request. Otherwise the job would slow down
	// the next request.
	jobPause = 15 * time.Millisecond
)

// timingTable sends requests for accounts that exist and for accounts that do not, in pairs of random order, and prints
// whether the response times differ.
func (b *benchSite) timingTable(ctx context.Context) error {
	known := make([][2]string, timedTries) // confirmed, unconfirmed
	for i := range known {
		for j, confirmed := range []bool{true, false} {
			known[i][j] = fmt.Sprintf("known%d-%d@example.com", j, i)
			body := map[string]any{"email": known[i][j], "email_confirm": confirmed}
			if _, err := b.send(ctx, http.MethodPost, b.server.url+"/auth/v1/admin/users", b.serviceKey, body); err != nil {
				return err
			}
		}
	}
	if _, err := fmt.Fprintf(b.out, "\nAnswer times for known and unknown accounts, %d tries each in random turns: medians, their difference with its 95 %% interval (bootstrap), Mann-Whitney's p\n", timedTries); err != nil {
		return err
	}
	for _, c := range []struct {
		name, path string
		known      func(i int) string
		more       map[string]any
		pause      time.Duration
	}{
		{"token?grant_type=password", "token?grant_type=password", func(int) string { return ownerEmail }, map[string]any{"password": "not the password"}, 0},
		{"recover", "recover", func(i int) string { return known[i][0] }, nil, jobPause},
		{"otp", "otp", func(i int) string { return known[i][0] }, nil, jobPause},
		{"magiclink", "magiclink", func(i int) string { return known[i][0] }, nil, jobPause},
		{"signup", "signup", func(i int) string { return known[i][0] }, map[string]any{"password": ownerPassword}, jobPause},
		{"resend", "resend", func(i int) string { return known[i][1] }, map[string]any{"type": "signup"}, jobPause},
	} {
		var times [2][]time.Duration
		for i := range timedTries {
			first := rand.IntN(2)
			for _, kind := range []int{first, 1 - first} {
				email := c.known(i)
				if kind == 1 {
					email = fmt.Sprintf("nobody0-%d@%s.example.com", i, strings.ReplaceAll(c.name, "?grant_type=", "-"))
				}
				body := map[string]any{"email": email}
				maps.Copy(body, c.more)
				begin := time.Now()
				if _, err := b.send(ctx, http.MethodPost, b.server.url+"/auth/v1/"+c.path, b.anonKey, body, http.StatusBadRequest); err != nil {
					return err
				}
				times[kind] = append(times[kind], time.Since(begin))
				time.Sleep(c.pause)
			}
		}
		difference, low, high := medianDifference(times[0], times[1])
		p, verdict := mannWhitney(times[0], times[1]), "indistinguishable"
		if p < distinctAtP {
			verdict = "DIFFERENT"
		}
		if _, err := fmt.Fprintf(b.out, "  %-26s known %7d µs   unknown %7d µs   difference %+5d µs [%+d, %+d]   p %.3f   %s\n", c.name,
			median(times[0]).Microseconds(), median(times[1]).Microseconds(), difference.Microseconds(), low.Microseconds(), high.Microseconds(), p, verdict); err != nil {
			return err
		}
	}
	return nil
}
