package dbtest

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"atelie/internal/db"
)

// RoundTrips is a proxy in front of a fresh PostgreSQL database. Tests use it to count round trips. It records what the client sends before
// each wait for a response: a simple query, or the statements up to a Sync message of PostgreSQL's protocol.
type RoundTrips struct {
	URL string // URL of the database, through the proxy

	mu    sync.Mutex
	trips []string
}

// CountRoundTrips returns a proxy in front of a fresh PostgreSQL database.
func CountRoundTrips(t testing.TB) *RoundTrips {
	t.Helper()
	c := &RoundTrips{}
	c.URL = proxyURL(t, func(client, server net.Conn) {
		var answers sync.WaitGroup
		answers.Go(func() {
			_, _ = io.Copy(client, server)
			_ = client.Close()
		})
		c.forward(client, server)
		_ = server.Close()
		answers.Wait()
	})
	return c
}

// proxyURL returns the URL of a fresh PostgreSQL database, through a proxy. serve forwards the bytes of one connection until either side
// closes it.
func proxyURL(t testing.TB, serve func(client, server net.Conn)) string {
	t.Helper()
	address, err := url.Parse(URL(t, db.Postgres))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "pg") // the path of a socket has a maximum length, which paths in t.TempDir can exceed
	if err != nil {
		t.Fatal(err)
	}
	const socket = ".s.PGSQL.5432"
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(dir, socket))
	if err != nil {
		t.Fatal(err)
	}
	query := address.Query()
	target := filepath.Join(query.Get("host"), socket)
	query.Set("host", dir)
	address.RawQuery = query.Encode()
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // the listener was closed
			}
			running.Go(func() {
				defer func() { _ = client.Close() }()
				server, err := new(net.Dialer).DialContext(context.Background(), "unix", target)
				if err != nil {
					return // the client sees that the connection ends
				}
				defer func() { _ = server.Close() }()
				serve(client, server)
			})
		}
	})
	t.Cleanup(func() {
		err := listener.Close()
		running.Wait() // the databases that use the proxy were closed before: cleanups run in reverse order
		if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
	})
	return address.String()
}

// During returns what fn made the client send, one text for each round trip: its statements, separated by ";\n".
func (c *RoundTrips) During(fn func()) []string {
	c.mu.Lock()
	c.trips = nil
	c.mu.Unlock()
	fn()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trips
}

func (c *RoundTrips) add(statements []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trips = append(c.trips, strings.Join(statements, ";\n"))
}

// forward forwards the messages of a client, each after it was recorded.
func (c *RoundTrips) forward(client io.Reader, server io.Writer) {
	in := bufio.NewReader(client)
	names := map[string]string{} // the texts of prepared statements
	var statements []string      // since the last round trip
	for first := true; ; first = false {
		head := 5 // kind and length; the first message has no kind
		if first {
			head = 4
		}
		message := make([]byte, head)
		if _, err := io.ReadFull(in, message); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(message[head-4:])-4)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		if !first {
			fields := strings.SplitN(string(body), "\x00", 3)
			switch message[0] {
			case 'P': // Parse: name, text
				names[fields[0]] = fields[1]
				if fields[0] != "" {
					statements = append(statements, "prepare")
				}
			case 'B': // Bind: portal, name
				statements = append(statements, names[fields[1]])
			case 'Q':
				c.add([]string{fields[0]})
			case 'S':
				c.add(statements)
				statements = nil
			}
		}
		if _, err := server.Write(append(message, body...)); err != nil {
			return
		}
	}
}
