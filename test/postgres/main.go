// Command postgres gives the TypeScript tests a real PostgreSQL server: for each line on standard input it prints the
// address of a fresh, migrated database. It stops the server when the input ends.
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
