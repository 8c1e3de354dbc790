package realtime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/golang-jwt/jwt/v5"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// site is a node with a clock and administrators that the test controls.
type site struct {
	*Service
	t      *testing.T
	url    string
	tokens *identity.Tokens
	valid  identity.GenerationLookup // which generations of the API keys are valid

	mu      sync.Mutex
	clock   time.Time
	admins  map[string]bool
	ended   map[string]bool // sessions
	lookups []int           // the number of sessions in each look-up
	broken  bool            // look-ups fail
}

var hubTables = map[string][]db.ColumnType{
	"products":            {{Name: "id", Type: "uuid", Key: true}, {Name: "title", Type: "text"}, {Name: "price", Type: "int4"}, {Name: "published_at", Type: "timestamptz"}},
	"reviews":             {{Name: "id", Type: "uuid", Key: true}, {Name: "message", Type: "text"}, {Name: "is_active", Type: "bool"}},
	"cover_images":        {{Name: "id", Type: "uuid", Key: true}, {Name: "title", Type: "text"}, {Name: "is_active", Type: "bool"}, {Name: "visible_from", Type: "timestamptz"}, {Name: "visible_until", Type: "timestamptz"}},
	"contact_submissions": {{Name: "id", Type: "uuid", Key: true}, {Name: "message", Type: "text"}},
	"contact_replies":     {{Name: "id", Type: "uuid", Key: true}, {Name: "text", Type: "text"}},
	"commissions":         {{Name: "message_id", Type: "uuid", Key: true}, {Name: "stage", Type: "text"}},
	"commission_offers":   {{Name: "id", Type: "uuid", Key: true}, {Name: "price_text", Type: "text"}},
	"commission_reviews":  {{Name: "message_id", Type: "uuid", Key: true}, {Name: "message", Type: "text"}},
	"saved_replies":       {{Name: "id", Type: "uuid", Key: true}, {Name: "title", Type: "text"}},
	"user_roles":          {{Name: "user_id", Type: "uuid", Key: true}, {Name: "role", Type: "text"}},
}

const (
	owner   = "11111111-1111-4111-8111-111111111111"
	visitor = "22222222-2222-4222-8222-222222222222"
)

func newSite(t *testing.T, d *db.DB) *site { return newLimitedSite(t, d, 50, 50) }

func newLimitedSite(t *testing.T, d *db.DB, sockets, perAddress int) *site {
	t.Helper()
	s := &site{t: t, clock: time.Now(), admins: map[string]bool{owner: true}, ended: map[string]bool{}}
	s.valid = func(_ identity.Role, generation int) (bool, error) { return generation == 1, nil }
	s.tokens = identity.New(identity.Config{
		Secret:      []byte("a secret for tests, long enough to sign"),
		Generations: func(role identity.Role, generation int) (bool, error) { return s.valid(role, generation) },
	}, s.now)
	sessionStatuses := func(_ context.Context, sessions []identity.Session) ([]identity.SessionStatus, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.broken {
			return nil, errors.New("the database is away")
		}
		s.lookups = append(s.lookups, len(sessions))
		list := make([]identity.SessionStatus, len(sessions))
		for i, of := range sessions {
			list[i] = identity.SessionStatus{Alive: !s.ended[of.ID], Admin: s.admins[of.UserID] && of.AAL == "aal2"}
		}
		return list, nil
	}
	isAdmin := func(_ context.Context, user, _ string) (bool, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.admins[user], nil
	}
	var err error
	s.Service, err = New(t.Context(), d, s.tokens, sessionStatuses, Config{hubTables, sockets, perAddress}, slog.New(slog.DiscardHandler), s.now)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	mux := http.NewServeMux()
	guard := httpx.Guard(&identity.Authenticator{Tokens: s.tokens, IsAdmin: isAdmin}, WriteError)
	mux.Handle("GET /realtime/v1/websocket", guard(httpx.Handle(WriteError, s.WebSocket)))
	mux.Handle("POST /realtime/v1/api/broadcast", guard(httpx.Handle(WriteError, s.Broadcast)))
	mux.Handle("POST /realtime/v1/api/broadcast/{topic}/events/{event}", guard(httpx.Handle(WriteError, s.SendEvent)))
	server := httptest.NewServer(httpx.Log(slog.New(slog.DiscardHandler), nil, nil)(mux))
	s.url = server.URL
	t.Cleanup(func() {
		s.Stop()
		server.Close()
		cancel()
		running.Wait()
	})
	return s
}

func (s *site) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock
}

func (s *site) advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock = s.clock.Add(d)
}

func (s *site) set(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
}

