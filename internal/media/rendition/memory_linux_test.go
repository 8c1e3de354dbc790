//go:build !race

package rendition

import (
	"errors"
	"strings"
	"testing"
)

// Proves F-render-yield.
//
// This test runs only without the race detector, whose own memory exceeds any limit (confine).
func TestMemoryHasAHardBound(t *testing.T) {
	s := newTestProcessor(t, Config{Vips: "off", JobMemory: 100 << 20})
	job := Job{Source: savePNG(t, scene(5000, 5000)), Folder: t.TempDir(), Orders: []Order{{Width: 320, Format: WebP}}}
	if _, err := s.Make(t.Context(), job); !errors.Is(err, ErrTooCostly) {
		t.Errorf("100 MB of pixels and what goes with them in as much: %v", err)
	}
	small := newTestProcessor(t, Config{Vips: "off", Memory: 300 << 20})
	_, err := small.Make(t.Context(), job)
	if err == nil || !strings.Contains(err.Error(), "this server has 300 MB for pictures") {
		t.Errorf("beyond the budget: %v", err)
	}
}
