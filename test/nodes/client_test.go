//go:build !race

package nodes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// client sends all calls.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32, DisableCompression: true}}

// errBroken means that the connection broke or the node died: the request may or may not have been processed.
var errBroken = errors.New("broken")

// call is a request; bearer is a key or an access token.
type call struct {
	method, url, bearer string
	header              map[string]string
	body                []byte
}

type response struct {
	status int
	header http.Header
	body   []byte
}

// send sends the request. It returns errBroken if a client would have to retry it.
func (c call) send(ctx context.Context) (*response, error) {
	r, err := http.NewRequestWithContext(ctx, c.method, c.url, bytes.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("apikey", c.bearer)
	r.Header.Set("Authorization", "Bearer "+c.bearer)
	for name, value := range c.header {
		r.Header.Set(name, value)
	}
	res, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	if res.Header.Get(brokenHeader) != "" { // the balancer has responded, because the node died
		return nil, errBroken
	}
	return &response{res.StatusCode, res.Header, body}, nil
}

// must sends a request to a running node and fails the test unless the status is want.
func (c call) must(t *testing.T, want int) *response {
	t.Helper()
	a, err := c.send(t.Context())
	if err != nil {
		t.Fatalf("%s %s: %v", c.method, c.url, err)
	}
	if a.status != want {
		t.Fatalf("%s %s: %d instead of %d: %s", c.method, c.url, a.status, want, a.body)
	}
	return a
}

func (a *response) read(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal(a.body, into); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
}

func jsonOf(a *response, into any) error {
	if err := json.Unmarshal(a.body, into); err != nil {
		return fmt.Errorf("%w: %s", err, a.body)
	}
	return nil
}

func toJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of strings cannot fail
	}
	return text
}

// watcher is a socket that is subscribed to one kind of changes of one table.
type watcher struct{ conn *websocket.Conn }

// watch is watchTable for products and an anonymous visitor.
func watch(ctx context.Context, url, key string) (*watcher, error) {
	return watchTable(ctx, url, key, key, "INSERT", "products")
}

// watchTable connects and returns when the subscription is confirmed: every later commit is delivered. token is that of the caller, and
// event is INSERT or UPDATE.
func watchTable(ctx context.Context, url, key, token, event, table string) (*watcher, error) {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(url, "http")+"/realtime/v1/websocket?vsn=2.0.0&apikey="+key, nil) //nolint:bodyclose // Dial's own promise: there is nothing to close
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(16 << 20)
	w := &watcher{conn}
	join := fmt.Sprintf(`["1","1","realtime:works","phx_join",{"config":{"postgres_changes":[{"event":%q,"schema":"public","table":%q}]},"access_token":%q}]`, event, table, token)
	if err := conn.Write(ctx, websocket.MessageText, []byte(join)); err != nil {
		return nil, errors.Join(err, conn.CloseNow())
	}
	for {
		event, payload, err := w.next(ctx)
		if err != nil {
			return nil, errors.Join(err, conn.CloseNow())
		}
		if event == "system" {
			if !bytes.Contains(payload, []byte(`"status":"ok"`)) {
				return nil, errors.Join(fmt.Errorf("not subscribed: %s", payload), conn.CloseNow())
			}
			return w, nil
		}
	}
}

// errFrame is a wrong message of the server, as opposed to a broken connection.
var errFrame = errors.New("wrong message of the server")

func isClosed(err error) bool { return !errors.Is(err, errFrame) }

func (w *watcher) next(ctx context.Context) (event string, payload json.RawMessage, err error) {
	_, data, err := w.conn.Read(ctx)
	if err != nil {
		return "", nil, err
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil || len(parts) != 5 {
		return "", nil, fmt.Errorf("%w: %s", errFrame, data)
	}
	return strings.Trim(string(parts[3]), `"`), parts[4], nil
}

// inserted returns the id of the next row that is reported.
func (w *watcher) inserted(ctx context.Context) (string, error) {
	var row struct {
		ID string `json:"id"`
	}
	err := w.changed(ctx, &row)
	if err == nil && row.ID == "" {
		err = fmt.Errorf("%w: a row without its id", errFrame)
	}
	return row.ID, err
}

// changed reads the next row that is reported into a struct.
func (w *watcher) changed(ctx context.Context, row any) error {
	for {
		event, payload, err := w.next(ctx)
		if err != nil {
			return err
		}
		if event != "postgres_changes" {
			continue
		}
		var p struct {
			Data struct {
				Record json.RawMessage `json:"record"`
			} `json:"data"`
		}
		if err := errors.Join(json.Unmarshal(payload, &p), json.Unmarshal(p.Data.Record, row)); err != nil {
			return fmt.Errorf("%w: a change without its row: %s", errFrame, payload)
		}
		return nil
	}
}
