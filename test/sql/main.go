// Command sql runs an SQL statement on the database of a test's server, for example to make rows older. Its arguments are the database's
// URL and the statement. It fails if the statement changes no row.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"atelie/internal/db"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, databaseURL, statement string) error {
	d, err := db.Open(ctx, databaseURL, db.NoHooks)
	if err != nil {
		return err
	}
	changed, err := d.Exec(ctx, statement)
	if err == nil && changed == 0 {
		err = errors.New("no row is changed")
	}
	return errors.Join(err, d.Close())
}
