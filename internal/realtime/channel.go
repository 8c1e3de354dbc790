package realtime

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// This file handles three requests of clients: joining a channel, leaving it, and renewing the token with which they have joined.

const (
	topicPrefix      = "realtime:" // a client names a channel by this prefix and the channel's name
	maxSubscriptions = 100         // maximum number of subscriptions to row changes in one join; a join with more is refused
)

// member is the membership of a client in one channel. A client that has joined several channels has several members.
type member struct {
	id            string // unique over all nodes
	socket        *socket
	topic         topic   // the channel
	joinRef       *string // the client's reference of the join, repeated in messages about the channel; nil if the client gave none
	receivesOwn   bool    // option self of the join: the client also receives the broadcasts that it sends
	wantsAck      bool    // option ack of the join: the client gets a reply to each broadcast that it sends
	wantsPresence bool    // whether the client receives presence events (which clients are on the channel)
	presenceKey   string  // the client's name in the list of the clients on the channel
	subscriptions []subscription

	// Service.mu guards the fields below.
	token       string
	caller      identity.Caller // whom token identifies
	expiresAt   time.Time       // when token expires
	presenceRef string          // ref of the member's row in realtime_presence; "" if the client has not sent its presence
	left        bool            // the client has left the channel, or the server has closed it
}

// subscription is an element of the array postgres_changes in a join. It says which row changes the client wants to receive. The reply to
// the join repeats the element, with its ID.
type subscription struct {
	ID     int64    `json:"id"`               // set by addMember
	Event  string   `json:"event"`            // INSERT, UPDATE, DELETE or * for all
	Schema string   `json:"schema"`           // public or *
	Table  *string  `json:"table,omitempty"`  // nil, "" or * for all tables
	Filter *string  `json:"filter,omitempty"` // such as "id=eq.5" (subscription_filter.go); nil or "" for no filter
	Select []string `json:"select,omitempty"` // names of the columns to send; empty for all

	conditions []condition // the parsed Filter
}

// joinPayload is the payload of phx_join, the event with which a client joins a channel.
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
		Changes []subscription `json:"postgres_changes"`
		Private bool           `json:"private"`
	} `json:"config"`
	AccessToken *string `json:"access_token"`
}

// clientTopic returns the topic in the form that the client uses.
func (m *member) clientTopic() string { return topicPrefix + m.topic.name }

// join handles phx_join: it checks the client's token and subscriptions and adds a member to the channel.
func (sock *socket) join(ctx context.Context, in incoming) {
	name, ok := strings.CutPrefix(in.topic, topicPrefix)
	if !ok || name == "" || strings.ContainsFunc(name, unicode.IsControl) {
		sock.refuse(in, "unmatched topic")
		return
	}
	var p joinPayload
	if err := json.Unmarshal(in.payload, &p); err != nil {
		sock.refuse(in, "the join payload cannot be read")
		return
	}
	m := &member{
		id: uuid.NewString(), socket: sock, topic: topic{name, p.Config.Private}, joinRef: in.joinRef, presenceKey: cmp.Or(p.Config.Presence.Key, uuid.NewString()),
		receivesOwn: p.Config.Broadcast.Self, wantsAck: p.Config.Broadcast.Ack, wantsPresence: p.Config.Presence.Enabled, subscriptions: p.Config.Changes,
	}
	if len(m.presenceKey) > maxName || strings.ContainsFunc(m.presenceKey, unicode.IsControl) {
		sock.refuse(in, "the presence key is too long or contains control characters")
		return
	}
	if err := sock.service.checkSubscriptions(m.subscriptions); err != nil {
		sock.refuse(in, err.Error())
		return
	}
	m.token = sock.credential
	if p.AccessToken != nil && isToken(*p.AccessToken) {
		m.token = *p.AccessToken
	}
	var err error
	if m.caller, m.expiresAt, err = sock.service.identify(ctx, m.token); err != nil {
		sock.refuse(in, tokenErrorText(err))
		return
	}
	if m.topic.private && !policy.Channel(m.caller) {
		sock.refuse(in, "Unauthorized: You do not have permissions to read from this Channel topic: "+name)
		return
	}
	old, ok := sock.service.addMember(m, in)
	if old != nil {
		sock.service.untrackMember(ctx, old)
	}
	if !ok {
		sock.refuse(in, fmt.Sprintf("TooManyChannels: a connection may have at most %d channels", maxChannels))
		return
	}
	if m.wantsPresence && policy.Channel(sock.service.callerOf(m)) {
		sock.service.sendState(ctx, m)
	}
}

