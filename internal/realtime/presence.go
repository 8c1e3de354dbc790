package realtime

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"atelie/internal/db"
)

// This file handles presence, the list of the clients that have announced themselves on a channel. The clients on the channel receive the
// list and its changes. Names in the JSON, such as phx_ref, are those of the Phoenix channels protocol (protocol.go).

// maxPresencePayload is the maximum size, in bytes, of the payload of a track or untrack message. A larger message is refused.
const maxPresencePayload = 16 << 10

// presenceRow is a row of realtime_presence: a client that has announced its presence on a channel with a track message.
type presenceRow struct {
	ref   string          // unique id of the row
	key   string          // the client's name in the list; several clients can have the same one
	topic topic           // identifies the channel
	meta  json.RawMessage // the client's description of itself: a JSON object, to which the server has added ref under the key phx_ref
}

// metas lists the descriptions of all clients with the same key, in the form that supabase-js reads.
type metas struct {
	Metas []json.RawMessage `json:"metas"`
}

// presenceDiff is a change of the presence of a channel. Package bus carries it to all nodes (servers) as an event.
type presenceDiff struct {
	Topic   string           `json:"topic"` // Topic and Private together identify the channel
	Private bool             `json:"private"`
	Joins   map[string]metas `json:"joins"`  // the clients that were added to the list, by their keys
	Leaves  map[string]metas `json:"leaves"` // the clients that were removed from the list, by their keys
}

// diff returns the event for a change of the presence of the channel.
func (t topic) diff(joins, leaves []presenceRow) presenceDiff {
	return presenceDiff{t.name, t.private, byKey(joins), byKey(leaves)}
}

// byKey returns the descriptions of the clients, grouped by their keys.
func byKey(list []presenceRow) map[string]metas {
	out := map[string]metas{}
	for _, p := range list {
		out[p.key] = metas{append(out[p.key].Metas, p.meta)}
	}
	return out
}

// handlePresence handles the client's events track (stores the client's presence) and untrack (removes it).
func (sock *socket) handlePresence(ctx context.Context, m *member, in incoming) {
	if !sock.authorizeSend(ctx, m, in) {
		return
	}
	var p struct {
		Event   string                     `json:"event"`
		Payload map[string]json.RawMessage `json:"payload"`
	}
	if err := json.Unmarshal(in.payload, &p); err != nil || len(in.payload) > maxPresencePayload {
		sock.refuse(in, "the presence cannot be read, or is larger than 16 KiB")
		return
	}
	var err error
	switch p.Event {
	case "track":
		err = sock.service.track(ctx, m, p.Payload)
	case "untrack":
		err = sock.service.untrack(ctx, m)
	default:
		sock.refuse(in, "the event of presence must be track or untrack")
		return
	}
	if err != nil {
		sock.service.log.Error("live changes: the presence of a client was not stored", "cause", err.Error())
		sock.refuse(in, "the presence could not be stored, please try again")
		return
	}
	sock.reply(in, "ok", struct{}{})
}

// track stores the presence of a member, in place of its earlier one, and publishes the difference.
func (s *Service) track(ctx context.Context, m *member, meta map[string]json.RawMessage) error {
	ref := uuid.NewString()
	if meta == nil {
		meta = map[string]json.RawMessage{}
	}
	delete(meta, "phx_ref_prev")
	meta["phx_ref"] = toJSON(ref)
	joined := presenceRow{ref: ref, key: m.presenceKey, topic: m.topic, meta: toJSON(meta)}
	s.mu.Lock()
	oldRef := m.presenceRef
	s.mu.Unlock()
	err := s.db.WithShortTx(ctx, func(tx *db.Tx) error {
		left, err := deletePresence(ctx, tx, oldRef)
		if err != nil {
			return err
		}
		if err := insertPresence(ctx, tx, joined, s.node, s.now()); err != nil {
			return err
		}
		return s.bus.Record(ctx, tx, kindDiff, toJSON(m.topic.diff([]presenceRow{joined}, left)))
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	m.presenceRef = ref
	left := m.left
	s.mu.Unlock()
	if left { // the channel was closed meanwhile, before the presence could be removed
		return s.untrack(ctx, m)
	}
	return nil
}

// untrack removes the presence of a member and publishes the difference.
func (s *Service) untrack(ctx context.Context, m *member) error {
	s.mu.Lock()
	ref := m.presenceRef
	m.presenceRef = ""
	s.mu.Unlock()
	return s.db.WithShortTx(ctx, func(tx *db.Tx) error {
		left, err := deletePresence(ctx, tx, ref)
		if err != nil || len(left) == 0 {
			return err
		}
		return s.bus.Record(ctx, tx, kindDiff, toJSON(m.topic.diff(nil, left)))
	})
}

// untrackMember removes the presence of a member who has left. If that fails, the presence ends after presenceTTL, because
// it is no longer renewed.
func (s *Service) untrackMember(ctx context.Context, m *member) {
	s.mu.Lock()
	tracked := m.presenceRef != ""
	s.mu.Unlock()
	if !tracked {
		return
	}
	if err := s.untrack(ctx, m); err != nil {
		s.log.Error("live changes: the presence of a client that left was not removed; it ends by itself", "cause", err.Error())
	}
}

// sendState sends a member the list of all presences on its channel. Differences may reach the member before the list; the
// client applies them afterwards.
func (s *Service) sendState(ctx context.Context, m *member) {
	list, err := listPresences(ctx, s.db, m.topic)
	if err != nil {
		s.dropUnverified(ctx, m, err)
		return
	}
	m.socket.send(encode(m.socket.v2, nil, nil, m.clientTopic(), eventState, toJSON(byKey(list))))
}

// deliverDiff sends a difference of presences to the members on this node who receive presence.
func (s *Service) deliverDiff(ctx context.Context, d presenceDiff) {
	payload := toJSON(struct {
		Joins  map[string]metas `json:"joins"`
		Leaves map[string]metas `json:"leaves"`
	}{d.Joins, d.Leaves})
	for _, m := range membersOf(s, s.topics, topic{d.Topic, d.Private}) {
		if m.wantsPresence && s.mayReceive(ctx, m) {
			m.socket.send(encode(m.socket.v2, nil, nil, m.clientTopic(), eventDiff, payload))
		}
	}
}

// renewPresences renews the presences of this node, and removes those of nodes that have not renewed theirs for presenceTTL.
func (s *Service) renewPresences(ctx context.Context) error {
	s.mu.Lock()
	var refs []string
	for sock := range s.sockets {
		for _, m := range sock.members {
			if m.presenceRef != "" {
				refs = append(refs, m.presenceRef)
			}
		}
	}
	s.mu.Unlock()
	now := s.now()
	if err := renewPresences(ctx, s.db, refs, now); err != nil {
		return err
	}
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		left, err := deleteExpiredPresences(ctx, tx, now.Add(-presenceTTL), db.LatestPlausible(now, 0))
		if err != nil {
			return err
		}
		byTopic := map[topic][]presenceRow{}
		for _, p := range left {
			byTopic[p.topic] = append(byTopic[p.topic], p)
		}
		for t, list := range byTopic {
			if err := s.bus.Record(ctx, tx, kindDiff, toJSON(t.diff(nil, list))); err != nil {
				return err
			}
		}
		return nil
	})
}
