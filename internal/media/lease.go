package media

import (
	"context"
	"errors"
	"sync"
	"time"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/interval"
)

// This file makes sure that only one node (running server) at a time derives files, such as renditions, from an object (a stored file). The
// right to do so is a lease. The node renews the lease while it works. If the node dies, the lease expires, and another node can take it.

// Durations of leases.
const (
	leaseDuration      = 30 * time.Second       // a lease expires this long after it was taken or last renewed
	leaseRenewInterval = 8 * time.Second        // interval of renewals
	leasePollInterval  = 100 * time.Millisecond // interval of attempts to take a lease that another node has
	leaseTimeout       = 10 * time.Second       // timeout of a statement that takes, renews or releases a lease
)

// withLease waits for the lease of an object, then runs fn with the object's current rows o and m. The context of fn ends if the lease is
// lost. blobID is the blob (the stored bytes of the object) from which fn derives files. If the object is gone or has another blob, the
// error is errObsolete. If ctx ends while withLease waits for the lease, the error wraps errBusy.
func (s *Service) withLease(ctx context.Context, objectID, blobID string, fn func(ctx context.Context, o files.Object, m *media) error) error {
	unlock, err := s.objectLocks.lock(ctx, objectID) // waits for other calls in this process; the loop below waits for other nodes
	if err != nil {
		return err
	}
	defer unlock()
	holder := newID() // identifies this call in the database
	// The end of ctx does not cancel the statements of take and release. A cancelled statement might still take the lease in the database, and
	// no node could derive files until that lease expires.
	take := func() (held bool, err error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTimeout)
		defer cancel()
		return takeLease(ctx, s.db, objectID, blobID, holder, s.now(), s.now().Add(leaseDuration))
	}
	release := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTimeout)
		defer cancel()
		if err := releaseLease(ctx, s.db, objectID, holder); err != nil {
			s.log.WarnContext(ctx, "the lease of an object was not released; it expires by itself", "object", objectID, "cause", err)
		}
	}
	for {
		held, err := take()
		if err != nil {
			release() // the statement may have taken the lease although its response was lost
			return err
		}
		if held {
			break
		}
		// The lease was not taken. If the object is gone or has another blob, waiting would not help.
		if _, m, err := findMediaObjectByID(ctx, s.db, objectID); err != nil && !errors.Is(err, db.ErrNoRows) {
			return err
		} else if m == nil || m.Version != blobID {
			return errObsolete
		}
		if interval.Sleep(ctx, leasePollInterval) != nil {
			return errors.Join(errBusy, ctx.Err())
		}
	}
	defer release()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var renewing sync.WaitGroup
	defer renewing.Wait()
	renewal, stop := context.WithCancel(ctx)
	defer stop() // runs before renewing.Wait, so that the renewal ends
	renewing.Go(func() {
		interval.After(renewal, leaseRenewInterval, func() bool {
			if held, err := take(); err == nil && !held {
				cancel(errObsolete) // another call has taken the lease
			}
			return true
		})
	})
	o, m, err := findMediaObjectByID(ctx, s.db, objectID)
	switch {
	case errors.Is(err, db.ErrNoRows), err == nil && (m == nil || m.Version != blobID):
		return errObsolete
	case err != nil:
		return err
	case m.State == stateFailed:
		return errCannotBeShown(m.Reason)
	}
	if err = fn(ctx, o, m); err != nil && errors.Is(context.Cause(ctx), errObsolete) {
		return errObsolete
	}
	return err
}

// keyLocks contains a mutex for each key, within this process. The zero value is ready to use.
type keyLocks struct {
	locked sync.Map // key → chan struct{}, which is closed when the mutex is unlocked; only locked mutexes have an entry
}

// lock locks the key's mutex. If ctx ends first, the error wraps errBusy and the error of ctx.
func (l *keyLocks) lock(ctx context.Context, key string) (unlock func(), err error) {
	unlocked := make(chan struct{})
	for {
		other, isLocked := l.locked.LoadOrStore(key, unlocked)
		if !isLocked {
			return func() {
				l.locked.Delete(key)
				close(unlocked)
			}, nil
		}
		select {
		case <-other.(chan struct{}):
		case <-ctx.Done():
			return nil, errors.Join(errBusy, ctx.Err())
		}
	}
}
