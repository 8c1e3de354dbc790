package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// Proves H-command-locked.
func TestACommandWaitsAMinuteForTheLock(t *testing.T) {
	var out bytes.Buffer
	wait := waitForLock(slog.New(slog.NewTextHandler(&out, nil)))
	for _, c := range []struct {
		waited time.Duration
		retry  bool
	}{{5 * time.Second, true}, {59 * time.Second, true}, {time.Minute, false}, {2 * time.Minute, false}} {
		if retry := wait(c.waited); retry != c.retry {
			t.Errorf("after %s: %t", c.waited, retry)
		}
	}
	if text := out.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "usually the server") || !strings.Contains(text, `"at most"=1m0s`) {
		t.Error(text)
	}
}