// token signs a token for anon, service, the id of a user, or user/session. It expires after an hour by default.
func (s *site) token(who string, life ...time.Duration) string {
	s.t.Helper()
	end := time.Hour
	if len(life) > 0 {
		end = life[0]
	}
	who, session, _ := strings.Cut(who, "/")
	claims := jwt.MapClaims{"role": "authenticated", "sub": who, "session_id": session, "aal": "aal2", "exp": s.now().Add(end).Unix()}
	switch who {
	case "anon":
		claims = jwt.MapClaims{"role": "anon", "exp": s.now().AddDate(1, 0, 0).Unix()}
	case "service":
		claims = jwt.MapClaims{"role": "service_role", "exp": s.now().AddDate(1, 0, 0).Unix()}
	}
	token, err := s.tokens.Sign(claims)
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// client is a connection with protocol 2.0.0.
type client struct {
	t    *testing.T
	conn *websocket.Conn
}

func (s *site) dial(key string) (*client, int, error) {
	conn, response, err := websocket.Dial(context.Background(), "ws"+strings.TrimPrefix(s.url, "http")+"/realtime/v1/websocket?vsn=2.0.0&apikey="+key, nil) //nolint:bodyclose // Dial's own promise: there is nothing to close
	if err != nil {
		if response == nil {
			return nil, 0, err
		}
		return nil, response.StatusCode, err
	}
	conn.SetReadLimit(16 << 20)
	s.t.Cleanup(func() { _ = conn.CloseNow() })
	return &client{s.t, conn}, response.StatusCode, nil
}

func (s *site) connect() *client {
	s.t.Helper()
	c, _, err := s.dial(s.token("anon"))
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

func (c *client) write(text string) {
	c.t.Helper()
	if err := c.conn.Write(context.Background(), websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

// read returns the next frame as [join_ref, ref, topic, event, payload] without null values, or a binary frame unchanged.
func (c *client) read() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	kind, data, err := c.conn.Read(ctx)
	if err != nil {
		return "", err
	}
	if kind == websocket.MessageBinary {
		return fmt.Sprintf("binary %q", data), nil
	}
	return string(data), nil
}

// expect reads the next frame, which must contain all of the parts.
func (c *client) expect(parts ...string) string {
	c.t.Helper()
	text, err := c.read()
	if err != nil {
		c.t.Fatalf("%v instead of %q", err, parts)
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			c.t.Fatalf("%s does not hold %s", text, part)
		}
	}
	return text
}

// closed reads until the server closes the connection, and returns the status code of the close frame.
func (c *client) closed() websocket.StatusCode {
	c.t.Helper()
	for {
		if _, err := c.read(); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

// beat sends a heartbeat and expects its reply as the next frame, so no other frame has arrived before it.
func (c *client) beat() {
	c.t.Helper()
	c.write(`[null,"beat","phoenix","heartbeat",{}]`)
	c.expect(`[null,"beat","phoenix","phx_reply",{"status":"ok","response":{}}]`)
}

func (c *client) join(topic, token, config string) {
	c.t.Helper()
	c.write(fmt.Sprintf(`["1","1","realtime:%s","phx_join",{"config":%s,"access_token":%q}]`, topic, config, token))
}

// present is an owner who is on a channel's list of presences. The channel has got the presence event, so a client that joins now gets
// only the list.
func (s *site) present(topic string) *client {
	s.t.Helper()
	c := s.connect()
	c.join(topic, s.token(owner), `{"presence":{"enabled":true,"key":"me"}}`)
	c.expect(`"ok"`)
	c.expect(`"presence_state",{}`)
	c.write(`["1","2","realtime:` + topic + `","presence",{"event":"track","payload":{"at":"work"}}]`)
	frames := c.expect() + c.expect() // two frames in either order
	if !strings.Contains(frames, `"ok"`) || !strings.Contains(frames, `"presence_diff",{"joins":{"me":`) {
		s.t.Fatal(frames)
	}
	return c
}

// watch joins a channel for changes and reads the two replies.
func (c *client) watch(topic, token, entries string) string {
	c.t.Helper()
	c.join(topic, token, `{"postgres_changes":[`+entries+`]}`)
	response := c.expect(`["1","1","realtime:` + topic + `","phx_reply",{"status":"ok"`)
	c.expect(`"system",{"extension":"postgres_changes","status":"ok"`)
	return response
}

func (s *site) change(table, kind, record, old string) {
	s.t.Helper()
	if table == "products" && !strings.Contains(record+old, "published_at") {
		const published = `,"published_at":"2020-01-01T00:00:00+00:00"}`
		if record != "" {
			record = strings.TrimSuffix(record, "}") + published
		} else {
			old = strings.TrimSuffix(old, "}") + published
		}
	}
	err := s.db.WithTx(context.Background(), func(tx *db.Tx) error {
		c := db.RowChange{Table: table, Type: kind}
		if record != "" {
			c.Record = json.RawMessage(record)
		}
		if old != "" {
			c.Old = json.RawMessage(old)
		}
		return s.Record(context.Background(), tx, []db.RowChange{c})
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// Proves RT-change-2, RT-policy-1, RT-policy-4.
func TestChangesAreSentToCallersWhoMayReadTheRow(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		all := `{"event":"*","schema":"public"}`
		anon, admin, user := s.connect(), s.connect(), s.connect()
		anon.watch("t", s.token("anon"), all)
		admin.watch("t", s.token(owner), all)
		user.watch("t", s.token(visitor), all)

		s.change("products", "INSERT", `{"id":"1","title":"Romãs","price":0}`, "")
		for _, c := range []*client{anon, admin, user} {
			c.expect(`"postgres_changes",{"ids":[`, `"type":"INSERT"`, `"schema":"public","table":"products"`, `"record":{"id":"1","title":"Romãs","price":0,"published_at":"2020-01-01T00:00:00+00:00"},"errors":null`, `{"name":"price","type":"int4"}`, `"commit_timestamp":"20`)
		}
		// Hidden rows are for administrators, also when they become hidden or are deleted.
		s.change("reviews", "INSERT", `{"id":"2","message":"hidden","is_active":false}`, "")
		s.change("reviews", "UPDATE", `{"id":"2","message":"hidden","is_active":false}`, `{"id":"2"}`)
		s.change("reviews", "DELETE", "", `{"id":"2","is_active":false}`)
		s.change("contact_submissions", "INSERT", `{"id":"3","message":"for the owner"}`, "")
		s.change("contact_replies", "INSERT", `{"id":"5","text":"a visitor's reply"}`, "")
		s.change("commissions", "INSERT", `{"message_id":"3","stage":"accepted"}`, "")
		s.change("commission_offers", "UPDATE", `{"id":"5","price_text":"300 €"}`, `{"id":"5"}`)
		s.change("commission_reviews", "UPDATE", `{"message_id":"3","message":"a review that waits"}`, `{"message_id":"3"}`)
		s.change("contact_submissions", "DELETE", "", `{"id":"3"}`)
		s.change("saved_replies", "INSERT", `{"id":"6","title":"an owner's text"}`, "")
		s.change("user_roles", "INSERT", `{"user_id":"`+visitor+`","role":"friend"}`, "")
		s.change("reviews", "DELETE", "", `{"id":"4","is_active":true}`)
		admin.expect(`"INSERT"`, "hidden")
		admin.expect(`"UPDATE"`, "hidden", `"old_record":{"id":"2"}`)
		if text := admin.expect(`"DELETE"`, `"old_record":{"id":"2"}`, `"columns":[`); strings.Contains(text, `"record"`) || strings.Contains(text, "false") {
			t.Errorf("more than the key: %s", text)
		}
		admin.expect("for the owner")
		admin.expect(`"contact_replies"`, "a visitor's reply")
		admin.expect(`"commissions"`, "accepted")
		admin.expect(`"commission_offers"`, "300 €")
		admin.expect(`"commission_reviews"`, "a review that waits")
		admin.expect(`"contact_submissions"`, `"old_record":{"id":"3"}`)
		admin.expect(`"saved_replies"`, "an owner's text")
		user.expect(`"user_roles"`, "friend")
		for _, c := range []*client{anon, admin, user} {
			c.expect(`"DELETE"`, `"old_record":{"id":"4"}`)
			c.beat()
		}
	})
}

// Proves RT-policy-6.
//
// TestCoversOutsideOfTheirTimesAreSentToAdministratorsOnly checks that a visitor gets the change that shows a cover, and not the one that hides it.
func TestCoversOutsideOfTheirTimesAreSentToAdministratorsOnly(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		anon, user, admin := s.connect(), s.connect(), s.connect()
		anon.watch("t", s.token("anon"), `{"event":"*","schema":"public"}`)
		user.watch("t", s.token(visitor), `{"event":"*","schema":"public"}`)
		admin.watch("t", s.token(owner), `{"event":"*","schema":"public"}`)
		later, now := `"`+db.FormatTime(s.now().Add(time.Hour))+`"`, `"`+db.FormatTime(s.now())+`"`
		times := func(active, from, until string) string {
			return `"is_active":` + active + `,"visible_from":` + from + `,"visible_until":` + until + `}`
		}
		hidden := []string{
			times("true", later, "null"), times("true", "null", now), times("true", now, now), times("false", now, later), times("true", `"soon"`, later), times("true", now, `"soon"`),
			`"is_active":true,"visible_from":null}`, `"is_active":true,"visible_until":null}`,
		}
		for _, more := range hidden {
			s.change("cover_images", "INSERT", `{"id":"1","title":"hidden",`+more, "")
			s.change("cover_images", "UPDATE", `{"id":"1","title":"hidden",`+more, `{"id":"1"}`)
			s.change("cover_images", "DELETE", "", `{"id":"1",`+more)
			for _, kind := range []string{"INSERT", "UPDATE", "DELETE"} {
				admin.expect(`"` + kind + `"`)
			}
		}
		shown := []string{times("true", now, later), times("true", "null", "null"), times("true", now, "null"), times("true", "null", later)}
		for _, more := range shown {
			s.change("cover_images", "UPDATE", `{"id":"1","title":"shown",`+more, `{"id":"1"}`)
			s.change("cover_images", "DELETE", "", `{"id":"2",`+more)
		}
		for _, c := range []*client{anon, user, admin} {
			for range shown {
				c.expect(`"UPDATE"`, `"title":"shown"`)
				if text := c.expect(`"DELETE"`, `"old_record":{"id":"2"}`); strings.Contains(text, `"old_record":{"id":"2",`) {
					t.Errorf("more than the key: %s", text)
				}
			}
			c.beat()
		}
	})
}

// Proves RT-policy-5.
//
// TestUnpublishedWorksAreSentToAdministratorsOnly checks that a visitor gets the change that publishes a work, and none after it is hidden.
func TestUnpublishedWorksAreSentToAdministratorsOnly(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		anon, user, admin := s.connect(), s.connect(), s.connect()
		anon.watch("t", s.token("anon"), `{"event":"*","schema":"public"}`)
		user.watch("t", s.token(visitor), `{"event":"*","schema":"public"}`)
		admin.watch("t", s.token(owner), `{"event":"*","schema":"public"}`)
		later := `"` + db.FormatTime(s.now().Add(time.Hour)) + `"`
		now := `"` + db.FormatTime(s.now()) + `"`
		hidden := []string{"null", later, `"soon"`, `7`, `{}`}
		for _, published := range hidden {
			title := strings.ReplaceAll(published, `"`, "")
			record := `{"id":"1","title":"hidden ` + title + `","published_at":` + published + `}`
			s.change("products", "INSERT", record, "")
			s.change("products", "UPDATE", record, `{"id":"1"}`)
			s.change("products", "DELETE", "", `{"id":"1","published_at":`+published+`}`)
			for _, kind := range []string{"INSERT", "UPDATE", "DELETE"} {
				admin.expect(`"` + kind + `"`)
			}
		}
		s.change("products", "UPDATE", `{"id":"1","title":"shown","published_at":`+now+`}`, `{"id":"1"}`)
		s.change("products", "UPDATE", `{"id":"1","title":"hidden again","published_at":null}`, `{"id":"1"}`)
		s.change("products", "DELETE", "", `{"id":"2","published_at":`+now+`}`)
		for _, c := range []*client{anon, user} {
			c.expect(`"UPDATE"`, `"title":"shown"`)
			if text := c.expect(`"DELETE"`, `"old_record":{"id":"2"}`); strings.Contains(text, `"old_record":{"id":"2",`) {
				t.Errorf("more than the key: %s", text)
			}
			c.beat()
		}
		admin.expect("shown")
		admin.expect("hidden again")
		admin.expect(`"old_record":{"id":"2"}`)
	})
}

// Proves RT-join-1, RT-filter-3.
func TestJoinReplyRepeatsEntriesAndTheirFiltersApply(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		c := s.connect()
		response := c.watch("t", s.token("anon"), `{"event":"INSERT","schema":"public","table":"products","filter":"price=gt.5"},{"event":"*","schema":"*"},{"event":"UPDATE","schema":"public","table":"products","select":["price"]},{"event":"DELETE","schema":"public","table":"products","filter":"id=eq.0b0f8f0e-0000-4000-8000-000000000001"}`)
		for _, part := range []string{
			`[{"id":1000,"event":"INSERT","schema":"public","table":"products","filter":"price=gt.5"},{"id":1001,"event":"*","schema":"*"},{"id":1002,"event":"UPDATE","schema":"public","table":"products","select":["price"]},{"id":1003,`,
		} {
			if !strings.Contains(response, part) {
				t.Errorf("%s", response)
			}
		}
		id := `"id":"0b0f8f0e-0000-4000-8000-000000000001"`
		s.change("products", "INSERT", `{`+id+`,"title":"a","price":12}`, "")
		c.expect(`"ids":[1000,1001]`)
		s.change("products", "INSERT", `{`+id+`,"title":"a","price":5}`, "")
		c.expect(`"ids":[1001]`)
		s.change("products", "UPDATE", `{`+id+`,"title":"long text","price":6}`, `{`+id+`}`)
		both := c.expect(`"UPDATE"`) + c.expect(`"UPDATE"`)
		if strings.Count(both, "long text") != 1 || !strings.Contains(both, `"record":{`+id+`,"price":6}`) || !strings.Contains(both, `"ids":[1002]`) {
			t.Errorf("%s", both)
		}
		s.change("products", "DELETE", "", `{`+id+`}`)
		c.expect(`"ids":[1001,1003]`)
		s.change("products", "DELETE", "", `{"id":"0b0f8f0e-0000-4000-8000-000000000002"}`)
		c.expect(`"ids":[1001]`)
		c.beat()
	})
}

