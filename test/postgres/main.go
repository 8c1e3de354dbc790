// Command postgres runs a PostgreSQL server for the TypeScript tests. For each line on standard input it creates a migrated
// database and prints its address. It stops the server at the end of the input. With -templates it only writes the templates of
// the tests' databases into a folder.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"

	"atelie/internal/db/dbtest"
)

func main() {
	templates := flag.String("templates", "", "the folder for the templates")
	flag.Parse()
	work := serve
	if *templates != "" {
		work = func(ctx context.Context) error { return dbtest.WriteTemplates(ctx, *templates) }
	}
	err := work(context.Background())
	if stopped := dbtest.Stop(); err == nil {
		err = stopped
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve creates a database for each line of the input and prints its address.
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
