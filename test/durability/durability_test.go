// Package durability kills the program again and again while it writes, and then checks that everything it acknowledged is
// there: messages, rows, files, refresh tokens, and conversations with their pictures, offers and mails.
package durability

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/mail/mailtest"
	"atelie/internal/storage/blob/blobtest"
	"atelie/test/program"
	"atelie/test/soak"
)

// kills is how often the program is killed. A round takes half a second.
var kills = soak.Size(4, 50)

func TestMain(m *testing.M) { blobtest.Main(m, dbtest.Stop) }

// build builds the program under test.
func build(t *testing.T) string {
	t.Helper()
	binary, err := program.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// TestKilledServerKeepsAcknowledgedWrites kills the server as often as kills says, or up to four times as often until enough writes of every
// kind were acknowledged.
func TestKilledServerKeepsAcknowledgedWrites(t *testing.T) {
	binary := build(t)
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			mailServer, err := mailtest.Start(mailtest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = mailServer.Close() }) // connections of killed programs may be left
			s := &site{t: t, binary: binary}
			address := s.environment(dialect, mailServer)
			s.keys()
			s.addOwner()
			s.allowLinks(address)
			for n := 0; n < kills || s.behind(kills) && n < 4*kills; n++ {
				s.start()
				s.writeUntilKilled(s.behind(n))
			}
			s.endLeases(address)
			s.start()
			s.verify()
			s.verifyConversations()
			s.verifyMails(mailServer)
			s.kill()
			if s.behind(kills) {
				t.Errorf("too little was written for the test to mean anything: %d messages, %d rows, %d files, %d refreshes, %d texts, %d acceptances", len(s.messages), len(s.rows), len(s.files), s.renewed, len(s.said), len(s.accepted))
			}
			t.Logf("%d kills: %d messages, %d rows, %d files and %d refreshes acknowledged and found", kills, len(s.messages), len(s.rows), len(s.files), s.renewed)
		})
	}
}

// site is the program under test, with the writes that it has acknowledged.
type site struct {
	t       *testing.T
	binary  string
	env     []string
	url     string
	key     string
	process *exec.Cmd

	mu       sync.Mutex
	messages []string             // the text of each
	rows     []string             // ids of products
	files    map[string][]byte    // name → bytes
	hasOwner bool                 // addOwner was called
	refresh  string               // the refresh token of the owner's session that was received last
	renewed  int                  // how often the session was refreshed
	times    map[string]time.Time // of the acknowledgement, by text, id or name

	talks    [2]conversation             // of the writers; empty where hasOwner is not set
	said     map[string]acknowledgedText // the texts of conversations
	accepted []string                    // ids of offers
	pictures atomic.Int64                // that visitors have sent
}

// behind reports that too little was acknowledged for so many kills; a file takes several writes.
func (s *site) behind(kills int) bool {
	return len(s.messages) < kills || len(s.rows) < kills || len(s.files) < kills/2 || s.hasOwner && (s.renewed < kills || len(s.said) < kills || len(s.accepted) < kills/4)
}

func (s *site) command(args ...string) *exec.Cmd {
	c := exec.Command(s.binary, args...)
	c.Env = append(os.Environ(), s.env...)
	return c
}

func (s *site) keys() {
	out, err := s.command("keys").Output()
	if err != nil {
		s.t.Fatal(err)
	}
	s.key = program.Value(s.t, string(out), "SERVICE_ROLE_KEY")
	s.files, s.times, s.said = map[string][]byte{}, map[string]time.Time{}, map[string]acknowledgedText{}
}

func (s *site) start() {
	s.process = s.command("serve")
	out, err := s.process.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	var logs bytes.Buffer
	s.process.Stderr = &logs
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	s.url = ""
	for s.url == "" && lines.Scan() {
		s.url, _ = strings.CutPrefix(lines.Text(), "Ateliê: ")
	}
	if s.url == "" {
		s.t.Fatalf("did not start after a kill: %v\n%s", s.process.Wait(), logs.String())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		answer, err := http.Get(s.url + "/health/ready")
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
	}
	s.t.Fatal("not ready")
}