// Proves RT-join-2, RT-join-5, RT-leave-1.
func TestInvalidJoins(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		c := s.connect()
		for _, entries := range []string{
			`{"event":"*","schema":"auth"}`, `{"event":"*"}`, `{"event":"TRUNCATE","schema":"public"}`, `{"event":"*","schema":"public","table":"auth_users"}`, `{"event":"*","schema":"public","table":"products","filter":"nope=eq.1"}`,
			`{"event":"*","schema":"public","filter":"price=eq.1"}`, `{"event":"*","schema":"public","table":"products","select":["nope"]}`, strings.TrimSuffix(strings.Repeat(`{"event":"*","schema":"public"},`, maxSubscriptions+1), ","),
		} {
			c.join("t", s.token("anon"), `{"postgres_changes":[`+entries+`]}`)
			c.expect(`"phx_reply",{"status":"error","response":{"reason":"`, "postgres_changes")
		}
		c.join("t", s.token("anon"), `7`)
		c.expect(`"error"`, "payload")
		c.join("t", "x.y.z", `{}`)
		c.expect(`"error"`, "The token is not valid")
		c.join("t", s.token(owner, -time.Minute), `{}`)
		c.expect(`"error"`, "Token has expired")
		c.join("t", s.token(visitor), `{"private":true}`)
		c.expect(`"error"`, "Unauthorized")
		c.join("t", s.token(owner), `{"presence":{"key":"`+strings.Repeat("a", 256)+`"}}`)
		c.expect(`"error"`, "presence key")
		for _, topic := range []string{"other:t", "realtime:"} {
			c.write(`["1","1","` + topic + `","phx_join",{}]`)
			c.expect(`"error"`, "unmatched topic")
		}
		c.write(`["1","2","realtime:t","broadcast",{"event":"e","payload":{}}]`)
		c.expect(`"error"`, "unmatched topic")
		for i := range maxChannels {
			c.join(fmt.Sprint("t", i), s.token("anon"), `{}`)
			c.expect(`"ok"`)
		}
		c.join("one more", s.token("anon"), `{}`)
		c.expect(`"error"`, "TooManyChannels")
		c.write(`["1","9","realtime:t7","phx_leave",{}]`)
		c.expect(`["1","9","realtime:t7","phx_reply",{"status":"ok","response":{}}]`)
		c.expect(`["1","1","realtime:t7","phx_close",{}]`)
		c.join("one more", s.token("anon"), `{}`)
		c.expect(`"ok"`)
		c.join("one more", s.token("anon"), `{}`) // joins a joined channel again: the earlier member is closed
		c.expect(`["1","1","realtime:one more","phx_close",{}]`)
		c.expect(`"ok"`)
		c.write(`["1","3","realtime:one more","nonsense",{}]`)
		c.expect(`"error"`, "unsupported event")
		c.beat()
	})
}

