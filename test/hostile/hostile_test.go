// Package hostile sends generated hostile requests to every surface of the running program, on both databases. It checks what must be
// true of every response: no status 5xx, no hidden row, errors in the surface's format, and a log line with the reason.
package hostile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"atelie/internal/app"
	"atelie/internal/config"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
	_ "atelie/internal/media/rendition/renditiontest" // jobs start this program as their worker
	"atelie/internal/storage"
	"atelie/internal/storage/resumable"
)

// A failure names the number of its request. The same seed reproduces that request.
var (
	seed  = flag.Uint64("hostile.seed", 1, "seed of the requests")
	count = flag.Int("hostile.requests", perSurface, "requests per surface and database")
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// canary is part of every text of a hidden row, and of no request. A response that contains it shows a hidden row.
const canary = "kanarie-7f3a"

// TestHostileRequests sends requests of callers without rights (outsiders), which must change nothing, and then those of callers with rights
// (insiders). If it measures memory, it tests the databases one after the other.
func TestHostileRequests(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			if !measures {
				t.Parallel()
			}
			s := start(t, dialect)
			s.fill(t)
			before := s.state(t)
			s.assault(t, s.outsiders, s.checkOutsider, true)
			for name, is := range s.state(t) {
				if before[name] != is {
					t.Errorf("%s was changed by callers without the right: %s, then %s", name, before[name], is)
				}
			}
			s.checkLinks(t)
			s.assault(t, s.insiders, s.check, false)
			t.Logf("%d responses, each with its log line", s.checked)
		})
	}
}

// The differences between two measurements of a program without a leak. There are 4,500 requests to each of nine surfaces in
// between: a leak of 100 bytes per request would be 3.6 MB.
const (
	idleGoroutines  = 40               // of an idle program with its database connections
	settleTime      = 11 * time.Second // after an attack, until the program is idle
	slackGoroutines = 20
	slackHeap       = 3 << 20
)

// assault sends half of the requests to every surface. At the end the program may not use more memory than after the first
// tenth of them, which has filled pools and caches.
func (s *site) assault(t *testing.T, who []string, check func(*request, *response) error, outside bool) {
	t.Helper()
	send := func(from, to int) size {
		for i, surface := range surfaces {
			s.links.agePictures(t, s.app.DB)
			if surface.name == linkSurface && !outside { // who may have deleted what was acknowledged before
				s.links.texts, s.links.answers = map[string]visit{}, map[int]string{}
			}
			s.attack(t, i, surface.name, who, from, to, check)
			s.checkLog(t)
			if surface.name == linkSurface {
				s.checkConversations(t, outside)
			}
		}
		s.attackSockets(t, who, from, to, outside)
		return s.settle(t)
	}
	warm := *count / 2 / 10
	first := send(0, warm)
	last := send(warm, *count/2)
	if !measures {
		return
	}
	// Memory in use at this moment, as for compressing a page, is no leak: a leak is still there a minute later.
	for begin := time.Now(); last.grownFrom(first) && time.Since(begin) < time.Minute; {
		time.Sleep(time.Second)
		last = measured()
	}
	t.Logf("%s after the first %d requests a surface, %s after %d", first, warm, last, *count/2)
	if last.grownFrom(first) {
		t.Errorf("the program has grown: %s after the first %d requests a surface, %s after %d", first, warm, last, *count/2)
	}
}

// site is the program under test.
type site struct {
	app       *app.App
	address   string
	keys      map[string]string
	outsiders []string
	insiders  []string
	ids       []string
	uploads   []string         // resumable uploads of the service key
	visible   map[string]int64 // rows that outsiders may see
	links     *links
	log       logLines

	mu      sync.Mutex
	answers map[string]sent // by request id, until the log line is found
	checked int
}

// sent is a response as the log should have it. name has the number of the request, not the request: thousands of bodies would
// hide a leak.
type sent struct {
	name        string
	status      int
	mustExplain bool
}

const maxUpload = 1 << 20

