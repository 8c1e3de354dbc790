// Package renditiontest makes a test binary able to be its own picture worker: the program that a Studio starts is the
// one that runs, which under go test is the test's. A test package whose tests reach a Studio imports it for that alone.
package renditiontest

import (
	"context"
	"fmt"
	"os"

	"atelie/internal/storage/rendition"
)

func init() {
	if len(os.Args) != 2 || os.Args[1] != rendition.Command {
		return
	}
	if err := rendition.Work(context.Background(), os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) // this process is no test
	}
	os.Exit(0) // this process is no test
}
