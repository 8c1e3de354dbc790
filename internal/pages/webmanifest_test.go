package pages

import (
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func TestTheManifestAndItsIcons(t *testing.T) {
	s := newFound(t, dbtest.Open(t, db.SQLite), newShelf())
	for target, start := range map[string]string{"/site.webmanifest": "/", "/site.webmanifest?lang=pt": "/?lang=pt"} {
		rec := asked(t, s.WebManifest, "GET", target)
		var m struct {
			Name, Lang, Scope, Display, Description string
			ShortName                               string `json:"short_name"`
			Start                                   string `json:"start_url"`
			Icons                                   []manifestIcon
		}
		if err := json.Unmarshal(rec.Body.Bytes(), &m); err != nil || rec.Header().Get("Content-Type") != "application/manifest+json" {
			t.Fatalf("%v %v", err, rec.Header())
		}
		if m.Name != "Ateliê" || m.ShortName != m.Name || m.Start != start || m.Scope != "/" || (m.Lang == "pt") != strings.Contains(target, "pt") || m.Description == "" || m.Display == "" || len(m.Icons) != 4 {
			t.Errorf("%s: %+v", target, m)
		}
		purposes := ""
		for _, icon := range m.Icons {
			purposes += icon.Purpose
			f, err := os.Open("../../web/public" + icon.Src)
			if err != nil {
				t.Fatal(err)
			}
			if icon.Type == "image/png" {
				size, err := png.DecodeConfig(f)
				if err != nil || fmt.Sprintf("%dx%d", size.Width, size.Height) != icon.Sizes {
					t.Errorf("%s: %v of %v", icon.Src, err, size)
				}
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		if purposes != "maskable" {
			t.Errorf("purposes %q", purposes)
		}
	}
}
