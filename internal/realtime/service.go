// Package realtime answers /realtime/v1: the Phoenix channels of the official client over WebSocket, with changes of rows,
// messages and presence. Package bus carries events between the nodes; package policy says who receives them.
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
	// tickEvery is how often tokens and rights are looked at, trustFor how long an answer about rights holds: together
	// they bound how long someone whose role or session has ended still receives anything.
	tickEvery = 2 * time.Second
	trustFor  = 2 * time.Second
	// lookupTime is what looking up someone's rights may take.
	lookupTime = 5 * time.Second
	// presenceRenew is how often a node says that its presences live; presenceLife how long the others believe it.
	presenceRenew = 10 * time.Second
	presenceLife  = 40 * time.Second
	// heartbeatSlack is how long a client may be silent: its heartbeat of 30 s and 25 s of slack.
	heartbeatSlack = 55 * time.Second
)

// Config says what may be subscribed to and how many may connect.
type Config struct {
	Tables        map[string][]Column // of the schema public
	MaxSockets    int                 // on this node
	MaxPerAddress int                 // from one visitor (httpx.LimitSubject)
}

// Service is the hub of one node.
type Service struct {
	db      *db.DB
	bus     *bus.Bus
	tokens  *identity.Tokens
	lookUp  identity.StandingLookup
	cfg     Config
	log     *slog.Logger
	now     func() time.Time
	node    string
	silence time.Duration

	mu       sync.Mutex
	stopping bool
	sockets  map[*socket]struct{}
	subjects map[string]int
	topics   map[topic]map[*member]struct{}
	watchers map[string]map[*member]struct{} // by table
	lastID   int64
	running  sync.WaitGroup

	standings sync.Map // identity.Session → standing
}

// topic names a channel. A private channel is another one than the public channel of the same name.
type topic struct {
	name    string
	private bool
}

type standing struct {
	identity.Standing
	at time.Time
}

// New makes a hub that hears what is committed from now on; it delivers while Run does.
func New(ctx context.Context, d *db.DB, tokens *identity.Tokens, lookUp identity.StandingLookup, cfg Config, log *slog.Logger, now func() time.Time) (*Service, error) {
	b, err := bus.New(ctx, d, log, now)
	if err != nil {
		return nil, err
	}
	return &Service{
		db: d, bus: b, tokens: tokens, lookUp: lookUp, cfg: cfg, log: log, now: now, node: uuid.NewString(), silence: heartbeatSlack,
		sockets: map[*socket]struct{}{}, subjects: map[string]int{}, topics: map[topic]map[*member]struct{}{}, watchers: map[string]map[*member]struct{}{},
		lastID: 999,
	}, nil
}

// Run delivers events and ends what has outlived its token, until ctx ends.
func (s *Service) Run(ctx context.Context) {
	if s.db.Dialect == db.SQLite { // there is no other node: all others' presences are of an earlier run
		if err := deleteForeignPresences(ctx, s.db, s.node); err != nil {
			s.log.Error("live changes: old presences", "cause", err.Error())
		}
	}
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		s.bus.Run(ctx, func(e bus.Event) { s.deliver(ctx, e) }, func() { s.endAll(websocket.StatusServiceRestart, "events may have been missed") })
	})
	tick, renew := time.NewTicker(tickEvery), time.NewTicker(presenceRenew)
	defer tick.Stop()
	defer renew.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.review(ctx)
		case <-renew.C:
			if err := s.renewPresences(ctx); err != nil && ctx.Err() == nil {
				s.log.Error("live changes: presences", "cause", err.Error())
			}
		}
	}
}

// Stop closes every socket with 1001 and waits for them, five seconds at most. New ones are refused.
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
	case <-time.After(5 * time.Second):
	}
}

func (s *Service) endAll(code websocket.StatusCode, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.sockets {
		k.end(code, reason)
	}
}

// Sockets tells how many clients are connected to this node.
func (s *Service) Sockets() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sockets)
}

// errEnded means that a token is still good, but not the session or the account it was made for.
var errEnded = errors.New("the session has ended")

// identify finds out who a token is of, with rights looked up now; errEnded when its session is over.
func (s *Service) identify(ctx context.Context, token string) (identity.Caller, time.Time, error) {
	claims, err := s.tokens.Verify(token)
	if err != nil {
		return identity.Caller{}, time.Time{}, err
	}
	c := identity.Caller{Role: claims.Role, UserID: claims.Subject, SessionID: claims.SessionID, AAL: claims.AAL}
	if c.Role == identity.Authenticated {
		now, err := s.ask(ctx, sessionOf(c))
		if err != nil {
			return c, time.Time{}, err
		}
		if !now[0].Alive {
			return c, time.Time{}, errEnded
		}
		c.Admin = now[0].Admin
	}
	return c, claims.ExpiresAt.Time, nil
}

func sessionOf(c identity.Caller) identity.Session {
	return identity.Session{UserID: c.UserID, ID: c.SessionID, AAL: c.AAL}
}

