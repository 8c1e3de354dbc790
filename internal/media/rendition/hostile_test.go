package rendition

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"atelie/internal/apperr"
)

// Limits for the worker that processes a hostile file.
const (
	hostileTime   = 10 * time.Second // of a processor
	hangTime      = 10 * time.Minute // by the clock; large, because workers have a low priority, and wait long on a busy machine
	hostileMemory = 1 << 30
)

// TestHostileSome takes some small files of the corpus, so that it can also run under the race detector.
func TestHostileSome(t *testing.T) {
	var some []hostileFile
	for i, f := range hostileFiles(t) {
		if len(f.content) < 100_000 && i%25 == 0 {
			some = append(some, f)
		}
	}
	hostile(t, some)
}

// hostile passes files to both engines. No file may crash this process, hang, use too much memory, or be refused without a reason.
func hostile(t *testing.T, files []hostileFile) {
	t.Helper()
	eachEngine(t, func(t *testing.T, s *Processor, _ string) {
		var (
			all   sync.WaitGroup
			slots = make(chan struct{}, s.cfg.Workers)
		)
		for i, f := range files {
			slots <- struct{}{}
			all.Go(func() {
				defer func() { <-slots }()
				checkHostileFile(t, s, fmt.Sprintf("%03d", i), f)
			})
		}
		all.Wait()
	})
}

// checkHostileFile processes a hostile file, and checks the result and the resources in use.
func checkHostileFile(t *testing.T, s *Processor, id string, f hostileFile) {
	folder := filepath.Join(t.TempDir(), id)
	source := folder + ".jpg" // the extension must not matter
	if err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(source, f.content, 0o600)); err != nil {
		t.Error(err)
		return
	}
	job := Job{Source: source, Folder: folder, NeedsFacts: true, Orders: []Order{{Width: 320, Format: WebP}, {Width: 1200, Height: 630, Fit: Frame, Format: JPEG}}}
	start := time.Now()
	result, ended, err := s.make(t.Context(), job)
	took, used := time.Since(start), readUsage(ended)
	if min(took, used.cpu) > hostileTime && !raceDetector || took > hangTime {
		t.Errorf("%s: took %s, %s of a processor", f.name, took, used.cpu)
	}
	if used.peak > hostileMemory && !raceDetector {
		t.Errorf("%s: took %d MB", f.name, used.peak>>20)
	}
	var refusal *apperr.Error
	switch {
	case err == nil && f.want == refused:
		t.Errorf("%s: made: %+v", f.name, result)
	case err != nil && f.want == accepted:
		t.Errorf("%s: %v", f.name, err)
	case err != nil && (!errors.As(err, &refusal) || refusal.Status < 400 || refusal.Status >= 500 || refusal.Message == ""):
		t.Errorf("%s: not a refusal: %v", f.name, err)
	case err == nil && (len(result.Made) != 2 || result.Made[1].Width != 1200 || result.Made[1].Height != 630):
		t.Errorf("%s: %+v", f.name, result)
	}
	entries, readErr := os.ReadDir(folder)
	if readErr != nil || err != nil && len(entries) > 0 {
		t.Errorf("%s: left behind %v, %v", f.name, entries, readErr)
	}
	if took > time.Second || used.peak > 300<<20 {
		t.Logf("%s: %s, %d MB, %v", f.name, took.Round(time.Millisecond), used.peak>>20, err)
	}
}
