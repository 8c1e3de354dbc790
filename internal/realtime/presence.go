package realtime

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"atelie/internal/db"
)

// maxMeta is the size of what one client says about itself, in bytes.
const maxMeta = 16 << 10

// present is one tracked client.
type present struct {
	ref, key string
	topic    topic
	meta     json.RawMessage // with phx_ref inside
}

// metas is a presence as the client reads it.
type metas struct {
	Metas []json.RawMessage `json:"metas"`
}

// diff says who came and who left on a channel.
type diff struct {
	Topic   string           `json:"topic"`
	Private bool             `json:"private"`
	Joins   map[string]metas `json:"joins"`
	Leaves  map[string]metas `json:"leaves"`
}

func (t topic) diff(joins, leaves []present) diff {
	return diff{t.name, t.private, byKey(joins), byKey(leaves)}
}

func byKey(list []present) map[string]metas {
	out := map[string]metas{}
	for _, p := range list {
		out[p.key] = metas{append(out[p.key].Metas, p.meta)}
	}
	return out
}

// presence handles track and untrack.
func (k *socket) presence(ctx context.Context, m *member, in incoming) {
	if !k.mayPush(ctx, m, in) {
		return
	}
	var p struct {
		Event   string                     `json:"event"`
		Payload map[string]json.RawMessage `json:"payload"`
	}
	if err := json.Unmarshal(in.payload, &p); err != nil || len(in.payload) > maxMeta {
		k.refuse(in, "the presence cannot be read, or is larger than 16 KiB")
		return
	}
	var err error
	switch p.Event {
	case "track":
		err = k.s.track(ctx, m, p.Payload)
	case "untrack":
		err = k.s.untrack(ctx, m)
	default:
		k.refuse(in, "presence is track or untrack")
		return
	}
	if err != nil {
		k.s.log.Error("live changes: presence", "cause", err.Error())
		k.refuse(in, "the presence could not be stored, please try again")
		return
	}
	k.reply(in, "ok", struct{}{})
}

// track puts the member on the list, in place of what it said before.
func (s *Service) track(ctx context.Context, m *member, meta map[string]json.RawMessage) error {
	ref := uuid.NewString()
	if meta == nil {
		meta = map[string]json.RawMessage{}
	}
	delete(meta, "phx_ref_prev")
	meta["phx_ref"] = toJSON(ref)
	joined := present{ref: ref, key: m.key, topic: m.topic, meta: toJSON(meta)}
	s.mu.Lock()
	before := m.ref
	s.mu.Unlock()
	err := s.db.WithTx(ctx, func(tx *db.Tx) error {
		left, err := deletePresence(ctx, tx, before)
		if err != nil {
			return err
		}
		if err := insertPresence(ctx, tx, joined, s.node, s.now()); err != nil {
			return err
		}
		return s.bus.Record(ctx, tx, kindDiff, toJSON(m.topic.diff([]present{joined}, left)))
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	m.ref = ref
	left := m.left
	s.mu.Unlock()
	if left { // its channel was ended meanwhile, and nobody looks after it any more
		return s.untrack(ctx, m)
	}
	return nil
}

func (s *Service) untrack(ctx context.Context, m *member) error {
	s.mu.Lock()
	ref := m.ref
	m.ref = ""
	s.mu.Unlock()
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		left, err := deletePresence(ctx, tx, ref)
		if err != nil || len(left) == 0 {
			return err
		}
		return s.bus.Record(ctx, tx, kindDiff, toJSON(m.topic.diff(nil, left)))
	})
}

// untrackGone ends the presence of a member who has left. What fails here ends when the presence is not renewed.
func (s *Service) untrackGone(ctx context.Context, m *member) {
	s.mu.Lock()
	tracked := m.ref != ""
	s.mu.Unlock()
	if !tracked {
		return
	}
	if err := s.untrack(ctx, m); err != nil {
		s.log.Error("live changes: presence of one who left", "cause", err.Error())
	}
}

// sendState tells a member who is there. It hears of changes already: the client puts the two together.
func (s *Service) sendState(ctx context.Context, m *member) {
	list, err := presences(ctx, s.db, m.topic)
	if err != nil {
		s.cannotTell(ctx, m, err)
		return
	}
	m.socket.send(encode(m.socket.v2, nil, nil, m.full(), eventState, toJSON(byKey(list))))
}

func (s *Service) deliverDiff(ctx context.Context, d diff) {
	s.mu.Lock()
	list := members(s.topics[topic{d.Topic, d.Private}])
	s.mu.Unlock()
	payload := toJSON(struct {
		Joins  map[string]metas `json:"joins"`
		Leaves map[string]metas `json:"leaves"`
	}{d.Joins, d.Leaves})
	for _, m := range list {
		if m.presence && s.hears(ctx, m) {
			m.socket.send(encode(m.socket.v2, nil, nil, m.full(), eventDiff, payload))
		}
	}
}

// renewPresences says that this node's presences live, and ends those whose node has fallen silent.
func (s *Service) renewPresences(ctx context.Context) error {
	s.mu.Lock()
	var refs []string
	for k := range s.sockets {
		for _, m := range k.members {
			if m.ref != "" {
				refs = append(refs, m.ref)
			}
		}
	}
	s.mu.Unlock()
	now := s.now()
	if err := touchPresences(ctx, s.db, refs, now); err != nil {
		return err
	}
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		left, err := deleteSilent(ctx, tx, now.Add(-presenceLife))
		if err != nil {
			return err
		}
		byTopic := map[topic][]present{}
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
