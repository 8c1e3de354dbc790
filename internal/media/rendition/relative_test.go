package rendition

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPathsMayBeRelative runs a job with relative paths, which jobs have with the default data folder, ./data.
func TestPathsMayBeRelative(t *testing.T) {
	source := savePNG(t, scene(640, 480))
	t.Chdir(filepath.Dir(source))
	if err := os.Mkdir("made", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, vips := range []string{"off", "auto"} {
		s := newTestProcessor(t, Config{Vips: vips})
		r, err := s.Make(t.Context(), Job{Source: filepath.Base(source), Folder: "made", Orders: []Order{{Width: 320, Format: WebP}}})
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(r.Made[0].File); err != nil || info.Size() != r.Made[0].Size {
			t.Errorf("vips %s: %+v, %v", vips, r.Made, err)
		}
	}
}
