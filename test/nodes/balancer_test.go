//go:build !race

package nodes

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"sync/atomic"
	"testing"
	"time"
)

// brokenHeader is in a response with status 502 that the balancer itself sends when a node dies during a request. The node may have processed the
// request.
const brokenHeader = "X-Balancer-Broken"

// balancer passes requests and sockets to the nodes in turn, and to the next one if a node refuses the connection.
type balancer struct {
	url   string
	nodes atomic.Pointer[[]*node]
	turn  atomic.Uint64
	dial  *http.Transport
}

func startBalancer(t *testing.T) *balancer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{url: "http://" + listener.Addr().String(), dial: &http.Transport{
		DialContext: (&net.Dialer{Timeout: time.Second}).DialContext, MaxIdleConnsPerHost: 32, DisableCompression: true,
	}}
	none := []*node{}
	b.nodes.Store(&none)
	s := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme = "http"
			r.Out.Header["X-Forwarded-For"] = r.In.Header["X-Forwarded-For"]
			r.SetXForwarded()
		},
		Transport:     b,
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // dying nodes are expected
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.Header().Set(brokenHeader, "yes")
			w.WriteHeader(http.StatusBadGateway)
		},
	}}
	go func() { _ = s.Serve(listener) }() // ends with Close
	t.Cleanup(func() {
		b.dial.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *balancer) serve(nodes []*node) { b.nodes.Store(&nodes) }

// RoundTrip tries one node after another until one accepts the connection. A request that breaks later is not retried: it may
// have been processed.
func (b *balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	nodes := *b.nodes.Load()
	failed := errors.New("no nodes")
	for range nodes {
		try := r.Clone(r.Context())
		try.URL.Host = nodes[b.turn.Add(1)%uint64(len(nodes))].address
		if r.Body != nil && r.Body != http.NoBody {
			try.Body = io.NopCloser(r.Body) // keeps the body open when the transport cannot connect
		}
		response, err := b.dial.RoundTrip(try)
		if err == nil {
			return response, nil
		}
		failed = err
		var op *net.OpError
		if !errors.As(err, &op) || op.Op != "dial" || errors.Is(err, context.Canceled) {
			return nil, err
		}
	}
	return nil, failed
}
