//go:build !race

package nodes

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

var loadTime = flag.Duration("nodes.load", 2*time.Minute, "how long the load lasts under which nodes are killed")

// maxWait is how long a client retries a request, and how long a test waits for a response. It is longer than the lease of an upload, which a
// dead node may hold.
const maxWait = time.Minute

// traffic is the load of all clients, with the writes that were acknowledged.
type traffic struct {
	*cluster
	ctx     context.Context // of all requests; it ends later than the load
	end     time.Time       // see over
	session session

	mu       sync.Mutex
	kills    int               // of nodes
	wrong    []string          // failures of the test
	again    int               // requests that were retried because their node had died
	rows     map[string]string // id → title, as acknowledged
	messages []string
	files    map[string][]byte
	reads    int
	tokens   int // refreshes of the session
	returns  int // sockets that were opened again
}

// load runs clients of every kind while nodes are killed at random times.
func (c *cluster) load(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), *loadTime+3*maxWait)
	defer cancel()
	l := &traffic{cluster: c, ctx: ctx, end: time.Now().Add(*loadTime), session: c.signIn(t, c.url), rows: map[string]string{}, files: map[string][]byte{}}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var watchers, clients sync.WaitGroup
	seen := make([]*sightings, 3)
	for i := range seen {
		seen[i] = &sightings{ids: map[string]bool{}}
		watchers.Go(func() { l.watchOn(watching, seen[i]) })
	}
	for _, work := range []func() error{l.writeRow, l.writeRow, l.writeRow, l.writeMessage, l.writeFile, l.writeForm, l.writePieces, l.renewSession, l.readList, l.readList} {
		clients.Go(func() {
			for !l.over() {
				if err := work(); err != nil {
					l.note(func() { l.wrong = append(l.wrong, err.Error()) })
					return
				}
			}
		})
	}
	l.killNodes(t)
	clients.Wait()
	l.verify(t)
	for i, s := range seen {
		for id := range l.rows {
			if !s.waitFor(ctx, id) {
				t.Errorf("watcher %d neither received %s nor found it after reconnecting", i, id)
			}
		}
	}
	stop()
	watchers.Wait()
	for _, text := range l.wrong {
		t.Error(text)
	}
	if !l.enough() {
		t.Errorf("too little happened for the test to mean anything")
	}
	t.Logf("%s, %d kills: %d rows, %d messages, %d files acknowledged and found; %d lists and %d renewed sessions correct; %d requests repeated, %d sockets reconnected",
		*loadTime, l.kills, len(l.rows), len(l.messages), len(l.files), l.reads, l.tokens, l.again, l.returns)
}

// enough reports whether so much has happened that the test means something.
func (l *traffic) enough() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kills > 0 && len(l.rows) >= 20 && len(l.messages) >= 20 && len(l.files) >= 5 && l.tokens >= 5 && l.returns > 0
}

// over reports whether no client starts another write: after end, but until enough has happened, for at most another minute. A
// busy machine writes less, and the killed nodes may have been those on which no watcher was.
func (l *traffic) over() bool {
	late := time.Since(l.end)
	return late > 0 && (late > maxWait || l.enough())
}

// killNodes kills a node at random every few seconds and starts it again a moment later.
func (l *traffic) killNodes(t *testing.T) {
	for {
		untilKill := 2*time.Second + rand.N(4*time.Second)
		if late := time.Since(l.end); late > maxWait || late > -untilKill && l.enough() {
			return
		}
		time.Sleep(untilKill)
		n := l.nodes[rand.IntN(len(l.nodes))]
		if err := n.kill(); err != nil {
			t.Fatal(err)
		}
		l.note(func() { l.kills++ })
		time.Sleep(rand.N(1500 * time.Millisecond))
		if err := n.start(l.ctx); err != nil {
			t.Fatal(err)
		}
	}
}

func (l *traffic) note(fn func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fn()
}

// ask sends a request until there is a response. repeated means that an earlier try failed, and may have been processed.
func (l *traffic) ask(c call, want ...int) (a *response, repeated bool, err error) {
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if a, err = c.send(l.ctx); err == nil {
			break
		}
		if !errors.Is(err, errBroken) || time.Since(begin) > maxWait {
			return nil, repeated, fmt.Errorf("%s %s: %w", c.method, c.url, err)
		}
		repeated = true
		l.note(func() { l.again++ })
	}
	for _, status := range want {
		if a.status == status {
			return a, repeated, nil
		}
	}
	return nil, repeated, fmt.Errorf("%s %s (repeated: %v): %d instead of %v: %s", c.method, c.url, repeated, a.status, want, a.body)
}

