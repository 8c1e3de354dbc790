package resumable

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	tus "github.com/tus/tusd/v2/pkg/handler"
)

// A lock is a lease in the upload's row, renewed while its holder lives: a node that dies gives it back by that. Who
// waits asks the holder to let go, for it may be a connection that has broken unnoticed.
const (
	lease        = 30 * time.Second
	renew        = 5 * time.Second
	lockPoll     = 250 * time.Millisecond
	lockPatience = 10 * time.Second
	unlockTime   = 5 * time.Second
)

type locker struct{ s *Service }

// NewLock is tusd's.
func (l locker) NewLock(id string) (tus.Lock, error) {
	return &lock{s: l.s, id: id, token: uuid.NewString()}, nil
}

type lock struct {
	s         *Service
	id, token string
	stop      context.CancelFunc
	kept      sync.WaitGroup
}

// Lock is tusd's.
func (l *lock) Lock(ctx context.Context, requestUnlock func()) error {
	for {
		got, err := takeLock(ctx, l.s.db, l.id, l.token, l.s.now(), lease)
		if err == nil && got {
			break
		}
		if err == nil {
			err = wantLock(ctx, l.s.db, l.id)
		}
		if err != nil && ctx.Err() == nil {
			return wireError(ctx, err)
		}
		select {
		case <-ctx.Done():
			return wireError(ctx, errLocked)
		case <-time.After(lockPoll):
		}
	}
	asked, ok := ctx.Value(askedKey{}).(*atomic.Bool)
	if ok {
		letGo := requestUnlock
		requestUnlock = func() {
			asked.Store(true)
			letGo()
		}
	}
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	l.kept.Go(func() { l.keep(keeping, requestUnlock) })
	return nil
}

// keep renews the lease, and tells the holder when somebody waits or the lease is lost.
func (l *lock) keep(ctx context.Context, requestUnlock func()) {
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	renewed := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		mine, wanted, err := lockState(ctx, l.s.db, l.id, l.token)
		if err == nil && mine && time.Since(renewed) >= renew {
			if mine, err = takeLock(ctx, l.s.db, l.id, l.token, l.s.now(), lease); err == nil {
				renewed = time.Now()
			}
		}
		if wanted || (err == nil && !mine) || time.Since(renewed) > lease-2*renew {
			requestUnlock()
		}
	}
}

// Unlock is tusd's.
func (l *lock) Unlock() error {
	l.stop()
	l.kept.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), unlockTime)
	defer cancel()
	err := dropLock(ctx, l.s.db, l.id, l.token)
	if err != nil {
		slog.Warn("lock of an upload not given back, it will run out", "upload", l.id, "cause", err)
	}
	return err
}
