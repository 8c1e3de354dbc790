package app

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"atelie/internal/certificates/acmetest"
	"atelie/internal/config"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
)

const domain = "atelie.example"

// balancer is a round-robin TCP load balancer in front of several nodes. It accepts connections before it knows the nodes, and holds them
// until set is called: the ACME server may validate a node's challenge before the second node has started, and a failed challenge is retried
// only after a minute.
type balancer struct {
	net.Listener
	ready chan struct{} // closed by the first call of set
	mu    sync.Mutex
	nodes []string
	next  int
}

func newBalancer(t *testing.T) *balancer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{Listener: l, ready: make(chan struct{})}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // the test is over
			}
			go b.forward(t.Context(), conn)
		}
	}()
	return b
}

func (b *balancer) port() int { return b.Addr().(*net.TCPAddr).Port }

func (b *balancer) set(nodes ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.nodes == nil {
		close(b.ready)
	}
	b.nodes = nodes
}

func (b *balancer) forward(ctx context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	select {
	case <-b.ready:
	case <-ctx.Done(): // the test is over
		return
	}
	b.mu.Lock()
	node := b.nodes[b.next%len(b.nodes)]
	b.next++
	b.mu.Unlock()
	there, err := net.Dial("tcp", node)
	if err != nil {
		return // the node is down; the caller sees a closed connection
	}
	defer func() { _ = there.Close() }()
	go func() { _, _ = io.Copy(there, conn); _ = there.(*net.TCPConn).CloseWrite() }()
	_, _ = io.Copy(conn, there)
}

// node is a server that serves HTTPS itself.
type node struct {
	app          *App
	https, plain string
	stop         func()
}

// testbed is a test network: a certificate authority, the address that it validates, and the database of all nodes.
type testbed struct {
	t            *testing.T
	authority    *acmetest.Authority
	https, plain *balancer
	cfg          config.Config
	checkEvery   time.Duration
	now          func() time.Time
	log          *logLines
}

type logLines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// longLived is the validity of a certificate that is not renewed during a test: the authority suggests a time for the renewal within a
// day before or after the last third of its validity.
const longLived = 90 * 24 * time.Hour

func newTestbed(t *testing.T, dialect db.Dialect, validity time.Duration) *testbed {
	t.Helper()
	w := &testbed{t: t, https: newBalancer(t), plain: newBalancer(t), cfg: configuration(t), now: time.Now, log: &logLines{}}
	w.authority = acmetest.Start(t, acmetest.Options{HTTPPort: w.plain.port(), TLSPort: w.https.port(), Validity: validity})
	w.cfg.Server.SiteURL = fmt.Sprintf("https://%s:%d", domain, w.https.port())
	w.cfg.Server.APIURL = w.cfg.Server.SiteURL
	w.cfg.Server.Domain = []string{domain}
	w.cfg.Server.ACMEDirectory, w.cfg.Server.ACMERoots = w.authority.DirectoryURL, w.authority.ServerRootFile
	w.cfg.Database.URL = dbtest.URL(t, dialect)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("nodes:\n%s\nauthority:\n%s", w.log, w.authority.Log())
		}
	})
	return w
}

func (w *testbed) start() *node {
	w.t.Helper()
	a, err := New(w.t.Context(), w.cfg, slog.New(slog.NewTextHandler(w.log, nil)), w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	a.checkCertificates = w.checkEvery
	var listeners [2]net.Listener
	for i := range listeners {
		if listeners[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			w.t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	served := make(chan error, 1)
	go func() { served <- a.ServeSecure(ctx, listeners[0], listeners[1], nil) }()
	n := &node{app: a, https: listeners[0].Addr().String(), plain: listeners[1].Addr().String()}
	n.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			w.t.Errorf("serve ended with %v", err)
		}
		if err := a.Close(); err != nil {
			w.t.Error(err)
		}
	})
	w.t.Cleanup(n.stop)
	return n
}

// client connects to one node under the site's name, as a browser that trusts the authority.
func (w *testbed) client(n *node) *http.Client {
	dial := func(ctx context.Context, _, address string) (net.Conn, error) {
		target := n.plain
		if strings.HasSuffix(address, fmt.Sprintf(":%d", w.https.port())) {
			target = n.https
		}
		return new(net.Dialer).DialContext(ctx, "tcp", target)
	}
	transport := &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{RootCAs: w.authority.IssuingRoots}, ForceAttemptHTTP2: true}
	w.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// serial returns the serial number of a node's certificate, or "" while the node has none.
func (w *testbed) serial(n *node) string {
	conn, err := (&tls.Dialer{Config: &tls.Config{RootCAs: w.authority.IssuingRoots, ServerName: domain}}).DialContext(w.t.Context(), "tcp", n.https)
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
}

func (w *testbed) eventually(what string, done func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("not within the time limit: %s", what)
		}
	}
}

// reply is a response whose body was read completely.
type reply struct {
	status, major int
	header        http.Header
	tls           *tls.ConnectionState
	body          string
}