func (s *site) kill() {
	if err := s.process.Process.Signal(syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
	_ = s.process.Wait() // it always reports the kill
}

const ownerEmail, ownerPassword = "ana@alvor.example", "a wall of whitewash"

func (s *site) addOwner() {
	add := s.command("owner", "add", ownerEmail, "--password-stdin")
	add.Stdin = strings.NewReader(ownerPassword + "\n")
	if out, err := add.CombinedOutput(); err != nil {
		s.t.Fatalf("add owner: %v: %s", err, out)
	}
	s.hasOwner = true
}

// refreshSession signs in at the first call, and then refreshes the session. A token whose successor was not received gives the same
// successor again.
func (s *site) refreshSession(ctx context.Context) bool {
	grant, request := "refresh_token", map[string]string{"refresh_token": s.refresh}
	if s.refresh == "" {
		grant, request = "password", map[string]string{"email": ownerEmail, "password": ownerPassword}
	}
	body, err := json.Marshal(request)
	if err != nil {
		s.t.Error(err)
		return false
	}
	status, got, ok := s.send(ctx, "POST", "/auth/v1/token?grant_type="+grant, map[string]string{"Content-Type": "application/json"}, body)
	if !ok {
		return false
	}
	var session struct {
		Refresh string `json:"refresh_token"`
	}
	if status == http.StatusOK && json.Unmarshal(got, &session) != nil {
		s.t.Errorf("no session: %s", got)
		return false
	}
	return s.acknowledged("session", status, http.StatusOK, got, func() { s.refresh, s.renewed = session.Refresh, s.renewed+1 })
}

// ofEachKind reports whether the site has acknowledged one more write of each kind than before; it is given what counted returned.
func (s *site) ofEachKind(before [5]int) bool {
	now := s.counted()
	return now[0] > before[0] && now[1] > before[1] && now[2] > before[2] && (!s.hasOwner || now[3] > before[3] && now[4] > before[4])
}

// counted returns the numbers of acknowledged messages, rows, files, refreshes, and texts and answers of conversations.
func (s *site) counted() [5]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return [5]int{len(s.messages), len(s.rows), len(s.files), s.renewed, len(s.said) + len(s.accepted)}
}

// writeUntilKilled kills the program at a random moment, while nine writers of five kinds send requests. With slow, the moment comes after
// a write of each kind is acknowledged, which takes a busy machine seconds. There is one session, so a single writer refreshes it.
func (s *site) writeUntilKilled(slow bool) {
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	var writers sync.WaitGroup
	for _, write := range []func(context.Context) bool{s.writeMessage, s.writeRow, s.writeFile} {
		for range 2 {
			writers.Go(func() {
				for write(ctx) {
				}
			})
		}
	}
	writers.Go(func() {
		for s.refreshSession(ctx) {
		}
	})
	for i := range s.talks {
		if s.hasOwner {
			writers.Go(func() {
				for s.converse(ctx, &s.talks[i]) {
				}
			})
		}
	}
	before := s.counted()
	for deadline := time.Now().Add(time.Minute); slow && !s.ofEachKind(before) && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(time.Duration(20+rand.IntN(180)) * time.Millisecond) // the kill meets any moment of a write
	s.kill()
	cancel()
	writers.Wait()
}

// withoutRedirects returns redirects as responses.
var withoutRedirects = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// send returns the status and the body; false if the connection broke.
func (s *site) send(ctx context.Context, method, path string, headers map[string]string, body []byte) (int, []byte, bool) {
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return 0, nil, false
	}
	r.Header.Set("apikey", s.key)
	for k, v := range headers {
		r.Header.Set(k, v)
	}
	answer, err := withoutRedirects.Do(r)
	if err != nil {
		return 0, nil, false
	}
	defer func() { _ = answer.Body.Close() }()
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, nil, false
	}
	return answer.StatusCode, got, true
}

