// Package render draws the site's pages: it makes their HTML with React. A JavaScript engine within this process runs a script
// that the site's build makes of the site's own components (web/vite.server.config.ts).
package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/andybalholm/brotli"
	"modernc.org/quickjs"
)

const (
	pageTimeout  = 2 * time.Second  // limit for drawing one page, and another time for the wait until the engine is free
	startTimeout = 10 * time.Second // limit for running the script when an engine starts
	maxMemory    = 128 << 20        // limit of an engine's memory in bytes
	maxPages     = 100              // number of pages after which an engine is replaced, because it leaks 0.1 MB with each page
)

// ErrIncomplete is the error of Render if React has left a part of the page to the browser.
var ErrIncomplete = errors.New("a part of the page was not drawn")

// ErrClosed is the error of Render after Close.
var ErrClosed = errors.New("the renderer is closed")

// suspendedMark is what React writes in place of a part that it leaves to the browser. No text of a page can contain it, because
// React escapes <.
const suspendedMark = "<!--$!-->"

// Page is a drawn page.
type Page struct {
	Head string `json:"head"` // tags for the head
	Body string `json:"body"` // content of the root element
}

// Renderer draws pages. It draws one page at a time, which is enough because a page takes about 50 ms and is cached. The
// engine starts with the first page.
type Renderer struct {
	compressedScript []byte        // the script in brotli
	pageTimeout      time.Duration // this and the two fields below are the constants of these names, except in tests
	maxMemory        uintptr
	maxPages         int

	mutex    chan struct{} // guards the fields below; a channel, so that waiting for it can time out
	bytecode []byte        // the compiled script, the same for every engine; nil before the first page
	engine   *quickjs.VM   // nil before the first page, and between an error and the page that follows
	drawn    int           // number of pages for which this engine was called
	closed   bool          // set by Close
}

// New returns a renderer for a script that is compressed with brotli. It does not check the script: if the script does not run,
// Render returns an error.
func New(packed []byte) *Renderer {
	return &Renderer{compressedScript: packed, pageTimeout: pageTimeout, maxMemory: maxMemory, maxPages: maxPages, mutex: make(chan struct{}, 1)}
}

// Render draws the page at path from its boot data in JSON. It waits at most pageTimeout, or until ctx ends, for other pages that
// are being drawn. Drawing the page then takes at most pageTimeout. After an error, another call starts a new engine.
func (r *Renderer) Render(ctx context.Context, path, boot string) (Page, error) {
	waiting, cancel := context.WithTimeout(ctx, r.pageTimeout)
	defer cancel()
	select {
	case r.mutex <- struct{}{}:
	case <-waiting.Done():
		return Page{}, fmt.Errorf("waiting for the engine: %w", waiting.Err())
	}
	defer func() { <-r.mutex }()
	if r.closed {
		return Page{}, ErrClosed
	}
	page, err := r.drawPage(path, boot)
	if err != nil || r.drawn >= r.maxPages {
		err = errors.Join(err, r.closeEngine())
	}
	return page, err
}

// drawPage draws a page. The engine is C code translated to Go; draw returns its panics as errors.
func (r *Renderer) drawPage(path, boot string) (page Page, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.engine = nil // not closed, because its state is unknown
			err = fmt.Errorf("the engine broke: %v\n%s", p, debug.Stack())
		}
	}()
	if r.engine == nil {
		if err := r.startEngine(); err != nil {
			return page, fmt.Errorf("start of the engine: %w", err)
		}
	}
	r.drawn++
	result, err := r.engine.Call("render", path, boot)
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

// startEngine makes an engine and runs the script in it.
func (r *Renderer) startEngine() error {
	vm, err := quickjs.NewVM()
	if err != nil {
		return err
	}
	r.engine, r.drawn = vm, 0 // Render closes it after an error
	vm.SetMemoryLimit(r.maxMemory)
	if err := vm.SetEvalTimeout(startTimeout); err != nil {
		return err
	}
	if r.bytecode == nil {
		script, err := decompress(r.compressedScript)
		if err != nil {
			return err
		}
		if r.bytecode, err = vm.Compile(script, quickjs.EvalGlobal); err != nil {
			return err
		}
	}
	value, err := vm.EvalBytecodeValue(r.bytecode)
	if err != nil {
		return withStack(err)
	}
	value.Free()
	if _, err := vm.ExecutePendingJobs(); err != nil { // promises of components that load lazily
		return withStack(err)
	}
	return vm.SetEvalTimeout(r.pageTimeout)
}

func decompress(packed []byte) (string, error) {
	script, err := io.ReadAll(brotli.NewReader(bytes.NewReader(packed)))
	if err != nil {
		return "", fmt.Errorf("the script: %w", err)
	}
	return string(script), nil
}

func (r *Renderer) closeEngine() error {
	if r.engine == nil {
		return nil
	}
	vm := r.engine
	r.engine = nil
	return vm.Close()
}

// Close waits for the current page and frees the engine's memory.
func (r *Renderer) Close() error {
	r.mutex <- struct{}{}
	defer func() { <-r.mutex }()
	r.closed = true
	return r.closeEngine()
}

// withStack adds the stack of the script to an error that the script has thrown.
func withStack(err error) error {
	if thrown, ok := errors.AsType[*quickjs.Error](err); ok && thrown.Stack != "" {
		return fmt.Errorf("%w\n%s", err, strings.TrimSpace(thrown.Stack))
	}
	return err
}
