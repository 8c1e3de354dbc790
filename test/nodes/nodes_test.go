//go:build !race

package nodes

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"atelie/test/soak"
)

const (
	email    = "owner@example.com"
	password = "a wall of whitewash"
)

type session struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

// Proves KEPT-version-3.
//
// TestThreeNodes runs all its subtests on one cluster.
func TestThreeNodes(t *testing.T) {
	c := startCluster(t, 3, "ATELIE_JWT_ALGORITHM=ES256")
	ok := t.Run("a setup link of one node is used on another", c.setupLink)
	ok = ok && t.Run("sessions", c.sessions)
	ok = ok && t.Run("keys", c.keys)
	ok = ok && t.Run("a node with another secret is refused", c.otherSecret)
	ok = ok && t.Run("limits", c.limits)
	ok = ok && t.Run("reads and writes", c.rows)
	ok = ok && t.Run("files", c.files)
	ok = ok && t.Run("live changes", c.liveChanges)
	ok = ok && t.Run("conversations", c.conversations)
	ok = ok && t.Run("a node dies during a plain upload", c.deathDuringUpload)
	ok = ok && t.Run("a node dies during a piece of a resumable upload", c.deathDuringPiece)
	if ok && soak.Running() {
		t.Run("load", c.load)
	}
}

func (c *cluster) setupLink(t *testing.T) {
	var tokens []string
	for _, n := range c.nodes {
		select {
		case token := <-n.setup:
			tokens = append(tokens, token)
		case <-time.After(time.Minute):
			t.Fatalf("%s printed no link", n.address)
		}
	}
	use := func(n *node, token string) call {
		return call{method: "POST", url: n.url() + "/auth/v1/setup", bearer: c.anon, body: toJSON(map[string]string{"token": token, "email": email, "password": password})}
	}
	use(c.nodes[1], tokens[0]).must(t, http.StatusOK)
	for i, token := range tokens {
		use(c.nodes[(i+2)%3], token).must(t, http.StatusForbidden) // there is an owner by now
	}
}

func (c *cluster) signIn(t *testing.T, url string) (s session) {
	t.Helper()
	call{method: "POST", url: url + "/auth/v1/token?grant_type=password", bearer: c.anon, body: toJSON(map[string]string{"email": email, "password": password})}.must(t, http.StatusOK).read(t, &s)
	return s
}

func (c *cluster) refresh(url string, s session) call {
	return call{method: "POST", url: url + "/auth/v1/token?grant_type=refresh_token", bearer: c.anon, body: toJSON(map[string]string{"refresh_token": s.Refresh})}
}

func (c *cluster) sessions(t *testing.T) {
	call{method: "POST", url: c.nodes[0].url() + "/functions/v1/submit-contact", bearer: c.anon, body: toJSON(map[string]string{"name": "Inês", "email": "ines@exemplo.example", "message": "Only the owner may read this."})}.must(t, http.StatusOK)
	first, other := c.signIn(t, c.nodes[0].url()), c.signIn(t, c.nodes[2].url())
	messages := func(n *node, s session) (rows []any) {
		t.Helper()
		call{method: "GET", url: n.url() + "/rest/v1/contact_submissions", bearer: s.Access}.must(t, http.StatusOK).read(t, &rows)
		return rows
	}
	var next session
	c.refresh(c.nodes[1].url(), first).must(t, http.StatusOK).read(t, &next)
	for _, n := range c.nodes {
		for _, s := range []session{first, next, other} {
			call{method: "GET", url: n.url() + "/auth/v1/user", bearer: s.Access}.must(t, http.StatusOK)
		}
		if len(messages(n, next)) != 1 {
			t.Errorf("%s does not show the owner the message", n.address)
		}
	}
	// A global sign-out on one node takes effect on every other node immediately, for access tokens too.
	call{method: "POST", url: c.nodes[1].url() + "/auth/v1/logout?scope=global", bearer: next.Access}.must(t, http.StatusNoContent)
	for _, n := range []*node{c.nodes[2], c.nodes[0]} {
		for _, s := range []session{next, other} {
			call{method: "GET", url: n.url() + "/auth/v1/user", bearer: s.Access}.must(t, http.StatusForbidden)
			c.refresh(n.url(), s).must(t, http.StatusBadRequest)
		}
		if len(messages(n, other)) != 0 {
			t.Errorf("%s shows an ended session the message", n.address)
		}
	}
}

