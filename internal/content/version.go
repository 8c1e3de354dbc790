// Package content knows the version of what visitors can see, and keeps answers that were made of it for as long as it
// stands. Every committed change raises the version (migration 18); nothing older than a second is shown anywhere.
package content

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"atelie/internal/db"
)

// How old the last look at the version may be: from recheck on it is looked at again beside the requests, from oldest on
// they wait for it. What is made of a version is shown for oldest at most after another node, or another program, has
// written: the second that issue 8 allows, less the time of the look.
const (
	recheck = 300 * time.Millisecond
	oldest  = 700 * time.Millisecond
	// patience is for one look that nobody waits for.
	patience = 5 * time.Second
)

// Version is the content's version as one node knows it.
type Version struct {
	db      *db.DB
	log     *slog.Logger
	news    atomic.Int64 // what this node has written or was told of: a look that began before counts no more
	known   atomic.Pointer[look]
	turn    chan struct{} // held by the one who looks
	bell    chan struct{}
	changed chan struct{}
}

// At says what the content was at a moment: its version, and that of the last change which somebody made. Between the two
// only what programs found out about files has changed.
type At struct{ Version, Edited int64 }

// SinceEdit passes over what was found out about files.
func (at At) SinceEdit() At { return At{at.Edited, at.Edited} }

// Exactly takes every change for one that somebody made.
func (at At) Exactly() At { return At{at.Version, at.Version} }

// look is what a reading of the version has shown. It is as old as its beginning. at is of the machine's clock, not of
// the rules': it counts how long ago something was.
type look struct {
	content At
	news    int64
	at      time.Time
}

// NewVersion makes it known; d must be open for as long as it is used.
func NewVersion(d *db.DB, log *slog.Logger) *Version {
	v := &Version{db: d, log: log, turn: make(chan struct{}, 1), bell: make(chan struct{}, 1), changed: make(chan struct{}, 1)}
	d.OnWrite(v.hear)
	return v
}

// hear makes the next request look again.
func (v *Version) hear() {
	v.news.Add(1)
	ring(v.bell)
}

func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default: // it has been rung already
	}
}

// Changed is rung when another version has been seen, for one listener.
func (v *Version) Changed() <-chan struct{} { return v.changed }

// Known gives the version when it is known without asking the database.
func (v *Version) Known() (At, bool) {
	k := v.fresh(oldest)
	if k == nil {
		return At{}, false
	}
	if time.Since(k.at) >= recheck {
		ring(v.bell)
	}
	return k.content, true
}

// Current gives the version. Everything that this node had written before the call is in it, and what others had written
// a second ago. An error means that it cannot be known, and that nothing kept may be shown.
func (v *Version) Current(ctx context.Context) (At, error) {
	if at, ok := v.Known(); ok {
		return at, nil
	}
	return v.look(ctx, oldest)
}

// fresh gives the last look when it still counts.
func (v *Version) fresh(limit time.Duration) *look {
	k := v.known.Load()
	if k == nil || k.news != v.news.Load() || time.Since(k.at) >= limit {
		return nil
	}
	return k
}

// look reads the version, one at a time; who has waited takes what was found in the meantime.
func (v *Version) look(ctx context.Context, limit time.Duration) (At, error) {
	select {
	case v.turn <- struct{}{}:
	case <-ctx.Done():
		return At{}, ctx.Err()
	}
	defer func() { <-v.turn }()
	if k := v.fresh(limit); k != nil {
		return k.content, nil
	}
	next := &look{news: v.news.Load(), at: time.Now()}
	var err error
	if next.content, err = readVersion(ctx, v.db); err != nil {
		return At{}, err
	}
	if before := v.known.Swap(next); before == nil || before.content != next.content {
		ring(v.changed)
	}
	return next.content, nil
}

// Run looks again whenever something was written or said, until ctx ends.
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
		case <-v.bell:
		}
		at, cancel := context.WithTimeout(ctx, patience)
		_, err := v.look(at, recheck)
		cancel()
		if err != nil && ctx.Err() == nil {
			v.log.Warn("the content's version cannot be read; pages wait for it", "cause", err.Error())
		}
	}
}

// listen hears of other nodes' changes. While the connection is lost the requests' own looks find them.
func (v *Version) listen(ctx context.Context) {
	const shortest, longest = 50 * time.Millisecond, 5 * time.Second
	pause := shortest
	for ctx.Err() == nil {
		err := v.db.Listen(ctx, channel, func() {
			pause = shortest
			v.hear()
		})
		if ctx.Err() != nil {
			return
		}
		v.log.Warn("content: the listening connection was lost, another follows", "in", pause.String(), "cause", err.Error())
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		pause = min(2*pause, longest)
	}
}
