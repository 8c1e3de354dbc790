// Package content reads the content version, a number that every committed change of visible content raises (triggers of
// migration 18), and caches values that are made from that content, such as pages. While the database responds, no cached
// value is served that is more than a second out of date.
package content

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"atelie/internal/db"
)

const (
	// refreshAfter is the age of the last reading from which the version is read again in the background.
	refreshAfter = 300 * time.Millisecond
	// maxAge is the age of the last reading from which a request waits for a new one. A change by another node or program is
	// therefore visible after at most maxAge plus the time of one reading, together less than the promised second.
	maxAge = 700 * time.Millisecond
	// refreshTimeout limits a reading by Run or Serving.
	refreshTimeout = 5 * time.Second
	// OutageLife is how long cached responses are served during an outage. This node cannot learn of changes then, but other
	// nodes can still reach the database: what they hide stays visible here for at most this time.
	OutageLife = 5 * time.Minute
)

// Version reads and remembers the content version for this node.
type Version struct {
	db         *db.DB
	log        *slog.Logger
	notified   atomic.Int64            // number of notifications received from other nodes
	last       atomic.Pointer[reading] // nil before the first reading
	refreshing chan struct{}           // lock held during a reading; a channel, so that a context can end the wait for it
	wake       chan struct{}           // makes Run read the version
	changed    chan struct{}           // see Changed
}

// At is a pair of content versions that were read together: Version is the current one, Edited that of the last edit. The
// changes between the two only recorded facts about files, such as new renditions.
type At struct{ Version, Edited int64 }

// SinceEdit returns an At in which both versions are that of the last edit. A cache that uses it keeps its values until the next
// edit.
func (at At) SinceEdit() At { return At{at.Edited, at.Edited} }

// Exactly returns an At in which both versions are the current one. A cache that uses it drops its values at every change.
func (at At) Exactly() At { return At{at.Version, at.Version} }

// reading is one reading of the content version, with what this node knew when it began.
type reading struct {
	content    At
	generation int64     // see Version.generation
	writes     int64     // number of this node's writes that are certainly committed
	time       time.Time // by the machine's clock, because it measures an age
}

// NewVersion returns a Version that reads from d and follows the writes of d. d must stay open while the Version is used.
func NewVersion(d *db.DB, log *slog.Logger) *Version {
	return &Version{db: d, log: log, refreshing: make(chan struct{}, 1), wake: make(chan struct{}, 1), changed: make(chan struct{}, 1)}
}

// generation returns a number that each write of this node and each notification raises. A reading that began at a lower
// generation may miss a change and is not used.
func (v *Version) generation() int64 {
	tried, _ := v.db.Writes()
	return tried + v.notified.Load()
}

// signal sends without blocking. One signal that is not received yet serves for several.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Changed returns a channel that receives a value after a reading found another version. It is for one receiver.
func (v *Version) Changed() <-chan struct{} { return v.changed }

// Known returns the version without reading it. It returns false if a reading is needed or there is an outage.
func (v *Version) Known() (At, bool) {
	last := v.fresh(maxAge)
	if last == nil || v.db.InOutage() {
		return At{}, false
	}
	if time.Since(last.time) >= refreshAfter {
		signal(v.wake)
	}
	return last.content, true
}

// Current returns the version, and reads it if needed. The version includes all that this node wrote before the call, and what
// other nodes wrote up to a second ago. After an error the caller must not serve a cached value.
func (v *Version) Current(ctx context.Context) (At, error) {
	if at, ok := v.Known(); ok {
		return at, nil
	}
	return v.refresh(ctx, maxAge)
}

// Serving is Current for responses that may be stale during an outage. In an outage it returns the last known version and, as
// age, the time since that was read; otherwise age is 0. The error is db.ErrOutage if that reading is older than OutageLife, or
// this node has committed a write since.
func (v *Version) Serving(ctx context.Context) (at At, age time.Duration, err error) {
	if !v.db.InOutage() {
		if at, ok := v.Known(); ok {
			return at, 0, nil
		}
		limited, cancel := context.WithTimeout(ctx, refreshTimeout)
		defer cancel()
		if at, err = v.refresh(limited, maxAge); err == nil {
			return at, 0, nil
		}
		if ctx.Err() == nil && limited.Err() != nil {
			err = v.db.ProbeAfter(ctx, err)
		}
		if !errors.Is(err, db.ErrOutage) {
			return At{}, 0, err
		}
	}
	last := v.last.Load()
	if _, writes := v.db.Writes(); last == nil || last.writes != writes || time.Since(last.time) >= OutageLife {
		return At{}, 0, db.ErrOutage
	}
	return last.content, max(time.Since(last.time), 1), nil
}

// fresh returns the last reading, or nil if it is older than maxAge or a write or notification came after it began.
func (v *Version) fresh(maxAge time.Duration) *reading {
	last := v.last.Load()
	if last == nil || last.generation != v.generation() || time.Since(last.time) >= maxAge {
		return nil
	}
	return last
}

// refresh reads the version. One call at a time reads; a call that waited for another one returns that one's reading if it is
// fresh.
func (v *Version) refresh(ctx context.Context, maxAge time.Duration) (At, error) {
	select {
	case v.refreshing <- struct{}{}:
	case <-ctx.Done():
		return At{}, ctx.Err()
	}
	defer func() { <-v.refreshing }()
	if last := v.fresh(maxAge); last != nil {
		return last.content, nil
	}
	next := &reading{generation: v.generation(), time: time.Now()}
	_, next.writes = v.db.Writes()
	var err error
	if next.content, err = Read(ctx, v.db); err != nil {
		return At{}, err
	}
	if before := v.last.Swap(next); before == nil || before.content != next.content {
		signal(v.changed)
	}
	return next.content, nil
}

// Run refreshes the version in the background until ctx ends: after each write and notification, and when Known finds it old.
func (v *Version) Run(ctx context.Context) {
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		if v.db.Dialect == db.Postgres {
			v.listen(ctx)
		}
	}()
	defer func() { <-listening }()
	for {
		select {
		case <-ctx.Done():
			return
		case <-v.wake:
		case <-v.db.Written():
		}
		limited, cancel := context.WithTimeout(ctx, refreshTimeout)
		_, err := v.refresh(limited, refreshAfter)
		if err != nil && ctx.Err() == nil && limited.Err() != nil {
			err = v.db.ProbeAfter(ctx, err) // a database that hangs returns no error, so find out whether this is an outage
		}
		cancel()
		if err != nil && ctx.Err() == nil {
			v.log.Warn("the content version cannot be read; requests for pages try again", "cause", err.Error())
		}
	}
}

// listen receives the notifications of other nodes until ctx ends, and connects again when the connection is lost. Until then
// only the readings that requests make find the changes of other nodes.
func (v *Version) listen(ctx context.Context) {
	const shortest, longest = 50 * time.Millisecond, 5 * time.Second
	backoff := shortest
	for ctx.Err() == nil {
		err := v.db.Listen(ctx, channel, func() {
			backoff = shortest
			v.notified.Add(1)
			signal(v.wake)
		})
		if ctx.Err() != nil {
			return
		}
		v.log.Warn("content: the connection for notifications of other nodes was lost; it is opened again", "in", backoff.String(), "cause", err.Error())
		select {
		case <-time.After(backoff):
		case <-ctx.Done():
		}
		backoff = min(2*backoff, longest)
	}
}
