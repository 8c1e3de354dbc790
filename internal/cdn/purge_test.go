package cdn

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelie/internal/content"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/jobs"
	"atelie/internal/webhook"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var quiet = slog.New(slog.DiscardHandler)

// received is a request to the CDN, with the title in the database at that time.
type received struct {
	method, path, token, contentType, body, title string
}

// fakeCDN is a CDN that responds with a configurable status, and has the database of the site behind it.
type fakeCDN struct {
	*httptest.Server
	db     *db.DB
	status atomic.Int64
	calls  chan received
}

func newFakeCDN(t *testing.T, d *db.DB) *fakeCDN {
	n := &fakeCDN{db: d, calls: make(chan received, 100)}
	n.status.Store(http.StatusOK)
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		title, err := db.One[string](r.Context(), d, "select coalesce(max(title), '') from products")
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(int(n.status.Load()))
		n.calls <- received{r.Method, r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("Content-Type"), string(body), title}
	}))
	t.Cleanup(n.Close)
	return n
}

// next returns the next purge call, and fails the test if there is none.
func (n *fakeCDN) next(t *testing.T) received {
	t.Helper()
	select {
	case got := <-n.calls:
		return got
	case <-time.After(time.Minute):
		t.Fatal("no purge was called")
		return received{}
	}
}

// node starts a node of the site. It runs until the test ends.
func (n *fakeCDN) node(t *testing.T) {
	t.Helper()
	version := content.NewVersion(n.db, quiet)
	queue := jobs.New(n.db, []byte("the key of the tests"), nil, quiet, time.Now)
	p, err := New(n.db, Config{
		URL: n.URL + "/purge", Header: "Authorization: Bearer token", Body: `{"tags":["` + Tag + `"]}`, Private: true, Content: version, Queue: queue, Log: quiet,
	}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	p.secondDelay, p.minInterval = 50*time.Millisecond, time.Millisecond
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, run := range []func(context.Context){version.Run, queue.Run, p.Run} {
		running.Go(func() { run(ctx) })
	}
	t.Cleanup(func() { stop(); running.Wait() })
}

func (n *fakeCDN) edit(t *testing.T, title string) {
	t.Helper()
	err := n.db.WithTx(t.Context(), func(tx *db.Tx) error {
		return errors.Join(
			db.Exec(t.Context(), tx, "delete from products"),
			db.Exec(t.Context(), tx, "insert into products (id, title, created_at) values ('00000000-0000-4000-8000-000000000001', $1, $2)", title, time.Now().UTC()),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Proves H-cdn-purge.
//
// TestEachChangeIsPurgedTwice expects one call immediately and another one later. On a busy machine the second purge may replace the
// first one before it has run; then one call is enough.
func TestEachChangeIsPurgedTwice(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		n := newFakeCDN(t, d)
		n.node(t)
		want := received{http.MethodPost, "/purge", "Bearer token", "application/json", `{"tags":["atelie-pages"]}`, ""}
		count := func(query string) int {
			count, err := db.One[int](t.Context(), d, query)
			if err != nil {
				t.Fatal(err)
			}
			return count
		}
		for i := range 4 {
			if i > 0 {
				want.title = "Edited " + strconv.Itoa(i)
				n.edit(t, want.title)
			}
			for count("select count(*) from rate_limits where name = 'cdn-purge'") < 2*(i+1) || count("select count(*) from jobs") > 0 {
			}
			calls := len(n.calls)
			if calls < 1 || calls > 2 {
				t.Errorf("change %d: %d calls", i, calls)
			}
			for range calls {
				if got := <-n.calls; got != want {
					t.Errorf("change %d: %+v", i, got)
				}
			}
		}
	})
}

// Proves H-cdn-purge.
//
// TestPurgesAreTriedAgain checks that purges are retried while the CDN refuses them, and that they delay no write.
func TestPurgesAreTriedAgain(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		n := newFakeCDN(t, d)
		n.status.Store(http.StatusTooManyRequests)
		n.node(t)
		n.next(t)
		n.next(t)
		for i := range 20 {
			n.edit(t, strconv.Itoa(i))
		}
		if waiting, err := db.One[int](t.Context(), d, "select count(*) from jobs where kind = $1", JobPurge); err != nil || waiting > 1 {
			t.Errorf("%d purges wait: %v", waiting, err)
		}
		for n.next(t).title != "19" {
		}
		n.status.Store(http.StatusNoContent)
		for n.next(t).title != "19" {
		}
		for waiting := 1; waiting > 0; {
			var err error
			if waiting, err = db.One[int](t.Context(), d, "select count(*) from jobs where kind = $1", JobPurge); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Proves H-cdn-purge.
//
// TestNodesShareAPurge checks that three nodes call the CDN as often for two changes as one node.
func TestNodesShareAPurge(t *testing.T) {
	n := newFakeCDN(t, dbtest.Open(t, db.Postgres))
	for range 3 {
		n.node(t)
	}
	count := func(condition string) (count int) {
		count, err := db.One[int](t.Context(), n.db, "select count(*) from rate_limits where name = 'cdn-purge' and "+condition)
		if err != nil {
			t.Fatal(err)
		}
		return count
	}
	for count("hits >= 3") < 1 { // the second purge of the version at the start was due on all nodes
	}
	n.edit(t, "Edited")
	for count("hits >= 3") < 3 { // and so were both of the next version
	}
	if calls, queued := len(n.calls), count("true"); calls > queued {
		t.Errorf("%d calls for %d purges", calls, queued)
	}
}

// Proves H-cdn-purge-address.
func TestPurgesFollowTheRulesOfWebhooks(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	n := newFakeCDN(t, d)
	at := strings.TrimPrefix(n.URL, "http://")
	for address, want := range map[string]error{n.URL: webhook.ErrURL, "https://ana:pw@a.example/": webhook.ErrURL, "https://127.1/": webhook.ErrHost, "": webhook.ErrURL} {
		queue := jobs.New(d, []byte("the key of the tests"), nil, quiet, time.Now)
		if _, err := New(d, Config{URL: address, Content: content.NewVersion(d, quiet), Queue: queue, Log: quiet}, time.Now); !errors.Is(err, want) {
			t.Errorf("%s: %v", address, err)
		}
	}
	queue := jobs.New(d, []byte("the key of the tests"), nil, quiet, time.Now)
	p, err := New(d, Config{URL: "https://" + at, Content: content.NewVersion(d, quiet), Queue: queue, Log: quiet}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.purge(t.Context(), nil); !errors.Is(err, webhook.ErrPrivate) || !jobs.IsPermanent(err) || len(n.calls) > 0 {
		t.Errorf("a private address: %v, %d calls", err, len(n.calls))
	}
}

// Proves H-cdn-purge-address.
//
// TestErrorsOfPurgesHideTheAddress checks that errors contain neither the path, which may have a key, nor the response of the CDN.
func TestErrorsOfPurgesHideTheAddress(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	n := newFakeCDN(t, d)
	n.status.Store(http.StatusForbidden)
	queue := jobs.New(d, []byte("the key of the tests"), nil, quiet, time.Now)
	p, err := New(d, Config{URL: n.URL + "/secret?key=secret", Header: "X-Token: secret", Private: true, Content: content.NewVersion(d, quiet), Queue: queue, Log: quiet}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.purge(t.Context(), nil); err == nil || strings.Contains(err.Error(), "secret") || !strings.HasSuffix(err.Error(), "responded with status 403") || jobs.IsPermanent(err) {
		t.Errorf("refused: %v", err)
	}
	n.Close()
	if err := p.purge(t.Context(), nil); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("away: %v", err)
	}
}
