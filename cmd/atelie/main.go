// Command atelie is the whole product in one program; internal/cli has its commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"atelie/internal/cli"
)

// version is stamped by the build.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, version)
	stop()
	os.Exit(code)
}
