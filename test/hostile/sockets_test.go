package hostile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"atelie/internal/identity"
)

const framesPerSocket = 50

// attackSockets sends frames over sockets, framesPerSocket over each, and inserts hidden rows meanwhile.
func (s *site) attackSockets(t *testing.T, who []string, from, to int, outside bool) {
	t.Helper()
	begun := time.Now()
	var wait sync.WaitGroup
	failures := make(chan string, to-from+workers)
	for w := range workers {
		wait.Go(func() {
			for i := from/framesPerSocket + w; i < to/framesPerSocket; i += workers {
				g := s.generator(len(surfaces), who, i)
				caller := pick(g, who...)
				err := s.attackSocket(g, caller, outside)
				if err != nil {
					failures <- fmt.Sprintf("socket %d as %s: %v", i, caller, err)
				}
				hidden := []map[string]any{{"client_name": canary, "message": canary, "is_active": false}}
				if err := s.app.Tables.InsertRows(context.Background(), identity.Caller{Role: identity.Service}, "reviews", hidden); err != nil {
					failures <- err.Error()
				}
				draft := []map[string]any{{"title": canary, "published_at": nil}}
				if err := s.app.Tables.InsertRows(context.Background(), identity.Caller{Role: identity.Service}, "products", draft); err != nil {
					failures <- err.Error()
				}
			}
		})
	}
	wait.Wait()
	t.Logf("sockets: %d frames as %d callers in %s", to-from, len(who), time.Since(begun).Round(time.Millisecond))
	close(failures)
	s.show(t, "sockets", failures)
}

// attackSocket sends frames and then a heartbeat, to which the server must reply unless it has closed the connection with a reason.
func (s *site) attackSocket(g *generator, caller string, outside bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	v2 := g.chance(70)
	version := map[bool]string{true: "2.0.0", false: "1.0.0"}[v2]
	conn, _, err := websocket.Dial(ctx, "ws://"+s.address+"/realtime/v1/websocket?vsn="+version+"&apikey="+url.QueryEscape(s.keys[caller]), nil) //nolint:bodyclose // Dial's own promise: there is nothing to close
	if err != nil {
		if strings.Contains(err.Error(), "401") {
			return nil // the caller has no valid key
		}
		return err
	}
	defer func() { _ = conn.CloseNow() }() // everything needed has been read
	conn.SetReadLimit(16 << 20)
	sent := make(chan []byte, 1)
	go func() {
		var all bytes.Buffer
		defer func() { sent <- all.Bytes() }()
		for range framesPerSocket {
			binary, data := g.frame(v2)
			fmt.Fprintf(&all, "%.200q\n", data)
			kind := websocket.MessageText
			if binary {
				kind = websocket.MessageBinary
			}
			if conn.Write(ctx, kind, data) != nil {
				return // closed; the reason is read below
			}
		}
		last := `{"topic":"phoenix","event":"heartbeat","payload":{},"ref":"last"}`
		if v2 {
			last = `[null,"last","phoenix","heartbeat",{}]`
		}
		_ = conn.Write(ctx, websocket.MessageText, []byte(last)) // an error means that it is closed, which is read below
	}()
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			code := websocket.CloseStatus(err)
			if ctx.Err() != nil || code == -1 || code == websocket.StatusInternalError {
				return fmt.Errorf("%w after\n%s", err, <-sent)
			}
			return nil
		}
		if outside && bytes.Contains(data, []byte(canary)) {
			return fmt.Errorf("shows a hidden row: %s after\n%s", data, <-sent)
		}
		if bytes.Contains(data, []byte(`"last"`)) && bytes.Contains(data, []byte("phx_reply")) {
			return nil
		}
	}
}

// frame generates a frame; one that ends the connection only rarely, because later frames would not be read.
func (g *generator) frame(v2 bool) (binary bool, data []byte) {
	if g.chance(1) {
		return g.chance(50), []byte(g.text())
	}
	if v2 && g.chance(15) {
		return true, g.push()
	}
	topic := g.word("realtime:room", "realtime:room", "realtime:other", "phoenix", "realtime:", "room", strings.Repeat("a", 250))
	event := g.word("phx_join", "phx_join", "phx_join", "phx_leave", "heartbeat", "access_token", "broadcast", "presence", "postgres_changes", "phx_reply", "x")
	payload := "{}"
	switch event {
	case "phx_join":
		config := g.json(map[string]string{
			"broadcast": `{"self":true,"ack":true}`, "presence": `{"enabled":true,"key":"a"}`, "private": "false", "postgres_changes": "[" + g.entry() + "," + g.entry() + "]",
		}, []string{"broadcast", "presence", "private", "postgres_changes"})
		payload = `{"config":` + string(config) + `}`
		if g.chance(30) {
			payload = fmt.Sprintf(`{"config":%s,"access_token":%q}`, config, strings.ToValidUTF8(g.keys[pick(g, g.who...)], "?"))
		}
	case "access_token":
		payload = fmt.Sprintf(`{"access_token":%q}`, strings.ToValidUTF8(g.keys[pick(g, g.who...)], "?"))
	case "broadcast":
		payload = string(g.json(map[string]string{"type": `"broadcast"`, "event": `"said"`, "payload": `{"a":1}`}, []string{"type", "event", "payload"}))
	case "presence":
		payload = string(g.json(map[string]string{"event": `"track"`, "payload": `{"a":1}`}, []string{"event", "payload"}))
	}
	if !json.Valid([]byte(payload)) { // would end the connection
		payload = g.word("null", "1", `""`, "[]", "{}")
	}
	if v2 {
		return false, fmt.Appendf(nil, `["1","%d",%q,%q,%s]`, g.IntN(100), topic, event, payload)
	}
	return false, fmt.Appendf(nil, `{"topic":%q,"event":%q,"payload":%s,"ref":"%d","join_ref":"1"}`, topic, event, payload, g.IntN(100))
}

// entry generates a postgres_changes subscription.
func (g *generator) entry() string {
	filter := g.word("is_active", "id", "price", "tags", "title", "x", "") + "=" + g.word("eq", "neq", "lt", "gte", "in", "like", "is", "x", "") + "." + g.word("true", "1", "(a,b)", "(", "x")
	return string(g.json(map[string]string{"event": g.word(`"*"`, `"INSERT"`, `"UPDATE"`, `"x"`), "schema": g.word(`"public"`, `"auth"`, `"*"`), "table": g.word(`"reviews"`, `"contact_submissions"`, `"auth_users"`, `"*"`, `"x"`), "filter": fmt.Sprintf("%q", filter)}, []string{"event", "schema", "table", "filter"}))
}

// push generates a broadcast in a binary frame, sometimes with wrong lengths.
func (g *generator) push() []byte {
	parts := []string{"1", "2", "realtime:room", "said", ""}
	frame := []byte{3}
	for _, part := range parts {
		length := len(part)
		if g.chance(2) {
			length = g.IntN(256)
		}
		frame = append(frame, byte(length))
	}
	frame = append(frame, byte(g.IntN(2)))
	for _, part := range parts {
		frame = append(frame, part...)
	}
	return append(frame, g.json(map[string]string{"a": "1"}, []string{"a"})...)
}
