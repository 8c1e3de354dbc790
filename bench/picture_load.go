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
	loadUploads   = 20                    // concurrent uploads
	loadRounds    = 3                     // repetitions of each measurement; their median is printed
	visitInterval = 10 * time.Millisecond // time between two requests of a visitor
	idleDuration  = 10 * time.Second      // duration of a measurement without uploads
)

// pictureLoad prints the response times of a visitor's requests while the server receives many pictures of 24 megapixels at the same time
// and makes their renditions (smaller pictures). The reference is the same site without uploads. Measurements with and without uploads
// alternate, so that other load of the machine affects both. The server and its child processes run on two processors, and this program on
// the others, if there are any. The printed memory is that of the server and its child processes together.
func pictureLoad(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "atelie-load")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	picture, err := generateUpload(ctx, filepath.Join(dir, "source.jpg"))
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "\n## %d uploads at once of 24 MP (%.1f MB) on two processors\n\n"+
		"The home page and a list, asked for by a visitor each %d ms; %d rounds of idle and load in turns, medians, and the ratio of\n"+
		"each round. \"Arriving\" is while the uploads are under way, \"making\" until each has its widest rung.\n\n"+
		"| engine | idle p50 | p99 | arriving p99 | making p50 | p99 | ratio of p99 over all | of each round | all made after | memory idle | maximum |\n"+
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
		loadUploads, float64(len(picture))/1e6, visitInterval.Milliseconds(), loadRounds); err != nil {
		return err
	}
	for _, engine := range []string{"off", "auto"} { // values of ATELIE_VIPS: the program's own code, and the vips command
		if _, err := exec.LookPath("vips"); engine == "auto" && err != nil {
			continue // vips is not installed
		}
		if err := loadRow(ctx, out, dir, engine, picture); err != nil {
			return err
		}
	}
	return nil
}

