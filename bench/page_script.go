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

// scriptRounds is the number of measured starts of each kind; the table shows their medians.
const scriptRounds = 9

// pageScript prints how long the JavaScript engine takes to start with the script that renders pages. The program starts the engine with
// bytecode that the build has made from the script. The reference is an engine that compiles the script when it starts.
func pageScript(_ context.Context, out io.Writer) error {
	compressed, err := os.ReadFile("web/dist/.server/render.bytecode.br")
	if err != nil {
		return err
	}
	script, err := os.ReadFile("web/dist-server/render.js")
	if err != nil {
		return err
	}
	readBytecode := func(*quickjs.VM) ([]byte, error) { return io.ReadAll(brotli.NewReader(bytes.NewReader(compressed))) }
	compileScript := func(vm *quickjs.VM) ([]byte, error) { return vm.Compile(string(script), quickjs.EvalGlobal) }
	var bytecodeTimes, scriptTimes []time.Duration
	for range scriptRounds {
		withBytecode, err := startWith(readBytecode)
		if err != nil {
			return err
		}
		withScript, err := startWith(compileScript)
		if err != nil {
			return err
		}
		bytecodeTimes, scriptTimes = append(bytecodeTimes, withBytecode), append(scriptTimes, withScript)
	}
	slices.Sort(bytecodeTimes)
	slices.Sort(scriptTimes)
	withBytecode, withScript := bytecodeTimes[scriptRounds/2], scriptTimes[scriptRounds/2]
	ratio := float64(withBytecode) / float64(withScript)
	recordCost("page script, start from bytecode, of compiling it", ratio)
	_, err = fmt.Fprintf(out, "\n## The start of an engine that renders pages, medians of %d\n\n"+
		"| from bytecode | compiling the script | ratio |\n| --- | --- | --- |\n| %d ms | %d ms | %.2f |\n",
		scriptRounds, withBytecode.Milliseconds(), withScript.Milliseconds(), ratio)
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
