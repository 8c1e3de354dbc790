package rendition

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// The worker processes run the test binary, as those of the program run the program: with the argument Command it does a job and exits.
func init() {
	if len(os.Args) != 2 || os.Args[1] != Command {
		return
	}
	if err := Work(context.Background(), os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func newTestProcessor(t *testing.T, cfg Config) *Processor {
	t.Helper()
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	s, err := NewProcessor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// eachEngine runs a test with the program's own engine and with libvips.
func eachEngine(t *testing.T, run func(t *testing.T, s *Processor, engine string)) {
	t.Helper()
	for _, engine := range []string{Engine, EngineVips} {
		t.Run(engine, func(t *testing.T) {
			setting := "off"
			if engine == EngineVips {
				setting = "auto"
			}
			s := newTestProcessor(t, Config{Vips: setting})
			s.idleTime = 0 // does not wait for idle processors: while other tests run, there are none
			if engine == EngineVips && s.findVips().path == "" {
				t.Skip("libvips-tools is not installed")
			}
			run(t, s, engine)
		})
	}
}

// scene is a picture whose corners all differ.
func scene(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetNRGBA(x, y, color.NRGBA{uint8(255 * x / w), uint8(255 * y / h), uint8((x/16 + y/16) % 2 * 60), 255})
		}
	}
	return m
}

func writeFile(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func savePNG(t *testing.T, m image.Image) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "picture"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(png.Encode(f, m), f.Close()); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

func saveJPEG(t *testing.T, m image.Image) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "picture"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(jpeg.Encode(f, m, &jpeg.Options{Quality: 92}), f.Close()); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

func TestProcessorFillsOrders(t *testing.T) {
	source := saveJPEG(t, scene(1200, 800))
	eachEngine(t, func(t *testing.T, s *Processor, engine string) {
		folder := t.TempDir()
		job := Job{Source: source, Folder: folder, NeedsFacts: true, Orders: []Order{
			{Width: 640, Format: WebP}, {Width: 320, Format: WebP}, {Width: 2560, Format: JPEG}, {Width: 300, Height: 300, Fit: Cover, Format: WebP},
			{Width: 1200, Height: 630, Fit: Frame, Format: JPEG}, {Format: WebP, Crop: Rect{1024, 0, 1024, 1024}}, {Width: 200, Height: 50, Fit: Fill, Format: WebP},
		}}
		r, err := s.Make(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		if r.Engine != engine {
			t.Errorf("made by %s", r.Engine)
		}
		if r.Facts.Width != 1200 || r.Facts.Height != 800 || r.Facts.MimeType != "image/jpeg" || len(r.Facts.Thumbhash) < 10 || r.Facts.Alpha {
			t.Errorf("facts %+v", r.Facts)
		}
		var sizes []string
		files := map[string]bool{}
		for _, m := range r.Made {
			sizes = append(sizes, fmt.Sprintf("%dx%d", m.Width, m.Height))
			f, err := os.Open(m.File)
			if err != nil {
				t.Fatal(err)
			}
			h, err := ReadHeader(f)
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			if h.Width != m.Width || h.Height != m.Height || h.MimeType != "image/"+string(m.Order.Format) {
				t.Errorf("%s is %+v, said to be %+v", filepath.Base(m.File), h, m)
			}
			if stat, err := os.Stat(m.File); err != nil || stat.Size() != m.Size {
				t.Errorf("%s: size %d, %v", m.File, m.Size, err)
			}
			files[filepath.Base(m.File)] = true
		}
		if want := []string{"640x427", "320x213", "1200x800", "300x300", "1200x630", "176x800", "200x50"}; !slices.Equal(sizes, want) {
			t.Errorf("sizes %v, want %v", sizes, want)
		}
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !files[e.Name()] {
				t.Errorf("%s was left behind", e.Name())
			}
		}
	})
}

func TestProcessorRemovesFilesOfRefusedJobs(t *testing.T) {
	whole, err := os.ReadFile(saveJPEG(t, scene(1200, 800)))
	if err != nil {
		t.Fatal(err)
	}
	source := writeFile(t, "cut", whole[:len(whole)/2])
	eachEngine(t, func(t *testing.T, s *Processor, _ string) {
		folder := t.TempDir()
		_, err := s.Make(t.Context(), Job{Source: source, Folder: folder, Orders: []Order{{Width: 320, Format: WebP}}})
		if !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrUnreadable) {
			t.Errorf("a truncated file: %v", err)
		}
		if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
			t.Errorf("left behind: %v, %v", entries, err)
		}
	})
}