// Proves RT-join-3, RT-token-1.
func TestExpiredTokenEndsItsChannel(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		c := s.connect()
		everything := `{"event":"*","schema":"public"}`
		c.watch("ends", s.token(owner, time.Minute), everything)
		c.watch("goes on", s.token(owner, time.Minute), everything)
		for _, same := range []string{`null`, `""`, `"sb_publishable_x"`} {
			c.write(`["1",null,"realtime:goes on","access_token",{"access_token":` + same + `}]`)
		}
		c.write(`["1","4","realtime:goes on","access_token",{"access_token":"` + s.token(owner, time.Hour) + `"}]`)
		c.beat() // no reply was sent
		s.advance(61 * time.Second)
		s.change("products", "INSERT", `{"id":"1"}`, "")
		// The ended channel gets no further event.
		rest := c.expect("realtime:") + c.expect("realtime:") + c.expect("realtime:")
		if !strings.Contains(rest, `"realtime:ends","system",{"extension":"system","status":"error","message":"Token has expired","channel":"ends"}]`) || !strings.Contains(rest, `["1","1","realtime:ends","phx_close",{}]`) || !strings.Contains(rest, `"realtime:goes on","postgres_changes"`) {
			t.Fatal(rest)
		}
		c.write(`["1","5","realtime:goes on","access_token",{"access_token":"x.y.z"}]`)
		c.expect(`"system"`, "The token is not valid")
		c.expect(`phx_close`)
		c.beat()
	})
}

