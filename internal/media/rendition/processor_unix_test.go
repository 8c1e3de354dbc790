//go:build unix

package rendition

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Proves F-render-yield.
func TestNoProcessOutlivesAJob(t *testing.T) {
	// A vips whose command thumbnail writes its process id into the file pid, and hangs.
	pidFile := filepath.Join(t.TempDir(), "pid")
	hanging := writeFile(t, "vips", []byte("#!/bin/sh\ncase \"$*\" in *version*) echo vips-8.99.0;; *thumbnail*) echo $$ > '"+pidFile+".part'; mv '"+pidFile+".part' '"+pidFile+"'; exec sleep 1000;; *) exit 1;; esac\n"))
	if err := os.Chmod(hanging, 0o700); err != nil {
		t.Fatal(err)
	}
	s := newTestProcessor(t, Config{Vips: hanging, Timeout: 2 * time.Second})
	job := Job{Source: savePNG(t, scene(64, 64)), Folder: t.TempDir(), NeedsFacts: true}
	var text []byte
	for text == nil { // libvips gets only idle processors, so on a busy machine it may not have begun before the timeout
		_, err := s.Make(t.Context(), job)
		if !errors.Is(err, ErrTooSlow) {
			t.Fatalf("a libvips that hangs: %v", err)
		}
		if text, err = os.ReadFile(pidFile); errors.Is(err, fs.ErrNotExist) && s.cfg.Timeout < time.Minute {
			s.cfg.Timeout *= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	// The killed process remains a zombie until init, which adopts it after its parent has died, waits for it.
	for deadline := time.Now().Add(time.Minute); syscall.Kill(pid, 0) == nil && !dead(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d lives on", pid)
		}
	}
}

// libvips creates its working files with the permissions that the umask of its process allows.
func TestWorkingFilesAreReadableOnlyByTheirUser(t *testing.T) {
	old := syscall.Umask(0o022)
	defer syscall.Umask(old)
	mark := filepath.Join(t.TempDir(), "umask")
	vips := writeFile(t, "vips", []byte("#!/bin/sh\ncase \"$*\" in *version*) echo vips-8.99.0;; *thumbnail*) umask > '"+mark+"'; exit 1;; *) exit 1;; esac\n"))
	if err := os.Chmod(vips, 0o700); err != nil {
		t.Fatal(err)
	}
	s := newTestProcessor(t, Config{Vips: vips})
	// The job succeeds, because the own engine does it after libvips has failed.
	if _, err := s.Make(t.Context(), Job{Source: savePNG(t, scene(64, 64)), Folder: t.TempDir(), NeedsFacts: true}); err != nil {
		t.Fatal(err)
	}
	umask, err := os.ReadFile(mark)
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(umask)) != "0077" {
		t.Errorf("libvips runs with the umask %s", umask)
	}
}

// dead reports whether a process has ended, including a zombie, for which its parent has not waited.
func dead(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return errors.Is(err, fs.ErrNotExist) || strings.Contains(string(stat), ") Z ")
}

// Proves F-render-yield.
func TestAWorkerEndsWithItsServer(t *testing.T) {
	for name, urgent := range map[string]bool{"a job that nobody waits for": false, "an urgent job": true} {
		t.Run(name, func(t *testing.T) { workerEndsWithItsServer(t, urgent) })
	}
}

func workerEndsWithItsServer(t *testing.T, urgent bool) {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	order, err := json.Marshal(task{Job: Job{Source: pipe, Folder: t.TempDir(), Urgent: urgent}, Memory: 1 << 30, CPU: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, Command)
	leadNewGroup(c)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write(append(order, '\n')); err != nil {
		t.Fatal(err)
	}
	// The worker waits for data in its source, a pipe to which nobody writes.
	source, err := os.OpenFile(pipe, os.O_WRONLY, 0) // returns when the worker reads
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = source.Close() }() // nothing was written
	if runtime.GOOS == "linux" {
		givesWay(t, c.Process.Pid, urgent)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() >= 0 {
		t.Errorf("ended by %v, not by a signal", err)
	}
}

// givesWay checks the priority and the scheduling class of every thread of a worker. Those of an urgent job are lowered less.
func givesWay(t *testing.T, pid int, urgent bool) {
	t.Helper()
	want := "10"
	if urgent {
		for _, f := range threadStats(t, os.Getpid()) {
			own, err := strconv.Atoi(f[16])
			if err != nil {
				t.Fatal(err)
			}
			want = strconv.Itoa(min(own+5, 10))
		}
	}
	for thread, f := range threadStats(t, pid) {
		if f[16] != want || f[38] != "3" {
			t.Errorf("thread %s: nice %s, class %s", thread, f[16], f[38])
		}
	}
}

// threadStats returns the fields of proc_pid_stat(5) for each thread, from field 3 on: index 16 is the priority (field 19), 38 the
// scheduling class (field 41).
func threadStats(t *testing.T, pid int) map[string][]string {
	t.Helper()
	folder := "/proc/" + strconv.Itoa(pid) + "/task"
	threads, err := os.ReadDir(folder)
	if err != nil || len(threads) == 0 {
		t.Fatalf("%d threads: %v", len(threads), err)
	}
	stats := make(map[string][]string, len(threads))
	for _, thread := range threads {
		stat, err := os.ReadFile(filepath.Join(folder, thread.Name(), "stat"))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // it has ended
		}
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		stats[thread.Name()] = strings.Fields(rest)
	}
	return stats
}

// Proves F-render-first.
//
// Libvips starts a process for each step. For an urgent job it is used only if the own engine would take longer.
func TestUrgentJobsUseTheFasterEngine(t *testing.T) {
	vips := writeFile(t, "vips", []byte("#!/bin/sh\ncase \"$*\" in *version*) echo vips-8.99.0;; *) exit 1;; esac\n"))
	if err := os.Chmod(vips, 0o700); err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	s := newTestProcessor(t, Config{Vips: vips, Log: slog.New(slog.NewTextHandler(&logged, nil))})
	large := image.NewGray(image.Rect(0, 0, 4000, quickPixels/4000+1))
	progressive, err := filepath.Abs("testdata/progressive.jpg")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		source string
		urgent bool
		vips   bool
	}{
		"a large JPEG":                    {saveJPEG(t, large), true, false},
		"a small JPEG that is not shrunk": {progressive, true, false},
		"a small PNG":                     {savePNG(t, scene(64, 64)), true, false},
		"a large PNG":                     {savePNG(t, large), true, true},
		"a large JPEG that can wait":      {saveJPEG(t, large), false, true},
	} {
		logged.Reset()
		made, err := s.Make(t.Context(), Job{Source: c.source, Folder: t.TempDir(), NeedsFacts: true, Urgent: c.urgent, Orders: []Order{{Width: 320, Format: WebP}}})
		if err != nil || made.Engine != Engine || len(made.Made) != 1 {
			t.Fatalf("%s: %+v, %v", name, made, err)
		}
		if tried := strings.Contains(logged.String(), "libvips failed"); tried != c.vips {
			t.Errorf("%s: libvips was tried: %t", name, tried)
		}
	}
}
