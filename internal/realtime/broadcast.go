package realtime

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// This file handles broadcasts: messages that a client sends to the members of a channel (the clients that have joined it). Clients send
// them over the WebSocket or by an HTTP request.

// sendForbiddenText is the error text for clients that send messages or presence (who is on the channel) without the right to do so.
const sendForbiddenText = "Unauthorized: Only administrators may send messages and presence on channels"

// maxMessages is the maximum number of messages in one request to Broadcast.
const maxMessages = 100

// envelope is a message to the members of a channel. Package bus carries it to all nodes (servers of the site).
type envelope struct {
	Topic   string  `json:"topic"`
	Private bool    `json:"private"`
	From    string  `json:"from,omitempty"` // id of the member who sent the message; "" for a message sent by HTTP
	Message message `json:"message"`
}

// authorizeSend reports whether the member may send messages and presence now. If not, authorizeSend replies to the client with an error.
// If the member's rights cannot be read in time, it closes the socket.
func (sock *socket) authorizeSend(ctx context.Context, m *member, in incoming) bool {
	caller, err := sock.service.withRights(ctx, sock.service.callerOf(m))
	switch {
	case err != nil:
		sock.service.dropUnverified(ctx, m, err)
		return false
	case !policy.Channel(caller):
		sock.refuse(in, sendForbiddenText)
		return false
	}
	return true
}

// handleBroadcast publishes a message from a client to all nodes. The client gets a reply if it joined the channel with the option ack,
// or if the message is refused.
func (sock *socket) handleBroadcast(ctx context.Context, m *member, in incoming) {
	if !sock.authorizeSend(ctx, m, in) {
		return
	}
	if in.message == nil { // a text frame, whose message is in the payload; for a binary frame, decode has set in.message
		var p struct {
			Event   string          `json:"event"`
			Payload json.RawMessage `json:"payload"`
		}
		if err := json.Unmarshal(in.payload, &p); err != nil {
			sock.refuse(in, "the message cannot be read")
			return
		}
		if p.Payload == nil {
			p.Payload = json.RawMessage("{}")
		}
		in.message = &message{Event: p.Event, JSON: p.Payload}
	}
	if err := sock.service.publish(ctx, kindMessage, envelope{m.topic.name, m.topic.private, m.id, *in.message}); err != nil {
		sock.service.log.Error("live changes: a message was not sent", "cause", err.Error())
		sock.refuse(in, "the message could not be sent, please try again")
		return
	}
	if m.wantsAck {
		sock.reply(in, "ok", struct{}{})
	}
}

// deliverMessage sends a message to the members of its channel on this node who may receive it.
func (s *Service) deliverMessage(ctx context.Context, e envelope) {
	for _, m := range membersOf(s, s.topics, topic{e.Topic, e.Private}) {
		if (m.id == e.From && !m.receivesOwn) || !s.mayReceive(ctx, m) {
			continue
		}
		if f, ok := encodeMessage(m.socket.v2, m.clientTopic(), e.Message); ok {
			m.socket.send(f)
		}
	}
}

// mayReceive reports whether the member may receive messages and presence now. It closes the socket of a member whose rights
// cannot be looked up.
func (s *Service) mayReceive(ctx context.Context, m *member) bool {
	if s.expired(m) {
		return false
	}
	c, err := s.withRights(ctx, s.callerOf(m))
	if err != nil {
		s.dropUnverified(ctx, m, err)
		return false
	}
	return policy.Channel(c)
}

// Broadcast handles POST /realtime/v1/api/broadcast, by which supabase-js sends messages (channel.send) while its
// channel is not connected.
func (s *Service) Broadcast(w http.ResponseWriter, r *http.Request) error {
	if !policy.Channel(identity.Of(r.Context())) {
		return errForbidden
	}
	var body struct {
		Messages []struct {
			Topic   string          `json:"topic"`
			Event   string          `json:"event"`
			Payload json.RawMessage `json:"payload"`
			Private bool            `json:"private"`
		} `json:"messages"`
	}
	if err := httpx.DecodeJSON(w, r, maxFrame, &body); err != nil {
		return err
	}
	if len(body.Messages) == 0 || len(body.Messages) > maxMessages {
		return errInvalid("messages must contain 1 to 100 messages")
	}
	envelopes := make([]envelope, len(body.Messages))
	for i, m := range body.Messages {
		if m.Payload == nil {
			m.Payload = json.RawMessage("{}")
		}
		if !utf8.Valid(m.Payload) {
			return httpx.ErrBadJSON
		}
		envelopes[i] = envelope{Topic: m.Topic, Private: m.Private, Message: message{Event: m.Event, JSON: m.Payload}}
		if err := envelopes[i].check(); err != nil {
			return err
		}
	}
	for _, e := range envelopes {
		if err := s.publish(r.Context(), kindMessage, e); err != nil {
			return err
		}
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// SendEvent handles POST /realtime/v1/api/broadcast/{topic}/events/{event}, by which supabase-js sends one message
// (channel.httpSend). The body is the payload: JSON, or with the type application/octet-stream raw bytes.
func (s *Service) SendEvent(w http.ResponseWriter, r *http.Request) error {
	if !policy.Channel(identity.Of(r.Context())) {
		return errForbidden
	}
	query := r.URL.Query()
	if query.Has("persist") || query.Has("persist[ttl]") {
		return errPersist
	}
	payload, err := httpx.ReadBody(w, r, maxFrame)
	if err != nil {
		return err
	}
	e := envelope{Topic: r.PathValue("topic"), Private: query.Get("private") == "true", Message: message{Event: r.PathValue("event")}}
	switch {
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/octet-stream"):
		e.Message.Raw = payload
	case !utf8.Valid(payload) || !json.Valid(payload):
		return httpx.ErrBadJSON
	default:
		e.Message.JSON = payload
	}
	if err := e.check(); err != nil {
		return err
	}
	if err := s.publish(r.Context(), kindMessage, e); err != nil {
		return err
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// check returns an error if the topic or event cannot be a name in the protocol.
func (e envelope) check() error {
	for _, name := range []string{topicPrefix + e.Topic, e.Message.Event} {
		if len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
			return errInvalid("topic and event must be plain text of at most 255 bytes")
		}
	}
	if e.Topic == "" || e.Message.Event == "" {
		return errInvalid("topic and event must not be empty")
	}
	return nil
}
