package tables

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// This file limits the queries of unprivileged callers: anonymous callers and accounts without a role. If the response cache cannot serve a
// query, the query waits for a slot (the permission to run one query). Then it runs on db.AnonymousPool, a few separate connections, so that
// it does not delay the queries of other callers.

// Limits of the queries of unprivileged callers. For all other callers, only ownerBytes applies. A client is an IPv4 address or an IPv6 /64
// network, as for the rate limits.
//
// A query waits if no slot is free, or if its client has maxRunningClient running queries. A query fails with errBusy (status
// 429) in three cases:
//   - maxWaiting queries wait already, or maxWaitingClient queries of the same client.
//   - The query has waited for defaultQueueTimeout.
//   - Its response and the responses that are being sent are together larger than sendingBytes.
const (
	maxScans            = 20                    // conditions of one query that scan strings or lists
	defaultMaxBytes     = 8 << 20               // size of one response in bytes
	ownerBytes          = 64 << 20              // size in bytes of one response to any other caller, or of one read for a page
	sendingBytes        = 32 << 20              // total size in bytes of the responses that are being sent at one time
	smallResponse       = 64 << 10              // a response of at most this many bytes does not count toward sendingBytes
	maxWaiting          = 32                    // queries that wait for a slot
	maxWaitingClient    = 8                     // waiting queries of one client
	maxRunningClient    = db.AnonymousConns - 1 // running queries of one client, so that no client takes all slots
	defaultQueueTimeout = 5 * time.Second       // maximum wait for a slot
)

// isUnprivileged reports whether the caller is anonymous or an account without a role.
func isUnprivileged(c identity.Caller) bool { return c.Role != identity.Service && !c.Admin }

// readSlot is the permission to run one query.
type readSlot struct {
	querier  db.Querier    // runs the query
	timeout  time.Duration // limit of the query's duration
	maxBytes int           // maximum size of the response in bytes
	release  func()        // gives the slot back; it must be called, and a second call does nothing
}

// acquireSlot returns a slot for a caller's query. For an unprivileged caller it waits until a slot is free. It returns errBusy if the wait
// is too long, or if too many queries wait already. All other callers get a slot immediately.
func (s *Service) acquireSlot(ctx context.Context, c identity.Caller, q *Query) (readSlot, error) {
	if !isUnprivileged(c) {
		return readSlot{querier: s.db, timeout: s.readTimeout, maxBytes: ownerBytes, release: func() {}}, nil
	}
	if countScans(q.Where) > maxScans {
		return readSlot{}, errQuery("a query may have at most " + strconv.Itoa(maxScans) +
			" conditions with like, ilike, match, imatch, cs, cd or ov; signed in as the owner, " + strconv.Itoa(maxConditions))
	}
	release, err := s.anonymousPool.acquire(ctx, httpx.LimitSubject(ctx))
	if err != nil {
		return readSlot{}, err
	}
	return readSlot{
		querier:  s.db.AnonymousPool(),
		timeout:  min(s.readTimeout, db.AnonymousTimeout),
		maxBytes: s.anonymousPool.maxBytes,
		release:  sync.OnceFunc(release),
	}, nil
}

// countScans counts the conditions that scan strings or lists. The cost of such a condition grows with the length of the stored values.
func countScans(n Node) (count int) {
	switch n := n.(type) {
	case All:
		for _, part := range n {
			count += countScans(part)
		}
	case Any:
		for _, part := range n {
			count += countScans(part)
		}
	case Not:
		return countScans(n.Node)
	case Like, Match, Lists:
		return 1
	}
	return count
}

// anonymousPool gives slots to unprivileged callers. One client never gets all slots, so that others can always read too.
type anonymousPool struct {
	mu           sync.Mutex
	free         int                 // number of free slots
	running      map[string]int      // number of queries that have a slot, by client
	waiting      []*waiter           // queries that wait for a slot, in order of arrival
	sending      *semaphore.Weighted // limits the bytes of the responses that are being sent to sendingBytes
	queueTimeout time.Duration       // maximum wait for a slot
	maxBytes     int                 // maximum size of one response in bytes
}

// waiter is a query that waits for a slot.
type waiter struct {
	client string
	ready  chan struct{} // closed when the query has a slot
}

func newAnonymousPool() *anonymousPool {
	return &anonymousPool{free: db.AnonymousConns, running: map[string]int{}, sending: semaphore.NewWeighted(sendingBytes), queueTimeout: defaultQueueTimeout, maxBytes: defaultMaxBytes}
}

// acquire waits for a slot. The caller must call release exactly once. It returns errBusy if the queue is full or queueTimeout
// is over.
func (p *anonymousPool) acquire(ctx context.Context, client string) (release func(), err error) {
	p.mu.Lock()
	if p.takeSlot(client) {
		p.mu.Unlock()
		return func() { p.release(client) }, nil
	}
	if len(p.waiting) >= maxWaiting || p.queued(client) >= maxWaitingClient {
		p.mu.Unlock()
		return nil, errBusy.Becausef("the queue is full")
	}
	w := &waiter{client, make(chan struct{})}
	p.waiting = append(p.waiting, w)
	p.mu.Unlock()

	ctx, cancel := context.WithTimeoutCause(ctx, p.queueTimeout, errBusy.Becausef("no slot within %s", p.queueTimeout))
	defer cancel()
	select {
	case <-w.ready:
		return func() { p.release(client) }, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := slices.Index(p.waiting, w); at >= 0 {
		p.waiting = slices.Delete(p.waiting, at, at+1)
		return nil, context.Cause(ctx)
	}
	return func() { p.release(client) }, nil // release gave it a slot just before the timeout
}

// takeSlot takes a slot and returns true, if one is free and the client does not have too many.
func (p *anonymousPool) takeSlot(client string) bool {
	if p.free == 0 || p.running[client] >= maxRunningClient {
		return false
	}
	p.free--
	p.running[client]++
	return true
}

func (p *anonymousPool) queued(client string) (n int) {
	for _, w := range p.waiting {
		if w.client == client {
			n++
		}
	}
	return n
}

func (p *anonymousPool) release(client string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free++
	if p.running[client]--; p.running[client] == 0 {
		delete(p.running, client)
	}
	for at, w := range p.waiting {
		if p.takeSlot(w.client) {
			p.waiting = slices.Delete(p.waiting, at, at+1)
			close(w.ready)
			return
		}
	}
}

// send runs write, which sends size bytes. It returns errBusy instead if sendingBytes are being sent already.
func (p *anonymousPool) send(size int, write func() error) error {
	if size <= smallResponse {
		return write()
	}
	if !p.sending.TryAcquire(int64(size)) {
		return errBusy.Becausef("responses of %d bytes are being sent", sendingBytes)
	}
	defer p.sending.Release(int64(size))
	return write()
}
