package realtime

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// Limits of one socket.
const (
	maxFrame    = 256 << 10 // bytes of a message from a client
	maxQueue    = 512       // frames that wait for a slow reader
	maxQueued   = 8 << 20   // bytes that do
	maxChannels = 100
	maxRate     = 1000 // frames from a client in rateWindow
	rateWindow  = 5 * time.Second
	writeTime   = 10 * time.Second
	answerTime  = 15 * time.Second // for what a frame asks of the database
)

// socket is one connected client.
type socket struct {
	s       *Service
	conn    *websocket.Conn
	v2      bool
	subject string
	key     string             // what the client connected with; counts where a channel brings no token
	members map[string]*member // by the topic as the client writes it; guarded by Service.mu

	mu     sync.Mutex
	queue  []frame
	queued int // bytes
	code   websocket.StatusCode
	reason string
	over   bool
	wake   chan struct{} // something was queued
	gone   chan struct{} // closed by end
}

// WebSocket answers GET /realtime/v1/websocket: protocol 1.0.0 or 2.0.0 by vsn, with a key or token in apikey.
func (s *Service) WebSocket(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	vsn := query.Get("vsn")
	if vsn != "" && vsn != "1.0.0" && vsn != "2.0.0" {
		return errVersion
	}
	if !isHandshake(r) {
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Sec-WebSocket-Version", "13")
		return errHandshake
	}
	key := identity.BearerToken(r)
	if key == "" {
		key = r.Header.Get("apikey")
	}
	if key == "" {
		key = query.Get("apikey")
	}
	k := &socket{
		s: s, v2: vsn == "2.0.0", subject: httpx.LimitSubject(r.Context()), key: key,
		members: map[string]*member{}, wake: make(chan struct{}, 1), gone: make(chan struct{}),
	}
	if err := s.admit(k); err != nil {
		return err
	}
	defer s.dismiss(k)
	// Any origin may connect: credentials are tokens in the request, which another site cannot know.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return errHandshake.Because(err)
	}
	conn.SetReadLimit(maxFrame)
	k.conn = conn
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	var writing sync.WaitGroup
	writing.Go(func() { k.write(ctx) })
	k.read(ctx)
	k.end(0, "")
	writing.Wait()
	return nil
}

// isHandshake checks what a client must send (RFC 6455 §4.2.1). websocket.Accept does too, but answers by itself then.
func isHandshake(r *http.Request) bool {
	keys := r.Header.Values("Sec-WebSocket-Key")
	if len(keys) != 1 || !r.ProtoAtLeast(1, 1) || r.Header.Get("Sec-WebSocket-Version") != "13" {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(keys[0]))
	return err == nil && len(key) == 16 && hasToken(r.Header.Values("Connection"), "upgrade") && hasToken(r.Header.Values("Upgrade"), "websocket")
}

func hasToken(lines []string, token string) bool {
	return slices.ContainsFunc(strings.Split(strings.Join(lines, ","), ","), func(t string) bool { return strings.EqualFold(strings.TrimSpace(t), token) })
}

func (s *Service) admit(k *socket) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopping:
		return errStopping
	case len(s.sockets) >= s.cfg.MaxSockets:
		return errTooManySockets
	case s.subjects[k.subject] >= s.cfg.MaxPerAddress:
		return errTooManyHere
	}
	s.sockets[k] = struct{}{}
	s.subjects[k.subject]++
	s.running.Add(1)
	return nil
}

// dismiss forgets a socket with its channels; those who see its presences learn of it.
func (s *Service) dismiss(k *socket) {
	defer s.running.Done()
	s.mu.Lock()
	delete(s.sockets, k)
	if s.subjects[k.subject]--; s.subjects[k.subject] == 0 {
		delete(s.subjects, k.subject)
	}
	var present []*member
	for _, m := range k.members {
		s.remove(m)
		present = append(present, m)
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), writeTime)
	defer cancel()
	for _, m := range present {
		s.untrackGone(ctx, m)
	}
}

