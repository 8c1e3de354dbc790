// Command atelie is the whole program: the server and its tools, as commands. Package internal/cli implements the commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"atelie/internal/cli"
)

// version is the version of the program. The build sets it (-ldflags).
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, version)
	stop()
	os.Exit(code)
}
