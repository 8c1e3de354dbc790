package certificates

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
)

// A lock is a lease, renewed while its holder lives: the lock of a node that dies runs out.
const (
	lease      = 30 * time.Second
	renewEvery = 10 * time.Second
	// Who waits asks soon, then seldom: where no certificate can be had, the lock is held for days.
	firstPoll, lastPoll = 250 * time.Millisecond, 4 * time.Second
	unlockTime          = 5 * time.Second
)

type heldLock struct {
	token string
	stop  context.CancelFunc
	kept  sync.WaitGroup
}

// Lock is certmagic's: it waits until the lock is free.
func (s *storage) Lock(ctx context.Context, name string) error {
	for poll := firstPoll; ; poll = min(2*poll, lastPoll) {
		got, err := s.TryLock(ctx, name)
		if err != nil || got {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(poll):
		}
	}
}

// TryLock is certmagic's.
func (s *storage) TryLock(ctx context.Context, name string) (bool, error) {
	token := uuid.NewString()
	now := s.now()
	got, err := takeLock(ctx, s.db, name, token, now, now.Add(lease))
	if err != nil || !got {
		return false, err
	}
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx)) // until Unlock
	l := &heldLock{token: token, stop: stop}
	l.kept.Go(func() { s.keep(keeping, name, token) })
	s.mu.Lock()
	s.held[name] = l
	s.mu.Unlock()
	return true, nil
}

// keep renews the lease. A lock that was lost is only told: certmagic's work cannot be stopped half-way, and looks at
// what others have stored before it asks the certificate authority.
func (s *storage) keep(ctx context.Context, name, token string) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		mine, err := renewLock(ctx, s.db, name, token, s.now().Add(lease))
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.log.Warn("the lock of a certificate was not renewed", "lock", name, "cause", err.Error())
		case !mine:
			s.log.Warn("the lock of a certificate was lost to another node", "lock", name)
			return
		}
	}
}

// Unlock is certmagic's.
func (s *storage) Unlock(ctx context.Context, name string) error {
	s.mu.Lock()
	l := s.held[name]
	delete(s.held, name)
	s.mu.Unlock()
	if l == nil {
		return fmt.Errorf("lock %s is not held", name)
	}
	l.stop()
	l.kept.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTime)
	defer cancel()
	return dropLock(ctx, s.db, name, l.token)
}

// unlockAll gives back what certmagic still holds when the program ends, so that other nodes need not wait.
func (s *storage) unlockAll(ctx context.Context) error {
	s.mu.Lock()
	names := make([]string, 0, len(s.held))
	for name := range s.held {
		names = append(names, name)
	}
	s.mu.Unlock()
	var errs []error
	for _, name := range names {
		errs = append(errs, s.Unlock(ctx, name))
	}
	return errors.Join(errs...)
}
