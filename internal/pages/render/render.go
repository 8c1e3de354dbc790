// Package render does the server-side rendering of the site's pages with React. A JavaScript engine within this process (QuickJS) runs the
// site's server bundle (web/vite.server.config.ts), which the build has compiled to bytecode.
package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/andybalholm/brotli"
	"modernc.org/quickjs"
)

const (
	pageTimeout  = 2 * time.Second  // limit for rendering one page, and also for the wait for a free engine
	startTimeout = 10 * time.Second // limit for running the bytecode when an engine starts
	maxMemory    = 128 << 20        // limit of an engine's memory in bytes
	maxPages     = 100              // number of pages after which an engine is replaced, because each page leaks 0.1 MB of its memory
)

// ErrIncomplete is the error of Render if a component has suspended, so that React has left a part of the page to the browser.
var ErrIncomplete = errors.New("a part of the page was not rendered")

// ErrClosed is the error of Render after Close.
var ErrClosed = errors.New("the renderer is closed")

// suspendedMark is what React writes in place of a part that it leaves to the browser. No text of a page can contain it, because
// React escapes <.
const suspendedMark = "<!--$!-->"

// Page is a rendered page.
type Page struct {
	Head string `json:"head"` // tags for the head
	Body string `json:"body"` // content of the root element
}

// maxEngines is the number of pages that are rendered at the same time. At most one of them is rendered in advance, so that an engine is
// free for visitors.
const maxEngines = 2

// Renderer renders pages, each in one of its engines. Engines start with the first page that needs them.
type Renderer struct {
	bytecode    func() ([]byte, error) // returns the bytecode of the script; only the first call decompresses it
	pageTimeout time.Duration          // this and the next two fields are the constants of these names, except in tests
	maxMemory   uintptr
	maxPages    int

	slots     chan struct{} // held while an engine renders or is replaced; a channel, so that waiting for it can time out
	inAdvance chan struct{} // held while a page is rendered in advance

	mu       sync.Mutex
	idle     []*engine // the engines that render no page
	started  int       // number of all engines
	closeErr error     // errors of engines that were replaced, until Trim or Close returns them
	closed   bool      // set by Close
}

// engine is a JavaScript engine that has run the bytecode.
type engine struct {
	vm       *quickjs.VM // nil after a panic
	rendered int         // number of pages for which it was called
}

// New returns a renderer for the bytecode of a script (render/bytecode), which is compressed with brotli. New does not check the bytecode. If
// the bytecode does not run, Render returns an error.
func New(packed []byte) *Renderer {
	return &Renderer{
		bytecode:    sync.OnceValues(func() ([]byte, error) { return io.ReadAll(brotli.NewReader(bytes.NewReader(packed))) }),
		pageTimeout: pageTimeout, maxMemory: maxMemory, maxPages: maxPages,
		slots: make(chan struct{}, maxEngines), inAdvance: make(chan struct{}, 1),
	}
}

// Render renders the page at path from its boot data in JSON. It waits at most pageTimeout, or until ctx ends, for other pages that
// are being rendered. Rendering the page then takes at most pageTimeout. After an error, another call starts a new engine.
func (r *Renderer) Render(ctx context.Context, path, boot string) (Page, error) {
	return r.render(ctx, path, boot, false)
}

// RenderInAdvance is like Render, for a page for which no visitor waits. One such page is rendered at a time.
func (r *Renderer) RenderInAdvance(ctx context.Context, path, boot string) (Page, error) {
	return r.render(ctx, path, boot, true)
}

func (r *Renderer) render(ctx context.Context, path, boot string, inAdvance bool) (page Page, err error) {
	waiting, cancel := context.WithTimeout(ctx, r.pageTimeout)
	defer cancel()
	if inAdvance {
		if err := acquire(waiting, r.inAdvance); err != nil {
			return Page{}, err
		}
		defer func() { <-r.inAdvance }()
	}
	if err := acquire(waiting, r.slots); err != nil {
		return Page{}, err
	}
	e, err := r.takeEngine(inAdvance)
	if err != nil {
		<-r.slots
		return Page{}, err
	}
	page, err = e.renderPage(path, boot)
	switch {
	case err != nil:
		err = errors.Join(err, r.closeEngine(e))
		<-r.slots
	case e.rendered >= r.maxPages:
		go r.replace(e) // the visitor has the page meanwhile
	default:
		r.putBack(e)
		<-r.slots
	}
	return page, err
}

func acquire(ctx context.Context, slots chan<- struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the engine: %w", ctx.Err())
	}
}

