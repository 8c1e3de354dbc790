package realtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/coder/websocket"
)

// This file decodes and encodes the frames (WebSocket messages) of the Phoenix channels protocol, in its versions 1.0.0 and 2.0.0. A text
// frame of 2.0.0 is the array [join_ref, ref, topic, event, payload]. In 1.0.0 it is an object with these keys.

// Events of the protocol, by their names in supabase-js.
const (
	eventJoin        = "phx_join"         // from the client: joins a channel
	eventLeave       = "phx_leave"        // from the client: leaves a channel
	eventReply       = "phx_reply"        // to the client: the reply to one of its frames
	eventClose       = "phx_close"        // to the client: the client is no longer on the channel
	eventHeartbeat   = "heartbeat"        // from the client: the connection is alive
	eventAccessToken = "access_token"     // from the client: a new token
	eventBroadcast   = "broadcast"        // from and to the client: a message to the members of a channel
	eventPresence    = "presence"         // from the client: announces the client on a channel, or ends the announcement
	eventState       = "presence_state"   // to the client: all clients that have announced themselves
	eventDiff        = "presence_diff"    // to the client: changes of presence_state
	eventSystem      = "system"           // to the client: the status of a channel, such as an error
	eventChanges     = "postgres_changes" // to the client: a row change
)

// Kinds of binary frames, the first byte of each. Only version 2.0.0 has binary frames, and only for broadcasts.
const (
	binaryPush      = 3 // a broadcast from the client
	binaryBroadcast = 4 // a broadcast to the client
)

// Encodings of the payload of a binary frame.
const (
	encodingRaw  = 0
	encodingJSON = 1
)

// maxName is the maximum length in bytes of a topic, event or reference (ref, join_ref), because a binary frame has one byte for each
// length.
const maxName = 255

var (
	errFrame = errors.New("not a frame of this protocol")
	errText  = errors.New("text that is not UTF-8")
)

// incoming is a decoded frame from a client.
type incoming struct {
	joinRef, ref *string // ids that the client gave to its join of the channel and to this frame; nil if it gave none
	topic, event string
	payload      json.RawMessage // nil for a binary frame
	message      *message        // the broadcast in a binary frame; nil for a text frame
}

// message is a broadcast: a name that the client has chosen for the event, and a payload. The payload is JSON, or Raw bytes (only in
// version 2.0.0).
type message struct {
	Event string          `json:"event"`
	JSON  json.RawMessage `json:"json,omitempty"`
	Raw   []byte          `json:"raw,omitempty"`
}

// frame is one WebSocket message to a client.
type frame struct {
	kind websocket.MessageType
	data []byte
}

func textFrame(data []byte) frame { return frame{websocket.MessageText, data} }

// decode decodes a frame of version 2.0.0 (if v2 is true) or 1.0.0. An error means that the client violates the protocol.
func decode(v2, binary bool, data []byte) (incoming, error) {
	switch {
	case binary && v2:
		return decodePush(data)
	case binary:
		return incoming{}, errFrame
	case !utf8.Valid(data):
		return incoming{}, errText
	case v2:
		return decodeArray(data)
	default:
		return decodeObject(data)
	}
}

// decodeArray decodes a text frame of protocol 2.0.0: [join_ref, ref, topic, event, payload].
func decodeArray(data []byte) (in incoming, err error) {
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return in, err
	}
	if len(parts) != 5 {
		return in, errFrame
	}
	for i, into := range []any{&in.joinRef, &in.ref, &in.topic, &in.event} {
		if err := json.Unmarshal(parts[i], into); err != nil {
			return in, err
		}
	}
	in.payload = parts[4]
	return in, in.check()
}

// decodeObject decodes a text frame of protocol 1.0.0.
func decodeObject(data []byte) (incoming, error) {
	var o struct {
		JoinRef *string         `json:"join_ref"`
		Ref     *string         `json:"ref"`
		Topic   string          `json:"topic"`
		Event   string          `json:"event"`
		Payload json.RawMessage `json:"payload"`
	}
	if err := json.Unmarshal(data, &o); err != nil {
		return incoming{}, err
	}
	in := incoming{joinRef: o.JoinRef, ref: o.Ref, topic: o.Topic, event: o.Event, payload: o.Payload}
	return in, in.check()
}