// Proves RT-token-3.
func TestLosingTheRoleEndsDelivery(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		c := s.connect()
		c.watch("t", s.token(owner), `{"event":"*","schema":"public","table":"contact_submissions"}`)
		s.change("contact_submissions", "INSERT", `{"id":"1"}`, "")
		c.expect(`postgres_changes`)
		s.set(func() { s.admins[owner] = false })
		s.advance(statusTTL)
		s.change("contact_submissions", "INSERT", `{"id":"2"}`, "")
		c.expect(`"system"`, "Access was revoked")
		c.expect("phx_close")
		c.beat()
	})
}

// Proves A-keys-5.
func TestRevokedKeyEndsItsChannels(t *testing.T) {
	s := newSite(t, dbtest.Open(t, db.SQLite))
	revoked := false
	s.valid = func(role identity.Role, generation int) (bool, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return generation == 1 && (!revoked || role != identity.Service), nil
	}
	c := s.connect()
	everything := `{"event":"*","schema":"public"}`
	c.watch("ends", s.token("service"), everything)
	c.watch("goes on", s.token("anon"), everything)
	s.set(func() { revoked = true })
	s.recheckSessions(t.Context())
	c.expect(`"realtime:ends","system"`, "Access was revoked")
	c.expect(`"realtime:ends","phx_close"`)
	c.beat()
	s.change("products", "INSERT", `{"id":"1"}`, "")
	c.expect(`"realtime:goes on","postgres_changes"`)
}

// Proves RT-token-5, RT-token-3.
func TestChannelEndsWithItsSession(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		const products = `{"event":"*","schema":"public","table":"products"}`
		ended, other, none := s.connect(), s.connect(), s.connect()
		ended.watch("t", s.token(visitor+"/s1"), products)
		other.watch("t", s.token(visitor+"/s2"), products)
		other.watch("u", s.token(visitor+"/s2"), products)
		none.watch("t", s.token("anon"), products)
		s.set(func() { s.ended["s1"], s.lookups = true, nil })
		ended.expect(`"system"`, `"error"`, "Access was revoked")
		ended.expect("phx_close")
		s.change("products", "INSERT", `{"id":"1"}`, "")
		for _, c := range []*client{other, other, none} {
			c.expect("postgres_changes")
		}
		ended.beat() // it has got nothing more
		// One read of the statuses serves all channels, and an ended session is not read again.
		s.set(func() {
			if len(s.lookups) == 0 || s.lookups[0] != 2 {
				t.Errorf("queries about %v sessions", s.lookups)
			}
		})
		ended.join("t", s.token(visitor+"/s1"), `{}`)
		ended.expect("phx_reply", `"error"`, "Access was revoked")
		// A new token of an ended session ends the channel too.
		other.write(`["1","9","realtime:t","access_token",{"access_token":"` + s.token(visitor+"/s1") + `"}]`)
		other.expect(`"system"`, "Access was revoked")
	})
}

// Proves RT-token-6.
func TestGainingTheRoleStartsDelivery(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		present, c := s.present("room"), s.connect()
		c.join("room", s.token(visitor), `{"presence":{"key":"you","enabled":true}}`)
		c.expect(`"ok"`)
		s.set(func() { s.admins[visitor] = true })
		c.expect("presence_state", `"at":"work"`)
		present.write(`["1","3","realtime:room","broadcast",{"type":"broadcast","event":"move","payload":{"x":1}}]`)
		c.expect("move")
		s.set(func() { s.admins[visitor] = false })
		c.expect(`"system"`, "Access was revoked")
	})
}

// Proves RT-presence-3.
//
// A page that joins before the owner has signed in sends the token afterwards.
func TestOwnerTokenSendsThePresenceState(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.present("room")
		c := s.connect()
		c.join("room", s.token("anon"), `{"presence":{"key":"you","enabled":true}}`)
		c.expect(`"ok"`)
		c.write(`["1",null,"realtime:room","access_token",{"access_token":"` + s.token(owner) + `"}]`)
		c.expect("presence_state", `"at":"work"`)
	})
}

// Proves RT-presence-2.
//
// The role can end while a presence is being stored.
func TestPresenceEndsWithTheChannel(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		m := &member{topic: topic{name: "room"}, presenceKey: "me", left: true}
		if err := s.track(t.Context(), m, nil); err != nil {
			t.Fatal(err)
		}
		if list, err := listPresences(t.Context(), d, m.topic); err != nil || len(list) != 0 {
			t.Errorf("%v, %v", list, err)
		}
	})
}

// Proves RT-token-4.
func TestFailedRightsLookupClosesTheSocket(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		c := s.connect()
		c.watch("t", s.token(owner), `{"event":"*","schema":"public"}`)
		s.set(func() { s.broken = true })
		s.advance(statusTTL)
		s.change("contact_submissions", "INSERT", `{"id":"1"}`, "")
		if code := c.closed(); code != websocket.StatusTryAgainLater {
			t.Errorf("closed with %d", code)
		}
	})
}

