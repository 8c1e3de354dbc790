// Package content reads the content version, and caches values that are made from the content, such as pages. The content version
// is a number that database triggers (migration 18) raise with every change of visible content. While the database responds, a
// cached value that is served is at most one second out of date.
package content

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"atelie/internal/db"
	"atelie/internal/interval"
)

const (
	// refreshAfter is how old the last read versions may be before they are read again in the background.
	refreshAfter = 300 * time.Millisecond
	// maxAge is how old the last read versions may be before a request waits for a new read. So a change by another node is visible after
	// at most maxAge and the time of one read. This is less than the second that the package promises.
	maxAge = 700 * time.Millisecond
	// readPause is the pause of Run after a read, so that a series of writes causes one read instead of one for each write.
	readPause = 20 * time.Millisecond
	// refreshTimeout limits one read.
	refreshTimeout = 5 * time.Second
	// OutageLife is how long cached responses are served while this node cannot reach the database. Meanwhile an owner can hide something
	// through another node, and this node still shows it for at most OutageLife.
	OutageLife = 5 * time.Minute
)

// Version reads the content version, and caches it for this node (one running server).
type Version struct {
	db            *db.DB
	log           *slog.Logger
	notifications atomic.Int64            // number of notifications from other nodes
	latest        atomic.Pointer[reading] // the newest reading; nil before the first read
	refreshing    chan struct{}           // held during a read; a channel instead of a mutex, so that a context can end the wait
	wake          chan struct{}           // receives a value when Run has to read the version
	subscribers   []chan struct{}         // the channels that Subscribe has returned
}

// Versions is the result of reading a Version: two content versions that were read together. Current is the version now. Edited is the
// version at the last edit, which is a change by a person. Changes after the last edit only recorded facts about files, such as new
// renditions (resized copies of pictures).
type Versions struct{ Current, Edited int64 }

// EditsOnly returns the Versions for a cache whose values depend only on edits: both fields are the version at the last edit, so the cache
// keeps its values until the next edit.
func (at Versions) EditsOnly() Versions { return Versions{at.Edited, at.Edited} }

// AllChanges returns the Versions for a cache whose values depend on all content: both fields are the current version, so the cache drops
// its values at every change.
func (at Versions) AllChanges() Versions { return Versions{at.Current, at.Current} }

// reading is the result of one read of the content versions, with the state of this node when the read began.
type reading struct {
	versions   Versions
	generation int64     // number of writes and notifications known when the read began; one more makes the reading outdated
	writes     int64     // number of this node's writes that had committed when the read began
	readAt     time.Time // when the read began, from time.Now, because only ages are computed from it
}

// NewVersion returns a Version that reads from d and follows the writes of d. d must stay open while the Version is used.
func NewVersion(d *db.DB, log *slog.Logger) *Version {
	return &Version{db: d, log: log, refreshing: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
}

// generation returns a number that each write of this node and each notification of another node raises. A reading that began at a lower
// generation is not used, because it may miss a change.
func (v *Version) generation() int64 {
	tried, _ := v.db.Writes()
	return tried + v.notifications.Load()
}

// signal sends to a channel with a buffer of one, without blocking. Several signals before a receive count as one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Subscribe returns a channel that receives a value after a reading found another version. Call Subscribe before the first reading.
func (v *Version) Subscribe() <-chan struct{} {
	subscriber := make(chan struct{}, 1)
	v.subscribers = append(v.subscribers, subscriber)
	return subscriber
}

// Known returns the versions of the latest reading without a new one. It returns false if that reading is out of date, or in an
// outage.
func (v *Version) Known() (Versions, bool) {
	last := v.fresh(maxAge)
	if last == nil || v.db.InOutage() {
		return Versions{}, false
	}
	if time.Since(last.readAt) >= refreshAfter {
		signal(v.wake)
	}
	return last.versions, true
}

// Current returns the version, and reads it if needed. The version includes all that this node wrote before the call, and what
// other nodes wrote up to a second ago. After an error the caller must not serve a cached value.
func (v *Version) Current(ctx context.Context) (Versions, error) {
	if at, ok := v.Known(); ok {
		return at, nil
	}
	limited, cancel := context.WithTimeout(ctx, refreshTimeout) // some callers have no time limit
	defer cancel()
	return v.refresh(limited, maxAge)
}

// Recent returns a version that is at most a second old. Unlike Current, it may also miss the writes of this node in that second, and needs
// no new reading after each write.
func (v *Version) Recent(ctx context.Context) (Versions, error) {
	last := v.latest.Load()
	if last == nil || time.Since(last.readAt) >= maxAge || v.db.InOutage() {
		limited, cancel := context.WithTimeout(ctx, refreshTimeout)
		defer cancel()
		return v.refresh(limited, maxAge)
	}
	if time.Since(last.readAt) >= refreshAfter {
		signal(v.wake)
	}
	return last.versions, nil
}

// Serving is Current for responses that may be stale during an outage. In an outage it returns the last known version and, as
// age, the time since that was read; otherwise age is 0. The error is db.ErrOutage if that reading is older than OutageLife, or
// this node has committed a write since.
func (v *Version) Serving(ctx context.Context) (at Versions, age time.Duration, err error) {
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
			return Versions{}, 0, err
		}
	}
	last := v.latest.Load()
	if _, writes := v.db.Writes(); last == nil || last.writes != writes || time.Since(last.readAt) >= OutageLife {
		return Versions{}, 0, db.ErrOutage
	}
	return last.versions, max(time.Since(last.readAt), 1), nil
}

// fresh returns the last reading, or nil if it is older than limit or a write or notification came after it began.
func (v *Version) fresh(limit time.Duration) *reading {
	last := v.latest.Load()
	if last == nil || last.generation != v.generation() || time.Since(last.readAt) >= limit {
		return nil
	}
	return last
}

// refresh reads the version. One call at a time reads. A call that waited for another call returns the reading of that call if the
// reading is fresh.
func (v *Version) refresh(ctx context.Context, limit time.Duration) (Versions, error) {
	select {
	case v.refreshing <- struct{}{}:
	case <-ctx.Done():
		return Versions{}, ctx.Err()
	}
	defer func() { <-v.refreshing }()
	if last := v.fresh(limit); last != nil {
		return last.versions, nil
	}
	next := &reading{generation: v.generation(), readAt: time.Now()}
	_, next.writes = v.db.Writes()
	var err error
	if next.versions, err = Read(ctx, v.db); err != nil {
		return Versions{}, err
	}
	if before := v.latest.Swap(next); before == nil || before.versions != next.versions {
		for _, subscriber := range v.subscribers {
			signal(subscriber)
		}
	}
	return next.versions, nil
}

// Run refreshes the version in the background until ctx ends: after each write and notification, and when Known finds it old.
func (v *Version) Run(ctx context.Context) {
	var listening sync.WaitGroup
	defer listening.Wait()
	if v.db.Dialect == db.Postgres {
		listening.Go(func() { v.listen(ctx) })
	}
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
		if interval.Sleep(ctx, readPause) != nil {
			return
		}
	}
}

// listen receives the notifications of other nodes until ctx ends. While the connection is lost, only the readings that requests
// make find the changes of other nodes.
func (v *Version) listen(ctx context.Context) {
	v.db.Listen(ctx, notifyChannel, func() {
		v.notifications.Add(1)
		signal(v.wake)
	}, func(wait time.Duration, cause error) {
		v.log.Warn("content: the connection for notifications of other nodes was lost; it is opened again", "in", wait.String(), "cause", cause.Error())
	})
}