func (s *site) acknowledged(name string, status, want int, body []byte, note func()) bool {
	if status != want {
		s.t.Errorf("answered %d: %s", status, body)
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times[name] = time.Now()
	note()
	return true
}

func (s *site) writeMessage(ctx context.Context) bool {
	text := "A message that must not be lost: " + uuid.NewString()
	address := fmt.Sprintf("10.%d.%d.%d", rand.IntN(250), rand.IntN(250), rand.IntN(250)) // below the rate limit per address
	body, err := json.Marshal(map[string]string{"name": "Inês", "email": "ines@exemplo.example", "message": text})
	if err != nil {
		s.t.Error(err)
		return false
	}
	status, got, ok := s.send(ctx, "POST", "/functions/v1/submit-contact", map[string]string{"X-Forwarded-For": address}, body)
	return ok && s.acknowledged(text, status, 200, got, func() { s.messages = append(s.messages, text) })
}

func (s *site) writeRow(ctx context.Context) bool {
	id := uuid.NewString()
	status, got, ok := s.send(ctx, "POST", "/rest/v1/products", map[string]string{"Content-Type": "application/json"}, []byte(`{"id":"`+id+`","title":"Work"}`))
	return ok && s.acknowledged(id, status, 201, got, func() { s.rows = append(s.rows, id) })
}

func (s *site) writeFile(ctx context.Context) bool {
	name := uuid.NewString() + ".png"
	picture := image.NewGray(image.Rect(0, 0, 100+rand.IntN(100), 100))
	for i := range picture.Pix {
		picture.Pix[i] = byte(rand.IntN(256))
	}
	var body bytes.Buffer
	if err := png.Encode(&body, picture); err != nil {
		s.t.Error(err)
		return false
	}
	status, got, ok := s.send(ctx, "POST", "/storage/v1/object/product-images/"+name, map[string]string{"Content-Type": "image/png"}, body.Bytes())
	return ok && s.acknowledged(name, status, 200, got, func() { s.files[name] = body.Bytes() })
}

func (s *site) verify() {
	ctx := s.t.Context()
	if s.hasOwner && !s.refreshSession(ctx) {
		s.t.Error("the refresh token that was received last is lost")
	}
	messages := s.column(ctx, "contact_submissions", "message")
	for _, m := range s.messages {
		if !messages[m] {
			s.t.Errorf("lost message %q", m)
		}
	}
	rows := s.column(ctx, "products", "id")
	for _, id := range s.rows {
		if !rows[id] {
			s.t.Errorf("lost row %s", id)
		}
	}
	for name, want := range s.files {
		status, got, ok := s.send(ctx, "GET", "/storage/v1/object/public/product-images/"+name, nil, nil)
		if !ok || status != 200 || !bytes.Equal(got, want) {
			s.t.Errorf("file %s: status %d, %d of %d bytes", name, status, len(got), len(want))
		}
	}
}

// column returns all values of a column.
func (s *site) column(ctx context.Context, table, column string) map[string]bool {
	all := map[string]bool{}
	for _, row := range s.rowsOf(ctx, table, column, "") {
		all[row[column]] = true
	}
	return all
}

// rowsOf returns columns of all rows that a filter selects; it reads page by page.
func (s *site) rowsOf(ctx context.Context, table, columns, filter string) (all []map[string]string) {
	for offset := 0; ; offset += 1000 {
		status, body, ok := s.send(ctx, "GET", fmt.Sprintf("/rest/v1/%s?select=%s&order=id&limit=1000&offset=%d%s", table, columns, offset, filter), nil, nil)
		if !ok || status != 200 {
			s.t.Fatalf("read %s: %d %s", table, status, body)
		}
		var page []map[string]string
		if err := json.Unmarshal(body, &page); err != nil {
			s.t.Fatal(err)
		}
		all = append(all, page...)
		if len(page) < 1000 {
			return all
		}
	}
}