// Proves RT-join-4, RT-broadcast-1, RT-broadcast-2, RT-broadcast-4.
func TestMessages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		sender, receiver, secret, nobody := s.connect(), s.connect(), s.connect(), s.connect()
		sender.join("room", s.token(owner), `{"broadcast":{"self":true,"ack":true}}`)
		receiver.join("room", s.token("service"), `{}`)
		secret.join("room", s.token(owner), `{"private":true}`)
		nobody.join("room", s.token(visitor), `{"broadcast":{"self":true,"ack":true}}`)
		for _, c := range []*client{sender, receiver, secret, nobody} {
			c.expect(`"ok"`)
		}
		sender.write(`["1","2","realtime:room","broadcast",{"type":"broadcast","event":"move","payload":{"x":1}}]`)
		got := sender.expect() + sender.expect()
		frame := fmt.Sprintf("binary %q", "\x04\x0d\x04\x00\x01realtime:roommove"+`{"x":1}`)
		if !strings.Contains(got, `["1","2","realtime:room","phx_reply",{"status":"ok"`) || !strings.Contains(got, frame) {
			t.Errorf("%s", got)
		}
		receiver.expect(frame)
		if err := receiver.conn.Write(t.Context(), websocket.MessageBinary, push("1", "3", "realtime:room", "raw", "", encodingRaw, "\x00\xff")); err != nil {
			t.Fatal(err)
		}
		sender.expect(fmt.Sprintf("binary %q", "\x04\x0d\x03\x00\x00realtime:roomraw\x00\xff"))
		receiver.beat() // a sender does not get its own message, and no reply without ack
		nobody.write(`["1","2","realtime:room","broadcast",{"event":"move","payload":{}}]`)
		nobody.expect(`"error"`, "Only administrators")
		nobody.write(`["1","3","realtime:room","presence",{"event":"track","payload":{}}]`)
		nobody.expect(`"error"`, "Only administrators")

		post := func(who, path, contentType, body string) int {
			r, err := http.NewRequest(http.MethodPost, s.url+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+s.token(who))
			r.Header.Set("Content-Type", contentType)
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(response.Body)
			if err = errors.Join(err, response.Body.Close()); err != nil || (response.StatusCode != 202 && !bytes.Contains(text, []byte(`"message"`))) {
				t.Errorf("%s %v", text, err)
			}
			return response.StatusCode
		}
		const all, one = "/realtime/v1/api/broadcast", "/realtime/v1/api/broadcast/room/events/e"
		for _, c := range []struct {
			who, path, contentType, body string
			want                         int
		}{
			{"anon", all, "application/json", `{"messages":[{"topic":"room","event":"e","payload":{}}]}`, 403},
			{visitor, one, "application/json", `{}`, 403},
			{owner, all, "application/json", `{"messages":[]}`, 422},
			{owner, all, "application/json", `{"messages":[{"topic":"","event":"e"}]}`, 422},
			{owner, all, "application/json", `{"messages":[{"topic":"a\u0000","event":"e"}]}`, 422},
			{owner, all, "application/json", `{`, 400},
			{owner, one, "application/json", `{`, 400},
			{owner, one + "?persist=true&private=true", "application/json", `{}`, 422},
			{owner, one, "application/json", `"` + strings.Repeat("a", maxFrame) + `"`, 413},
			{owner, all, "application/json", `{"messages":[{"topic":"room","event":"e","payload":{"y":2}},{"topic":"room","event":"e","payload":{"y":3},"private":true}]}`, 202},
			{owner, one, "application/octet-stream", "\xff", 202},
			{"service", one + "?private=true", "application/json", `{"y":4}`, 202},
		} {
			if got := post(c.who, c.path, c.contentType, c.body); got != c.want {
				t.Errorf("%s %s %.40s: %d", c.who, c.path, c.body, got)
			}
		}
		receiver.expect("binary", "y", "2")
		receiver.expect("binary", `\xff`)
		secret.expect("binary", "3")
		secret.expect("binary", "4")
		for _, c := range []*client{receiver, secret, nobody} {
			c.beat()
		}
	})
}

// Proves RT-presence-1, RT-presence-2.
func TestPresence(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		a, b, blind := s.connect(), s.connect(), s.connect()
		a.join("room", s.token(owner), `{"presence":{"enabled":true,"key":"a"}}`)
		a.expect(`"ok"`)
		a.expect(`"presence_state",{}`)
		a.write(`["1","2","realtime:room","presence",{"event":"track","payload":{"mood":"calm"}}]`)
		got := a.expect() + a.expect()
		if !strings.Contains(got, `["1","2","realtime:room","phx_reply",{"status":"ok"`) || !strings.Contains(got, `"presence_diff",{"joins":{"a":{"metas":[{"mood":"calm","phx_ref":"`) {
			t.Fatal(got)
		}
		b.join("room", s.token(owner), `{"presence":{"enabled":true,"key":"b"}}`)
		b.expect(`"ok"`)
		b.expect(`"presence_state",{"a":{"metas":[{"mood":"calm"`)
		blind.join("room", s.token("anon"), `{"presence":{"enabled":true}}`)
		blind.expect(`"ok"`)
		blind.beat()
		a.write(`["1","3","realtime:room","presence",{"event":"track","payload":{"mood":"wild"}}]`)
		b.expect(`"joins":{"a":{"metas":[{"mood":"wild"`, `"leaves":{"a":{"metas":[{"mood":"calm"`)
		a.write(`["1","4","realtime:room","presence",{"event":"untrack"}]`)
		b.expect(`"joins":{}`, `"leaves":{"a":{"metas":[{"mood":"wild"`)
		a.write(`["1","5","realtime:room","presence",{"event":"track","payload":{"mood":"gone soon"}}]`)
		b.expect(`gone soon`)
		if err := a.conn.CloseNow(); err != nil {
			t.Fatal(err)
		}
		b.expect(`"joins":{}`, `"leaves":{"a":{"metas":[{"mood":"gone soon"`)
		b.write(`["1","6","realtime:room","presence",{"event":"wave"}]`)
		b.expect(`"error"`)
		b.write(`["1","7","realtime:room","presence",{"event":"track","payload":{"a":"` + strings.Repeat("a", maxPresencePayload) + `"}}]`)
		b.expect(`"error"`, "16 KiB")

		// The presences of a node that does not renew them expire. Those of this node stay.
		b.write(`["1","8","realtime:room","presence",{"event":"track","payload":{}}]`)
		b.expect()
		b.expect()
		ghost := presenceRow{ref: "33333333-3333-4333-8333-333333333333", key: "ghost", topic: topic{"room", false}, meta: json.RawMessage(`{"phx_ref":"x"}`)}
		if err := d.WithTx(t.Context(), func(tx *db.Tx) error { return insertPresence(t.Context(), tx, ghost, s.node, s.now()) }); err != nil {
			t.Fatal(err)
		}
		s.advance(presenceTTL + time.Second)
		if err := s.renewPresences(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.expect(`"leaves":{"ghost":{"metas":[{"phx_ref":"x"}]}}`)
		b.beat()
	})
}