func fetch(t *testing.T, c *http.Client, address string) reply {
	t.Helper()
	response, err := c.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return reply{response.StatusCode, response.ProtoMajor, response.Header, response.TLS, string(body)}
}

func TestTwoNodesShareOneCertificate(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			w := newTestbed(t, dialect, longLived)
			one, two := w.start(), w.start()
			w.https.set(one.https, two.https)
			w.plain.set(one.plain, two.plain) // challenges can arrive at either node
			w.eventually("both show a certificate", func() bool { return w.serial(one) != "" && w.serial(two) != "" })
			if a, b := w.serial(one), w.serial(two); a != b || w.authority.Issued() != 1 {
				t.Errorf("certificates %s and %s, %d issued", a, b, w.authority.Issued())
			}
			serial := w.serial(one)
			w.siteWorksByHTTPS(one)
			if strings.Contains(w.log.String(), "handshake error") {
				t.Error("failed handshakes fill the log")
			}

			one.stop()
			two.stop()
			w.noLockIsHeld()
			again := w.start() // uses the stored certificate
			w.eventually("a restarted node shows its certificate", func() bool { return w.serial(again) != "" })
			if got := w.serial(again); got != serial || w.authority.Issued() != 1 {
				t.Errorf("a restart: certificate %s instead of %s, %d issued", got, serial, w.authority.Issued())
			}
		})
	}
}

// noLockIsHeld checks, after all nodes have stopped, that the next node need not wait for a lease to expire.
func (w *testbed) noLockIsHeld() {
	w.t.Helper()
	d, err := db.Open(w.t.Context(), w.cfg.DatabaseURL(), db.NoHooks)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	var held int
	if err := d.QueryRow(w.t.Context(), "select count(*) from certificate_locks").Scan(&held); err != nil || held != 0 {
		w.t.Errorf("%d locks are held after everything stopped, %v", held, err)
	}
}

// rawLocation sends a request target that no browser would send, and returns the Location of the response.
func (w *testbed) rawLocation(n *node, target string) string {
	w.t.Helper()
	conn, err := net.Dial("tcp", n.plain)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", target, domain); err != nil {
		w.t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.Header.Get("Location")
}