// keys checks that all nodes share one key pair although they started at the same time, and that tokens name it.
func (c *cluster) keys(t *testing.T) {
	token, _, err := jwt.NewParser().ParseUnverified(c.signIn(t, c.nodes[0].url()).Access, jwt.MapClaims{})
	if err != nil {
		t.Fatal(err)
	}
	var published string
	for i, n := range c.nodes {
		a := call{method: "GET", url: n.url() + "/auth/v1/.well-known/jwks.json", bearer: c.anon}.must(t, http.StatusOK)
		if i == 0 {
			published = string(a.body)
		}
		if string(a.body) != published || strings.Count(published, `"kid"`) != 1 {
			t.Errorf("node %d publishes %s, node 0 %s", i, a.body, published)
		}
	}
	if id, _ := token.Header["kid"].(string); id == "" || token.Header["alg"] != "ES256" || !strings.Contains(published, id) {
		t.Errorf("the token's header %v does not name the key of %s", token.Header, published)
	}
}

// otherSecret starts a node without the shared secret, which is refused.
func (c *cluster) otherSecret(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	command := exec.CommandContext(ctx, c.binary, "serve")
	command.Env = append(append(os.Environ(), c.nodes[0].env...), "ATELIE_DATA_DIR="+t.TempDir(), "ATELIE_LISTEN=127.0.0.1:0", "ATELIE_JWT_SECRET=")
	out, err := command.CombinedOutput()
	if err == nil || ctx.Err() != nil || !bytes.Contains(out, []byte("all nodes need the same")) {
		t.Errorf("%v: %s", err, out)
	}
}

// limits checks that rate limits count the attempts on all nodes together.
func (c *cluster) limits(t *testing.T) {
	for _, l := range []struct {
		name           string
		window         time.Duration
		allowed        int
		url            string
		body           []byte
		passed, denied int
	}{
		{"sign-ins", 5 * time.Minute, 20, "/auth/v1/token?grant_type=password", toJSON(map[string]string{"email": email, "password": "not the password"}), http.StatusBadRequest, http.StatusTooManyRequests},
		{"messages", time.Minute, 30, "/functions/v1/submit-contact", toJSON(map[string]string{"name": "Inês", "email": "ines@exemplo.example", "message": "A message that is long enough."}), http.StatusOK, http.StatusTooManyRequests},
	} {
		t.Run(l.name, func(t *testing.T) {
			for {
				begin := time.Now()
				visitor := map[string]string{"X-Forwarded-For": fmt.Sprintf("10.9.%d.%d", rand.IntN(250), rand.IntN(250))}
				var got []int
				for i := range l.allowed + 3 {
					a, err := call{method: "POST", url: c.nodes[i%3].url() + l.url, bearer: c.anon, header: visitor, body: l.body}.send(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, a.status)
				}
				if begin.Truncate(l.window) != time.Now().Truncate(l.window) {
					continue // the window ended meanwhile, and with it the count
				}
				for i, status := range got {
					want := l.passed
					if i >= l.allowed {
						want = l.denied
					}
					if status != want {
						t.Fatalf("attempt %d: %d instead of %d: %v", i+1, status, want, got)
					}
				}
				return
			}
		})
	}
}

func (c *cluster) work(url, id, title string) call {
	return call{
		method: "POST", url: url + "/rest/v1/products", bearer: c.service, header: map[string]string{"Content-Type": "application/json"},
		body: toJSON(map[string]string{"id": id, "title": title}),
	}
}

// titles reads a work with the service key, which bypasses caches.
func (c *cluster) titles(url, id string) call {
	return call{method: "GET", url: url + "/rest/v1/products?select=title&id=eq." + id, bearer: c.service}
}

func (c *cluster) rows(t *testing.T) {
	id := uuid.NewString()
	change := func(n *node, method, body string) call {
		return call{method: method, url: n.url() + "/rest/v1/products?id=eq." + id, bearer: c.service, header: map[string]string{"Content-Type": "application/json"}, body: []byte(body)}
	}
	// Visitors see a change immediately on the node that made it, and within a second on the others, which cache responses.
	shown := func(on *node, want string) {
		t.Helper()
		changed := time.Now()
		for _, n := range append([]*node{on}, c.nodes...) {
			read := c.titles(n.url(), id)
			if a := read.must(t, http.StatusOK); string(a.body) != want {
				t.Errorf("%s has %s instead of %s", n.address, a.body, want)
			}
			read.bearer = c.anon
			for {
				age := time.Since(changed)
				a := read.must(t, http.StatusOK)
				if string(a.body) == want {
					break
				}
				if n == on || age > time.Second {
					t.Fatalf("%s shows visitors %s instead of %s, %v after the change", n.address, a.body, want, age)
				}
			}
		}
	}
	for range 5 {
		c.work(c.nodes[0].url(), id, "Roofs").must(t, http.StatusCreated)
		shown(c.nodes[0], `[{"title":"Roofs"}]`)
		change(c.nodes[1], "PATCH", `{"title":"Walls"}`).must(t, http.StatusNoContent)
		shown(c.nodes[1], `[{"title":"Walls"}]`)
		change(c.nodes[2], "DELETE", "").must(t, http.StatusNoContent)
		shown(c.nodes[2], `[]`)
	}
}

