// Package bus carries events to every node: an outbox table that the writing transaction fills, and a bell that says when
// to read it. The bell is a channel within one process, and PostgreSQL's NOTIFY between several.
package bus

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"atelie/internal/db"
)

const (
	// keep is how long events stay for a node that has lost its connection.
	keep = 10 * time.Minute
	// skew is how far the nodes' clocks may differ.
	skew = time.Minute
	// pollEvery finds what no bell announced, such as what another command wrote into SQLite.
	pollEvery  = 5 * time.Second
	sweepEvery = time.Minute
)

// Event is what travels: Payload is JSON text that the reader of the kind understands.
type Event struct {
	Kind    string
	Payload []byte
}

// Bus is the outbox as one node reads it.
type Bus struct {
	db   *db.DB
	log  *slog.Logger
	now  func() time.Time
	bell chan struct{}

	mu     sync.Mutex
	direct []Event // said within the one process of SQLite, without the disk

	cursor string
	read   time.Time // when the outbox was last read to its end
}

// New makes a bus that hears what is committed from now on.
func New(ctx context.Context, d *db.DB, log *slog.Logger, now func() time.Time) (*Bus, error) {
	cursor, err := position(ctx, d)
	if err != nil {
		return nil, err
	}
	return &Bus{db: d, log: log, now: now, bell: make(chan struct{}, 1), cursor: cursor, read: now()}, nil
}

// Record writes events of a kind down in the caller's transaction: they reach every node after the commit, in their order,
// and none without it.
func (b *Bus) Record(ctx context.Context, tx *db.Tx, kind string, payloads ...[]byte) error {
	texts := make([]string, len(payloads))
	for i, p := range payloads {
		texts[i] = string(p)
	}
	if err := insertEvents(ctx, tx, kind, texts, b.now()); err != nil {
		return err
	}
	tx.AfterCommit(b.ring)
	return nil
}

// Publish sends an event that belongs to no transaction.
func (b *Bus) Publish(ctx context.Context, e Event) error {
	if b.db.Dialect == db.Postgres {
		return b.db.WithTx(ctx, func(tx *db.Tx) error { return b.Record(ctx, tx, e.Kind, e.Payload) })
	}
	b.mu.Lock()
	b.direct = append(b.direct, e)
	b.mu.Unlock()
	b.ring()
	return nil
}

// ring asks for a reading; it never blocks.
func (b *Bus) ring() {
	select {
	case b.bell <- struct{}{}:
	default: // it is going to read anyway
	}
}

// Run hands over events, one at a time, until ctx ends. lost is called when the outbox could not be read for so long that
// events may have been swept unread.
func (b *Bus) Run(ctx context.Context, deliver func(Event), lost func()) {
	var listening sync.WaitGroup
	defer listening.Wait()
	if b.db.Dialect == db.Postgres {
		listening.Go(func() { b.listen(ctx) })
	}
	poll, sweep := time.NewTicker(pollEvery), time.NewTicker(sweepEvery)
	defer poll.Stop()
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.bell:
		case <-poll.C:
		case <-sweep.C:
			if err := b.Sweep(ctx); err != nil && ctx.Err() == nil {
				b.log.Error("live changes: the outbox was not swept", "cause", err.Error())
			}
		}
		if err := b.drain(ctx, deliver, lost); err != nil && ctx.Err() == nil {
			b.log.Error("live changes: the outbox cannot be read", "cause", err.Error())
		}
	}
}

func (b *Bus) drain(ctx context.Context, deliver func(Event), lost func()) error {
	b.mu.Lock()
	events := b.direct
	b.direct = nil
	b.mu.Unlock()
	for _, e := range events {
		deliver(e)
	}
	begin := b.now()
	events, next, err := after(ctx, b.db, b.cursor)
	if err != nil {
		return err
	}
	if begin.Sub(b.read) > keep-skew {
		lost()
	}
	b.cursor, b.read = next, begin
	for _, e := range events {
		deliver(e)
	}
	return nil
}

// Sweep forgets events that every node has had the time to read.
func (b *Bus) Sweep(ctx context.Context) error {
	return deleteBefore(ctx, b.db, b.now().Add(-keep))
}

// listen rings the bell at each notification, and opens the connection anew when it is lost. What was committed in
// between is read then: the bell rings at each beginning.
func (b *Bus) listen(ctx context.Context) {
	const longest = 5 * time.Second
	pause := 50 * time.Millisecond
	for ctx.Err() == nil {
		err := b.db.Listen(ctx, channel, func() {
			pause = 50 * time.Millisecond
			b.ring()
		})
		if ctx.Err() != nil {
			return
		}
		b.log.Warn("live changes: the listening connection was lost, another follows", "in", pause.String(), "cause", err.Error())
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		pause = min(2*pause, longest)
	}
}