// takeEngine returns the engine that was used last, or starts one. A page in advance leaves the only engine to visitors, because a
// start takes as long as a page.
func (r *Renderer) takeEngine(inAdvance bool) (*engine, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, ErrClosed
	}
	if last := len(r.idle) - 1; last >= 0 && (!inAdvance || r.started >= maxEngines) {
		e := r.idle[last]
		r.idle = r.idle[:last]
		r.mu.Unlock()
		return e, nil
	}
	r.started++
	r.mu.Unlock()
	e, err := r.startEngine()
	if err != nil {
		r.mu.Lock()
		r.started--
		r.mu.Unlock()
	}
	return e, err
}

func (r *Renderer) putBack(e *engine) {
	r.mu.Lock()
	r.idle = append(r.idle, e)
	r.mu.Unlock()
}

// replace closes an engine, starts another in its place and releases the slot.
func (r *Renderer) replace(old *engine) {
	defer func() { <-r.slots }()
	if err := r.closeEngine(old); err != nil {
		r.mu.Lock()
		r.closeErr = err
		r.mu.Unlock()
	}
	if e, err := r.takeEngine(true); err == nil { // otherwise the next page starts one and returns the error
		r.putBack(e)
	}
}

// renderPage renders a page. The engine is C code translated to Go; renderPage returns its panics as errors.
func (e *engine) renderPage(path, boot string) (page Page, err error) {
	defer func() {
		if p := recover(); p != nil {
			e.vm = nil // not closed, because its state is unknown
			err = fmt.Errorf("the engine broke: %v\n%s", p, debug.Stack())
		}
	}()
	e.rendered++
	result, err := e.vm.Call("render", path, boot)
	if err != nil {
		return page, withStack(err)
	}
	object, ok := result.(*quickjs.Object)
	if !ok {
		return page, fmt.Errorf("the script returned %T instead of a page", result)
	}
	if err := object.Into(&page); err != nil {
		return Page{}, err
	}
	if strings.Contains(page.Body, suspendedMark) {
		return Page{}, ErrIncomplete
	}
	return page, nil
}

// startEngine makes an engine and runs the bytecode in it.
func (r *Renderer) startEngine() (e *engine, err error) {
	defer func() {
		if p := recover(); p != nil {
			e, err = nil, fmt.Errorf("start of the engine: %v\n%s", p, debug.Stack())
		}
	}()
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, fmt.Errorf("start of the engine: %w", err)
	}
	if err := r.runBytecode(vm); err != nil {
		return nil, errors.Join(fmt.Errorf("start of the engine: %w", err), vm.Close())
	}
	return &engine{vm: vm}, nil
}

func (r *Renderer) runBytecode(vm *quickjs.VM) error {
	vm.SetMemoryLimit(r.maxMemory)
	if err := vm.SetEvalTimeout(startTimeout); err != nil {
		return err
	}
	bytecode, err := r.bytecode()
	if err != nil {
		return fmt.Errorf("the bytecode: %w", err)
	}
	value, err := vm.EvalBytecodeValue(bytecode)
	if err != nil {
		return withStack(err)
	}
	value.Free()
	if _, err := vm.ExecutePendingJobs(); err != nil { // promises of components that load lazily
		return withStack(err)
	}
	return vm.SetEvalTimeout(r.pageTimeout)
}

func (r *Renderer) closeEngine(e *engine) error {
	r.mu.Lock()
	r.started--
	r.mu.Unlock()
	if e.vm == nil {
		return nil
	}
	return e.vm.Close()
}

// Trim frees the memory of all idle engines but one.
func (r *Renderer) Trim() error { return r.closeIdle(1) }

// closeIdle closes the idle engines but for the remaining ones that were used last.
func (r *Renderer) closeIdle(remaining int) error {
	r.mu.Lock()
	n := max(0, len(r.idle)-remaining)
	unneeded := r.idle[:n:n]
	r.idle = r.idle[n:]
	err := r.closeErr
	r.closeErr = nil
	r.mu.Unlock()
	for _, e := range unneeded {
		err = errors.Join(err, r.closeEngine(e))
	}
	return err
}

// Close waits for the pages that are being rendered and frees the memory of the engines.
func (r *Renderer) Close() error {
	for range maxEngines {
		r.slots <- struct{}{}
	}
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	err := r.closeIdle(0)
	for range maxEngines {
		<-r.slots
	}
	return err
}

// withStack adds the stack of the script to an error that the script has thrown.
func withStack(err error) error {
	if thrown, ok := errors.AsType[*quickjs.Error](err); ok && thrown.Stack != "" {
		return fmt.Errorf("%w\n%s", err, strings.TrimSpace(thrown.Stack))
	}
	return err
}
