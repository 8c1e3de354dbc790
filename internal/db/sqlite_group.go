package db

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
	"time"
)

// Limits of a group of transactions that share a commit. The first transaction of a group waits until the last one has run.
const (
	maxGroupSize = 64                    // number of transactions
	maxGroupTime = 10 * time.Millisecond // how long a group accepts further transactions after it has begun
)

// writeQueue lets transactions use the only write connection one after the other, in the order of arrival. A commit waits 0.6 ms for the
// disk. Therefore consecutive short transactions form a group: one transaction of SQLite with one commit. The later transactions of a group
// run in savepoints, so that each can fail alone. A transaction of a group returns to its caller after the commit of the group.
type writeQueue struct {
	pool *sql.DB // a pool of one connection

	mu        sync.Mutex
	inUse     bool          // a transaction has the connection
	waiting   []*waiter     // the transactions that wait for the connection, in the order of arrival
	waitCount int64         // number of transactions that have waited
	waitTime  time.Duration // total time of these waits
}

// waiter is a transaction that waits for the connection.
type waiter struct {
	isShort bool        // the transaction can share its commit
	ready   chan *group // receives once: the group to join, or nil if the transaction begins a group or runs alone
}

// group is an open transaction of SQLite.
type group struct {
	tx      *sql.Tx
	actor   string // the account that the table history_actor contains now; triggers record it as the actor of changes
	began   time.Time
	results []chan error // one for each transaction that has run; receives the result of the commit
}

// errGroupRolledBack is the result of a transaction that succeeded, but whose group was rolled back. The transaction runs again, alone.
var errGroupRolledBack = errors.New("the group of the transaction was rolled back")

// runShort runs fn in a transaction that can share its commit. It returns after the commit. Statements of fn are not interrupted when
// ctx ends, because SQLite would roll back the whole group.
func (q *writeQueue) runShort(ctx context.Context, fn func(Querier) error) error {
	g, err := q.acquire(ctx, true /* short */)
	if err != nil {
		return err
	}
	if g == nil {
		tx, err := q.pool.BeginTx(context.WithoutCancel(ctx), nil)
		if err != nil {
			q.release(nil)
			return translate(err)
		}
		g = &group{tx: tx, began: time.Now()}
	}
	result := make(chan error, 1)
	if err := q.join(context.WithoutCancel(ctx), g, result, fn); err != nil {
		return err
	}
	return <-result
}

// join runs fn as a part of the group (one of its transactions). Then it gives the connection to the next transaction, even if fn panics.
func (q *writeQueue) join(ctx context.Context, g *group, result chan error, fn func(Querier) error) (err error) {
	done := false // stays false if fn panics
	defer func() {
		if !done || err != nil {
			g = g.drop(ctx)
		} else {
			g.results = append(g.results, result)
		}
		q.release(g)
	}()
	if err = g.setActor(ctx, actorOf(ctx)); err != nil { // before the savepoint, so that the actor stays when this part is undone
		done = true
		return err
	}
	if len(g.results) > 0 { // the first part needs no savepoint: if it fails, the whole group is rolled back
		if _, err = g.tx.ExecContext(ctx, "savepoint part"); err != nil {
			done = true
			return translate(err)
		}
	}
	part := &sqliteTx{}
	if err = fn(guardedQuerier{part, stdQuerier{g.tx}}); err == nil {
		err = part.failed // fn has ignored the error
	}
	if err == nil && len(g.results) > 0 {
		_, err = g.tx.ExecContext(ctx, "release part")
		err = translate(err)
	}
	done = true
	return err
}

// setActor stores the actor of the next part, unless the previous part has the same actor, as when an owner saves several rows.
func (g *group) setActor(ctx context.Context, actor string) error {
	if actor == g.actor {
		return nil
	}
	g.actor = actor
	return storeActor(ctx, stdQuerier{g.tx}, actor)
}

// drop undoes the part of the group that failed. It returns nil if nothing is left of the group: SQLite rolls back the whole
// transaction after some errors, such as a full disk, and the other parts then have to run again.
func (g *group) drop(ctx context.Context) *group {
	if len(g.results) > 0 {
		_, err := g.tx.ExecContext(ctx, "rollback to part")
		if err == nil {
			if _, err = g.tx.ExecContext(ctx, "release part"); err == nil {
				return g
			}
		}
	}
	_ = g.tx.Rollback() // nothing was acknowledged, and SQLite rolls back what is not committed
	g.end(errGroupRolledBack)
	return nil
}

// commit commits the group. If the commit fails, for example because of a deferred constraint, several parts run again alone, so that
// only the one that caused it fails.
func (g *group) commit() {
	err := g.setActor(context.Background(), "") // the group is not interrupted, as in join
	if err == nil {
		err = translate(g.tx.Commit())
	} else {
		_ = g.tx.Rollback() // nothing was acknowledged
	}
	if err != nil && len(g.results) > 1 {
		err = errGroupRolledBack
	}
	g.end(err)
}

func (g *group) end(err error) {
	for _, result := range g.results {
		result <- err
	}
}

// runAlone runs fn when no other transaction has the connection.
func (q *writeQueue) runAlone(ctx context.Context, fn func() error) error {
	if _, err := q.acquire(ctx, false /* not short */); err != nil {
		return err
	}
	defer q.release(nil)
	return fn()
}

// acquire waits for the connection. The caller must call release. A group is returned only if isShort is true.
func (q *writeQueue) acquire(ctx context.Context, isShort bool) (*group, error) {
	q.mu.Lock()
	if !q.inUse {
		q.inUse = true
		q.mu.Unlock()
		return nil, nil
	}
	w := &waiter{isShort: isShort, ready: make(chan *group, 1)}
	q.waiting = append(q.waiting, w)
	q.waitCount++
	q.mu.Unlock()
	defer q.countWait(time.Now())
	select {
	case g := <-w.ready:
		return g, nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	i := slices.Index(q.waiting, w)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	q.mu.Unlock()
	if i < 0 { // it has received the connection meanwhile
		q.release(<-w.ready)
	}
	return nil, ctx.Err()
}

func (q *writeQueue) countWait(began time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waitTime += time.Since(began)
}

// release gives the connection to the next transaction, which joins the group if it can. Otherwise the group is committed first.
func (q *writeQueue) release(g *group) {
	if g != nil && len(g.results) < maxGroupSize && time.Since(g.began) < maxGroupTime {
		if w := q.next(func(w *waiter) bool { return w.isShort }); w != nil {
			w.ready <- g
			return
		}
	}
	if g != nil {
		g.commit()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.inUse = false
		return
	}
	w := q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	w.ready <- nil // does not block: the channel has room for one
}

// next removes the first waiting transaction from the queue and returns it, or nil if there is none or ok refuses it.
func (q *writeQueue) next(ok func(*waiter) bool) *waiter {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 || !ok(q.waiting[0]) {
		return nil
	}
	w := q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	return w
}
