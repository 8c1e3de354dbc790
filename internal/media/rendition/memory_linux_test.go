//go:build !race

package rendition

import (
	"errors"
	"strings"
	"testing"
)

// Proves F-render-yield.
//
// This test is not built with the race detector, because the detector needs more memory than any limit that confine could set.
func TestMemoryHasAHardBound(t *testing.T) {
	s := newTestProcessor(t, Config{Vips: "off", JobMemory: 100 << 20})
	job := Job{Source: savePNG(t, scene(5000, 5000)), Folder: t.TempDir(), Orders: []Order{{Width: 320, Format: WebP}}}
	if _, err := s.Make(t.Context(), job); !errors.Is(err, ErrTooCostly) {
		t.Errorf("a picture whose pixels alone have 100 MB, with a limit of 100 MB: %v", err)
	}
	small := newTestProcessor(t, Config{Vips: "off", Memory: 300 << 20})
	_, err := small.Make(t.Context(), job)
	if err == nil || !strings.Contains(err.Error(), "this server has 300 MB for pictures") {
		t.Errorf("beyond the budget: %v", err)
	}
}