func start(t *testing.T, dialect db.Dialect) *site {
	t.Helper()
	cfg := config.Config{
		Server:   config.Server{DataDir: t.TempDir(), SiteURL: "http://site.example", APIURL: "http://site.example", TrustedProxies: []string{"127.0.0.1"}},
		Storage:  config.Storage{MaxUpload: maxUpload, UploadExpiry: time.Hour},
		Realtime: config.Realtime{MaxSockets: 1000, MaxSocketsPerAddress: 1000},
		Auth:     config.Auth{JWTSecret: strings.Repeat("k", 32), JWTExpiry: time.Hour, RefreshReuse: 10 * time.Second, Signup: "closed", PasswordMinLength: 10, RateLimits: true},
		Backup:   config.Backup{URL: config.BackupOff},
	}
	if dialect == db.Postgres {
		cfg.Database.URL = dbtest.URL(t, dialect)
	}
	s := &site{answers: map[string]sent{}, log: logLines{lines: map[string]logLine{}}}
	var err error
	if s.app, err = app.New(t.Context(), cfg, slog.New(slog.NewJSONHandler(&s.log, nil)), time.Now); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = listener.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.app.Serve(ctx, listener, nil) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-served, s.app.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// fill inserts rows and accounts, some of them hidden, and makes the tokens of all callers.
func (s *site) fill(t *testing.T) {
	t.Helper()
	ctx, service := t.Context(), identity.Caller{Role: identity.Service}
	id := func(n int) string {
		made := fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
		s.ids = append(s.ids, made)
		return made
	}
	for table, rows := range map[string][]map[string]any{
		"products":            {{"id": id(1), "title": "A work", "tags": []string{"a"}, "artwork_type": "mural", "is_featured": true}, {"id": id(2), "title": "Another"}, {"id": id(8), "title": canary, "description": canary, "published_at": nil}, {"id": id(9), "title": canary, "published_at": "2999-01-01T00:00:00Z"}},
		"reviews":             {{"id": id(3), "client_name": "Seen", "message": "Seen"}, {"id": id(4), "client_name": canary, "message": canary, "is_active": false}},
		"cover_images":        {{"id": id(5), "image_url": "/seen.png", "display_order": 1}, {"id": id(6), "image_url": canary, "title": canary, "is_active": false}, {"id": id(10), "image_url": canary, "title": canary, "visible_from": "2999-01-01T00:00:00Z"}, {"id": id(11), "image_url": canary, "title": canary, "visible_until": "2020-01-01T00:00:00Z"}},
		"series":              {{"id": id(10), "slug": "seen", "title": "Seen"}, {"id": id(11), "slug": "hidden", "title": canary, "text": canary, "is_published": false}},
		"contact_submissions": {{"id": id(7), "name": canary, "email": canary, "message": canary}},
		"saved_replies":       {{"id": id(13), "title": canary, "text_en": canary}},
	} {
		must(t, s.app.Tables.InsertRows(ctx, service, table, rows))
	}
	must(t, s.app.Tables.InsertRows(ctx, service, "contact_replies", []map[string]any{{"id": id(12), "message_id": hiddenMessage, "author": "owner", "text": canary}}))
	s.fillLinks(t)
	s.visible = map[string]int64{"products": 2, "reviews": 1, "cover_images": 1, "series": 1}
	_, err := s.app.Storage.Put(ctx, service, "product-images", "present.png", bytes.NewReader(pixel), -1, storage.PutOptions{})
	must(t, err)

	const password = "long enough to be one"
	for _, email := range []string{"owner@site.example", "guest@site.example", canary + "@site.example"} {
		must(t, s.app.Auth.AddOwner(ctx, email, password))
	}
	must(t, s.app.Auth.RemoveOwner(ctx, "guest@site.example"))
	// Only its holder may see this role.
	_, err = s.app.DB.Exec(ctx, "update user_roles set role = $1 where user_id = (select id from auth_users where email = $2)", canary, canary+"@site.example")
	must(t, err)
	owners, err := s.app.Auth.Owners(ctx)
	must(t, err)
	for _, o := range owners {
		s.ids = append(s.ids, o.ID)
	}

	s.keys = map[string]string{"none": "", "noise": "a.b.c", "control": "\xff\xfe"}
	for name, role := range map[string]identity.Role{"anon": identity.Anon, "service": identity.Service} {
		s.keys[name], err = s.app.Tokens.Key(role)
		must(t, err)
	}
	s.keys["owner"], s.keys["guest"] = s.signIn(t, "owner@site.example", password), s.signIn(t, "guest@site.example", password)
	soon := time.Now().Add(time.Hour).Unix()
	for name, c := range map[string]struct {
		secret string
		claims jwt.MapClaims
	}{
		"forged":  {strings.Repeat("x", 32), jwt.MapClaims{"role": "service_role", "exp": soon}},
		"expired": {strings.Repeat("k", 32), jwt.MapClaims{"role": "service_role", "exp": soon - 7200}},
		"eternal": {strings.Repeat("k", 32), jwt.MapClaims{"role": "service_role"}},
		"root":    {strings.Repeat("k", 32), jwt.MapClaims{"role": "postgres", "exp": soon}},
		// Signed with the secret, with claims that the program does not write.
		"stranger": {strings.Repeat("k", 32), jwt.MapClaims{"role": "authenticated", "sub": "not a uuid\x00", "session_id": "\x00", "exp": soon}},
	} {
		s.keys[name], err = identity.New(identity.Config{Secret: []byte(c.secret)}, time.Now).Sign(c.claims)
		must(t, err)
	}
	s.keys["unsigned"], err = jwt.NewWithClaims(jwt.SigningMethodNone, jwt.MapClaims{"role": "service_role", "exp": soon}).SignedString(jwt.UnsafeAllowNoneSignatureType)
	must(t, err)
	s.beginUploads(t)
	s.insiders = []string{"service", "owner", "owner"}
	for name := range s.keys {
		if !slices.Contains(s.insiders, name) {
			s.outsiders = append(s.outsiders, name)
		}
	}
	s.outsiders = append(s.outsiders, "anon", "anon", "anon", "guest", "guest", "guest")
	slices.Sort(s.outsiders) // the same seed makes the same requests
	slices.Sort(s.ids[7:])
}

// beginUploads creates resumable uploads of several lengths, which requests then name.
func (s *site) beginUploads(t *testing.T) {
	t.Helper()
	c := &client{address: s.address}
	defer c.close()
	for i := range 60 {
		r := &request{method: "POST", target: resumable.Path}
		r.header("Authorization", "Bearer "+s.keys["service"])
		r.header("Tus-Resumable", "1.0.0")
		r.header("Upload-Length", strconv.Itoa([]int{len(pixel), 1, 1000, maxUpload}[i%4]))
		r.header("Upload-Metadata", "bucketName "+encode("product-images")+",objectName "+encode(fmt.Sprintf("upload-%d.png", i)))
		a, err := c.send(r)
		must(t, err)
		at := strings.LastIndex(a.header.Get("Location"), "/")
		if a.status != http.StatusCreated || at < 0 {
			t.Fatalf("resumable upload: %d %s", a.status, a.body)
		}
		s.uploads = append(s.uploads, a.header.Get("Location")[at+1:])
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *site) signIn(t *testing.T, email, password string) string {
	t.Helper()
	r := &request{method: "POST", target: "/auth/v1/token?grant_type=password", body: fmt.Appendf(nil, `{"email":%q,"password":%q}`, email, password)}
	r.header("apikey", s.keys["anon"])
	c := &client{address: s.address}
	defer c.close()
	a, err := c.send(r)
	must(t, err)
	var session struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(a.body, &session); err != nil || session.AccessToken == "" {
		t.Fatalf("sign-in: %d %s", a.status, a.body)
	}
	return session.AccessToken
}

// state describes the rows that outsiders must not change.
func (s *site) state(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, query := range map[string]string{
		"products":        "select count(*) || ':' || coalesce(max(title), '') from products where is_published",
		"reviews":         "select count(*) || ':' || sum(display_order) || ':' || max(message) from reviews where is_active",
		"cover_images":    "select count(*) || ':' || max(image_url) from cover_images",
		"series":          "select count(*) || ':' || max(slug) from series",
		"user_roles":      "select count(*) || ':' || max(role) from user_roles",
		"storage_objects": "select count(*) || ':' || max(etag) from storage_objects where bucket_id <> 'conversation-pictures'",
		"auth_users":      "select count(*) || ':' || max(encrypted_password) from auth_users",
	} {
		var text string
		must(t, s.app.DB.QueryRow(t.Context(), query).Scan(&text))
		out[name] = text
	}
	var messages int
	must(t, s.app.DB.QueryRow(t.Context(), "select count(*) from contact_submissions where message = $1 and status = 'new'", canary).Scan(&messages))
	out["the hidden message"] = strconv.Itoa(messages)
	out["the hidden conversations"] = s.hiddenConversations(t)
	return out
}

const workers = 4

// attack sends requests to a surface. Each has its own generator, so that its number and the seed reproduce it.
func (s *site) attack(t *testing.T, surface int, name string, who []string, from, to int, check func(*request, *response) error) {
	t.Helper()
	begun := time.Now()
	var wait sync.WaitGroup
	failures := make(chan string, to-from)
	for w := range workers {
		wait.Go(func() {
			c := &client{address: s.address}
			defer c.close()
			for i := from + w; i < to; i += workers {
				g := s.generator(surface, who, i)
				r := surfaces[surface].make(g)
				a, err := c.send(r)
				if err == nil && a != nil {
					err = s.record(fmt.Sprintf("%s, request %d of %d callers", name, i, len(who)), r, a, check)
				}
				if err != nil {
					failures <- fmt.Sprintf("%s, request %d: %v\n%s", name, i, err, r)
				}
			}
		})
	}
	wait.Wait()
	t.Logf("%s: %d requests as %d callers in %s", name, to-from, len(who), time.Since(begun).Round(time.Millisecond))
	close(failures)
	s.show(t, name, failures)
}

func (s *site) generator(surface int, who []string, i int) *generator {
	stream := uint64(surface)<<32 | uint64(len(who))<<56 | uint64(i)
	return &generator{Rand: rand.New(rand.NewPCG(*seed, stream)), keys: s.keys, who: who, ids: s.ids, uploads: s.uploads, links: s.links}
}

func (s *site) show(t *testing.T, name string, failures <-chan string) {
	t.Helper()
	shown := 0
	for f := range failures {
		if shown++; shown <= 5 {
			t.Error(f)
		}
	}
	if shown > 5 {
		t.Errorf("%s: %d more", name, shown-5)
	}
}

// record records the response for checkLog, and checks it. Responses of net/http itself have no request id.
func (s *site) record(name string, r *request, a *response, check func(*request, *response) error) error {
	id := a.header.Get("X-Request-Id")
	if id == "" {
		if a.status >= 500 && a.status != http.StatusNotImplemented {
			return fmt.Errorf("answered %d: %s", a.status, a.body)
		}
		return nil
	}
	s.mu.Lock()
	s.answers[id] = sent{name, a.status, a.status >= 400 && hasShape(r, a)}
	s.mu.Unlock()
	return check(r, a)
}

// check checks a response to any caller.
func (s *site) check(r *request, a *response) error {
	if a.status >= 500 {
		return fmt.Errorf("answered %d: %s", a.status, a.body)
	}
	for _, name := range []string{"X-Injected", "Set-Cookie"} {
		ofOwner := name == "Set-Cookie" && r.caller == "owner" && strings.HasPrefix(a.header.Get(name), "atelie-files=")
		if a.header.Get(name) != "" && !ofOwner {
			return fmt.Errorf("answered with the header %s: %s", name, a.header.Get(name))
		}
	}
	if err := s.links.check(r, a); err != nil {
		return err
	}
	if a.status < 400 || r.method == http.MethodHead || !hasShape(r, a) {
		return nil
	}
	return inShape(r, a)
}

// checkOutsider checks a response to a caller without a role.
func (s *site) checkOutsider(r *request, a *response) error {
	if err := s.check(r, a); err != nil {
		return err
	}
	if bytes.Contains(a.body, []byte(canary)) || strings.Contains(fmt.Sprint(a.header), canary) {
		return fmt.Errorf("shows a hidden row: %d %s", a.status, a.body)
	}
	path, ok := strings.CutPrefix(r.target, "/rest/v1/")
	if !ok || strings.HasPrefix(path, "rpc/") || (r.method != http.MethodGet && r.method != http.MethodHead) {
		return nil
	}
	table, _, _ := strings.Cut(path, "?")
	_, total, _ := strings.Cut(a.header.Get("Content-Range"), "/")
	if n, err := strconv.ParseInt(total, 10, 64); err == nil && n > s.visible[table] {
		return fmt.Errorf("counts %d rows of %s, of which %d may be seen", n, table, s.visible[table])
	}
	var rows []json.RawMessage
	if json.Unmarshal(a.body, &rows) == nil && int64(len(rows)) > s.visible[table] {
		return fmt.Errorf("shows %d rows of %s, of which %d may be seen", len(rows), table, s.visible[table])
	}
	return nil
}

// shapes lists the fields of an error on each surface; an error must have exactly one of the lists.
var shapes = map[string][][]string{
	"/auth/v1/":      {{"code", "error_code", "msg"}, {"code", "message"}},
	"/rest/v1/":      {{"code", "details", "hint", "message"}},
	"/storage/v1/":   {{"code", "error", "message", "statusCode"}},
	"/functions/v1/": {{"code", "message"}, {"error", "success"}},
	"/realtime/v1/":  {{"code", "message"}},
}

// hasShape reports whether an error must have a shape: those of pages have none, nor those of ranges and conditions of files,
// which net/http writes.
func hasShape(r *request, a *response) bool {
	// Errors of resumable uploads are plain text, and a browser's form gets a page.
	if strings.HasPrefix(r.target, resumable.Path) || (strings.HasPrefix(r.target, "/functions/v1/") && strings.HasPrefix(a.header.Get("Content-Type"), "text/html")) {
		return false
	}
	if strings.HasPrefix(r.target, "/storage/v1/object/") && (a.status == http.StatusRequestedRangeNotSatisfiable || a.status == http.StatusPreconditionFailed) {
		return false
	}
	for prefix := range shapes {
		if strings.HasPrefix(r.target, prefix) {
			return true
		}
	}
	return false
}

func inShape(r *request, a *response) error {
	for prefix, allowed := range shapes {
		if !strings.HasPrefix(r.target, prefix) {
			continue
		}
		var body map[string]any
		if err := json.Unmarshal(a.body, &body); err != nil {
			return fmt.Errorf("%d without an error in JSON: %s", a.status, a.body)
		}
		fields := slices.Sorted(maps.Keys(body))
		if !slices.ContainsFunc(allowed, func(want []string) bool { return slices.Equal(want, fields) }) {
			return fmt.Errorf("%d with the fields %q: %s", a.status, fields, a.body)
		}
		if !strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
			return fmt.Errorf("%d with an error of type %q", a.status, a.header.Get("Content-Type"))
		}
		return nil
	}
	return nil
}

// logLines collects log lines by request id: the status, and whether there is a reason.
type logLines struct {
	mu      sync.Mutex
	lines   map[string]logLine
	strange [][]byte
}

type logLine struct {
	status    int
	explained bool
}

// Write parses one line; slog writes one at a time.
func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var fields struct {
		ID            string
		Status        int
		Code, Message any
	}
	if err := json.Unmarshal(p, &fields); err != nil || bytes.Contains(p, []byte(tokenStart)) {
		l.strange = append(l.strange, bytes.Clone(p))
	}
	if fields.ID != "" {
		l.lines[fields.ID] = logLine{fields.Status, fields.Code != nil && fields.Message != nil}
	}
	return len(p), nil
}