func (w *testbed) siteWorksByHTTPS(n *node) {
	t := w.t
	t.Helper()
	c := w.client(n)
	page := fetch(t, c, w.cfg.Server.SiteURL+"/")
	if page.status != http.StatusOK || page.major != 2 || !strings.Contains(page.body, w.cfg.Server.SiteURL) {
		t.Errorf("the page: HTTP/%d, %d", page.major, page.status)
	}
	if got := page.header.Get("Strict-Transport-Security"); got != "max-age=31536000" {
		t.Errorf("Strict-Transport-Security is %q", got)
	}
	if page.tls.Version != tls.VersionTLS13 {
		t.Errorf("TLS version %x", page.tls.Version)
	}
	// A body over HTTP/2 has the same deadlines.
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.cfg.Server.SiteURL+"/functions/v1/submit-contact",
		strings.NewReader(`{"name":"Inês","email":"ines@exemplo.example","message":"Over the secure line."}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("apikey", key(t, n.app, identity.Anon))
	response, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("the contact form: %s", response.Status)
	}

	// Plain HTTP leads to HTTPS, under the same path, and to no other host.
	for host, want := range map[string]string{domain: w.cfg.Server.SiteURL, "evil.example": w.cfg.Server.SiteURL, strings.ToUpper(domain): w.cfg.Server.SiteURL} {
		moved := fetch(t, c, "http://"+host+"/artworks?lang=pt")
		if got := moved.header.Get("Location"); moved.status != http.StatusPermanentRedirect || got != want+"/artworks?lang=pt" {
			t.Errorf("http://%s: %d to %q", host, moved.status, got)
		}
	}
	for target, path := range map[string]string{"http:.evil.example/x": "/", "http:/@evil.example": "/@evil.example", "//evil.example/x": "//evil.example/x", "http://evil.example/x?y": "/x?y"} {
		if got := w.rawLocation(n, target); got != w.cfg.Server.SiteURL+path {
			t.Errorf("GET %s: to %q", target, got)
		}
	}
	if got := fetch(t, c, "http://"+domain+"/health/ready"); got.status != http.StatusOK {
		t.Errorf("health: %d", got.status)
	}

	// Old TLS versions are refused, and WebSocket connections work.
	if conn, err := tls.Dial("tcp", n.https, &tls.Config{RootCAs: w.authority.IssuingRoots, ServerName: domain, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}); err == nil {
		_ = conn.Close()
		t.Error("TLS 1.1 was accepted")
	}
	socket, response, err := websocket.Dial(t.Context(), "wss"+strings.TrimPrefix(w.cfg.Server.SiteURL, "https")+"/realtime/v1/websocket?vsn=2.0.0&apikey="+key(t, n.app, identity.Anon),
		&websocket.DialOptions{HTTPClient: c})
	if err != nil {
		t.Fatalf("wss: %v", err)
	}
	if response.Body != nil {
		defer func() { _ = response.Body.Close() }()
	}
	if err := socket.Write(t.Context(), websocket.MessageText, []byte(`[null,"1","phoenix","heartbeat",{}]`)); err != nil {
		t.Fatal(err)
	}
	if _, reply, err := socket.Read(t.Context()); err != nil || !strings.Contains(string(reply), "phx_reply") {
		t.Errorf("heartbeat: %s, %v", reply, err)
	}
	if err := socket.CloseNow(); err != nil {
		t.Error(err)
	}
}

// The certificate really expires here: pebble issues certificates that are valid for half a minute. A renewal takes two seconds and must
// succeed within a third of the validity; a busy machine needs more than a few seconds.
func TestCertificatesAreRenewedInTime(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the lifetime of a real certificate")
	}
	const lifetime = 30 * time.Second
	var (
		w        *testbed
		one, two *node
		begun    time.Time
		first    string
	)
	// This authority cannot find its own certificates if the first byte of the 8-byte serial number is zero.
	for short := new(big.Int).Lsh(big.NewInt(1), 56); ; {
		begun = time.Now()
		w = newTestbed(t, db.SQLite, lifetime)
		w.checkEvery = 200 * time.Millisecond
		one, two = w.start(), w.start()
		w.https.set(one.https, two.https)
		w.plain.set(one.plain, two.plain)
		w.eventually("both show a certificate", func() bool { return w.serial(one) != "" && w.serial(two) != "" })
		first = w.serial(one)
		if n, ok := new(big.Int).SetString(first, 10); ok && n.Cmp(short) >= 0 {
			break
		}
		one.stop() // certmagic renews a name once per process, so these nodes would prevent later renewals
		two.stop()
	}
	w.eventually("both show the next one", func() bool {
		a, b := w.serial(one), w.serial(two)
		if a == "" || b == "" {
			t.Fatal("a node had no valid certificate while it was renewed")
		}
		return a != first && a == b
	})
	// Each certificate is renewed by one node for both, when a third of its validity is left. Two nodes that renewed it separately would
	// need twice as many certificates.
	if n, most := w.authority.Issued(), 3+int(time.Since(begun)/(lifetime*2/3)); n > most {
		t.Errorf("%d certificates, at most %d for two nodes", n, most)
	}
}

func TestSiteIsServedWhileTheAuthorityIsDown(t *testing.T) {
	w := newTestbed(t, db.SQLite, longLived)
	w.cfg.Server.ACMEDirectory = "https://127.0.0.1:1/dir"
	n := w.start()
	c := w.client(n)
	var waiting reply
	w.eventually("the reason is in the log", func() bool {
		waiting = fetch(t, c, "http://"+domain+"/?lang=pt")
		return strings.Contains(w.log.String(), "the certificate authority cannot be reached from this machine")
	})
	if waiting.status != http.StatusServiceUnavailable || waiting.header.Get("Retry-After") == "" || !strings.Contains(waiting.body, "está a ser preparada") || strings.Contains(waiting.body, "127.0.0.1") {
		t.Errorf("%+v", waiting)
	}
	if got := fetch(t, c, "http://"+domain+"/health/live"); got.status != http.StatusOK {
		t.Errorf("health: %d", got.status)
	}
}

func TestFailedCertificateIsExplainedAndRetriesAreLimited(t *testing.T) {
	w := newTestbed(t, db.SQLite, longLived)
	// Starts are counted for each hour of the clock. At the time of this clock, an hour has just begun.
	late := time.Since(time.Now().Truncate(time.Hour))
	w.now = func() time.Time { return time.Now().Add(-late) }
	var elsewhere atomic.Int64
	for _, b := range []*balancer{w.https, w.plain} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		other := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { elsewhere.Add(1); w.WriteHeader(http.StatusTeapot) })}
		go func() { _ = other.Serve(l) }()
		t.Cleanup(func() { _ = other.Close() })
		b.set(l.Addr().String())
	}
	for range 6 { // a supervisor that restarts the server repeatedly
		from := len(w.log.String())
		n := w.start()
		w.eventually("the try has ended", func() bool {
			logged := w.log.String()[from:]
			return strings.Contains(logged, "no certificate; it will be tried again") || strings.Contains(logged, "the next try waits")
		})
		n.stop()
	}
	logged := w.log.String()
	if tries := strings.Count(logged, "no certificate; it will be tried again"); tries != 4 {
		t.Errorf("%d tries in six starts", tries)
	}
	if !strings.Contains(logged, "make the name point to this machine") && !strings.Contains(logged, "could not make a TLS connection to this machine") && !strings.Contains(logged, "does it point here") {
		t.Error("the log does not say what to do")
	}
	if w.authority.Issued() != 0 {
		t.Error("a certificate was issued")
	}
}