// Proves RT-connect-2, RT-connect-4.
func TestSocketLimits(t *testing.T) {
	s := newLimitedSite(t, dbtest.Open(t, db.SQLite), 3, 2)
	s.connect()
	second := s.connect()
	if _, status, err := s.dial(s.token("anon")); err == nil || status != http.StatusTooManyRequests {
		t.Errorf("a third connection from one IP address: %d", status)
	}
	if err := second.conn.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); s.Sockets() > 1; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the closed connection still counts")
		}
	}
	s.connect()
	s.Service.mu.Lock()
	s.cfg.MaxSockets = 2
	s.cfg.MaxPerIP = 9
	s.Service.mu.Unlock()
	if _, status, err := s.dial(s.token("anon")); err == nil || status != http.StatusServiceUnavailable {
		t.Errorf("too many in all: %d", status)
	}
	for _, key := range []string{"", "x.y.z"} {
		if _, status, err := s.dial(key); err == nil || status != http.StatusUnauthorized {
			t.Errorf("key %q: %d", key, status)
		}
	}
	handshake := func(without, with string) http.Header {
		h := http.Header{"Connection": {"keep-alive, Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}}
		if h.Del(without); with != "" {
			h.Set(without, with)
		}
		return h
	}
	for _, c := range []struct {
		query string
		want  int
		http.Header
	}{
		{"vsn=3.0.0", 400, http.Header{}}, {"vsn=2.0.0", 426, http.Header{}}, {"", 426, handshake("Connection", "")}, {"", 426, handshake("Upgrade", "h2c")},
		{"", 426, handshake("Sec-WebSocket-Version", "12")}, {"", 426, handshake("Sec-WebSocket-Key", "")}, {"", 426, handshake("Sec-WebSocket-Key", "c2hvcnQ=")},
	} {
		r, err := http.NewRequest(http.MethodGet, s.url+"/realtime/v1/websocket?"+c.query+"&apikey="+s.token("anon"), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = c.Header
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		var body map[string]string
		err = json.NewDecoder(response.Body).Decode(&body)
		if err := errors.Join(err, response.Body.Close()); err != nil || response.StatusCode != c.want || body["code"] == "" {
			t.Errorf("%s, %v: %d %v %v", c.query, c.Header, response.StatusCode, body, err)
		}
	}
}

// Proves RT-connect-5.
func TestBadFramesEndTheConnection(t *testing.T) {
	s := newSite(t, dbtest.Open(t, db.SQLite))
	s.rateWindow = time.Hour // a busy machine may need longer than the usual window for so many frames
	s.connect().beat()
	for name, c := range map[string]struct {
		frame string
		code  websocket.StatusCode
	}{
		"noise":     {"{", websocket.StatusInvalidFramePayloadData},
		"too large": {`["` + strings.Repeat("a", maxFrame) + `"]`, websocket.StatusMessageTooBig},
	} {
		k := s.connect()
		k.write(c.frame)
		if code := k.closed(); code != c.code {
			t.Errorf("%s: closed with %d", name, code)
		}
	}
	fast := s.connect()
	go func() { // the connection is closed during these writes
		for range maxRate + 1 {
			if fast.conn.Write(context.Background(), websocket.MessageText, []byte(`[null,null,"phoenix","heartbeat",{}]`)) != nil {
				return
			}
		}
	}()
	if code := fast.closed(); code != websocket.StatusPolicyViolation {
		t.Errorf("too fast: closed with %d", code)
	}
}

// Proves RT-connect-3.
func TestMissingHeartbeatEndsTheConnection(t *testing.T) {
	s := newSite(t, dbtest.Open(t, db.SQLite))
	s.heartbeatTimeout = 200 * time.Millisecond
	begin := time.Now()
	_ = s.connect().closed()
	if took := time.Since(begin); took < s.heartbeatTimeout {
		t.Errorf("after %s", took)
	}
}

// Proves RT-connect-6.
//
// TestOnlyTheSlowReaderIsDisconnected sends more than a queue holds to a client that reads nothing.
func TestOnlyTheSlowReaderIsDisconnected(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.rateWindow = 0 // no limit for the quick client
		slow, quick := s.connect(), s.connect()
		slow.watch("t", s.token("anon"), `{"event":"*","schema":"public"}`)
		quick.watch("t", s.token("anon"), `{"event":"*","schema":"public"}`)
		record := `{"id":"1","title":"` + strings.Repeat("a", 200_000) + `"}`
		for n := 0; n < 150 && s.Sockets() > 1; n++ { // up to 30 MB: more than the queue and the kernel's buffers
			s.change("products", "INSERT", record, "")
			quick.expect("INSERT")
			quick.beat() // on a busy machine this takes longer than the heartbeat timeout
		}
		for deadline := time.Now().Add(time.Minute); s.Sockets() > 1; {
			if time.Now().After(deadline) {
				t.Fatal("the slow reader is still there")
			}
			quick.beat()
		}
		s.change("products", "INSERT", record, "")
		quick.expect("INSERT")
	})
}

