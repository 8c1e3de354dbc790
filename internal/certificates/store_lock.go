package certificates

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/interval"
)

// This file implements the locks of the certmagic library. With these locks, only one node (one of several servers of the site) at a time
// does a task, such as obtaining the certificate of a domain. A lock is a row of certificate_locks. A lock expires after leaseDuration
// unless its node renews it, so other nodes soon get the locks of a dead node.

const (
	leaseDuration = 30 * time.Second
	renewInterval = 10 * time.Second // time between two renewals of a lock
	// The time between two attempts to get a lock grows from minPollInterval to maxPollInterval, because the wait may be long: a node
	// keeps a lock until it has obtained the certificate, which may take days.
	minPollInterval = 250 * time.Millisecond
	maxPollInterval = 4 * time.Second
	unlockTimeout   = 5 * time.Second // timeout of the statement that releases a lock
)

// heldLock is a lock that this node holds.
type heldLock struct {
	token   string             // random; identifies this node as the holder in the row
	stop    context.CancelFunc // ends the renewal
	renewal sync.WaitGroup     // the goroutine that renews the lease
}

// Lock implements certmagic.Locker. It waits until the lock is free.
func (s *storage) Lock(ctx context.Context, name string) error {
	for poll := minPollInterval; ; poll = min(2*poll, maxPollInterval) {
		acquired, err := s.TryLock(ctx, name)
		if err != nil || acquired {
			return err
		}
		if err := interval.Sleep(ctx, poll); err != nil {
			return err
		}
	}
}

// TryLock implements certmagic.TryLocker. It returns false if another holder has the lock.
func (s *storage) TryLock(ctx context.Context, name string) (bool, error) {
	token := uuid.NewString()
	now := s.now()
	acquired, err := acquireLock(ctx, s.db, name, token, now, now.Add(leaseDuration))
	if err != nil || !acquired {
		return false, err
	}
	renewCtx, stop := context.WithCancel(context.WithoutCancel(ctx)) // ends when Unlock calls stop
	l := &heldLock{token: token, stop: stop}
	l.renewal.Go(func() { s.renewLease(renewCtx, name, token) })
	s.mu.Lock()
	s.held[name] = l
	s.mu.Unlock()
	return true, nil
}

// renewLease renews the lease until ctx ends. If another node has taken the lock, renewLease only logs that, because certmagic cannot be
// stopped half-way. Before certmagic calls the certificate authority, it reads what other nodes have stored.
func (s *storage) renewLease(ctx context.Context, name, token string) {
	interval.After(ctx, renewInterval, func() bool {
		isHolder, err := renewLock(ctx, s.db, name, token, s.now().Add(leaseDuration))
		switch {
		case ctx.Err() != nil:
			return false
		case err != nil:
			s.log.Warn("certificates: a lock could not be renewed; another node may take it", "lock", name, "cause", err.Error())
		case !isHolder:
			s.log.Warn("certificates: another node has taken a lock that this node held", "lock", name)
			return false
		}
		return true
	})
}

// Unlock implements certmagic.Locker.
func (s *storage) Unlock(ctx context.Context, name string) error {
	s.mu.Lock()
	l := s.held[name]
	delete(s.held, name)
	s.mu.Unlock()
	if l == nil {
		return fmt.Errorf("lock %s is not held", name)
	}
	l.stop()
	l.renewal.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTimeout)
	defer cancel()
	return db.Exec(ctx, s.db, "delete from certificate_locks where name = $1 and token = $2", name, l.token)
}

// unlockAll releases the locks that this node still has when the program ends. Otherwise other nodes would wait until they
// expire.
func (s *storage) unlockAll(ctx context.Context) error {
	s.mu.Lock()
	names := slices.Collect(maps.Keys(s.held))
	s.mu.Unlock()
	var errs []error
	for _, name := range names {
		errs = append(errs, s.Unlock(ctx, name))
	}
	return errors.Join(errs...)
}

// acquireLock acquires a lock that is free or has expired. It returns false if another node has the lock. A lock that ends implausibly late
// counts as expired, because a node with a wrong clock has written it.
func acquireLock(ctx context.Context, q db.Querier, name, token string, now, until time.Time) (bool, error) {
	return db.Changed(ctx, q, `insert into certificate_locks (name, token, locked_until) values ($1, $2, $3)
		on conflict (name) do update set token = excluded.token, locked_until = excluded.locked_until where certificate_locks.locked_until < $4 or certificate_locks.locked_until > $5`,
		name, token, until, now, db.LatestPlausible(until, 0))
}

// renewLock extends a lock. It returns false if the caller no longer has the lock.
func renewLock(ctx context.Context, q db.Querier, name, token string, until time.Time) (bool, error) {
	return db.Changed(ctx, q, "update certificate_locks set locked_until = $3 where name = $1 and token = $2", name, token, until)
}

// ReleaseAll deletes every lock. The caller must know that no other server runs.
func ReleaseAll(ctx context.Context, d *db.DB) error {
	return db.Exec(ctx, d, "delete from certificate_locks")
}
