package resumable

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	tus "github.com/tus/tusd/v2/pkg/handler"

	"atelie/internal/interval"
)

// This file makes sure that only one request at a time writes to an upload: the request that has the lock in the upload's row. The holder
// renews its lock. If a node (server of the site) dies, its locks expire. A request that waits for the lock interrupts the holder, because
// the holder's connection may be broken without the server's knowledge.

// Durations of locks.
const (
	lockDuration     = 30 * time.Second       // time from the last renewal to the expiry of a lock
	renewInterval    = 5 * time.Second        // time between two renewals
	lockPollInterval = 250 * time.Millisecond // time between two attempts to lock, or two checks whether another request waits
	lockTimeout      = 10 * time.Second       // how long a request waits for the lock
	unlockTimeout    = 5 * time.Second        // timeout of the statement that releases a lock
)

// locker gives tusd, the library for the protocol of resumable uploads, the locks of uploads.
type locker struct{ service *Service }

// NewLock implements tusd's Locker.
func (l locker) NewLock(id string) (tus.Lock, error) {
	return &lock{service: l.service, id: id, token: uuid.NewString()}, nil
}

// lock is the lock of one upload for one request.
type lock struct {
	service *Service
	id      string             // id of the upload
	token   string             // identifies this request as the holder of the lock
	stop    context.CancelFunc // ends the renewal
	renewal sync.WaitGroup     // the goroutine that renews the lock
}

// Lock implements tusd's Lock. tusd passes requestUnlock to interrupt this request when another one waits for the lock.
func (l *lock) Lock(ctx context.Context, requestUnlock func()) error {
	for {
		locked, err := l.tryLock(ctx)
		if err == nil && locked {
			break
		}
		if err == nil {
			err = setFlag(ctx, l.service.db, l.id, "lock_wanted")
		}
		if err != nil && ctx.Err() == nil {
			return tusError(ctx, err)
		}
		if interval.Sleep(ctx, lockPollInterval) != nil {
			return tusError(ctx, errLocked)
		}
	}
	interrupt := requestUnlock
	if interrupted, ok := ctx.Value(interruptedKey{}).(*atomic.Bool); ok { // if true, the response has the status 423 (Locked)
		interrupt = func() {
			interrupted.Store(true)
			requestUnlock()
		}
	}
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	l.renewal.Go(func() { l.renew(renewing, interrupt) })
	return nil
}

// tryLock takes the lock if it is free. The end of ctx does not cancel the statement: the database might still give the lock to this
// request, which would not know, and the upload would be locked until the lock expires.
func (l *lock) tryLock(ctx context.Context) (locked bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockTimeout)
	defer cancel()
	locked, err = acquireLock(ctx, l.service.db, l.id, l.token, l.service.now(), lockDuration)
	if err != nil {
		_ = l.release() // the database may have given the lock and its response was lost; release logs its own error
	}
	return locked, err
}

// renew renews the lock until ctx ends. It calls interrupt when another request waits for the lock, or when the lock is lost.
func (l *lock) renew(ctx context.Context, interrupt func()) {
	renewed := time.Now()
	interval.After(ctx, lockPollInterval, func() bool {
		isHolder, isWanted, err := lockState(ctx, l.service.db, l.id, l.token)
		if err == nil && isHolder && time.Since(renewed) >= renewInterval {
			if isHolder, err = acquireLock(ctx, l.service.db, l.id, l.token, l.service.now(), lockDuration); err == nil {
				renewed = time.Now()
			}
		}
		if isWanted || (err == nil && !isHolder) || time.Since(renewed) > lockDuration-2*renewInterval {
			interrupt()
		}
		return true
	})
}

// Unlock implements tusd's Lock.
func (l *lock) Unlock() error {
	l.stop()
	l.renewal.Wait()
	return l.release()
}

// release releases the lock if this request has it, and logs an error.
func (l *lock) release() error {
	ctx, cancel := context.WithTimeout(context.Background(), unlockTimeout)
	defer cancel()
	err := releaseLock(ctx, l.service.db, l.id, l.token)
	if err != nil {
		l.service.log.Warn("the lock of an upload was not released; it expires by itself", "upload", l.id, "cause", err)
	}
	return err
}

// ReleaseAll releases the locks of all uploads. The caller must know that no other server runs.
func (s *Service) ReleaseAll(ctx context.Context) error { return releaseLocks(ctx, s.db) }
