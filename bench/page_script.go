package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/andybalholm/brotli"
	"modernc.org/quickjs"
)

// scriptRounds is the number of starts whose median the table shows.
const scriptRounds = 9

// pageScript measures how long the JavaScript engine takes to start with the script that renders pages. The program starts it with bytecode
// that the build has made from the script. The reference is an engine that compiles the script itself.
func pageScript(_ context.Context, out io.Writer) error {
	packed, err := os.ReadFile("web/dist/.server/render.bytecode.br")
	if err != nil {
		return err
	}
	script, err := os.ReadFile("web/dist-server/render.js")
	if err != nil {
		return err
	}
	load := func(*quickjs.VM) ([]byte, error) { return io.ReadAll(brotli.NewReader(bytes.NewReader(packed))) }
	compile := func(vm *quickjs.VM) ([]byte, error) { return vm.Compile(string(script), quickjs.EvalGlobal) }
	var loads, compiles []time.Duration
	for range scriptRounds {
		loaded, err := startWith(load)
		if err != nil {
			return err
		}
		compiled, err := startWith(compile)
		if err != nil {
			return err
		}
		loads, compiles = append(loads, loaded), append(compiles, compiled)
	}
	slices.Sort(loads)
	slices.Sort(compiles)
	loaded, compiled := loads[scriptRounds/2], compiles[scriptRounds/2]
	ratio := float64(loaded) / float64(compiled)
	recordCost("page script, start from bytecode, of compiling it", ratio)
	_, err = fmt.Fprintf(out, "\n## The start of an engine that renders pages, medians of %d\n\n| from bytecode | compiling the script | ratio |\n| --- | --- | --- |\n| %d ms | %d ms | %.2f |\n",
		scriptRounds, loaded.Milliseconds(), compiled.Milliseconds(), ratio)
	return err
}

// startWith returns how long an engine takes to get the bytecode and run it.
func startWith(bytecode func(*quickjs.VM) ([]byte, error)) (time.Duration, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return 0, err
	}
	defer func() { _ = vm.Close() }()
	begun := time.Now()
	code, err := bytecode(vm)
	if err != nil {
		return 0, err
	}
	value, err := vm.EvalBytecodeValue(code)
	if err != nil {
		return 0, err
	}
	value.Free()
	return time.Since(begun), nil
}