// take returns and removes the lines so far.
func (l *logLines) take(t *testing.T) map[string]logLine {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.strange {
		t.Errorf("a log line is not JSON, or has the token of a link: %s", line)
	}
	lines := l.lines
	l.lines, l.strange = map[string]logLine{}, nil
	return lines
}

// checkLog checks that every response has a log line, and a refused request a reason in it. It removes both.
func (s *site) checkLog(t *testing.T) {
	t.Helper()
	missing := 0
	for wait := 0; len(s.answers) > 0 && wait < 3000; wait++ { // a line is written just after its response
		for id, line := range s.log.take(t) {
			a, ok := s.answers[id]
			if !ok {
				continue // the client closed the connection before the response
			}
			delete(s.answers, id)
			s.checked++
			if line.status != a.status || (a.mustExplain && !line.explained) {
				missing++
				t.Logf("%s: %d has a log line with %d; a reason: %v", a.name, a.status, line.status, line.explained)
			}
		}
		if len(s.answers) > 0 {
			time.Sleep(20 * time.Millisecond)
		}
	}
	for _, a := range s.answers {
		missing++
		t.Logf("%s: %d has no log line", a.name, a.status)
	}
	s.answers = map[string]sent{}
	if missing > 0 {
		t.Errorf("%d answers have no correct log line", missing)
	}
}