// writeRow inserts a work, sometimes updates and deletes it, and reads it back each time, from any node.
func (l *traffic) writeRow() error {
	id, title := uuid.NewString(), "Roofs "+uuid.NewString()
	reads := func(want string) error {
		a, _, err := l.ask(l.titles(l.url, id), http.StatusOK)
		if err == nil && string(a.body) != want {
			err = fmt.Errorf("read %s instead of %s", a.body, want)
		}
		return err
	}
	if a, repeated, err := l.ask(l.work(l.url, id, title), http.StatusCreated, http.StatusConflict); err != nil {
		return err
	} else if a.status == http.StatusConflict && !repeated {
		return fmt.Errorf("conflict for a new id: %s", a.body)
	}
	if err := reads(`[{"title":"` + title + `"}]`); err != nil {
		return err
	}
	change := call{method: "PATCH", url: l.url + "/rest/v1/products?id=eq." + id, bearer: l.service, header: map[string]string{"Content-Type": "application/json"}}
	if rand.IntN(2) == 0 {
		title = "Walls " + uuid.NewString()
		change.body = toJSON(map[string]string{"title": title})
		if _, _, err := l.ask(change, http.StatusNoContent); err != nil {
			return err
		}
		if err := reads(`[{"title":"` + title + `"}]`); err != nil {
			return err
		}
	}
	if rand.IntN(3) > 0 {
		l.note(func() { l.rows[id] = title })
		return nil
	}
	change.method, change.body = "DELETE", nil
	if _, _, err := l.ask(change, http.StatusNoContent); err != nil {
		return err
	}
	return reads(`[]`)
}

func (l *traffic) writeMessage() error {
	text := "A message that must not be lost: " + uuid.NewString()
	visitor := fmt.Sprintf("10.%d.%d.%d", rand.IntN(250), rand.IntN(250), rand.IntN(250)) // stays below the limit of one address
	_, _, err := l.ask(call{
		method: "POST", url: l.url + "/functions/v1/submit-contact", bearer: l.anon, header: map[string]string{"X-Forwarded-For": visitor},
		body: toJSON(map[string]string{"name": "Inês", "email": "ines@exemplo.example", "message": text}),
	}, http.StatusOK)
	if err == nil {
		l.note(func() { l.messages = append(l.messages, text) })
	}
	return err
}

func (l *traffic) writeFile() error { return l.writeAs(l.raw) }
func (l *traffic) writeForm() error { return l.writeAs(l.form) }

// writeAs uploads a picture and downloads it from any node. A repeated upload replaces the first one.
func (l *traffic) writeAs(upload func(url, name string, content []byte) call) error {
	name, content := uuid.NewString()+".png", picture(1000+rand.IntN(300_000))
	c := upload(l.url, name, content)
	c.header["X-Upsert"] = "true"
	if _, _, err := l.ask(c, http.StatusOK); err != nil {
		return err
	}
	return l.arrived(name, content)
}

func (l *traffic) arrived(name string, content []byte) error {
	a, _, err := l.ask(l.download(l.url, name), http.StatusOK)
	if err != nil {
		return err
	}
	if !bytes.Equal(a.body, content) {
		return fmt.Errorf("%s: %d bytes came back that differ from the %d sent", name, len(a.body), len(content))
	}
	l.note(func() { l.files[name] = content })
	return nil
}

// writePieces uploads by TUS. After a broken request it reads the offset, as TUS clients do.
func (l *traffic) writePieces() error {
	name, content := uuid.NewString()+".png", picture(2<<20+rand.IntN(2<<20))
	a, _, err := l.ask(l.begin(l.url, name, len(content)), http.StatusCreated)
	if err != nil {
		return err
	}
	upload := a.header.Get("Location")
	begin := time.Now()
	for offset := 0; offset < len(content); {
		if time.Since(begin) > 2*maxWait {
			return fmt.Errorf("%s does not get past offset %d", upload, offset)
		}
		a, err := l.piece("", upload, content[offset:min(offset+512<<10, len(content))], offset).send(l.ctx)
		if err == nil && a.status == http.StatusNoContent {
			if offset, err = strconv.Atoi(a.header.Get("Upload-Offset")); err != nil {
				return err
			}
			continue
		}
		if err == nil && a.status != http.StatusLocked && a.status != http.StatusConflict {
			return fmt.Errorf("PATCH of %s: %d: %s", upload, a.status, a.body)
		}
		if a, _, err = l.ask(l.progress("", upload), http.StatusOK, http.StatusLocked); err != nil {
			return err
		}
		if a.status == http.StatusOK {
			if offset, err = strconv.Atoi(a.header.Get("Upload-Offset")); err != nil {
				return err
			}
		}
	}
	return l.arrived(name, content)
}

