package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	loadUploads = 20
	loadRounds  = 3
	loadVisits  = 10 * time.Millisecond // between two requests of a visitor
	loadIdle    = 10 * time.Second
)

// pictureLoad sets what visitors of the site wait while twenty pictures of 24 megapixels are uploaded at once and worked
// on, against the same site with nothing to do, in turns, so that what else the machine does weighs on both. The server
// and what it starts have two processors, this program the others where there are any. Memory is of all of them together.
func pictureLoad(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "atelie-load")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	source := filepath.Join(dir, "source.jpg")
	if _, err := child(ctx, "", self(), "picture-paint", source, "6000", "4000"); err != nil {
		return err
	}
	picture, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "\n## %d uploads at once of 24 MP (%.1f MB) on two processors\n\nThe home page and a list, asked for by a visitor each %d ms; %d rounds of idle and load in turns, medians, and the ratio of\neach round. \"Arriving\" is while the uploads are under way, \"making\" until each has its widest rung.\n\n| engine | idle p50 | p99 | arriving p99 | making p50 | p99 | ratio of p99 over all | of each round | all made after | memory idle | most |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
		loadUploads, float64(len(picture))/1e6, loadVisits.Milliseconds(), loadRounds); err != nil {
		return err
	}
	for _, engine := range []string{"off", "auto"} {
		if _, missing := exec.LookPath("vips"); engine == "auto" && missing != nil {
			continue
		}
		if err := loadOf(ctx, out, dir, engine, picture); err != nil {
			return err
		}
	}
	return nil
}

