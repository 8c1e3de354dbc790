package durability

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"atelie/internal/storage/blob/blobtest"
	"atelie/test/soak"
)

const (
	calm  = 20 * time.Second      // before the first outage
	pause = 10 * time.Millisecond // of a writer between two writes, which leaves processors to the backup
)

// An outage lasts until the status reports it, and then for the time outage.
var outage = flag.Duration("outage", time.Minute, "how long the bucket is unreachable after the status has reported it, in each way")

// stopLimit is how long a server may take to stop.
const stopLimit = 30 * time.Second

// TestUnreachableBucketDelaysNothing interrupts the network to the bucket of the backup twice while the server writes: first connections are
// refused, then they are accepted but get no response. The status must report it, writes must go on, and the backup must catch up afterwards.
// A server that is stopped during an outage must not wait for the bucket.
func TestUnreachableBucketDelaysNothing(t *testing.T) {
	soak.Only(t)
	home := t.TempDir()
	bucket := blobtest.Bucket(t)
	link := newLink(t, strings.TrimPrefix(bucket.Endpoint, "http://"))
	place := fmt.Sprintf("s3://%s:%s@%s/%s?tls=off&create=on&region=%s", bucket.KeyID, bucket.Secret, link.listener.Addr(), bucket.Bucket, bucket.Region)
	s := &site{t: t, binary: build(t), env: []string{
		"ATELIE_DATA_DIR=" + filepath.Join(home, "data"), "ATELIE_LISTEN=127.0.0.1:0", "ATELIE_TRUSTED_PROXIES=127.0.0.1", "ATELIE_MESSAGES_PER_HOUR=0", "ATELIE_BACKUP_URL=" + place,
	}}
	s.keys()
	s.start()
	l := s.startLoad()
	s.run("backup", "now")
	l.figures()
	time.Sleep(calm) // for the figures without an outage
	t.Logf("before: %s", l.figures())
	for _, state := range []linkState{refusing, silent} {
		l.figures()
		messages, rows, files := s.counts()
		began := time.Now()
		link.set(state)
		s.waitForStatus("an error", func(e string, waiting int64) bool { return e != "" && waiting > 0 })
		reported := time.Since(began)
		time.Sleep(*outage)
		during := l.figures()
		lasted := time.Since(began)
		if m, r, f := s.counts(); m == messages || r == rows || f == files {
			t.Errorf("%s: %d messages, %d rows and %d files were written during the outage, want some of each", state, m-messages, r-rows, f-files)
		}
		reachableSince := time.Now()
		link.set(open)
		s.waitForStatus("no error", func(e string, waiting int64) bool { return e == "" && waiting == 0 })
		t.Logf("%s for %s, reported after %s: %s; caught up after %s: %s", state, lasted.Round(time.Millisecond), reported.Round(time.Millisecond),
			during, time.Since(reachableSince).Round(time.Millisecond), l.figures())
	}
	link.set(silent)
	l.writeOnEach()
	l.stop()
	t.Logf("stopped within %s while the bucket was silent", s.terminate().Round(time.Millisecond))
	link.set(open)
	s.start()
	s.run("backup", "now")
	s.kill()
	other := s.inFolder(filepath.Join(home, "new"))
	other.run("restore", "--from", place)
	other.start()
	other.verify()
	other.kill()
}

// counts returns the numbers of acknowledged writes.
func (s *site) counts() (messages, rows, files int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.messages), len(s.rows), len(s.files)
}

// terminate stops the server as a service manager does, and returns how long that took.
func (s *site) terminate() time.Duration {
	s.t.Helper()
	began := time.Now()
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	late := time.AfterFunc(stopLimit, func() { _ = s.process.Process.Kill() }) // Wait reports it
	defer late.Stop()
	if err := s.process.Wait(); err != nil {
		s.t.Fatalf("the server did not stop as it should: %v after %s", err, time.Since(began))
	}
	return time.Since(began)
}

// load is three writers, one of each kind.
type load struct {
	site    *site
	cancel  context.CancelFunc
	writers sync.WaitGroup

	mu     sync.Mutex
	writes []write // since the newest figures
	since  time.Time
}

// write is an acknowledged write.
type write struct {
	kind string // message, row or file
	at   time.Time
	took time.Duration
}