// renewSession refreshes the session. A refresh token may be sent again if its response was lost.
func (l *traffic) renewSession() error {
	a, _, err := l.ask(l.refresh(l.url, l.session), http.StatusOK)
	if err != nil {
		return err
	}
	if err := jsonOf(a, &l.session); err != nil {
		return err
	}
	if _, _, err := l.ask(call{method: "GET", url: l.url + "/auth/v1/user", bearer: l.session.Access}, http.StatusOK); err != nil {
		return err
	}
	l.note(func() { l.tokens++ })
	return nil
}

// readList reads the newest works and checks that no row occurs twice.
func (l *traffic) readList() error {
	a, _, err := l.ask(call{method: "GET", url: l.url + "/rest/v1/products?select=id,title&order=created_at.desc,id&limit=24", bearer: l.anon}, http.StatusOK)
	if err != nil {
		return err
	}
	var page []struct{ ID, Title string }
	if err := jsonOf(a, &page); err != nil {
		return err
	}
	once := map[string]bool{}
	for _, row := range page {
		if row.Title == "" || once[row.ID] {
			return fmt.Errorf("a page with a row twice or without a title: %s", a.body)
		}
		once[row.ID] = true
	}
	l.note(func() { l.reads++ })
	return nil
}

// verify reads everything that was acknowledged from every node.
func (l *traffic) verify(t *testing.T) {
	t.Helper()
	for _, n := range l.nodes {
		titles := map[string]string{}
		for _, row := range l.column(t, n.url(), "products", "title") {
			titles[row["id"]] = row["title"]
		}
		for id, title := range l.rows {
			if titles[id] != title {
				t.Errorf("%s: work %s is %q instead of %q", n.address, id, titles[id], title)
			}
		}
		messages := map[string]bool{}
		for _, row := range l.column(t, n.url(), "contact_submissions", "message") {
			messages[row["message"]] = true
		}
		for _, text := range l.messages {
			if !messages[text] {
				t.Errorf("%s: lost: %s", n.address, text)
			}
		}
		for name, content := range l.files {
			if a := l.download(n.url(), name).must(t, http.StatusOK); !bytes.Equal(a.body, content) {
				t.Errorf("%s: %s differs", n.address, name)
			}
		}
	}
}

// column returns a column and the ids of a whole table; it reads page by page.
func (c *cluster) column(t *testing.T, url, table, column string) (all []map[string]string) {
	t.Helper()
	for {
		var page []map[string]string
		call{method: "GET", url: fmt.Sprintf("%s/rest/v1/%s?select=id,%s&order=id&limit=1000&offset=%d", url, table, column, len(all)), bearer: c.service}.must(t, http.StatusOK).read(t, &page)
		if all = append(all, page...); len(page) < 1000 {
			return all
		}
	}
}

// sightings is the set of works that a watcher has received or read.
type sightings struct {
	mu  sync.Mutex
	ids map[string]bool
}

func (s *sightings) add(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids[id] = true
}

func (s *sightings) has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ids[id]
}

// waitFor waits up to a minute for a work.
func (s *sightings) waitFor(ctx context.Context, id string) bool {
	for deadline := time.Now().Add(time.Minute); !s.has(id); time.Sleep(20 * time.Millisecond) {
		if ctx.Err() != nil || time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// watchOn reconnects whenever its subscription is lost. After each subscription it reads the table once: earlier rows are in it,
// later ones are delivered.
func (l *traffic) watchOn(ctx context.Context, s *sightings) {
	for first := true; ctx.Err() == nil; first = false {
		if !first {
			l.note(func() { l.returns++ })
		}
		if err := l.watchOnce(ctx, s); err != nil && ctx.Err() == nil && !isClosed(err) {
			l.note(func() { l.wrong = append(l.wrong, "live changes: "+err.Error()) })
			return
		}
	}
}

func (l *traffic) watchOnce(ctx context.Context, s *sightings) error {
	w, err := watch(ctx, l.url, l.anon)
	if err != nil {
		time.Sleep(50 * time.Millisecond) // the node may be dying
		return nil
	}
	defer func() { _ = w.conn.CloseNow() }()           // broken, or no longer needed
	for last, more := uuid.Nil.String(), true; more; { // not by offset: rows are deleted meanwhile
		a, _, err := l.ask(call{method: "GET", url: l.url + "/rest/v1/products?select=id&order=id&limit=1000&id=gt." + last, bearer: l.service}, http.StatusOK)
		if err != nil {
			return err
		}
		var rows []struct{ ID string }
		if err := jsonOf(a, &rows); err != nil {
			return err
		}
		for _, row := range rows {
			s.add(row.ID)
			last = row.ID
		}
		more = len(rows) == 1000
	}
	for {
		id, err := w.inserted(ctx)
		if err != nil {
			return err
		}
		s.add(id)
	}
}