// read handles frames until the connection ends, also by silence.
func (k *socket) read(ctx context.Context) {
	window, count := time.Now(), 0
	for {
		wait, cancel := context.WithTimeout(ctx, k.s.silence)
		kind, data, err := k.conn.Read(wait)
		cancel()
		if err != nil {
			if errors.Is(err, websocket.ErrMessageTooBig) {
				k.end(websocket.StatusMessageTooBig, "message too large")
			}
			return
		}
		if now := time.Now(); now.Sub(window) > rateWindow {
			window, count = now, 0
		}
		if count++; count > maxRate {
			k.end(websocket.StatusPolicyViolation, "too many messages")
			return
		}
		in, err := decode(k.v2, kind == websocket.MessageBinary, data)
		if err != nil {
			k.end(websocket.StatusInvalidFramePayloadData, "not a frame of this protocol")
			return
		}
		wait, cancel = context.WithTimeout(ctx, answerTime)
		k.handle(wait, in)
		cancel()
	}
}

// write sends what is queued until the socket ends, and then says why.
func (k *socket) write(ctx context.Context) {
	for {
		select {
		case <-k.wake:
			if !k.flush(ctx) {
				k.end(0, "")
			}
		case <-k.gone:
			k.mu.Lock()
			code, reason := k.code, k.reason
			k.mu.Unlock()
			if code != 0 && k.flush(ctx) {
				_ = k.conn.Close(code, reason) // who has left already needs no reason
			}
			_ = k.conn.CloseNow()
			return
		}
	}
}

func (k *socket) flush(ctx context.Context) bool {
	for {
		k.mu.Lock()
		if len(k.queue) == 0 {
			k.mu.Unlock()
			return true
		}
		f := k.queue[0]
		if k.queue = k.queue[1:]; len(k.queue) == 0 {
			k.queue = nil
		}
		k.queued -= len(f.data)
		k.mu.Unlock()
		ctx, cancel := context.WithTimeout(ctx, writeTime)
		err := k.conn.Write(ctx, f.kind, f.data)
		cancel()
		if err != nil {
			return false
		}
	}
}

// send queues a frame; it never blocks. A reader that lets too much wait is dropped, so that others do not wait for it.
func (k *socket) send(f frame) {
	k.mu.Lock()
	if k.over {
		k.mu.Unlock()
		return
	}
	if len(k.queue) >= maxQueue || k.queued+len(f.data) > maxQueued {
		k.mu.Unlock()
		k.end(0, "")
		// A write that waits for the reader now would last until its time is over.
		go func() { _ = k.conn.CloseNow() }()
		return
	}
	k.queue = append(k.queue, f)
	k.queued += len(f.data)
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default: // the writer is going to look anyway
	}
}

// end closes the socket, with a code or, with 0, without a word. The first call counts.
func (k *socket) end(code websocket.StatusCode, reason string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		return
	}
	k.over, k.code, k.reason = true, code, reason
	close(k.gone)
}

// handle answers one frame.
func (k *socket) handle(ctx context.Context, in incoming) {
	if in.topic == "phoenix" {
		if in.event == eventHeartbeat {
			k.reply(in, "ok", struct{}{})
		}
		return
	}
	switch in.event {
	case eventJoin:
		k.join(ctx, in)
		return
	case eventLeave:
		k.leave(ctx, in)
		return
	}
	k.s.mu.Lock()
	m := k.members[in.topic]
	k.s.mu.Unlock()
	switch {
	case m == nil:
		k.refuse(in, "unmatched topic")
	case in.event == eventAccessToken:
		k.renew(ctx, m, in)
	case in.event == eventBroadcast:
		k.broadcast(ctx, m, in)
	case in.event == eventPresence:
		k.presence(ctx, m, in)
	default:
		k.refuse(in, "unsupported event")
	}
}

// reply answers a push of the client; one without a reference expects no answer.
func (k *socket) reply(in incoming, status string, response any) {
	if in.ref == nil {
		return
	}
	k.send(encode(k.v2, in.joinRef, in.ref, in.topic, eventReply, toJSON(struct {
		Status   string `json:"status"`
		Response any    `json:"response"`
	}{status, response})))
}

func (k *socket) refuse(in incoming, reason string) {
	k.reply(in, "error", struct {
		Reason string `json:"reason"`
	}{reason})
}
