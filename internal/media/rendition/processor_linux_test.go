package rendition

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Proves F-render-first.
//
// The processes of a job that nobody waits for are suspended while an urgent job runs, and continue after it.
func TestRunningJobIsSuspendedForAnUrgentJob(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "pid")
	slow := writeFile(t, "vips", []byte("#!/bin/sh\ncase \"$*\" in *version*) echo vips-8.99.0;; *thumbnail*) echo $$ > '"+mark+".part'; mv '"+mark+".part' '"+mark+"'; exec sleep 1000;; *) exit 1;; esac\n"))
	if err := os.Chmod(slow, 0o700); err != nil {
		t.Fatal(err)
	}
	s := newTestProcessor(t, Config{Vips: slow})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	source, folder := savePNG(t, scene(64, 64)), t.TempDir()
	go func() {
		_, err := s.Make(ctx, Job{Source: source, Folder: folder, Facts: true})
		done <- err
	}()
	defer func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}()
	until := func(what string, is func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) { // waits, because libvips gets only idle processors
			if time.Now().After(deadline) {
				t.Fatal(what)
			}
		}
	}
	var stat string
	until("libvips is not started", func() bool {
		pid, err := os.ReadFile(mark)
		stat = "/proc/" + strings.TrimSpace(string(pid)) + "/stat"
		return err == nil
	})
	stopped := func() bool {
		text, err := os.ReadFile(stat)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(text), ") T ")
	}
	leave, err := s.pool.enter(t.Context(), 1, true)
	if err != nil {
		t.Fatal(err)
	}
	until("it is not stopped", stopped)
	leave()
	until("it does not go on", func() bool { return !stopped() })
}

// Proves F-render-yield.
//
// A picture that keeps a processor busy is ended by its limit of processor time, however long that takes.
func TestProcessorTimeHasAHardBound(t *testing.T) {
	s := newTestProcessor(t, Config{Vips: "off", CPU: time.Second})
	var orders []Order
	for range 40 {
		orders = append(orders, Order{Width: 2000, Format: WebP})
	}
	if _, err := s.Make(t.Context(), Job{Source: savePNG(t, scene(2000, 2000)), Folder: t.TempDir(), Orders: orders}); !errors.Is(err, ErrTooSlow) {
		t.Errorf("after a second of a processor: %v", err)
	}
}
