package realtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"atelie/internal/identity"
	"atelie/internal/policy"
)

const (
	topicPrefix = "realtime:"
	maxEntries  = 100 // postgres_changes of one channel
)

// member is one client on one channel.
type member struct {
	id       string // tells senders apart, over all nodes
	socket   *socket
	topic    topic
	joinRef  *string
	self     bool // hears its own messages
	ack      bool
	presence bool   // hears who comes and goes
	key      string // of its own presence
	entries  []entry

	// Guarded by Service.mu.
	token   string
	caller  identity.Caller
	expires time.Time
	ref     string // of its presence in the table; "" when it is not tracked
	left    bool
}

// entry is one postgres_changes subscription, with what the client sent to repeat it.
type entry struct {
	ID     int64    `json:"id"`
	Event  string   `json:"event"`
	Schema string   `json:"schema"`
	Table  *string  `json:"table,omitempty"`
	Filter *string  `json:"filter,omitempty"`
	Select []string `json:"select,omitempty"`

	conditions []condition
}

type joinPayload struct {
	Config struct {
		Broadcast struct {
			Ack  bool `json:"ack"`
			Self bool `json:"self"`
		} `json:"broadcast"`
		Presence struct {
			Key     string `json:"key"`
			Enabled bool   `json:"enabled"`
		} `json:"presence"`
		Changes []entry `json:"postgres_changes"`
		Private bool    `json:"private"`
	} `json:"config"`
	AccessToken *string `json:"access_token"`
}

// full gives the topic as the client writes it.
func (m *member) full() string { return topicPrefix + m.topic.name }

func (k *socket) join(ctx context.Context, in incoming) {
	name, ok := strings.CutPrefix(in.topic, topicPrefix)
	if !ok || name == "" || strings.ContainsFunc(name, unicode.IsControl) {
		k.refuse(in, "unmatched topic")
		return
	}
	var p joinPayload
	if err := json.Unmarshal(in.payload, &p); err != nil {
		k.refuse(in, "the join payload cannot be read")
		return
	}
	m := &member{
		id: uuid.NewString(), socket: k, topic: topic{name, p.Config.Private}, joinRef: in.joinRef, key: p.Config.Presence.Key,
		self: p.Config.Broadcast.Self, ack: p.Config.Broadcast.Ack, presence: p.Config.Presence.Enabled, entries: p.Config.Changes,
	}
	if m.key == "" {
		m.key = uuid.NewString()
	}
	if len(m.key) > maxName || strings.ContainsFunc(m.key, unicode.IsControl) {
		k.refuse(in, "the presence key is too long or holds control characters")
		return
	}
	if err := k.s.checkEntries(m.entries); err != nil {
		k.refuse(in, err.Error())
		return
	}
	m.token = k.key
	if p.AccessToken != nil && isToken(*p.AccessToken) {
		m.token = *p.AccessToken
	}
	var err error
	if m.caller, m.expires, err = k.s.identify(ctx, m.token); err != nil {
		k.refuse(in, tokenProblem(err))
		return
	}
	if m.topic.private && !policy.Channel(m.caller) {
		k.refuse(in, "Unauthorized: You do not have permissions to read from this Channel topic: "+name)
		return
	}
	old, ok := k.s.enter(m, in)
	if old != nil {
		k.s.untrackGone(ctx, old)
	}
	if !ok {
		k.refuse(in, fmt.Sprintf("TooManyChannels: a connection may have at most %d channels", maxChannels))
		return
	}
	if m.presence && policy.Channel(k.s.callerOf(m)) {
		k.s.sendState(ctx, m)
	}
}

// enter puts a member in its place and answers, so that no event can overtake the answer. A member of the same topic on
// the same socket is closed, as in Phoenix.
func (s *Service) enter(m *member, in incoming) (old *member, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := m.socket
	if old = k.members[in.topic]; old != nil {
		s.remove(old)
		k.send(encode(k.v2, old.joinRef, old.joinRef, in.topic, eventClose, []byte("{}")))
	}
	if len(k.members) >= maxChannels {
		return old, false
	}
	k.members[in.topic] = m
	add(s.topics, m.topic, m)
	for i := range m.entries {
		s.lastID++
		m.entries[i].ID = s.lastID
		for table := range s.cfg.Tables {
			if m.entries[i].covers(table) {
				add(s.watchers, table, m)
			}
		}
	}
	if m.entries == nil {
		m.entries = []entry{}
	}
	k.reply(in, "ok", struct {
		Changes []entry `json:"postgres_changes"`
	}{m.entries})
	if len(m.entries) > 0 {
		m.system(eventChanges, "ok", "Subscribed to PostgreSQL")
	}
	return old, true
}

func add[K comparable](sets map[K]map[*member]struct{}, key K, m *member) {
	if sets[key] == nil {
		sets[key] = map[*member]struct{}{}
	}
	sets[key][m] = struct{}{}
}

func drop[K comparable](sets map[K]map[*member]struct{}, key K, m *member) {
	if delete(sets[key], m); len(sets[key]) == 0 {
		delete(sets, key)
	}
}

