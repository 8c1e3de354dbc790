package pages

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image/png"
	"maps"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
)

// Proves P-found-manifest.
func TestTheManifestAndItsIcons(t *testing.T) {
	s := newServiceWith(t, dbtest.Open(t, db.SQLite), newFakeContent())
	for target, start := range map[string]string{"/site.webmanifest": "/", "/site.webmanifest?lang=pt": "/?lang=pt"} {
		rec := request(t, s.WebManifest, "GET", target)
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

// Proves P-found-icon.
//
// Browsers and feed readers request /favicon.ico if they know no page that names another icon.
func TestFavicon(t *testing.T) {
	ico, err := os.ReadFile("../../web/public/favicon.ico")
	if err != nil {
		t.Fatal(err)
	}
	dist := maps.Clone(built)
	dist["favicon.ico"] = &fstest.MapFile{Data: ico}
	s, err := newWithDefaults(dbtest.Open(t, db.SQLite), dist, Config{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	h := httpx.Handle(WriteError, s.Page)
	rec, other := get(h, "GET", "/favicon.ico"), get(h, "GET", "/favicon.svg")
	if kind := rec.Header().Get("Content-Type"); rec.Code != 200 || kind != "image/x-icon" && kind != "image/vnd.microsoft.icon" {
		t.Fatalf("%d %v", rec.Code, rec.Header())
	}
	if got := rec.Header().Get("Cache-Control"); got == "" || got != other.Header().Get("Cache-Control") {
		t.Errorf("cached for %q, other icons for %q", got, other.Header().Get("Cache-Control"))
	}
	if again := sendRequest(h, "/favicon.ico", "If-None-Match", rec.Header().Get("ETag")); again.Code != 304 {
		t.Errorf("known: %d", again.Code)
	}

	type directory struct {
		Reserved, Kind, Count        uint16
		Width, Height, Colours, Zero uint8
		Planes, Bits                 uint16
		Size, Offset                 uint32
	}
	var entry directory
	body := rec.Body.Bytes()
	if err := binary.Read(bytes.NewReader(body), binary.LittleEndian, &entry); err != nil {
		t.Fatal(err)
	}
	const head = 22 // length of the header
	if want := (directory{Kind: 1, Count: 1, Width: 32, Height: 32, Planes: 1, Bits: 32, Size: uint32(len(body) - head), Offset: head}); entry != want {
		t.Errorf("%+v, not %+v", entry, want)
	}
	small, err := png.Decode(bytes.NewReader(body[head:]))
	if err != nil || small.Bounds().Dx() != 32 || small.Bounds().Dy() != 32 {
		t.Fatalf("%v %v", small, err)
	}
	large, err := os.ReadFile("../../web/public/icon-192.png")
	if err != nil {
		t.Fatal(err)
	}
	mark, err := png.Decode(bytes.NewReader(large))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range [][2]int{{0, 0}, {16, 10}, {16, 27}} { // the background, the sheet, its band
		r, g, b, a := small.At(at[0], at[1]).RGBA()
		lr, lg, lb, la := mark.At(at[0]*6, at[1]*6).RGBA()
		if [4]uint32{r, g, b, a} != [4]uint32{lr, lg, lb, la} {
			t.Errorf("another mark at %v", at)
		}
	}
}
