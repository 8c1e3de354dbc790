package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// This file records the requests of a browser's visit and replays them as the visits of many visitors.

// recording is a visit of the home page with an empty browser cache, as bench/record-visit.mjs has recorded it from Chromium.
type recording struct {
	Device   string // name of the device that Chromium emulates
	Requests []recordedRequest
}

// minRequests is the minimum number of requests of a recording. With fewer requests, the page did not load its scripts and pictures.
const minRequests = 5

// recordedRequest is a request of a recording. Its method is GET, and the status of its response was 200.
type recordedRequest struct {
	Path       string
	Headers    [][2]string // pairs of a name and a value
	Connection int         // requests with the same number were sent over one connection
	Bytes      int         // size of the response, with its headers
}

// recordVisits lets Chromium visit the home page at url, once with each emulated device, and returns the recordings.
func recordVisits(ctx context.Context, url string) ([]recording, error) {
	output, err := runNode(ctx, "bench/record-visit.mjs", url)
	if err != nil {
		return nil, err
	}
	var recordings []recording
	if err := json.Unmarshal(output, &recordings); err != nil {
		return nil, err
	}
	for _, r := range recordings {
		if len(r.Requests) < minRequests || r.Requests[0].Path != "/" {
			return nil, fmt.Errorf("%s: no visit of the home page was recorded", r.Device)
		}
	}
	return recordings, nil
}

// runNode runs a script with the version of Node.js that npm has installed, which also runs TypeScript. It returns what the script prints.
func runNode(ctx context.Context, script string, args ...string) ([]byte, error) {
	output, err := exec.CommandContext(ctx, "node_modules/.bin/node", append([]string{script}, args...)...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s: %w: %s", script, err, exit.Stderr)
	}
	return output, err
}

// bytes returns the size of all responses.
func (r recording) bytes() (total int) {
	for _, request := range r.Requests {
		total += request.Bytes
	}
	return total
}

// visitPlan contains the encoded requests of a recording.
type visitPlan struct {
	page             []byte     // the request for the page
	onPageConnection [][]byte   // the other requests on the connection of the page
	onOthers         [][][]byte // the requests on each other connection
}

// plan encodes the requests for a server at host. All other requests are sent after the response with the page: those of one connection in
// their order, and those of different connections at the same time.
func (r recording) plan(host string) visitPlan {
	encode := func(request recordedRequest) []byte {
		var text strings.Builder
		fmt.Fprintf(&text, "GET %s HTTP/1.1\r\nHost: %s\r\n", request.Path, host)
		for _, header := range request.Headers {
			fmt.Fprintf(&text, "%s: %s\r\n", header[0], header[1])
		}
		return []byte(text.String() + "\r\n")
	}
	p := visitPlan{page: encode(r.Requests[0])}
	var connections []int
	for _, request := range r.Requests[1:] {
		if request.Connection == r.Requests[0].Connection {
			p.onPageConnection = append(p.onPageConnection, encode(request))
			continue
		}
		at := slices.Index(connections, request.Connection)
		if at < 0 {
			at = len(connections)
			connections, p.onOthers = append(connections, request.Connection), append(p.onOthers, nil)
		}
		p.onOthers[at] = append(p.onOthers[at], encode(request))
	}
	return p
}

// visitTimeout ends a visit without a response: it counts as refused.
const visitTimeout = 10 * time.Second

// visitorDialer connects from an IP address of its own, as real visitors do. One address for all visitors would also have too few
// ports for the connections of a minute.
func visitorDialer(n int) *net.Dialer {
	return &net.Dialer{Timeout: visitTimeout, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, byte(1+n>>16), byte(n>>8), byte(n))}}
}

// readers are the buffers of connections.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 16<<10) }}

// send sends requests over one connection, each after the response to the one before.
func send(c net.Conn, requests ...[]byte) error {
	reader := readers.Get().(*bufio.Reader)
	defer readers.Put(reader)
	reader.Reset(c)
	for _, request := range requests {
		if _, err := c.Write(request); err != nil {
			return err
		}
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, response.Body)
		if err = errors.Join(err, response.Body.Close()); err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			return errors.New(response.Status)
		}
	}
	return nil
}

// replay makes the visit number n and returns how long the page and the whole visit took from begin on.
func (p visitPlan) replay(ctx context.Context, n int, address string, begin time.Time) (page, whole time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, visitTimeout)
	defer cancel()
	dialer := visitorDialer(n)
	connect := func() (net.Conn, error) {
		c, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		return c, c.SetDeadline(begin.Add(visitTimeout))
	}
	c, err := connect()
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = c.Close() }() // everything was read
	if err := send(c, p.page); err != nil {
		return 0, 0, err
	}
	page = time.Since(begin)
	errs := make([]error, len(p.onOthers))
	var others sync.WaitGroup
	for i, requests := range p.onOthers {
		others.Go(func() {
			c, err := connect()
			if err == nil {
				err = send(c, requests...)
				_ = c.Close() // everything was read
			}
			errs[i] = err
		})
	}
	err = send(c, p.onPageConnection...)
	others.Wait()
	return page, time.Since(begin), errors.Join(append(errs, err)...)
}

// visits has the results of replayed visits.
type visits struct {
	pages, wholes []time.Duration // sorted; from the moment at which a visit was due
	refused       int             // visits with a request whose status was not 200
	cause         error           // of the first refused visit
}

// replayFor makes visits at a rate for a time, and waits for the last. The recordings and the servers take turns. A visit begins when
// it is due, however many are under way: a slow server gets no pause.
func replayFor(ctx context.Context, recordings []recording, rate int, duration time.Duration, servers ...*server) visits {
	type target struct {
		address string
		plans   []visitPlan
	}
	targets := make([]target, 0, len(servers))
	for _, s := range servers {
		t := target{address: strings.TrimPrefix(s.url, "http://")}
		for _, r := range recordings {
			t.plans = append(t.plans, r.plan(t.address))
		}
		targets = append(targets, t)
	}
	count := rate * int(duration/time.Second)
	pages, wholes, errs := make([]time.Duration, count), make([]time.Duration, count), make([]error, count)
	var all sync.WaitGroup
	begin := time.Now()
	for n := range count {
		due := begin.Add(time.Second * time.Duration(n) / time.Duration(rate))
		time.Sleep(time.Until(due))
		t := targets[n%len(targets)]
		plan := t.plans[n/len(targets)%len(t.plans)]
		all.Go(func() { pages[n], wholes[n], errs[n] = plan.replay(ctx, n, t.address, due) })
	}
	all.Wait()
	var v visits
	for n, err := range errs {
		if err != nil {
			if v.refused++; v.cause == nil {
				v.cause = err
			}
			continue
		}
		v.pages, v.wholes = append(v.pages, pages[n]), append(v.wholes, wholes[n])
	}
	slices.Sort(v.pages)
	slices.Sort(v.wholes)
	return v
}

// percentile returns a percentile of sorted times, 100 for the longest, or 0 if there are none.
func percentile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)]
}