// remove forgets a member; the caller holds the lock and then calls untrackGone without it.
func (s *Service) remove(m *member) {
	m.left = true
	if m.socket.members[m.full()] == m {
		delete(m.socket.members, m.full())
	}
	drop(s.topics, m.topic, m)
	for table := range s.cfg.Tables {
		drop(s.watchers, table, m)
	}
}

func (k *socket) leave(ctx context.Context, in incoming) {
	k.s.mu.Lock()
	m := k.members[in.topic]
	if m != nil {
		k.s.remove(m)
	}
	k.s.mu.Unlock()
	k.reply(in, "ok", struct{}{})
	if m != nil {
		k.send(encode(k.v2, m.joinRef, m.joinRef, in.topic, eventClose, []byte("{}")))
		k.s.untrackGone(ctx, m)
	}
}

// renew takes a new token for a channel; there is no answer. The client repeats its token after each heartbeat.
func (k *socket) renew(ctx context.Context, m *member, in incoming) {
	var p struct {
		AccessToken *string `json:"access_token"`
	}
	if err := json.Unmarshal(in.payload, &p); err != nil || p.AccessToken == nil || !isToken(*p.AccessToken) {
		return
	}
	k.s.mu.Lock()
	same := m.token == *p.AccessToken
	k.s.mu.Unlock()
	if same {
		return
	}
	caller, expires, err := k.s.identify(ctx, *p.AccessToken)
	switch {
	case err != nil:
		k.s.revoke(ctx, m, tokenProblem(err))
		return
	case m.topic.private && !policy.Channel(caller):
		k.s.revoke(ctx, m, "Access was revoked")
		return
	}
	k.s.mu.Lock()
	was := m.caller
	m.token, m.caller, m.expires = *p.AccessToken, caller, expires
	k.s.mu.Unlock()
	if m.presence && policy.Channel(caller) && !policy.Channel(was) {
		k.s.sendState(ctx, m) // a client holds back all it hears of presence until it has this
	}
}

// isToken tells tokens from what the client may send in their place: nothing, or a key of another kind.
func isToken(text string) bool { return text != "" && !strings.HasPrefix(text, "sb_") }

// tokenProblem says what is wrong in words that give nothing away.
func tokenProblem(err error) string {
	switch {
	case errors.Is(err, identity.ErrExpired):
		return "InvalidJWTToken: Token has expired"
	case errors.Is(err, identity.ErrBadToken):
		return "InvalidJWTToken: The token is not valid"
	case errors.Is(err, errEnded):
		return "Access was revoked"
	}
	return "The token could not be checked, please try again"
}

// revoke closes a member's channel and says why.
func (s *Service) revoke(ctx context.Context, m *member, reason string) {
	s.mu.Lock()
	gone := m.left
	if !gone {
		s.remove(m)
	}
	s.mu.Unlock()
	if gone {
		return
	}
	m.system(eventSystem, "error", reason)
	m.socket.send(encode(m.socket.v2, m.joinRef, m.joinRef, m.full(), eventClose, []byte("{}")))
	s.untrackGone(ctx, m)
}

// system tells a member how its channel fares.
func (m *member) system(extension, status, text string) {
	m.socket.send(encode(m.socket.v2, nil, nil, m.full(), eventSystem, toJSON(struct {
		Extension string `json:"extension"`
		Status    string `json:"status"`
		Message   string `json:"message"`
		Channel   string `json:"channel"`
	}{extension, status, text, m.topic.name})))
}

// covers tells whether the entry asks for changes of a table.
func (e *entry) covers(table string) bool {
	return e.Table == nil || *e.Table == "" || *e.Table == "*" || *e.Table == table
}

// checkEntries reads what a channel subscribes to. Its errors are answers to the client.
func (s *Service) checkEntries(entries []entry) error {
	if len(entries) > maxEntries {
		return fmt.Errorf("a channel may have at most %d postgres_changes", maxEntries)
	}
	for i := range entries {
		e := &entries[i]
		e.ID = 0
		if !slices.Contains([]string{"*", changeInsert, changeUpdate, changeDelete}, e.Event) {
			return fmt.Errorf("postgres_changes: the event %q is none of *, INSERT, UPDATE and DELETE", e.Event)
		}
		if e.Schema != "public" && e.Schema != "*" {
			return fmt.Errorf("postgres_changes: there is no schema %q", e.Schema)
		}
		all := e.covers("")
		columns, known := s.cfg.Tables[deref(e.Table)]
		if !all && !known {
			return fmt.Errorf("postgres_changes: there is no table %q", deref(e.Table))
		}
		if all && (deref(e.Filter) != "" || len(e.Select) > 0) {
			return errors.New("postgres_changes: filter and select need a table")
		}
		for _, name := range e.Select {
			if !slices.ContainsFunc(columns, func(c Column) bool { return c.Name == name }) {
				return fmt.Errorf("postgres_changes: there is no column %q", name)
			}
		}
		if deref(e.Filter) == "" {
			continue
		}
		var err error
		if e.conditions, err = parseFilter(columns, *e.Filter); err != nil {
			return fmt.Errorf("postgres_changes: %w", err)
		}
	}
	return nil
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
