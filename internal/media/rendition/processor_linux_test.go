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
// An urgent job suspends the processes of a job that nobody waits for. They continue when it has ended.
func TestRunningJobIsSuspendedForAnUrgentJob(t *testing.T) {
	// A vips whose command thumbnail writes its process id into the file pid, and hangs.
	pidFile := filepath.Join(t.TempDir(), "pid")
	hanging := writeFile(t, "vips", []byte("#!/bin/sh\ncase \"$*\" in *version*) echo vips-8.99.0;; *thumbnail*) echo $$ > '"+pidFile+".part'; mv '"+pidFile+".part' '"+pidFile+"'; exec sleep 1000;; *) exit 1;; esac\n"))
	if err := os.Chmod(hanging, 0o700); err != nil {
		t.Fatal(err)
	}
	s := newTestProcessor(t, Config{Vips: hanging})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	source, folder := savePNG(t, scene(64, 64)), t.TempDir()
	go func() {
		_, err := s.Make(ctx, Job{Source: source, Folder: folder, NeedsFacts: true})
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
		for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) { // it can take long on a busy machine, because libvips gets only idle processors
			if time.Now().After(deadline) {
				t.Fatal(what)
			}
		}
	}
	var stat string
	until("libvips is not started", func() bool {
		pid, err := os.ReadFile(pidFile)
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
	until("libvips is not suspended", stopped)
	leave()
	until("libvips does not continue", func() bool { return !stopped() })
}

// Proves F-render-yield.
//
// The limit of processor time ends a job that keeps a processor busy, however long it takes by the clock.
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
