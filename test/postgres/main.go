// Command postgres runs a PostgreSQL server for the TypeScript tests. For each line on standard input it creates a migrated
// database and prints its address. It stops the server at the end of the input.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"

	"atelie/internal/db/dbtest"
)

func main() {
	err := serve(context.Background())
	if stopped := dbtest.Stop(); err == nil {
		err = stopped
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(ctx context.Context) error {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		address, err := dbtest.FreshPostgres(ctx)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(os.Stdout, address); err != nil {
			return err
		}
	}
	return lines.Err()
}
