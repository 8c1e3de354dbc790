// Package renditiontest lets a test binary run as a picture worker. A Processor starts its own program as a worker process, and under go
// test that program is the test binary. A test package that uses a Processor therefore imports this package, only for its init function.
package renditiontest

import (
	"context"
	"fmt"
	"os"

	"atelie/internal/media/rendition"
)

func init() {
	if len(os.Args) != 2 || os.Args[1] != rendition.Command {
		return
	}
	if err := rendition.Work(context.Background(), os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) // this process must not run tests
	}
	os.Exit(0) // this process must not run tests
}
