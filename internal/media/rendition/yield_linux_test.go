package rendition

import (
	"image"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// classScript begins a script: it sets the variable class to the scheduling class of its process (proc_pid_stat(5), field 41). 0 is SCHED_OTHER,
// 3 is SCHED_BATCH, 5 is SCHED_IDLE.
const classScript = "#!/bin/sh\nclass=$(cut -d' ' -f41 /proc/self/stat)\n"

// Proves F-render-yield.
func TestLibvipsUsesIdleProcessors(t *testing.T) {
	run := func(t *testing.T, script string, idle time.Duration) string {
		t.Helper()
		path := writeFile(t, "vips", []byte(classScript+script))
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
		output, err := vipsCommand{path: path, folder: t.TempDir(), idleUntil: time.Now().Add(idle)}.run(t.Context(), "copy")
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(output)
	}
	t.Run("before idleUntil", func(t *testing.T) {
		if class := run(t, "echo $class", time.Hour); class != "5" {
			t.Errorf("class %q", class)
		}
	})
	t.Run("after idleUntil", func(t *testing.T) {
		if class := run(t, "echo $class", -time.Second); class != "0" {
			t.Errorf("class %q", class)
		}
	})
	t.Run("a command that got no processor is started again", func(t *testing.T) {
		if class := run(t, "[ $class = 5 ] && exec sleep 1000\necho $class", 200*time.Millisecond); class != "0" {
			t.Errorf("class %q", class)
		}
	})
	t.Run("no thread of this process keeps the idle class", func(t *testing.T) {
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			if idle := idleThreads(t); idle == 0 {
				return
			} else if time.Now().After(deadline) {
				t.Fatalf("%d idle threads", idle)
			}
		}
	})
}

// Proves F-render-yield.
//
// libvips does an urgent job if the source is so large that the own engine would be slower. It then does not wait for idle processors.
func TestLibvipsHasAShareOfTheProcessorsForAnUrgentJob(t *testing.T) {
	source := savePNG(t, image.NewGray(image.Rect(0, 0, 4000, quickPixels/4000+1)))
	for urgent, want := range map[bool]string{false: "5", true: "3"} {
		classFile := filepath.Join(t.TempDir(), "class")
		path := writeFile(t, "vips", []byte(classScript+"case \"$*\" in *version*) echo vips-8.99.0;; *thumbnail*) echo $class > '"+classFile+"'; exit 1;; *) exit 1;; esac\n"))
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
		s := newTestProcessor(t, Config{Vips: path})
		// The job succeeds, because the own engine does it after libvips has failed.
		if _, err := s.Make(t.Context(), Job{Source: source, Folder: t.TempDir(), NeedsFacts: true, Urgent: urgent}); err != nil {
			t.Fatal(err)
		}
		class, err := os.ReadFile(classFile)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(string(class)); got != want {
			t.Errorf("urgent %t: class %s, want %s", urgent, got, want)
		}
	}
}

func idleThreads(t *testing.T) (n int) {
	t.Helper()
	first := strconv.Itoa(os.Getpid()) // Go cannot end the first thread of a process, so it parks that thread forever
	for thread, f := range threadStats(t, os.Getpid()) {
		if f[38] == "5" && thread != first {
			n++
		}
	}
	return n
}
