// Package realtime serves /realtime/v1, the channels of supabase-js. A client opens a WebSocket and joins channels on it, by the Phoenix
// channels protocol (protocol.go). Channels carry
//   - row changes, to clients that have subscribed to a table
//   - broadcasts (messages between clients)
//   - presence (the list of the clients on a channel)
//
// Package bus carries these events between nodes (servers of one site). Package policy decides which clients receive which events.
package realtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/realtime/bus"
)

const (
	// recheckInterval is the interval at which the tokens and rights of all members (clients that have joined a channel) are checked.
	// statusTTL is how long a session status (whether the session is alive, and whether it is an administrator's) is cached. After its session
	// or role has ended, a client may therefore receive events for up to recheckInterval + statusTTL.
	recheckInterval = 2 * time.Second
	statusTTL       = 2 * time.Second
	// stopTimeout is how long Stop waits for the sockets to close.
	stopTimeout = 5 * time.Second
	// lookupTimeout is the timeout of reading session statuses.
	lookupTimeout = 5 * time.Second
	// presenceRenew is the interval at which a node renews the presences of its clients. Any node deletes presences that were not
	// renewed for presenceTTL, for example those of a node that has crashed.
	presenceRenew = 10 * time.Second
	presenceTTL   = 40 * time.Second
	// defaultHeartbeatTimeout is the time without frames from a client after which its connection is closed. supabase-js sends a heartbeat
	// every 30 s; the other 25 s are for slow connections.
	defaultHeartbeatTimeout = 55 * time.Second
	// defaultRateWindow is the period of the rate limit: in this time, a client may send maxRate frames.
	defaultRateWindow = 5 * time.Second
	// firstID is the first subscription.ID of a node. Its value is arbitrary, because clients only compare the ids of an event with those
	// in the reply to their join.
	firstID = 1000
)

// Config has the settings of a Service.
type Config struct {
	Tables     map[string][]db.ColumnType // the tables to which clients may subscribe, with their columns
	MaxSockets int                        // maximum number of connections to this node
	MaxPerIP   int                        // maximum number of connections from one IPv4 address or IPv6 /64 network
}

// Service holds the connections to one node and delivers events to them.
type Service struct {
	db               *db.DB
	bus              *bus.Bus
	tokens           *identity.Tokens
	lookUp           identity.SessionStatusLookup
	cfg              Config
	log              *slog.Logger
	now              func() time.Time
	node             string        // random id of this process, stored with its presences
	heartbeatTimeout time.Duration // defaultHeartbeatTimeout, shorter in tests
	rateWindow       time.Duration // defaultRateWindow, another length in tests

	mu           sync.Mutex
	stopping     bool                            // Stop was called: new connections are rejected
	sockets      map[*socket]struct{}            // all open connections
	socketCounts map[string]int                  // number of sockets by httpx.LimitSubject
	topics       map[topic]map[*member]struct{}  // members (clients that have joined a channel) by channel
	watchers     map[string]map[*member]struct{} // members by the table whose changes they subscribe to
	lastID       int64                           // highest subscription.ID so far
	running      sync.WaitGroup                  // counts the sockets; Stop waits for it

	sessionStatuses sync.Map // identity.Session → cachedStatus
}

// topic identifies a channel. A private and a public channel of the same name are different channels.
type topic struct {
	name    string
	private bool
}

// cachedStatus is a session status and when it was read.
type cachedStatus struct {
	identity.SessionStatus
	at time.Time
}

// New returns a service for events committed from now on. Run delivers them.
func New(ctx context.Context, d *db.DB, tokens *identity.Tokens, lookUp identity.SessionStatusLookup, cfg Config, log *slog.Logger, now func() time.Time) (*Service, error) {
	b, err := bus.New(ctx, d, log, now)
	if err != nil {
		return nil, err
	}
	return &Service{
		db: d, bus: b, tokens: tokens, lookUp: lookUp, cfg: cfg, log: log, now: now, node: uuid.NewString(), heartbeatTimeout: defaultHeartbeatTimeout,
		rateWindow: defaultRateWindow,
		sockets:    map[*socket]struct{}{}, socketCounts: map[string]int{}, topics: map[topic]map[*member]struct{}{}, watchers: map[string]map[*member]struct{}{},
		lastID: firstID - 1,
	}, nil
}

