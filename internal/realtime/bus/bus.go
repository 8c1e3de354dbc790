// Package bus carries events to every node (server of the site). A transaction writes its events into a table, the outbox. After the
// commit, a wake-up makes the nodes read the outbox. A wake-up is a value on a Go channel within one process, and PostgreSQL's NOTIFY
// between nodes.
package bus

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"atelie/internal/db"
)

const (
	// maxGap is how long a node can fail to read the outbox without missing events. After a longer time, Run calls its parameter missed.
	maxGap = 10 * time.Minute
	// retention is how long events stay in the outbox. It is longer than maxGap, because the clock of the node that wrote an event can
	// differ from the clock of the node that deletes it.
	retention = maxGap + db.ClockSkew
	// pollInterval is the interval at which the outbox is read without a wake-up. On SQLite this finds the events of commands, which run in
	// other processes and cannot wake the server.
	pollInterval = 5 * time.Second
	// sweepInterval is the interval at which old events are deleted.
	sweepInterval = time.Minute
)

// Event is one event on the bus.
type Event struct {
	Kind    string // says how to decode Payload
	Payload []byte // JSON
}

// Bus writes events into the outbox. It delivers the events of all nodes to the functions of this node.
type Bus struct {
	db   *db.DB
	log  *slog.Logger
	now  func() time.Time
	wake chan struct{} // receives a value when events are waiting

	mu sync.Mutex
	// local are the events of Publish on SQLite that wait for delivery; guarded by mu. They are not stored, because there is only one node.
	local []Event

	// Only Run uses the fields below.
	cursor   string    // position in the outbox up to which events were read
	lastRead time.Time // when the outbox was most recently read to its end
}

// New returns a bus that delivers the events committed from now on.
func New(ctx context.Context, d *db.DB, log *slog.Logger, now func() time.Time) (*Bus, error) {
	cursor, err := currentCursor(ctx, d)
	if err != nil {
		return nil, err
	}
	return &Bus{db: d, log: log, now: now, wake: make(chan struct{}, 1), cursor: cursor, lastRead: now()}, nil
}

// Record stores an event for each payload in the caller's transaction. After the commit every node delivers them, in the order of the
// payloads.
func (b *Bus) Record(ctx context.Context, tx *db.Tx, kind string, payloads ...[]byte) error {
	texts := make([]string, len(payloads))
	for i, p := range payloads {
		texts[i] = string(p)
	}
	if err := insertEvents(ctx, tx, kind, texts, b.now()); err != nil {
		return err
	}
	tx.AfterCommit(b.signal)
	return nil
}

// RecordRows is Record with one event for each row of a query, in the order of the rows. The payload of an event is prefix + the row's only
// column, a JSON text, + suffix.
func (b *Bus) RecordRows(ctx context.Context, tx *db.Tx, kind, prefix, suffix, query string, args ...any) error {
	if err := insertRowEvents(ctx, tx, kind, prefix, suffix, b.now(), query, args); err != nil {
		return err
	}
	tx.AfterCommit(b.signal)
	return nil
}

// Publish sends an event that belongs to no transaction to every node. On SQLite the event is not stored.
func (b *Bus) Publish(ctx context.Context, e Event) error {
	if b.db.Dialect == db.Postgres {
		return b.db.WithShortTx(ctx, func(tx *db.Tx) error { return b.Record(ctx, tx, e.Kind, e.Payload) })
	}
	b.mu.Lock()
	b.local = append(b.local, e)
	b.mu.Unlock()
	b.signal()
	return nil
}

// signal wakes Run; it never blocks.
func (b *Bus) signal() {
	select {
	case b.wake <- struct{}{}:
	default: // a wake-up is pending
	}
}

// Run calls deliver for each event, one at a time, until ctx ends. It calls missed if the outbox could not be read for so long
// that events may have been deleted unread.
func (b *Bus) Run(ctx context.Context, deliver func(Event), missed func()) {
	var listening sync.WaitGroup
	defer listening.Wait()
	if b.db.Dialect == db.Postgres {
		listening.Go(func() { b.listen(ctx) })
	}
	poll, sweep := time.NewTicker(pollInterval), time.NewTicker(sweepInterval)
	defer poll.Stop()
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.wake:
		case <-poll.C:
		case <-sweep.C:
			if err := b.Sweep(ctx); err != nil && ctx.Err() == nil {
				b.log.Error("live changes: the outbox was not swept", "cause", err.Error())
			}
		}
		if err := b.drain(ctx, deliver, missed); err != nil && ctx.Err() == nil {
			b.log.Error("live changes: the outbox cannot be read", "cause", err.Error())
		}
	}
}

// drain delivers all events that are waiting.
func (b *Bus) drain(ctx context.Context, deliver func(Event), missed func()) error {
	b.mu.Lock()
	events := b.local
	b.local = nil
	b.mu.Unlock()
	for _, e := range events {
		deliver(e)
	}
	begin := b.now()
	events, next, err := eventsAfter(ctx, b.db, b.cursor)
	if err != nil {
		return err
	}
	if begin.Sub(b.lastRead) > maxGap {
		missed()
	}
	b.cursor, b.lastRead = next, begin
	for _, e := range events {
		deliver(e)
	}
	return nil
}

// listen wakes the reader at each notification until ctx ends. db.Listen also notifies when it has connected, so that events
// during an interruption are read.
func (b *Bus) listen(ctx context.Context) {
	b.db.Listen(ctx, notifyChannel, b.signal, func(wait time.Duration, cause error) {
		b.log.Warn("live changes: the connection that listens for events was lost; it is opened again", "in", wait.String(), "cause", cause.Error())
	})
}