// picture returns a PNG of noise of about size bytes.
func picture(size int) []byte {
	p := image.NewGray(image.Rect(0, 0, 2048, max(1, size/2048)))
	for i := range p.Pix {
		p.Pix[i] = byte(rand.IntN(256))
	}
	var b bytes.Buffer
	if err := png.Encode(&b, p); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}

func (c *cluster) object(url, name string) string {
	return url + "/storage/v1/object/product-images/" + name
}

func (c *cluster) download(url, name string) call {
	return call{method: "GET", url: url + "/storage/v1/object/public/product-images/" + name, bearer: c.anon}
}

// form is a multipart upload, as supabase-js sends it.
func (c *cluster) form(url, name string, content []byte) call {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreatePart(map[string][]string{"Content-Disposition": {`form-data; name=""; filename="blob"`}, "Content-Type": {"image/png"}})
	if err == nil {
		_, err = part.Write(content)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // a buffer takes everything
	}
	return call{method: "POST", url: c.object(url, name), bearer: c.service, header: map[string]string{"Content-Type": w.FormDataContentType()}, body: b.Bytes()}
}

func (c *cluster) raw(url, name string, content []byte) call {
	return call{method: "POST", url: c.object(url, name), bearer: c.service, header: map[string]string{"Content-Type": "image/png"}, body: content}
}

func (c *cluster) begin(url, name string, size int) call {
	encode := base64.StdEncoding.EncodeToString
	return call{method: "POST", url: url + "/storage/v1/upload/resumable", bearer: c.service, header: map[string]string{
		"Tus-Resumable": "1.0.0", "Upload-Length": strconv.Itoa(size),
		"Upload-Metadata": "bucketName " + encode([]byte("product-images")) + ",objectName " + encode([]byte(name)) + ",contentType " + encode([]byte("image/png")),
	}}
}

// piece is the PATCH of an upload at an offset, through the node with the url.
func (c *cluster) piece(url, upload string, content []byte, offset int) call {
	return call{method: "PATCH", url: url + upload, bearer: c.service, body: content, header: map[string]string{
		"Tus-Resumable": "1.0.0", "Upload-Offset": strconv.Itoa(offset), "Content-Type": "application/offset+octet-stream",
	}}
}

func (c *cluster) progress(url, upload string) call {
	return call{method: "HEAD", url: url + upload, bearer: c.service, header: map[string]string{"Tus-Resumable": "1.0.0"}}
}

// pathOf returns the path of an upload's address, which must begin with the public address on every node.
func (c *cluster) pathOf(t *testing.T, a *response) string {
	t.Helper()
	path, ok := strings.CutPrefix(a.header.Get("Location"), c.url)
	if !ok {
		t.Fatalf("the upload is at %q, not behind %s", a.header.Get("Location"), c.url)
	}
	return path
}

func (c *cluster) shownEverywhere(t *testing.T, name string, content []byte) {
	t.Helper()
	for _, n := range c.nodes {
		if a := c.download(n.url(), name).must(t, http.StatusOK); !bytes.Equal(a.body, content) {
			t.Errorf("%s returns %d bytes of %s that differ from the %d sent", n.address, len(a.body), name, len(content))
		}
	}
}

func (c *cluster) files(t *testing.T) {
	content := picture(100_000)
	c.form(c.nodes[0].url(), "form.png", content).must(t, http.StatusOK)
	c.shownEverywhere(t, "form.png", content)
	c.raw(c.nodes[1].url(), "raw.png", content).must(t, http.StatusOK)
	c.shownEverywhere(t, "raw.png", content)

	content = picture(8 << 20)
	upload := c.pathOf(t, c.begin(c.nodes[0].url(), "pieces.png", len(content)).must(t, http.StatusCreated))
	for turn, offset := 0, 0; offset < len(content); turn++ {
		end := min(offset+1<<20+turn*1000, len(content))
		a := c.piece(c.nodes[turn%3].url(), upload, content[offset:end], offset).must(t, http.StatusNoContent)
		if offset = end; a.header.Get("Upload-Offset") != strconv.Itoa(end) {
			t.Fatalf("after %d bytes: %v", end, a.header)
		}
		a = c.progress(c.nodes[(turn+1)%3].url(), upload).must(t, http.StatusOK)
		if a.header.Get("Upload-Offset") != strconv.Itoa(end) {
			t.Fatalf("another node has %s bytes instead of %d", a.header.Get("Upload-Offset"), end)
		}
	}
	c.shownEverywhere(t, "pieces.png", content)
}