// Run delivers events and closes channels whose token or session has ended, until ctx ends.
func (s *Service) Run(ctx context.Context) {
	if s.db.Dialect == db.SQLite { // SQLite has one node: presences of other nodes are left from earlier runs
		if err := deletePresencesOfOtherNodes(ctx, s.db, s.node); err != nil {
			s.log.Error("live changes: presences of an earlier run were not deleted; they end by themselves", "cause", err.Error())
		}
	}
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		s.bus.Run(ctx, func(e bus.Event) { s.deliver(ctx, e) }, func() { s.endAll(websocket.StatusServiceRestart, "events may have been missed") })
	})
	tick, renew := time.NewTicker(recheckInterval), time.NewTicker(presenceRenew)
	defer tick.Stop()
	defer renew.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.recheckSessions(ctx)
		case <-renew.C:
			if err := s.renewPresences(ctx); err != nil && ctx.Err() == nil {
				s.log.Error("live changes: presences were not renewed; it is tried again in ten seconds", "cause", err.Error())
			}
		}
	}
}

// Stop rejects new connections, closes all sockets with status 1001, and waits for them, at most five seconds.
func (s *Service) Stop() {
	s.mu.Lock()
	s.stopping = true
	s.mu.Unlock()
	s.endAll(websocket.StatusGoingAway, "the server is shutting down")
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(stopTimeout):
	}
}

func (s *Service) endAll(code websocket.StatusCode, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for sock := range s.sockets {
		sock.close(code, reason)
	}
}

// Sockets returns the number of clients that are connected to this node.
func (s *Service) Sockets() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sockets)
}

// errEnded means that a token is valid but its session has ended or its account is gone.
var errEnded = errors.New("the session has ended")

// identify verifies a token. It returns its caller, with the rights of this moment, and the time when the token expires. It
// returns errEnded if the token's session is not alive.
func (s *Service) identify(ctx context.Context, token string) (identity.Caller, time.Time, error) {
	claims, err := s.tokens.Verify(token)
	if err != nil {
		return identity.Caller{}, time.Time{}, err
	}
	c := identity.Caller{Role: claims.Role, UserID: claims.Subject, SessionID: claims.SessionID, AAL: claims.AAL, KeyGeneration: claims.KeyGeneration}
	if c.Role == identity.Authenticated {
		statuses, err := s.lookUpSessions(ctx, sessionOf(c))
		if err != nil {
			return c, time.Time{}, err
		}
		if !statuses[0].Alive {
			return c, time.Time{}, errEnded
		}
		c.Admin = statuses[0].Admin
	}
	return c, claims.ExpiresAt.Time, nil
}

func sessionOf(c identity.Caller) identity.Session {
	return identity.Session{UserID: c.UserID, ID: c.SessionID, AAL: c.AAL}
}

// lookUpSessions reads the status of sessions, in their order, and caches it.
func (s *Service) lookUpSessions(ctx context.Context, sessions ...identity.Session) ([]identity.SessionStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout) // events wait for the result
	defer cancel()
	now := s.now()
	statuses, err := s.lookUp(ctx, sessions)
	if err != nil {
		return nil, err
	}
	for i, session := range sessions {
		s.sessionStatuses.Store(session, cachedStatus{statuses[i], now})
	}
	return statuses, nil
}

// sessionStatus returns the status of a session, which is at most statusTTL old.
func (s *Service) sessionStatus(ctx context.Context, session identity.Session) (identity.SessionStatus, error) {
	if known, ok := s.sessionStatuses.Load(session); ok && s.now().Sub(known.(cachedStatus).at) < statusTTL {
		return known.(cachedStatus).SessionStatus, nil
	}
	statuses, err := s.lookUpSessions(ctx, session)
	if err != nil {
		return identity.SessionStatus{}, err
	}
	return statuses[0], nil
}

// withRights returns the caller with its field Admin set by a session status that is at most statusTTL old.
func (s *Service) withRights(ctx context.Context, c identity.Caller) (identity.Caller, error) {
	c.Admin = false
	if c.Role != identity.Authenticated {
		return c, nil
	}
	status, err := s.sessionStatus(ctx, sessionOf(c))
	c.Admin = status.Admin
	return c, err
}