// size is the memory use of the program.
type size struct {
	goroutines int
	heap       uint64
}

func (s size) String() string {
	return fmt.Sprintf("%d goroutines and %.1f MB", s.goroutines, float64(s.heap)/1e6)
}

// emptyCaches edits the content, so that caches drop their entries, which are no leak.
func (s *site) emptyCaches(t *testing.T) {
	t.Helper()
	if _, err := s.app.DB.Exec(t.Context(), "update content_version set version = version + 1, edited = version + 1"); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"/", "/rest/v1/products?limit=0", "/rest/v1/products?select=media&limit=0"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.address+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Apikey", s.keys["anon"])
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
			t.Fatal(target, response.Status, err)
		}
	}
}

// settle waits until the program is idle and measures it. tusd keeps goroutines for ten seconds; meanwhile pages are rendered
// again, and compressed five seconds after the last edit.
func (s *site) settle(t *testing.T) size {
	t.Helper()
	s.log.take(t)
	if !measures {
		return size{}
	}
	s.emptyCaches(t)
	s.log.take(t)
	for begin := time.Now(); time.Since(begin) < settleTime || runtime.NumGoroutine() > idleGoroutines && time.Since(begin) < 2*settleTime; {
		time.Sleep(100 * time.Millisecond)
	}
	return measured()
}

// measured returns the current memory use.
func measured() size {
	runtime.GC() // twice: pools are emptied by the second
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return size{runtime.NumGoroutine(), m.HeapAlloc}
}

func (s size) grownFrom(before size) bool {
	return s.goroutines > before.goroutines+slackGoroutines || s.heap > before.heap+slackHeap
}
