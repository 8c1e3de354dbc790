package render

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"atelie/internal/pages/render/bytecode"
)

// script renders a page that consists of its path, its boot data, the number of pages that this engine has rendered, and late: whether the
// engine has run promise callbacks after the script. For the paths in acts, render fails as a broken component would, for example by never
// returning.
const script = `
let drawn = 0;
const acts = {
	"/endless": () => { for (;;) {} },
	"/greedy": () => { const all = []; for (;;) all.push(new Array(1e4).fill(drawn)); },
	"/deep": () => { const f = () => f() + 1; return f(); },
	"/thrown": () => { throw new TypeError("no such work"); },
	"/suspended": () => ({ head: "", body: "<p>a</p><!--$!--><template></template><!--/$-->" }),
	"/nothing": () => undefined,
};
globalThis.render = (path, boot) => acts[path] ? acts[path]() : { head: "<link>", body: "<p>" + path + " " + boot + " " + (++drawn) + " " + late + "</p>" };
let late = false;
void Promise.resolve().then(() => (late = true));`

// packed returns a script as the build stores it.
func packed(t *testing.T, script string) []byte {
	t.Helper()
	compiled, err := bytecode.Compile(script)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// newRenderer returns a renderer that is closed at the end of the test.
func newRenderer(t *testing.T, packed []byte) *Renderer {
	t.Helper()
	r := New(packed)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// renders checks that a page is rendered with the wanted body.
func renders(t *testing.T, r *Renderer, want string) {
	t.Helper()
	page, err := r.Render(t.Context(), "/", `{"a":"€ 🙂"}`)
	if err != nil || page.Head != "<link>" || page.Body != want {
		t.Fatalf("got %q, error %v", page, err)
	}
}

// Proves P-drawn-limits.
//
// Each failure is an error of that page, within the limits. A new engine renders the next page.
func TestFailedPageDoesNotAffectTheNext(t *testing.T) {
	r := newRenderer(t, packed(t, script))
	r.maxMemory = 32 << 20
	const first = `<p>/ {"a":"€ 🙂"} 1 true</p>`
	for path, message := range map[string]string{
		"/endless": "interrupted", "/greedy": "out of memory", "/deep": "stack overflow", "/thrown": "no such work", "/nothing": "instead of a page",
		"/suspended": ErrIncomplete.Error(),
	} {
		renders(t, r, first)
		begun := time.Now()
		page, err := r.Render(t.Context(), path, "{}")
		if err == nil || page != (Page{}) || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %q, %v", path, page, err)
		}
		if took := time.Since(begun); path == "/endless" && took > time.Minute {
			t.Errorf("it took %v", took)
		}
	}
	renders(t, r, first)
	renders(t, r, `<p>/ {"a":"€ 🙂"} 2 true</p>`)
}

// Proves P-drawn-limits.
func TestAnEngineIsReplacedAfterItsLife(t *testing.T) {
	r := newRenderer(t, packed(t, script))
	r.maxPages = 2
	for _, n := range []string{"1", "2", "1"} {
		renders(t, r, `<p>/ {"a":"€ 🙂"} `+n+` true</p>`)
	}
}

// Proves P-drawn-limits.
func TestWaitForTheEngineIsBounded(t *testing.T) {
	r := newRenderer(t, packed(t, script))
	r.pageTimeout = 20 * time.Millisecond
	for range maxEngines { // other pages are being rendered
		r.slots <- struct{}{}
	}
	if _, err := r.Render(t.Context(), "/", "{}"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	r.pageTimeout = time.Hour
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Render(gone, "/", "{}"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for range maxEngines {
		<-r.slots
	}
	renders(t, r, `<p>/ {"a":"€ 🙂"} 1 true</p>`)
}

// Proves P-drawn-first.
func TestVisitorsDoNotWaitForAPageInAdvance(t *testing.T) {
	r := newRenderer(t, packed(t, script))
	inAdvance := func(want string) {
		t.Helper()
		if page, err := r.RenderInAdvance(t.Context(), "/", "0"); err != nil || page.Body != "<p>/ 0 "+want+" true</p>" {
			t.Fatalf("%q, %v", page, err)
		}
	}
	renders(t, r, `<p>/ {"a":"€ 🙂"} 1 true</p>`)
	inAdvance("1") // uses its own engine
	r.pageTimeout = 20 * time.Millisecond
	r.inAdvance <- struct{}{} // as if a page were being rendered in advance
	r.slots <- struct{}{}
	used := r.idle[1]
	r.idle = r.idle[:1]
	if _, err := r.RenderInAdvance(t.Context(), "/", "0"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("two pages in advance at once: %v", err)
	}
	r.pageTimeout = time.Hour
	renders(t, r, `<p>/ {"a":"€ 🙂"} 2 true</p>`)
	r.putBack(used)
	<-r.slots
	<-r.inAdvance
	if err := r.Trim(); err != nil || len(r.idle) != 1 || r.started != 1 {
		t.Errorf("%d of %d engines are left, %v", len(r.idle), r.started, err)
	}
	renders(t, r, `<p>/ {"a":"€ 🙂"} 2 true</p>`) // by the engine that was used most recently
	inAdvance("1")
}

// Proves P-drawn-limits.
func TestConcurrentPages(t *testing.T) {
	r := newRenderer(t, packed(t, script))
	r.maxPages = 3
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for range 10 {
				render := r.Render
				if n == 0 {
					render = r.RenderInAdvance
				}
				if page, err := render(t.Context(), "/", "0"); err != nil || page.Head != "<link>" {
					t.Errorf("%q, %v", page, err)
				}
				if err := r.Trim(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := r.Close(); err != nil || r.started != 0 || len(r.idle) != 0 {
		t.Errorf("%d engines are open, %v", r.started, err)
	}
}

func TestRenderAfterClose(t *testing.T) {
	r := newRenderer(t, packed(t, script))
	renders(t, r, `<p>/ {"a":"€ 🙂"} 1 true</p>`)
	for range 2 {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Render(t.Context(), "/", "{}"); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
}

// Proves P-drawn-limits.
func TestAScriptThatDoesNotStartIsAnErrorOfEachPage(t *testing.T) {
	for message, bytes := range map[string][]byte{
		"brotli":         []byte("not packed"),
		"unexpected EOF": packed(t, script)[:40],
		"not startable":  packed(t, `throw new Error("not startable")`),
		"non-function":   packed(t, `globalThis.render = 1`),
	} {
		r := newRenderer(t, bytes)
		for range 2 {
			if page, err := r.Render(t.Context(), "/", "{}"); err == nil || page != (Page{}) || !strings.Contains(err.Error(), message) {
				t.Errorf("%s: %q, %v", message, page, err)
			}
		}
	}
}