func loadOf(ctx context.Context, out io.Writer, dir, engine string, picture []byte) (err error) {
	env := append(os.Environ(), "ATELIE_DATA_DIR="+filepath.Join(dir, engine), "ATELIE_LISTEN=127.0.0.1:0", "ATELIE_VIPS="+engine)
	load := exec.CommandContext(ctx, binary, "demo")
	load.Env = env
	if msg, err := load.CombinedOutput(); err != nil {
		return fmt.Errorf("load demo: %w: %s", err, msg)
	}
	anon, key, err := keysOf(ctx, env)
	if err != nil {
		return err
	}
	program := []string{binary, "serve"}
	if _, missing := exec.LookPath("taskset"); missing == nil { // it becomes the server: the same process
		program = append([]string{"taskset", "-c", "0,1"}, program...)
		if runtime.NumCPU() > 2 { // this one goes to the others
			others := exec.CommandContext(ctx, "taskset", "-a", "-c", "-p", fmt.Sprintf("2-%d", runtime.NumCPU()-1), strconv.Itoa(os.Getpid()))
			if msg, err := others.CombinedOutput(); err != nil {
				return fmt.Errorf("taskset: %w: %s", err, msg)
			}
		}
	}
	s, err := start(ctx, env, program[0], program[1:]...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if urgent(ctx, "--rr", "1") {
		defer urgent(context.WithoutCancel(ctx), "--other", "0") // before the next server, which would inherit it
	}
	var (
		idle99, idle50, arriving99, making50, making99, took []time.Duration
		ratios, idleMemory                                   []float64
		each                                                 []string
		most                                                 float64
	)
	for round := range loadRounds {
		if err := settled(ctx, s); err != nil {
			return err
		}
		idleMemory = append(idleMemory, treeMemory(s.process.Process.Pid))
		idle := visit(ctx, s.url, anon, func(ctx context.Context) error {
			select {
			case <-ctx.Done():
			case <-time.After(loadIdle):
			}
			return nil
		})
		if idle.err != nil {
			return idle.err
		}
		begin := time.Now()
		var arrived sync.WaitGroup
		arrived.Add(loadUploads)
		rest := make(chan error, 1)
		watched, peak := watchMemory(s.process.Process.Pid)
		go func() { rest <- uploadAll(ctx, s.url, key, picture, round, arrived.Done) }()
		arriving := visit(ctx, s.url, anon, func(context.Context) error {
			arrived.Wait()
			return nil
		})
		making := visit(ctx, s.url, anon, func(context.Context) error { return <-rest })
		watched()
		most = max(most, *peak)
		if err := errors.Join(arriving.err, making.err); err != nil {
			return err
		}
		all := visited{times: slices.Concat(arriving.times, making.times)}
		ratio := float64(all.at(99)) / float64(idle.at(99))
		idle50, idle99, arriving99 = append(idle50, idle.at(50)), append(idle99, idle.at(99)), append(arriving99, arriving.at(99))
		making50, making99, took = append(making50, making.at(50)), append(making99, making.at(99)), append(took, time.Since(begin))
		ratios, each = append(ratios, ratio), append(each, fmt.Sprintf("%.2f", ratio))
	}
	name := map[string]string{"off": "own", "auto": "vips"}[engine]
	_, err = fmt.Fprintf(out, "| %s | %.1f ms | %.1f ms | %.1f ms | %.1f ms | %.1f ms | **%.2f** | %s | %.1f s | %.0f MB | **%.0f MB** |\n", name,
		ms(median(idle50)), ms(median(idle99)), ms(median(arriving99)), ms(median(making50)), ms(median(making99)),
		median(ratios), strings.Join(each, ", "), median(took).Seconds(), median(idleMemory), most)
	return err
}

// urgent sets the scheduling class of this program, and tells whether that was allowed: visitors have machines of their
// own, and what else this one does must delay none of their requests before the server has it.
func urgent(ctx context.Context, class, priority string) bool {
	return exec.CommandContext(ctx, "chrt", "--all-tasks", class, "--pid", priority, strconv.Itoa(os.Getpid())).Run() == nil
}

// watchMemory notes the most that a process and all that it starts take, until stop is called.
func watchMemory(pid int) (stop func(), most *float64) {
	done, most := make(chan struct{}), new(float64)
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			*most = max(*most, treeMemory(pid))
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	return func() {
		close(done)
		watching.Wait()
	}, most
}

// settled waits until the demo's own pictures are made: the server has had nothing to do for two seconds.
func settled(ctx context.Context, s *server) error {
	for quiet, last := 0, time.Duration(-1); quiet < 4; {
		now, err := s.cpu()
		if err != nil {
			return err
		}
		if quiet++; now-last > 20*time.Millisecond || hasChildren(s.process.Process.Pid) {
			quiet = 0
		}
		last = now
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
	return nil
}

type visited struct {
	times []time.Duration
	err   error
}

// at gives a percentile.
func (v visited) at(percent int) time.Duration {
	times := slices.Sorted(slices.Values(v.times))
	return times[len(times)*percent/100]
}

// visit asks for pages, one after the other, as long as during takes.
func visit(ctx context.Context, url, key string, during func(context.Context) error) visited {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	finished := make(chan error, 1)
	go func() { finished <- during(ctx) }()
	var times []time.Duration
	for pages, i := []string{"/", "/rest/v1/products?select=*&limit=24"}, 0; ; i++ {
		begin := time.Now()
		if err := get(ctx, url+pages[i%len(pages)], key); err != nil {
			return visited{err: err}
		}
		times = append(times, time.Since(begin))
		select {
		case err := <-finished:
			return visited{times, err}
		case <-time.After(loadVisits):
		}
	}
}

// uploadAll uploads the picture many times at once, tells of each that has arrived, and waits until each has its widest
// rung.
func uploadAll(ctx context.Context, url, key string, picture []byte, round int, arrived func()) error {
	errs := make([]error, loadUploads)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			name := fmt.Sprintf("product-images/load-%d-%d.jpg", round, i)
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/storage/v1/object/"+name, bytes.NewReader(picture))
			if err != nil {
				arrived()
				errs[i] = err
				return
			}
			r.Header.Set("Authorization", "Bearer "+key)
			r.Header.Set("Content-Type", "image/jpeg")
			err = answered(r)
			arrived()
			errs[i] = errors.Join(err, rung(ctx, url, name))
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// rung waits for a rendition, which the server makes when it is not there yet; while it has too much to do it may say so.
func rung(ctx context.Context, url, name string) error {
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/storage/v1/render/image/public/"+name+"?width=2560", nil)
		if err != nil {
			return err
		}
		r.Header.Set("Accept", "image/webp,*/*")
		if err = answered(r); err == nil || !strings.HasPrefix(err.Error(), "503") {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func answered(r *http.Request) error {
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", answer.Status, r.URL.Path, body[:min(len(body), 200)])
	}
	return nil
}

// treeMemory is the resident memory of a process and all that it started, in MB, where /proc tells.
func treeMemory(pid int) float64 {
	sum := 0.0
	for _, p := range append([]int{pid}, descendants(pid)...) {
		status, err := os.ReadFile("/proc/" + strconv.Itoa(p) + "/status")
		if err != nil {
			continue // it has ended
		}
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				if kB, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64); err == nil {
					sum += kB / 1000
				}
			}
		}
	}
	return sum
}

func hasChildren(pid int) bool { return len(descendants(pid)) > 0 }

func descendants(pid int) (all []int) {
	tasks, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	if err != nil {
		return nil
	}
	for _, t := range tasks {
		text, err := os.ReadFile(t)
		if err != nil {
			continue // the thread has ended
		}
		for field := range strings.FieldsSeq(string(text)) {
			if p, err := strconv.Atoi(field); err == nil {
				all = append(append(all, p), descendants(p)...)
			}
		}
	}
	return all
}
