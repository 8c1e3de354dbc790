package realtime

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// This file accepts the WebSocket connections of clients, reads and writes their frames, and closes them.

// Limits of one socket. If a client exceeds maxChannels, its join is refused. After frameTimeout, the handling of the frame is cancelled.
// If any other limit is exceeded, the socket is closed.
const (
	maxFrame        = 256 << 10        // bytes of one frame from the client
	maxQueuedFrames = 512              // frames that wait to be sent, because the client reads slowly
	maxQueuedBytes  = 8 << 20          // total size of the queued frames
	maxChannels     = 100              // channels that the client may join
	maxRate         = 1000             // frames from the client in Service.rateWindow
	writeTimeout    = 10 * time.Second // limits the writing of one frame
	frameTimeout    = 15 * time.Second // limits the handling of one frame from the client, with its database queries
)

// socket is the WebSocket connection of one client. One goroutine reads its frames (method read), another one writes the queued frames
// (method write).
type socket struct {
	service      *Service
	conn         *websocket.Conn
	v2           bool               // whether the client uses version 2.0.0 of the Phoenix channels protocol, and not 1.0.0
	limitSubject string             // the client's IPv4 address or IPv6 /64 network, for the limit of connections
	credential   string             // API key or token of the HTTP request, for channels that the client joins without a token
	members      map[string]*member // the client's memberships of channels, by the topic as the client writes it; guarded by Service.mu

	wake chan struct{} // receives a value when a frame was queued, so that write writes it
	done chan struct{} // closed by the method close

	// mu guards the fields below.
	mu          sync.Mutex
	queue       []frame              // frames to write, oldest first
	queuedBytes int                  // total size of the queued frames
	closed      bool                 // close was called
	closeCode   websocket.StatusCode // status of the close frame; 0 if none is sent
	closeReason string               // text of the close frame
}

// WebSocket handles GET /realtime/v1/websocket. The parameter vsn selects the version of the protocol, 1.0.0 (the default) or 2.0.0. The
// API key or token is in a header or in the parameter apikey.
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
	sock := &socket{
		service: s, v2: vsn == "2.0.0", limitSubject: httpx.LimitSubject(r.Context()),
		credential: cmp.Or(identity.BearerToken(r), r.Header.Get("apikey"), query.Get("apikey")),
		members:    map[string]*member{}, wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	if err := s.register(sock); err != nil {
		return err
	}
	defer s.unregister(sock)
	// Pages of any origin may connect: the request must contain a token, which another site does not have.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return errHandshake.Because(err)
	}
	conn.SetReadLimit(maxFrame)
	sock.conn = conn
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	var writing sync.WaitGroup
	writing.Go(func() { sock.write(ctx) })
	sock.read(ctx)
	sock.close(0 /* no close frame */, "")
	writing.Wait()
	return nil
}

// isHandshake reports whether a request is a valid WebSocket handshake (RFC 6455 §4.2.1). websocket.Accept also checks this,
// but its own response to an invalid request is not in this surface's error format.
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

// register adds a socket, or returns an error if the node stops or a limit of connections is reached.
func (s *Service) register(sock *socket) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopping:
		return errStopping
	case len(s.sockets) >= s.cfg.MaxSockets:
		return errTooManySockets
	case s.socketCounts[sock.limitSubject] >= s.cfg.MaxPerIP:
		return errTooManyFromIP
	}
	s.sockets[sock] = struct{}{}
	s.socketCounts[sock.limitSubject]++
	s.running.Add(1)
	return nil
}