// ask looks sessions up, all by one query, and remembers the answers.
func (s *Service) ask(ctx context.Context, sessions ...identity.Session) ([]identity.Standing, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTime) // all others wait for it
	defer cancel()
	now := s.now()
	answers, err := s.lookUp(ctx, sessions)
	if err != nil {
		return nil, err
	}
	for i, session := range sessions {
		s.standings.Store(session, standing{answers[i], now})
	}
	return answers, nil
}

// standingOf gives what was found out about a session at most trustFor ago.
func (s *Service) standingOf(ctx context.Context, session identity.Session) (identity.Standing, error) {
	if known, ok := s.standings.Load(session); ok && s.now().Sub(known.(standing).at) < trustFor {
		return known.(standing).Standing, nil
	}
	now, err := s.ask(ctx, session)
	if err != nil {
		return identity.Standing{}, err
	}
	return now[0], nil
}

// withStanding completes a caller with the rights of at most trustFor ago.
func (s *Service) withStanding(ctx context.Context, c identity.Caller) (identity.Caller, error) {
	c.Admin = false
	if c.Role != identity.Authenticated {
		return c, nil
	}
	now, err := s.standingOf(ctx, sessionOf(c))
	c.Admin = now.Admin
	return c, err
}

// review closes the channels whose token has expired or whose session has ended, and those of people who are no
// administrators any more; who has become one hears from now on what they hear. All sessions are asked about at once.
func (s *Service) review(ctx context.Context) {
	now := s.now()
	s.mu.Lock()
	var expired, people []*member
	asked := map[identity.Session]bool{}
	for k := range s.sockets {
		for _, m := range k.members {
			switch {
			case !m.expires.After(now):
				expired = append(expired, m)
			case m.caller.Role == identity.Authenticated:
				people = append(people, m)
				asked[sessionOf(m.caller)] = true
			}
		}
	}
	s.mu.Unlock()
	s.standings.Range(func(session, known any) bool {
		if !asked[session.(identity.Session)] && now.Sub(known.(standing).at) >= trustFor {
			s.standings.Delete(session)
		}
		return true
	})
	for _, m := range expired {
		s.revoke(ctx, m, "Token has expired")
	}
	if len(asked) == 0 {
		return
	}
	_, err := s.ask(ctx, slices.Collect(maps.Keys(asked))...)
	for _, m := range people {
		if err == nil {
			s.judge(ctx, m)
		} else if s.callerOf(m).Admin { // the others are shown what everybody sees
			s.cannotTell(ctx, m, err)
		}
	}
}

// judge acts on what is now known of a member's session.
func (s *Service) judge(ctx context.Context, m *member) {
	s.mu.Lock()
	was := m.caller
	known, ok := s.standings.Load(sessionOf(was))
	if !ok { // it has another token by now, whose session was looked up
		s.mu.Unlock()
		return
	}
	is := known.(standing)
	m.caller.Admin = is.Admin
	s.mu.Unlock()
	switch {
	case !is.Alive, was.Admin && !is.Admin:
		s.revoke(ctx, m, "Access was revoked")
	case is.Admin && !was.Admin && m.presence:
		s.sendState(ctx, m)
	}
}

// cannotTell drops a client whose rights cannot be looked up: it comes back and reads anew, and has missed nothing unseen.
func (s *Service) cannotTell(ctx context.Context, m *member, err error) {
	if ctx.Err() == nil {
		s.log.Error("live changes: rights cannot be looked up", "cause", err.Error())
		m.socket.end(websocket.StatusTryAgainLater, "please connect again")
	}
}

func (s *Service) callerOf(m *member) identity.Caller {
	s.mu.Lock()
	defer s.mu.Unlock()
	return m.caller
}

// expired tells whether the member's token is over.
func (s *Service) expired(m *member) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !m.expires.After(s.now())
}

// members gives a copy of a set, to be walked without the lock.
func members(set map[*member]struct{}) []*member {
	list := make([]*member, 0, len(set))
	for m := range set {
		list = append(list, m)
	}
	return list
}

// The kinds of events on the bus.
const (
	kindChange  = "change"
	kindMessage = "message"
	kindDiff    = "presence"
)

// deliver hands one event of the bus to those who may have it.
func (s *Service) deliver(ctx context.Context, e bus.Event) {
	defer func() { // no single event may end the program
		if p := recover(); p != nil {
			s.log.Error("live changes: an event was not delivered", "cause", fmt.Sprintf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	var err error
	switch e.Kind {
	case kindChange:
		var c Change
		if err = json.Unmarshal(e.Payload, &c); err == nil {
			err = s.deliverChange(ctx, c)
		}
	case kindMessage:
		var m envelope
		if err = json.Unmarshal(e.Payload, &m); err == nil {
			s.deliverMessage(ctx, m)
		}
	case kindDiff:
		var d diff
		if err = json.Unmarshal(e.Payload, &d); err == nil {
			s.deliverDiff(ctx, d)
		}
	default:
		err = errors.New("unknown kind " + e.Kind) // of a newer node
	}
	if err != nil {
		s.log.Error("live changes: an event was not delivered", "cause", err.Error())
	}
}

// publish sends an event to all nodes.
func (s *Service) publish(ctx context.Context, kind string, v any) error {
	return s.bus.Publish(ctx, bus.Event{Kind: kind, Payload: toJSON(v)})
}