// generateUpload writes a picture of 24 megapixels to a file and returns its bytes.
func generateUpload(ctx context.Context, file string) ([]byte, error) {
	if _, err := child(ctx, "", self(), "picture-generate", file, "6000", "4000"); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// loadRow prints the line for one engine, the value of ATELIE_VIPS.
func loadRow(ctx context.Context, out io.Writer, dir, engine string, picture []byte) (err error) {
	env := append(os.Environ(), "ATELIE_DATA_DIR="+filepath.Join(dir, engine), "ATELIE_LISTEN=127.0.0.1:0", "ATELIE_VIPS="+engine)
	if err := loadDemo(ctx, env); err != nil {
		return err
	}
	anonKey, serviceKey, err := keysOf(ctx, env)
	if err != nil {
		return err
	}
	program, err := onTwoProcessors(ctx)
	if err != nil {
		return err
	}
	s, err := start(ctx, env, program[0], program[1:]...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if setScheduling(ctx, "--rr", "1") {
		defer setScheduling(context.WithoutCancel(ctx), "--other", "0") // reset it before the next server starts, which would inherit it
	}
	var (
		idle99, idle50, arriving99, making50, making99, took []time.Duration
		ratios, idleMemory                                   []float64
		ratioTexts                                           []string
		peakMB                                               float64
	)
	for round := range loadRounds {
		if err := waitUntilIdle(ctx, s); err != nil {
			return err
		}
		idleMemory = append(idleMemory, treeMemory(s.process.Process.Pid))
		idle := visit(ctx, s.url, anonKey, func(ctx context.Context) error {
			select {
			case <-ctx.Done():
			case <-time.After(idleDuration):
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
		stopWatching, peak := watchMemory(s.process.Process.Pid, treeMemory)
		go func() { rest <- uploadAll(ctx, s.url, serviceKey, picture, round, arrived.Done) }()
		arriving := visit(ctx, s.url, anonKey, func(context.Context) error {
			arrived.Wait()
			return nil
		})
		making := visit(ctx, s.url, anonKey, func(context.Context) error { return <-rest })
		stopWatching()
		peakMB = max(peakMB, *peak)
		if err := errors.Join(arriving.err, making.err); err != nil {
			return err
		}
		all := visitorTimes{times: slices.Concat(arriving.times, making.times)}
		ratio := float64(all.at(99)) / float64(idle.at(99))
		idle50, idle99, arriving99 = append(idle50, idle.at(50)), append(idle99, idle.at(99)), append(arriving99, arriving.at(99))
		making50, making99, took = append(making50, making.at(50)), append(making99, making.at(99)), append(took, time.Since(begin))
		ratios, ratioTexts = append(ratios, ratio), append(ratioTexts, fmt.Sprintf("%.2f", ratio))
	}
	name := engineNames[engine]
	_, err = fmt.Fprintf(out, "| %s | %.1f ms | %.1f ms | %.1f ms | %.1f ms | %.1f ms | **%.2f** | %s | %.1f s | %.0f MB | **%.0f MB** |\n", name,
		ms(median(idle50)), ms(median(idle99)), ms(median(arriving99)), ms(median(making50)), ms(median(making99)),
		median(ratios), strings.Join(ratioTexts, ", "), median(took).Seconds(), median(idleMemory), peakMB)
	return err
}

// onTwoProcessors returns the command that runs the server on two processors. It moves this program to the others, if there
// are any.
func onTwoProcessors(ctx context.Context) ([]string, error) {
	program := []string{binary, "serve"}
	if path, _ := exec.LookPath("taskset"); path == "" {
		return program, nil
	}
	if runtime.NumCPU() > 2 {
		others := exec.CommandContext(ctx, "taskset", "-a", "-c", "-p", fmt.Sprintf("2-%d", runtime.NumCPU()-1), strconv.Itoa(os.Getpid()))
		if msg, err := others.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("taskset: %w: %s", err, msg)
		}
	}
	return append([]string{"taskset", "-c", "0,1"}, program...), nil // taskset replaces itself by the server, so the process id stays the same
}

// setScheduling sets the scheduling class of this program, and reports whether that was allowed. Real visitors have their
// own machines: other work on this machine must not delay their requests before they reach the server.
func setScheduling(ctx context.Context, class, priority string) bool {
	return exec.CommandContext(ctx, "chrt", "--all-tasks", class, "--pid", priority, strconv.Itoa(os.Getpid())).Run() == nil
}

// watchMemory measures the peak memory, in MB, of a process with all processes that it has started, until stop is called. measure is
// treeMemory or sharedMemory.
func watchMemory(pid int, measure func(pid int) float64) (stop func(), most *float64) {
	done, most := make(chan struct{}), new(float64)
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			*most = max(*most, measure(pid))
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

// waitUntilIdle waits until the server has been idle for two seconds: then the renditions of the demo's pictures are made.
func waitUntilIdle(ctx context.Context, s *server) error {
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

// visitorTimes has the response times of a visitor.
type visitorTimes struct {
	times []time.Duration
	err   error
}

// at returns a percentile of the response times.
func (v visitorTimes) at(percent int) time.Duration {
	times := slices.Sorted(slices.Values(v.times))
	return times[len(times)*percent/100]
}

// visit requests pages, one after the other, until during returns.
func visit(ctx context.Context, url, anonKey string, during func(context.Context) error) visitorTimes {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	finished := make(chan error, 1)
	go func() { finished <- during(ctx) }()
	var times []time.Duration
	for pages, i := []string{"/", "/rest/v1/products?select=*&limit=24"}, 0; ; i++ {
		begin := time.Now()
		if err := get(ctx, url+pages[i%len(pages)], anonKey); err != nil {
			return visitorTimes{err: err}
		}
		times = append(times, time.Since(begin))
		select {
		case err := <-finished:
			return visitorTimes{times, err}
		case <-time.After(visitInterval):
		}
	}
}

// uploadAll uploads the picture loadUploads times at once. It calls arrived after each upload, and returns when each picture
// has its widest rendition.
func uploadAll(ctx context.Context, url, serviceKey string, picture []byte, round int, arrived func()) error {
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
			r.Header.Set("Authorization", "Bearer "+serviceKey)
			r.Header.Set("Content-Type", "image/jpeg")
			err = expectOK(r)
			arrived()
			errs[i] = errors.Join(err, requestWidest(ctx, url, name))
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// requestWidest requests the widest rendition of a picture until it gets the picture. The server makes it if needed, and
// responds with 503 while it has too much to do.
func requestWidest(ctx context.Context, url, name string) error {
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/storage/v1/render/image/public/"+name+"?width=2560", nil)
		if err != nil {
			return err
		}
		r.Header.Set("Accept", "image/webp,*/*")
		if err = expectOK(r); err == nil || !strings.HasPrefix(err.Error(), "503") {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// expectOK sends a request. A status other than 200 is an error, whose text begins with the status.
func expectOK(r *http.Request) error {
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", response.Status, r.URL.Path, body[:min(len(body), 200)])
	}
	return nil
}

// treeMemory returns the resident memory in MB of a process and all processes that it has started. Without /proc it returns 0.
func treeMemory(pid int) float64 { return sumOfTree(pid, "status", "VmRSS:") }

// sharedMemory is treeMemory, but counts memory that the processes share, such as the program's text, once.
func sharedMemory(pid int) float64 { return sumOfTree(pid, "smaps_rollup", "Pss:") }

// sumOfTree returns the sum in MB of a line of a file in /proc, of a process and all processes that it has started.
func sumOfTree(pid int, file, name string) float64 {
	sum := 0.0
	for _, p := range append([]int{pid}, descendants(pid)...) {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(p) + "/" + file)
		if err != nil {
			continue // the process has ended
		}
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, name); ok {
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