// unregister removes a socket with its members and their presences.
func (s *Service) unregister(sock *socket) {
	defer s.running.Done()
	s.mu.Lock()
	delete(s.sockets, sock)
	if s.socketCounts[sock.limitSubject]--; s.socketCounts[sock.limitSubject] == 0 {
		delete(s.socketCounts, sock.limitSubject)
	}
	present := slices.Collect(maps.Values(sock.members))
	for _, m := range present {
		s.removeMember(m)
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	for _, m := range present {
		s.untrackMember(ctx, m)
	}
}

// read handles the frames of the client until the connection ends, or until no frame arrives for heartbeatTimeout.
func (sock *socket) read(ctx context.Context) {
	window, count := time.Now(), 0
	for {
		wait, cancel := context.WithTimeout(ctx, sock.service.heartbeatTimeout)
		kind, data, err := sock.conn.Read(wait)
		cancel()
		if err != nil {
			if errors.Is(err, websocket.ErrMessageTooBig) {
				sock.close(websocket.StatusMessageTooBig, "message too large")
			}
			return
		}
		if now := time.Now(); now.Sub(window) > sock.service.rateWindow {
			window, count = now, 0
		}
		if count++; count > maxRate {
			sock.close(websocket.StatusPolicyViolation, "too many messages")
			return
		}
		in, err := decode(sock.v2, kind == websocket.MessageBinary, data)
		if err != nil {
			sock.close(websocket.StatusInvalidFramePayloadData, "not a frame of this protocol")
			return
		}
		wait, cancel = context.WithTimeout(ctx, frameTimeout)
		sock.handle(wait, in)
		cancel()
	}
}

// write writes queued frames until the socket ends. Then it closes the connection with the code and reason of close.
func (sock *socket) write(ctx context.Context) {
	for {
		select {
		case <-sock.wake:
			if !sock.flush(ctx) {
				sock.close(0, "")
			}
		case <-sock.done:
			sock.mu.Lock()
			code, reason := sock.closeCode, sock.closeReason
			sock.mu.Unlock()
			if code != 0 && sock.flush(ctx) {
				_ = sock.conn.Close(code, reason) // an error means that the client has gone
			}
			_ = sock.conn.CloseNow()
			return
		}
	}
}

// flush writes all queued frames. It returns false if a write fails.
func (sock *socket) flush(ctx context.Context) bool {
	for {
		sock.mu.Lock()
		if len(sock.queue) == 0 {
			sock.mu.Unlock()
			return true
		}
		f := sock.queue[0]
		if sock.queue = sock.queue[1:]; len(sock.queue) == 0 {
			sock.queue = nil
		}
		sock.queuedBytes -= len(f.data)
		sock.mu.Unlock()
		ctx, cancel := context.WithTimeout(ctx, writeTimeout)
		err := sock.conn.Write(ctx, f.kind, f.data)
		cancel()
		if err != nil {
			return false
		}
	}
}

// send queues a frame and never blocks. If the client reads so slowly that the queue is full, send closes the connection, so
// that other clients do not wait for it.
func (sock *socket) send(f frame) {
	sock.mu.Lock()
	if sock.closed {
		sock.mu.Unlock()
		return
	}
	if len(sock.queue) >= maxQueuedFrames || sock.queuedBytes+len(f.data) > maxQueuedBytes {
		sock.mu.Unlock()
		sock.close(0, "")
		// Close the connection here too: the writer may be blocked in a write until writeTimeout.
		go func() { _ = sock.conn.CloseNow() }()
		return
	}
	sock.queue = append(sock.queue, f)
	sock.queuedBytes += len(f.data)
	sock.mu.Unlock()
	select {
	case sock.wake <- struct{}{}:
	default: // a wake-up is pending
	}
}

// close closes the socket with a status code and a reason. With the code 0 the connection is closed without a close frame.
// Only the first call has an effect.
func (sock *socket) close(code websocket.StatusCode, reason string) {
	sock.mu.Lock()
	defer sock.mu.Unlock()
	if sock.closed {
		return
	}
	sock.closed, sock.closeCode, sock.closeReason = true, code, reason
	close(sock.done)
}

// handle handles one frame from the client.
func (sock *socket) handle(ctx context.Context, in incoming) {
	if in.topic == "phoenix" {
		if in.event == eventHeartbeat {
			sock.reply(in, "ok", struct{}{})
		}
		return
	}
	switch in.event {
	case eventJoin:
		sock.join(ctx, in)
		return
	case eventLeave:
		sock.leave(ctx, in)
		return
	}
	sock.service.mu.Lock()
	m := sock.members[in.topic]
	sock.service.mu.Unlock()
	switch {
	case m == nil:
		sock.refuse(in, "unmatched topic")
	case in.event == eventAccessToken:
		sock.renewToken(ctx, m, in)
	case in.event == eventBroadcast:
		sock.handleBroadcast(ctx, m, in)
	case in.event == eventPresence:
		sock.handlePresence(ctx, m, in)
	default:
		sock.refuse(in, "unsupported event")
	}
}

// reply sends a phx_reply to a frame of the client. A frame without a reference gets no reply.
func (sock *socket) reply(in incoming, status string, response any) {
	if in.ref == nil {
		return
	}
	sock.send(encode(sock.v2, in.joinRef, in.ref, in.topic, eventReply, toJSON(struct {
		Status   string `json:"status"`
		Response any    `json:"response"`
	}{status, response})))
}

// refuse replies to a frame of the client with an error and its reason.
func (sock *socket) refuse(in incoming, reason string) {
	sock.reply(in, "error", struct {
		Reason string `json:"reason"`
	}{reason})
}