// addMember adds a member and replies to the join under the lock, so that no event can be sent before the reply. It closes and
// returns an older member of the same topic on the same socket, as Phoenix does. ok is false if the socket has too many channels.
func (s *Service) addMember(m *member, in incoming) (old *member, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sock := m.socket
	if old = sock.members[in.topic]; old != nil {
		s.removeMember(old)
		sock.send(encode(sock.v2, old.joinRef, old.joinRef, in.topic, eventClose, []byte("{}")))
	}
	if len(sock.members) >= maxChannels {
		return old, false
	}
	sock.members[in.topic] = m
	add(s.topics, m.topic, m)
	for i := range m.subscriptions {
		s.lastID++
		m.subscriptions[i].ID = s.lastID
		for table := range s.cfg.Tables {
			if m.subscriptions[i].covers(table) {
				add(s.watchers, table, m)
			}
		}
	}
	if m.subscriptions == nil {
		m.subscriptions = []subscription{}
	}
	sock.reply(in, "ok", struct {
		Changes []subscription `json:"postgres_changes"`
	}{m.subscriptions})
	if len(m.subscriptions) > 0 {
		m.system(eventChanges, "ok", "Subscribed to PostgreSQL")
	}
	return old, true
}

// add adds a member to the set of a key, and drop removes it. Empty sets are deleted.
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

// removeMember removes a member from its channel. The caller must hold the lock, and call untrackMember after releasing it.
func (s *Service) removeMember(m *member) {
	m.left = true
	if m.socket.members[m.clientTopic()] == m {
		delete(m.socket.members, m.clientTopic())
	}
	drop(s.topics, m.topic, m)
	for table := range s.cfg.Tables {
		drop(s.watchers, table, m)
	}
}

// leave handles phx_leave: it removes the member from the channel.
func (sock *socket) leave(ctx context.Context, in incoming) {
	sock.service.mu.Lock()
	m := sock.members[in.topic]
	if m != nil {
		sock.service.removeMember(m)
	}
	sock.service.mu.Unlock()
	sock.reply(in, "ok", struct{}{})
	if m != nil {
		sock.send(encode(sock.v2, m.joinRef, m.joinRef, in.topic, eventClose, []byte("{}")))
		sock.service.untrackMember(ctx, m)
	}
}

// renewToken handles access_token: a new token for a channel, which gets no reply. The client also sends its current token after
// each heartbeat.
func (sock *socket) renewToken(ctx context.Context, m *member, in incoming) {
	var p struct {
		AccessToken *string `json:"access_token"`
	}
	if err := json.Unmarshal(in.payload, &p); err != nil || p.AccessToken == nil || !isToken(*p.AccessToken) {
		return
	}
	sock.service.mu.Lock()
	same := m.token == *p.AccessToken
	sock.service.mu.Unlock()
	if same {
		return
	}
	caller, expires, err := sock.service.identify(ctx, *p.AccessToken)
	switch {
	case err != nil:
		sock.service.revoke(ctx, m, tokenErrorText(err))
		return
	case m.topic.private && !policy.Channel(caller):
		sock.service.revoke(ctx, m, "Access was revoked")
		return
	}
	sock.service.mu.Lock()
	earlier := m.caller
	m.token, m.caller, m.expiresAt = *p.AccessToken, caller, expires
	sock.service.mu.Unlock()
	if m.wantsPresence && policy.Channel(caller) && !policy.Channel(earlier) {
		sock.service.sendState(ctx, m) // the client applies no presence messages until it has the full list
	}
}

// isToken reports whether text can be a token. The client may instead send an empty text, or an API key of Supabase's newer
// form (sb_…).
func isToken(text string) bool { return text != "" && !strings.HasPrefix(text, "sb_") }

// tokenErrorText returns the text for the client about a rejected token, without details of the cause.
func tokenErrorText(err error) string {
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

// revoke closes a member's channel and tells the client the reason.
func (s *Service) revoke(ctx context.Context, m *member, reason string) {
	s.mu.Lock()
	gone := m.left
	if !gone {
		s.removeMember(m)
	}
	s.mu.Unlock()
	if gone {
		return
	}
	m.system(eventSystem, "error", reason)
	m.socket.send(encode(m.socket.v2, m.joinRef, m.joinRef, m.clientTopic(), eventClose, []byte("{}")))
	s.untrackMember(ctx, m)
}

// system sends a status message about the channel to a member.
func (m *member) system(extension, status, text string) {
	m.socket.send(encode(m.socket.v2, nil, nil, m.clientTopic(), eventSystem, toJSON(struct {
		Extension string `json:"extension"`
		Status    string `json:"status"`
		Message   string `json:"message"`
		Channel   string `json:"channel"`
	}{extension, status, text, m.topic.name})))
}

// covers reports whether the subscription asks for changes of a table.
func (e *subscription) covers(table string) bool {
	return e.Table == nil || *e.Table == "" || *e.Table == "*" || *e.Table == table
}

// checkSubscriptions checks the subscriptions of a channel and parses their filters. The texts of its errors are sent to the client.
func (s *Service) checkSubscriptions(subscriptions []subscription) error {
	if len(subscriptions) > maxSubscriptions {
		return fmt.Errorf("a channel may have at most %d postgres_changes", maxSubscriptions)
	}
	for i := range subscriptions {
		e := &subscriptions[i]
		e.ID = 0
		if !slices.Contains([]string{"*", db.Inserted, db.Updated, db.Deleted}, e.Event) {
			return fmt.Errorf("postgres_changes: the event %q is not one of *, INSERT, UPDATE and DELETE", e.Event)
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
			if !slices.ContainsFunc(columns, func(c db.ColumnType) bool { return c.Name == name }) {
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
