package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"atelie/internal/db/dbtest"
)

// This file measures live changes: the events about changed rows that the server sends to subscribed clients over WebSocket.

const (
	liveSockets = 1000 // connected clients
	liveWrites  = 200  // inserts in each measurement
)

// liveTable inserts rows. For each request, it measures the time until the response, and the time until the subscribed clients receive the
// change. It also prints the memory of the connections. On PostgreSQL the requests go to one node (server of the site), and the clients are
// connected to another one.
func liveTable(ctx context.Context, out io.Writer, env []string) (err error) {
	if _, err := fmt.Fprintf(out, "\nLive changes, %d inserts, from the request on: p50 and p99\n", liveWrites); err != nil {
		return err
	}
	env = append(slices.Clone(env), fmt.Sprintf("ATELIE_MAX_SOCKETS_PER_ADDRESS=%d", liveSockets+1))
	if err := liveRows(ctx, out, "SQLite", env); err != nil {
		return err
	}
	databaseURL, err := dbtest.FreshPostgres(ctx)
	defer func() { err = errors.Join(err, dbtest.Stop()) }()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "atelie-bench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// Nodes of one site need the same secret.
	env = append(env, "ATELIE_DATABASE_URL="+databaseURL, "ATELIE_JWT_SECRET="+strings.Repeat("nodes-share-this", 3))
	var nodes [][]string // the environment of each node
	for _, name := range []string{"0", "1"} {
		nodes = append(nodes, append(slices.Clone(env), "ATELIE_DATA_DIR="+filepath.Join(dir, name)))
	}
	return liveRows(ctx, out, "PostgreSQL, two nodes", nodes...)
}

// liveRows measures one database and prints its lines. It starts a node (a server of the site) for each of the environments in nodes.
func liveRows(ctx context.Context, out io.Writer, name string, nodes ...[]string) (err error) {
	var servers []*server
	defer func() {
		for _, s := range servers {
			err = errors.Join(err, s.stop())
		}
	}()
	for _, env := range nodes {
		s, err := start(ctx, env, binary, "serve")
		if err != nil {
			return err
		}
		servers = append(servers, s)
	}
	anonKey, serviceKey, err := keysOf(ctx, nodes[0])
	if err != nil {
		return err
	}
	writeServer, watchServer := servers[0], servers[len(servers)-1]
	if err := insert(ctx, writeServer.url, serviceKey); err != nil { // warm-up, not measured
		return err
	}
	before, err := watchServer.resident()
	if err != nil {
		return err
	}
	var watchers []*websocket.Conn
	defer func() {
		for _, c := range watchers {
			_ = c.CloseNow() // the measurement is over
		}
	}()
	for _, count := range []int{1, liveSockets} {
		for len(watchers) < count {
			c, err := watch(ctx, watchServer.url, anonKey)
			if err != nil {
				return err
			}
			watchers = append(watchers, c)
		}
		if err := measureInserts(ctx, out, fmt.Sprintf("%s, received by %d", name, count), writeServer.url, serviceKey, watchers); err != nil {
			return err
		}
	}
	after, err := watchServer.resident()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "  %-36s %6.1f MB before, %.1f MB with them: %.0f kB each\n", fmt.Sprintf("%s, %d sockets", name, liveSockets), before, after, (after-before)*1000/liveSockets)
	return err
}

// watch connects and subscribes to inserts of works.
func watch(ctx context.Context, url, anonKey string) (*websocket.Conn, error) {
	c, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(url, "http")+"/realtime/v1/websocket?vsn=2.0.0&apikey="+anonKey, nil) //nolint:bodyclose // Dial's own promise: there is nothing to close
	if err != nil {
		return nil, err
	}
	c.SetReadLimit(1 << 20)
	join := `["1","1","realtime:bench","phx_join",{"config":{"postgres_changes":[{"event":"INSERT","schema":"public","table":"products"}]}}]`
	if err := c.Write(ctx, websocket.MessageText, []byte(join)); err != nil {
		return nil, err
	}
	for range 2 { // the reply to the join, and the message about the subscription
		_, text, err := c.Read(ctx)
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(text, []byte(`"ok"`)) {
			return nil, fmt.Errorf("refused: %s", text)
		}
	}
	return c, nil
}

func insert(ctx context.Context, url, serviceKey string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/rest/v1/products", strings.NewReader(`{"title":"A work for the bench"}`))
	if err != nil {
		return err
	}
	r.Header.Set("apikey", serviceKey)
	r.Header.Set("Content-Type", "application/json")
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	if err = errors.Join(err, response.Body.Close()); err == nil && response.StatusCode != http.StatusCreated {
		err = errors.New(response.Status)
	}
	return err
}

// measureInserts inserts rows, each after all watchers have received the previous one, and prints the times.
func measureInserts(ctx context.Context, out io.Writer, name, url, serviceKey string, watchers []*websocket.Conn) error {
	var responded, first, last []time.Duration
	for range liveWrites {
		received, failed := make(chan time.Time, len(watchers)), make(chan error, len(watchers))
		var all sync.WaitGroup
		for _, c := range watchers {
			all.Go(func() {
				if _, _, err := c.Read(ctx); err != nil {
					failed <- err
				}
				received <- time.Now()
			})
		}
		begin := time.Now()
		if err := insert(ctx, url, serviceKey); err != nil {
			return err
		}
		responded = append(responded, time.Since(begin))
		all.Wait()
		select {
		case err := <-failed:
			return err
		default:
		}
		close(received)
		var times []time.Duration
		for at := range received {
			times = append(times, at.Sub(begin))
		}
		first, last = append(first, slices.Min(times)), append(last, slices.Max(times))
	}
	_, err := fmt.Fprintf(out, "  %-36s answered %5.1f %5.1f ms   first received %5.1f %5.1f ms   last received %5.1f %5.1f ms   ratio %.1f\n",
		name, ms(median(responded)), ms(p99(responded)), ms(median(first)), ms(p99(first)), ms(median(last)), ms(p99(last)), float64(median(last))/float64(median(responded)))
	return err
}

func p99(values []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)*99/100]
}