// Proves RT-connect-7.
func TestShutdownClosesSocketsWithAReason(t *testing.T) {
	s := newSite(t, dbtest.Open(t, db.SQLite))
	clients := []*client{s.connect(), s.connect()}
	clients[0].watch("t", s.token("anon"), `{"event":"*","schema":"public"}`)
	codes := make(chan websocket.StatusCode, len(clients))
	for _, c := range clients {
		go func() { codes <- c.closed() }()
	}
	s.Stop()
	for range clients {
		if code := <-codes; code != websocket.StatusGoingAway {
			t.Errorf("closed with %d", code)
		}
	}
	if _, status, err := s.dial(s.token("anon")); err == nil || status != http.StatusServiceUnavailable {
		t.Errorf("a new one: %d", status)
	}
	if n := s.Sockets(); n != 0 {
		t.Errorf("%d left", n)
	}
}

// TestGeneratedFrames sends thousands of frames that are composed of valid and broken parts of the protocol. Each connection that ends must end
// with a close frame that has a reason, the hub must keep running, and no hidden row may be sent.
func TestGeneratedFrames(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		random := rand.New(rand.NewPCG(1, 2))
		pick := func(list ...string) string { return list[random.IntN(len(list))] }
		tokens := []string{s.token("anon"), s.token(visitor), s.token(visitor, -time.Hour), "x.y.z", "", "sb_x", "\\u0000"}
		entry := func() string {
			return fmt.Sprintf(`{"event":%s,"schema":%s,"table":%s,"filter":%s,"select":%s}`, pick(`"*"`, `"INSERT"`, `"insert"`, `1`, `null`), pick(`"public"`, `"*"`, `"pg_catalog"`, `[]`),
				pick(`"reviews"`, `"contact_submissions"`, `"*"`, `""`, `null`, `"auth_users"`, `{}`), pick(`null`, `""`, `"id=eq.1"`, `"is_active=is.false"`, `"message=like.%"`, `"message=in.("`, `"\u0000=eq.1"`, `7`), pick(`null`, `[]`, `["id"]`, `["nope"]`, `"id"`))
		}
		payload := func() string {
			return pick(`{}`, `null`, `7`, `[]`, `""`, `{"config":null}`, `{"config":{"presence":{"key":7}}}`, `{"access_token":"`+tokens[random.IntN(len(tokens))]+`"}`, `{"event":"track","payload":{"a":`+strings.Repeat("[", 50)+strings.Repeat("]", 50)+`}}`,
				`{"config":{"private":`+pick("true", "false")+`,"postgres_changes":[`+entry()+`,`+entry()+`]},"access_token":"`+tokens[random.IntN(len(tokens))]+`"}`,
				`{"config":{"presence":{"enabled":true},"broadcast":{"self":true,"ack":true},"postgres_changes":[{"event":"*","schema":"public"}]}}`)
		}
		frame := func() (websocket.MessageType, []byte) {
			topic := pick("realtime:a", "realtime:b", "phoenix", "realtime:", "", "realtime:\\u0000", strings.Repeat("a", 300))
			event := pick(eventJoin, eventLeave, eventHeartbeat, eventAccessToken, eventBroadcast, eventPresence, eventReply, "nonsense")
			if random.IntN(5) == 0 {
				data := push(pick("", "1"), pick("", "2"), topic[:min(len(topic), 255)], event, pick("", "{}"), byte(random.IntN(3)), payload())
				if random.IntN(3) == 0 {
					data[random.IntN(len(data))] ^= byte(1 << random.IntN(8))
				}
				return websocket.MessageBinary, data
			}
			text := []byte(fmt.Sprintf(`[%s,%s,"%s","%s",%s]`, pick(`"1"`, `null`, `"1"`), pick(`"2"`, `null`, `"3"`), topic, event, payload()))
			if random.IntN(20) == 0 {
				text[random.IntN(len(text))] ^= byte(1 << random.IntN(8))
			}
			return websocket.MessageText, text
		}
		const hidden = "kanarie-7f3a"
		sent, ended := 0, 0
		for sent < 3000 {
			c := s.connect()
			done := make(chan error, 1)
			go func() {
				for {
					text, err := c.read()
					if err != nil {
						done <- err
						return
					}
					if strings.Contains(text, hidden) {
						done <- errors.New("a hidden row came out: " + text)
						return
					}
				}
			}()
			for range 300 {
				kind, data := frame()
				if sent++; c.conn.Write(context.Background(), kind, data) != nil {
					break
				}
				if sent%100 == 0 {
					s.change("reviews", "INSERT", `{"id":"1","message":"`+hidden+`","is_active":false}`, "")
					s.change("contact_submissions", "INSERT", `{"id":"1","message":"`+hidden+`"}`, "")
				}
			}
			_ = c.conn.Write(context.Background(), websocket.MessageText, []byte("{")) // closes the connection unless it is closed already
			err := <-done
			if code := websocket.CloseStatus(err); code == websocket.StatusInvalidFramePayloadData {
				ended++
			} else {
				t.Fatalf("after %d frames: %v", sent, err)
			}
		}
		s.connect().beat()
		t.Logf("%d frames over %d connections", sent, ended)
	})
}