// startLoad starts writers that go on until stop. No write may fail.
func (s *site) startLoad() *load {
	ctx, cancel := context.WithCancel(s.t.Context())
	l := &load{site: s, cancel: cancel, since: time.Now()}
	for kind, fn := range map[string]func(context.Context) bool{"message": s.writeMessage, "row": s.writeRow, "file": s.writeFile} {
		l.writers.Go(func() {
			for ctx.Err() == nil {
				began := time.Now()
				if ok := fn(ctx); !ok {
					if ctx.Err() == nil {
						s.t.Error("a write failed")
					}
					return
				}
				l.mu.Lock()
				l.writes = append(l.writes, write{kind, began, time.Since(began)})
				l.mu.Unlock()
				time.Sleep(pause)
			}
		})
	}
	s.t.Cleanup(l.stop)
	return l
}

func (l *load) stop() {
	l.cancel()
	l.writers.Wait()
}

// writeOnEach waits until more of each kind was written.
func (l *load) writeOnEach() {
	l.site.t.Helper()
	messages, rows, files := l.site.counts()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if m, r, f := l.site.counts(); m > messages && r > rows && f > files {
			return
		}
	}
	l.site.t.Fatal("nothing is written any more")
}

// figures says how many writes there were since the previous call and how long they took.
func (l *load) figures() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	writes, since := l.writes, l.since
	l.writes, l.since = nil, time.Now()
	if len(writes) == 0 {
		return "no writes"
	}
	slices.SortFunc(writes, func(a, b write) int { return cmp.Compare(a.took, b.took) })
	slowest := writes[len(writes)-1]
	return fmt.Sprintf("%.0f writes per second, 99%% of them within %s, all within %s (a %s after %s)", float64(len(writes))/time.Since(since).Seconds(),
		writes[len(writes)*99/100].took.Round(100*time.Microsecond), slowest.took.Round(100*time.Microsecond), slowest.kind, slowest.at.Sub(since).Round(time.Millisecond))
}

// linkState is what a link does with connections and bytes.
type linkState string

const (
	open     linkState = "open"
	refusing linkState = "refusing" // connections are closed
	silent   linkState = "silent"   // connections are accepted, and no byte passes until the state changes
)

// link is a TCP proxy that can be out of order.
type link struct {
	listener net.Listener
	target   string // host:port
	running  sync.WaitGroup

	mu      sync.Mutex
	state   linkState
	changed chan struct{} // closed when the state changes
	conns   map[net.Conn]bool
}

func newLink(t *testing.T, target string) *link {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{listener: listener, target: target, state: open, changed: make(chan struct{}), conns: map[net.Conn]bool{}}
	l.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // closed
			}
			l.running.Go(func() { l.serve(conn) })
		}
	})
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		l.set(refusing)
		l.running.Wait()
	})
	return l
}

// set changes the state. What was held back passes when the link is open again, as after a cut network.
func (l *link) set(state linkState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = state
	close(l.changed)
	l.changed = make(chan struct{})
	if state == refusing {
		for conn := range l.conns {
			_ = conn.Close() // its relays report it to nobody
		}
	}
}

// pass waits while the link is silent and reports whether bytes pass then.
func (l *link) pass() bool {
	for {
		l.mu.Lock()
		state, changed := l.state, l.changed
		l.mu.Unlock()
		if state != silent {
			return state == open
		}
		<-changed
	}
}

// keep notes a connection for set. It returns false if the link refuses it.
func (l *link) keep(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[conn] = true
	return l.state != refusing
}

// drop closes connections.
func (l *link) drop(conns ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range conns {
		_ = conn.Close() // often the second time
		delete(l.conns, conn)
	}
}

func (l *link) serve(client net.Conn) {
	defer l.drop(client)
	if !l.keep(client) || !l.pass() {
		return
	}
	server, err := net.Dial("tcp", l.target)
	if err != nil {
		return // the client sees its connection closed
	}
	defer l.drop(server)
	if !l.keep(server) {
		return
	}
	var relays sync.WaitGroup
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		relays.Go(func() {
			defer l.drop(client, server)
			_, _ = io.Copy(gate{l, way[1]}, way[0]) // ends when a side ends
		})
	}
	relays.Wait()
}

// gate writes what its link lets pass.
type gate struct {
	link *link
	to   io.Writer
}

func (g gate) Write(p []byte) (int, error) {
	if !g.link.pass() {
		return 0, net.ErrClosed
	}
	return g.to.Write(p)
}
