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

// scriptRounds is the number of measured starts of each kind. It is odd, so that the median is one of the times.
const scriptRounds = 9

// pageScript measures how long the JavaScript engine takes to start with the script that renders pages, and prints the median times. The
// program starts the engine with bytecode that the build has compiled from the script. The reference is an engine that compiles the script
// itself when it starts.
func pageScript(_ context.Context, out io.Writer) error {
	compressedBytecode, err := os.ReadFile("web/dist/.server/render.bytecode.br")
	if err != nil {
		return err
	}
	script, err := os.ReadFile("web/dist-server/render.js")
	if err != nil {
		return err
	}
	decompressBytecode := func(*quickjs.VM) ([]byte, error) {
		return io.ReadAll(brotli.NewReader(bytes.NewReader(compressedBytecode)))
	}
	compileScript := func(vm *quickjs.VM) ([]byte, error) { return vm.Compile(string(script), quickjs.EvalGlobal) }
	var bytecodeTimes, scriptTimes []time.Duration
	for range scriptRounds {
		bytecodeTime, err := measureStart(decompressBytecode)
		if err != nil {
			return err
		}
		scriptTime, err := measureStart(compileScript)
		if err != nil {
			return err
		}
		bytecodeTimes, scriptTimes = append(bytecodeTimes, bytecodeTime), append(scriptTimes, scriptTime)
	}
	slices.Sort(bytecodeTimes)
	slices.Sort(scriptTimes)
	bytecodeMedian, scriptMedian := bytecodeTimes[scriptRounds/2], scriptTimes[scriptRounds/2]
	ratio := float64(bytecodeMedian) / float64(scriptMedian)
	recordCost("page script, start from bytecode, of compiling it", ratio)
	_, err = fmt.Fprintf(out, "\n## The start of an engine that renders pages, medians of %d\n\n"+
		"| from bytecode | compiling the script | ratio |\n| --- | --- | --- |\n| %d ms | %d ms | %.2f |\n",
		scriptRounds, bytecodeMedian.Milliseconds(), scriptMedian.Milliseconds(), ratio)
	return err
}

// measureStart returns how long a new engine takes to get the bytecode from loadBytecode and to run it.
func measureStart(loadBytecode func(*quickjs.VM) ([]byte, error)) (time.Duration, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return 0, err
	}
	defer func() { _ = vm.Close() }()
	begun := time.Now()
	bytecode, err := loadBytecode(vm)
	if err != nil {
		return 0, err
	}
	value, err := vm.EvalBytecodeValue(bytecode)
	if err != nil {
		return 0, err
	}
	value.Free()
	return time.Since(begun), nil
}