// decodePush decodes a broadcast in a binary frame. The frame has the byte 3, the lengths of join_ref, ref, topic, event and
// metadata, the encoding, these five strings, and the payload. The metadata is ignored: it can only ask to store the
// message, which is not supported.
func decodePush(data []byte) (incoming, error) {
	const header = 7
	if len(data) < header || data[0] != binaryPush {
		return incoming{}, errFrame
	}
	encoding, rest := data[6], data[header:]
	var parts [5]string
	for i := range parts {
		n := int(data[1+i])
		if len(rest) < n || !utf8.Valid(rest[:n]) {
			return incoming{}, errFrame
		}
		parts[i], rest = string(rest[:n]), rest[n:]
	}
	in := incoming{topic: parts[2], event: eventBroadcast, message: &message{Event: parts[3]}}
	if parts[0] != "" {
		in.joinRef = &parts[0]
	}
	if parts[1] != "" {
		in.ref = &parts[1]
	}
	switch encoding {
	case encodingJSON:
		if !utf8.Valid(rest) || !json.Valid(rest) {
			return incoming{}, errFrame
		}
		in.message.JSON = rest
	case encodingRaw:
		in.message.Raw = rest
	default:
		return incoming{}, errFrame
	}
	return in, in.check()
}

// check returns an error if a name is too long to be repeated in a reply.
func (in incoming) check() error {
	for _, name := range []*string{in.joinRef, in.ref, &in.topic, &in.event} {
		if name != nil && len(*name) > maxName {
			return errFrame
		}
	}
	return nil
}

// encode returns a text frame in protocol 2.0.0 (v2) or 1.0.0. payload must be JSON.
func encode(v2 bool, joinRef, ref *string, topic, event string, payload []byte) frame {
	b := make([]byte, 0, len(payload)+len(topic)+len(event)+64)
	if v2 {
		b = fmt.Appendf(b, "[%s,%s,%s,%s,", toJSON(joinRef), toJSON(ref), toJSON(topic), toJSON(event))
		return textFrame(append(append(b, payload...), ']'))
	}
	b = fmt.Appendf(b, `{"topic":%s,"event":%s,"ref":%s`, toJSON(topic), toJSON(event), toJSON(ref))
	if joinRef != nil {
		b = fmt.Appendf(b, `,"join_ref":%s`, toJSON(joinRef))
	}
	b = append(b, `,"payload":`...)
	return textFrame(append(append(b, payload...), '}'))
}

// toJSON encodes values whose encoding cannot fail: strings, numbers, and structs, lists and maps of them.
func toJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("realtime: " + err.Error()) // values from clients have been parsed before, so they can be encoded
	}
	return data
}

// encodeMessage returns the frame of a broadcast: binary in protocol 2.0.0, JSON in 1.0.0. It returns false for raw bytes in
// 1.0.0, which cannot carry them.
func encodeMessage(v2 bool, topic string, m message) (frame, bool) {
	if v2 && len(topic) <= maxName && len(m.Event) <= maxName {
		encoding, payload := byte(encodingRaw), m.Raw
		if m.JSON != nil {
			encoding, payload = encodingJSON, m.JSON
		}
		b := make([]byte, 0, 5+len(topic)+len(m.Event)+len(payload))
		b = append(b, binaryBroadcast, byte(len(topic)), byte(len(m.Event)), 0, encoding)
		b = append(b, topic...)
		b = append(b, m.Event...)
		return frame{websocket.MessageBinary, append(b, payload...)}, true
	}
	if m.JSON == nil {
		return frame{}, false
	}
	payload := toJSON(struct {
		Type    string          `json:"type"`
		Event   string          `json:"event"`
		Payload json.RawMessage `json:"payload"`
	}{eventBroadcast, m.Event, m.JSON})
	return encode(v2, nil, nil, topic, eventBroadcast, payload), true
}
