// Package render draws the site's pages with React, in a JavaScript engine inside this process. The script is the site's
// own components, bundled by web/vite.server.config.ts.
package render

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"modernc.org/quickjs"
)

const (
	pageTime  = 2 * time.Second  // of one page; as much again may pass until its turn comes
	startTime = 10 * time.Second // of reading the script
	memory    = 128 << 20        // bytes, of one engine
	lifetime  = 100              // pages: an engine grows by 0.1 MB with each
)

// ErrIncomplete is given when React left a part of the page to the browser.
var ErrIncomplete = errors.New("a part of the page was not drawn")

// ErrClosed is given for pages that come after the end.
var ErrClosed = errors.New("the renderer is closed")

// unfinished marks such a part. Texts cannot hold it: React escapes < in them.
const unfinished = "<!--$!-->"

// Renderer draws pages, one at a time: a page takes some 50 ms, and pages are kept. Its engine starts with the first one.
type Renderer struct {
	packed   []byte // the script, gzip
	pageTime time.Duration
	memory   uintptr
	lifetime int

	turn  chan struct{} // whoever has put something in it owns what follows
	code  []byte        // bytecode of the script, the same for every engine
	vm    *quickjs.VM   // nil until it is needed, and after an error
	drawn int           // pages by this engine
	over  bool          // closed
}

// New takes the script, packed with gzip. An unusable one is an error of the first page.
func New(packed []byte) *Renderer {
	return &Renderer{packed: packed, pageTime: pageTime, memory: memory, lifetime: lifetime, turn: make(chan struct{}, 1)}
}

// Render draws the page at path with the text of its boot block. It gives up after two seconds, and waits no longer than
// that for its turn, or than ctx allows. After an error the next page gets a new engine.
func (r *Renderer) Render(ctx context.Context, path, boot string) (string, error) {
	waiting, cancel := context.WithTimeout(ctx, r.pageTime)
	defer cancel()
	select {
	case r.turn <- struct{}{}:
	case <-waiting.Done():
		return "", fmt.Errorf("waiting for the engine: %w", waiting.Err())
	}
	defer func() { <-r.turn }()
	if r.over {
		return "", ErrClosed
	}
	html, err := r.draw(path, boot)
	if err != nil || r.drawn >= r.lifetime {
		err = errors.Join(err, r.end())
	}
	return html, err
}

// draw turns a panic of the engine, which is C code translated by a program, into an error: it must not end the process.
func (r *Renderer) draw(path, boot string) (html string, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.vm = nil // of no use any more, not even to be closed
			err = fmt.Errorf("the engine broke: %v\n%s", p, debug.Stack())
		}
	}()
	if r.vm == nil {
		if err := r.start(); err != nil {
			return "", fmt.Errorf("start of the engine: %w", err)
		}
	}
	r.drawn++
	result, err := r.vm.Call("render", path, boot)
	if err != nil {
		return "", withStack(err)
	}
	html, ok := result.(string)
	if !ok {
		return "", fmt.Errorf("the script gave %T instead of a page", result)
	}
	if strings.Contains(html, unfinished) {
		return "", ErrIncomplete
	}
	return html, nil
}

// start makes an engine and has it read the script.
func (r *Renderer) start() error {
	vm, err := quickjs.NewVM()
	if err != nil {
		return err
	}
	r.vm, r.drawn = vm, 0 // closed by end when it does not start
	vm.SetMemoryLimit(r.memory)
	if err := vm.SetEvalTimeout(startTime); err != nil {
		return err
	}
	if r.code == nil {
		script, err := unpack(r.packed)
		if err != nil {
			return err
		}
		if r.code, err = vm.Compile(script, quickjs.EvalGlobal); err != nil {
			return err
		}
	}
	value, err := vm.EvalBytecodeValue(r.code)
	if err != nil {
		return withStack(err)
	}
	value.Free()
	if _, err := vm.ExecutePendingJobs(); err != nil { // the parts of the site load as promises
		return withStack(err)
	}
	return vm.SetEvalTimeout(r.pageTime)
}

func unpack(packed []byte) (string, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", fmt.Errorf("the script: %w", err)
	}
	script, err := io.ReadAll(z)
	if err != nil {
		return "", fmt.Errorf("the script: %w", err)
	}
	return string(script), nil
}

// end closes the engine; the next page starts another one.
func (r *Renderer) end() error {
	if r.vm == nil {
		return nil
	}
	vm := r.vm
	r.vm = nil
	return vm.Close()
}

// Close waits for the page that is being drawn, and gives the engine's memory back. No page is drawn after it.
func (r *Renderer) Close() error {
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	r.over = true
	return r.end()
}

// withStack adds where in the script an error arose.
func withStack(err error) error {
	var thrown *quickjs.Error
	if errors.As(err, &thrown) && thrown.Stack != "" {
		return fmt.Errorf("%w\n%s", err, strings.TrimSpace(thrown.Stack))
	}
	return err
}