// recheckSessions closes the channels of members whose token has expired, whose API key was revoked, whose session has ended, or who are no
// longer administrators. Members who have become administrators get those rights. It reads the status of all sessions together.
func (s *Service) recheckSessions(ctx context.Context) {
	now := s.now()
	s.mu.Lock()
	var expired, people, keyed []*member    // people have the tokens of accounts, keyed the API keys
	sessions := map[identity.Session]bool{} // those of people
	for sock := range s.sockets {
		for _, m := range sock.members {
			switch {
			case !m.expiresAt.After(now):
				expired = append(expired, m)
			case m.caller.Role == identity.Authenticated:
				people = append(people, m)
				sessions[sessionOf(m.caller)] = true
			default:
				keyed = append(keyed, m)
			}
		}
	}
	s.mu.Unlock()
	s.sessionStatuses.Range(func(session, known any) bool {
		if !sessions[session.(identity.Session)] && now.Sub(known.(cachedStatus).at) >= statusTTL {
			s.sessionStatuses.Delete(session)
		}
		return true
	})
	for _, m := range expired {
		s.revoke(ctx, m, "Token has expired")
	}
	for _, m := range keyed {
		c := s.callerOf(m)
		if valid, err := s.tokens.KeyValid(c.Role, c.KeyGeneration); err == nil && !valid { // after an error the channel stays open
			s.revoke(ctx, m, "Access was revoked")
		}
	}
	if len(sessions) == 0 {
		return
	}
	_, err := s.lookUpSessions(ctx, slices.Collect(maps.Keys(sessions))...)
	for _, m := range people {
		if err == nil {
			s.applyStatus(ctx, m)
		} else if s.callerOf(m).Admin { // other members receive only what everyone may see
			s.dropUnverified(ctx, m, err)
		}
	}
}

// applyStatus applies the cached status of a member's session: it closes the channel of a session that has ended or has lost
// the rights of an administrator.
func (s *Service) applyStatus(ctx context.Context, m *member) {
	s.mu.Lock()
	was := m.caller
	known, ok := s.sessionStatuses.Load(sessionOf(was))
	if !ok { // the member has sent a token of another session meanwhile, which renewToken has checked
		s.mu.Unlock()
		return
	}
	is := known.(cachedStatus)
	m.caller.Admin = is.Admin
	s.mu.Unlock()
	switch {
	case !is.Alive, was.Admin && !is.Admin:
		s.revoke(ctx, m, "Access was revoked")
	case is.Admin && !was.Admin && m.wantsPresence:
		s.sendState(ctx, m)
	}
}

// dropUnverified closes the socket of a client whose rights cannot be looked up. The client connects again and reads the data
// again, so it misses no change.
func (s *Service) dropUnverified(ctx context.Context, m *member, err error) {
	if !errors.Is(ctx.Err(), context.Canceled) { // neither the socket nor the server has ended
		s.log.Error("live changes: the rights of a client cannot be looked up; it must connect again", "cause", err.Error())
		m.socket.close(websocket.StatusTryAgainLater, "please connect again")
	}
}

func (s *Service) callerOf(m *member) identity.Caller {
	s.mu.Lock()
	defer s.mu.Unlock()
	return m.caller
}

// expired reports whether the member's token has expired.
func (s *Service) expired(m *member) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !m.expiresAt.After(s.now())
}

// membersOf returns the members in the set of a key. The result can be used without the lock.
func membersOf[K comparable](s *Service, sets map[K]map[*member]struct{}, key K) []*member {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(sets[key]))
}

// The kinds of events on the bus.
const (
	kindChange  = "change"
	kindMessage = "message"
	kindDiff    = "presence"
)

// deliver sends one event of the bus to the members on this node who may receive it.
func (s *Service) deliver(ctx context.Context, e bus.Event) {
	defer func() { // a panic over one event must not end the program
		if p := recover(); p != nil {
			s.log.Error("live changes: an event was not delivered", "cause", fmt.Sprintf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	if s.Sockets() == 0 {
		return
	}
	var err error
	switch e.Kind {
	case kindChange:
		var c db.RowChange
		if err = json.Unmarshal(e.Payload, &c); err == nil {
			err = s.deliverChange(ctx, c)
		}
	case kindMessage:
		var m envelope
		if err = json.Unmarshal(e.Payload, &m); err == nil {
			s.deliverMessage(ctx, m)
		}
	case kindDiff:
		var d presenceDiff
		if err = json.Unmarshal(e.Payload, &d); err == nil {
			s.deliverDiff(ctx, d)
		}
	default:
		err = errors.New("unknown kind " + e.Kind) // the event comes from a node with a newer version
	}
	if err != nil {
		s.log.Error("live changes: an event was not delivered", "cause", err.Error())
	}
}

// publish sends an event to all nodes.
func (s *Service) publish(ctx context.Context, kind string, v any) error {
	return s.bus.Publish(ctx, bus.Event{Kind: kind, Payload: toJSON(v)})
}