func TestProcessorEndsJobsAfterTheTimeout(t *testing.T) {
	s := newTestProcessor(t, Config{Program: []string{"sleep", "1000"}, Timeout: 100 * time.Millisecond, Vips: "off"})
	job := Job{Source: savePNG(t, scene(64, 64)), Folder: t.TempDir()}
	if _, err := s.Make(t.Context(), job); !errors.Is(err, ErrTooSlow) {
		t.Errorf("after the time: %v", err)
	}
	s.cfg.Timeout = time.Nanosecond
	if _, err := s.Make(t.Context(), job); !errors.Is(err, ErrTooSlow) {
		t.Errorf("a time that is over before the process begins: %v", err)
	}
	s.cfg.Timeout = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := s.Make(ctx, job); !errors.Is(err, context.Canceled) {
		t.Errorf("when nobody waits any more: %v", err)
	}
}

func TestProcessorReportsACrash(t *testing.T) {
	for _, c := range []struct {
		script string
		want   error
	}{
		{"echo 'fatal error: runtime: out of memory' >&2; exit 2", ErrTooCostly},
		{"echo nonsense; exit 0", ErrUnreadable},
		{"kill -SEGV $$", ErrUnreadable},
		{"yes | head -c 40000000; exit 1", ErrUnreadable},
	} {
		s := newTestProcessor(t, Config{Program: []string{"sh", "-c", c.script}, Vips: "off"})
		if _, err := s.Make(t.Context(), Job{Source: savePNG(t, scene(64, 64)), Folder: t.TempDir()}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.script, err, c.want)
		}
	}
}

func TestOwnEngineReplacesFailingVips(t *testing.T) {
	broken := writeFile(t, "vips", []byte("#!/bin/sh\ncase \"$*\" in *version*) echo vips-8.99.0;; *) echo 'no such operation' >&2; exit 1;; esac\n"))
	if err := os.Chmod(broken, 0o700); err != nil {
		t.Fatal(err)
	}
	s := newTestProcessor(t, Config{Vips: broken})
	if s.Engine() != "vips 8.99.0" || s.CanDecode("image/heic") || s.AVIF() {
		t.Errorf("engine %q", s.Engine())
	}
	r, err := s.Make(t.Context(), Job{Source: savePNG(t, scene(64, 64)), Folder: t.TempDir(), Orders: []Order{{Width: 32, Format: WebP}}})
	if err != nil || r.Engine != Engine {
		t.Errorf("made by %q, %v", r.Engine, err)
	}
}

func TestSupportedTypes(t *testing.T) {
	off := newTestProcessor(t, Config{Vips: "off"})
	for mime, want := range map[string]bool{"image/jpeg": true, "image/png": true, "image/gif": true, "image/webp": true, "image/tiff": true,
		"image/heic": false, "image/avif": false, "image/svg+xml": false, "application/pdf": false} {
		if off.CanDecode(mime) != want {
			t.Errorf("%s without libvips: %v", mime, !want)
		}
	}
	if _, err := NewProcessor(Config{Vips: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a libvips that is not there was taken")
	}
}

func TestPoolIsFairAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(2, 100)
		first, err := p.enter(t.Context(), 60, false)
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		done := make(chan string)
		job := func(name string, bytes int64) {
			go func() {
				leave, err := p.enter(t.Context(), bytes, false)
				if err != nil {
					t.Error(err)
					return
				}
				done <- name
				leave()
			}()
			synctest.Wait()
		}
		job("large", 90)
		job("small", 20) // there is enough memory for it, but it arrived later
		select {
		case name := <-done:
			t.Errorf("%s went first", name)
		default:
		}
		first()
		order = append(order, <-done, <-done)
		if !slices.Equal(order, []string{"large", "small"}) {
			t.Errorf("order %v", order)
		}
		if _, err := p.enter(t.Context(), 101, false); !errors.Is(err, newTooCostlyError(101, 100)) {
			t.Errorf("beyond the budget: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		leave, err := p.enter(ctx, 100, false)
		if err != nil {
			t.Fatal(err)
		}
		go cancel()
		if _, err := p.enter(ctx, 1, false); !errors.Is(err, context.Canceled) {
			t.Errorf("waiting in vain: %v", err)
		}
		leave()
	})
}