func (c *cluster) liveChanges(t *testing.T) {
	var watchers []*watcher
	for _, n := range c.nodes {
		w, err := watch(t.Context(), n.url(), c.anon)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.conn.CloseNow() }() // everything needed has been read
		watchers = append(watchers, w)
	}
	for _, n := range c.nodes {
		id := uuid.NewString()
		c.work(n.url(), id, "Seen everywhere").must(t, http.StatusCreated)
		for i, w := range watchers {
			ctx, cancel := context.WithTimeout(t.Context(), maxWait)
			got, err := w.inserted(ctx)
			cancel()
			if err != nil || got != id {
				t.Fatalf("node %d reports %q (%v) instead of %s, written on %s", i, got, err, id, n.address)
			}
		}
	}
}

// startSending sends a request with only the first part of its body, and returns when that part is sent. broken waits until the
// connection is closed, and fails the test if there was a response.
func startSending(t *testing.T, c call, part []byte, length int) (broken func()) {
	t.Helper()
	body, source := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), c.method, c.url, body)
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = int64(length)
	r.Header.Set("Authorization", "Bearer "+c.bearer)
	for name, value := range c.header {
		r.Header.Set(name, value)
	}
	answered := make(chan string, 1)
	go func() {
		defer close(answered)
		if response, err := client.Do(r); err == nil {
			answered <- response.Status
			_ = response.Body.Close() // only the status is used
		}
	}()
	if _, err := source.Write(part); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		_ = source.CloseWithError(errBroken) // net/http waits for the body even if the connection is closed
		if status, ok := <-answered; ok {
			t.Fatalf("half a file was answered with %s", status)
		}
	}
}

func (c *cluster) deathDuringUpload(t *testing.T) {
	content := picture(20 << 20)
	first, second := c.nodes[0], c.nodes[1]
	broken := startSending(t, c.raw(first.url(), "cut.png", nil), content[:15<<20], len(content))
	if err := first.kill(); err != nil {
		t.Fatal(err)
	}
	broken()
	// Nothing of the upload is stored, and its name can be used.
	if a := c.download(second.url(), "cut.png").must(t, http.StatusBadRequest); !bytes.Contains(a.body, []byte(`"404"`)) {
		t.Errorf("%s", a.body)
	}
	c.raw(c.url, "cut.png", content).must(t, http.StatusOK)
	if err := first.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.shownEverywhere(t, "cut.png", content)
}

func (c *cluster) deathDuringPiece(t *testing.T) {
	content := picture(30 << 20)
	first, second, third := c.nodes[0], c.nodes[1], c.nodes[2]
	upload := c.pathOf(t, c.begin(second.url(), "resumed.png", len(content)).must(t, http.StatusCreated))
	c.piece(third.url(), upload, content[:1<<20], 0).must(t, http.StatusNoContent)
	broken := startSending(t, c.piece(first.url(), upload, nil, 1<<20), content[1<<20:22<<20], len(content)-1<<20)
	if err := first.kill(); err != nil {
		t.Fatal(err)
	}
	broken()
	begin := time.Now()
	var offset int
	for { // until the dead node's lease expires
		a, err := c.progress(second.url(), upload).send(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if a.status == http.StatusOK {
			if offset, err = strconv.Atoi(a.header.Get("Upload-Offset")); err != nil {
				t.Fatal(err)
			}
			break
		}
		if a.status != http.StatusLocked || time.Since(begin) > time.Minute {
			t.Fatalf("%d after %s", a.status, time.Since(begin))
		}
	}
	if offset < 1<<20 || offset > 22<<20 {
		t.Fatalf("%d bytes arrived of %d that were sent", offset, 22<<20)
	}
	t.Logf("resumed after %s with %d of %d bytes", time.Since(begin).Round(time.Second), offset, 22<<20)
	half := offset + (len(content)-offset)/2
	c.piece(third.url(), upload, content[offset:half], offset).must(t, http.StatusNoContent)
	if err := first.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.piece(first.url(), upload, content[half:], half).must(t, http.StatusNoContent)
	c.shownEverywhere(t, "resumed.png", content)
}
