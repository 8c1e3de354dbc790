// Command atelie is the whole program: server and tools. Package internal/cli implements its commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"atelie/internal/cli"
)

// version is set by the build (-ldflags).
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, version)
	stop()
	os.Exit(code)
}
