// Command s3 runs an S3 server for the TypeScript tests. For each line on standard input it creates a bucket and prints its
// address as a storage-url. It stops the server at the end of the input.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"atelie/internal/storage/blob/blobtest"
)

func main() {
	err := serve(context.Background())
	if stopped := blobtest.Stop(); err == nil {
		err = stopped
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve creates a bucket for each line of the input and prints its URL.
func serve(ctx context.Context) error {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		b, err := blobtest.FreshBucket(ctx)
		if err != nil {
			return err
		}
		host := strings.TrimPrefix(b.Endpoint, "http://")
		if _, err := fmt.Fprintf(os.Stdout, "s3://%s:%s@%s/%s?tls=off&create=on\n", b.KeyID, b.Secret, host, b.Bucket); err != nil {
			return err
		}
	}
	return lines.Err()
}
