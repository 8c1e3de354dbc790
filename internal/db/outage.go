package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"atelie/internal/apperr"
)

// outage records whether the database is unreachable. During an outage, statements fail immediately instead of waiting for a timeout. When a
// statement fails because of its connection, a probe tries a new connection. If the probe fails too, an outage begins. It ends when a later
// probe succeeds. All statements fail during an outage, or only the writes if another program holds SQLite's write lock.
type outage struct {
	severity atomic.Int32 // what is impossible now: noOutage, writesFail or everythingFails
	refused  atomic.Int64 // number of statements that failed immediately during this outage

	mu      sync.Mutex
	probed  chan struct{}  // closed when the running probe has its first result; nil when no probe runs
	closed  bool           // stopProbing was called
	stop    chan struct{}  // closed by stopProbing
	probing sync.WaitGroup // the goroutine of the running probe
}

// ErrUnavailable is wrapped by the error of a statement that could not reach the database.
var ErrUnavailable = errors.New("the database does not respond")

// ErrOutage is wrapped by the error of a statement that is refused during an outage, without a call to the database.
var ErrOutage = fmt.Errorf("%w: an outage is under way", ErrUnavailable)

// errLocked is wrapped by errors of an SQLite database whose write lock another program held for too long.
var errLocked = fmt.Errorf("%w: another program has locked it", ErrUnavailable)

// The values of outage.severity, from no outage to the most severe one.
const (
	noOutage        int32 = iota // there is no outage
	writesFail                   // writing is impossible: another program holds SQLite's write lock
	everythingFails              // reading and writing are impossible
)

const (
	probeTimeout  = 2 * time.Second        // timeout of a probe, a call on a new connection
	probeInterval = 500 * time.Millisecond // interval between probes during an outage
)

// IsLocked reports whether the cause of an outage is another program's lock. Reads are possible in such an outage.
func IsLocked(cause error) bool { return errors.Is(cause, errLocked) }

// InOutage reports whether the database is unreachable, so that nothing can be read either.
func (d *DB) InOutage() bool { return d.outage.severity.Load() == everythingFails }

// CannotWrite reports whether the database is unreachable or locked.
func (d *DB) CannotWrite() bool { return d.outage.severity.Load() != noOutage }

// checkReadable returns ErrOutage while the database is unreachable. It is called before each statement that reads.
func (d *DB) checkReadable() error { return d.checkAvailable(everythingFails) }

// checkWritable returns ErrOutage while the database is unreachable or locked. It is called before each write.
func (d *DB) checkWritable() error { return d.checkAvailable(writesFail) }

// checkAvailable returns ErrOutage if the severity of the present outage is at least minSeverity, which is writesFail or everythingFails.
func (d *DB) checkAvailable(minSeverity int32) error {
	if d.outage.severity.Load() < minSeverity {
		return nil
	}
	d.outage.refused.Add(1)
	return ErrOutage
}

// classify probes the database after a connection error and wraps err in ErrOutage if the probe fails. A statement that
// timed out starts a probe too, since a hanging server gives no other sign; its caller does not wait for the result.
func (d *DB) classify(ctx context.Context, err error) error {
	if errors.Is(err, errInterrupted) && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	if errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrUnavailable) {
		d.startProbe(err)
		return err
	}
	if !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrOutage) {
		return err
	}
	select {
	case <-d.startProbe(err):
	case <-ctx.Done():
	}
	if d.InOutage() || IsLocked(err) && d.CannotWrite() {
		return fmt.Errorf("%w: %w", ErrOutage, err)
	}
	return err
}

// ProbeAfter probes the database after a statement that took too long. It returns ErrOutage if the database is unreachable,
// otherwise err.
func (d *DB) ProbeAfter(ctx context.Context, err error) error {
	return d.classify(ctx, fmt.Errorf("%w: %w", ErrUnavailable, err))
}

// startProbe starts a probe unless one runs. It returns a channel that is closed when the result is known.
func (d *DB) startProbe(cause error) <-chan struct{} {
	o := &d.outage
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.probed == nil && !o.closed {
		o.probed = make(chan struct{})
		o.probing.Go(func() { d.probe(cause, o.probed) })
	}
	if o.probed == nil {
		return o.stop // closed
	}
	return o.probed
}

// probe checks the database once and closes probed. If it is unreachable or locked, probe repeats the check until it
// succeeds or the database is closed.
func (d *DB) probe(cause error, probed chan struct{}) {
	o := &d.outage
	severity := d.probeSeverity(cause)
	if severity == noOutage {
		o.resetProbe()
		close(probed)
		return
	}
	begin := time.Now()
	o.refused.Store(0)
	for last := noOutage; severity != noOutage; severity = d.probeSeverity(cause) {
		if severity != last {
			o.severity.Store(severity)
			d.hooks.OutageBegan(outageCause(severity, cause))
		}
		if last == noOutage {
			close(probed)
		}
		last = severity
		select {
		case <-o.stop:
			return
		case <-time.After(probeInterval):
		}
	}
	d.driver.resetPool()
	o.severity.Store(noOutage)
	o.resetProbe()
	d.hooks.OutageEnded(time.Since(begin), o.refused.Load())
}

// probeSeverity returns what is impossible now. It requests the write lock only if a statement failed to get it: a long
// transaction of this program holds the lock too, and is no outage.
func (d *DB) probeSeverity(cause error) int32 {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	if d.driver.probe(ctx) != nil {
		return everythingFails
	}
	if IsLocked(cause) && d.driver.probeWrite(ctx) != nil {
		return writesFail
	}
	return noOutage
}

// outageCause removes errLocked from the cause if reading fails too, so that IsLocked is false for it.
func outageCause(severity int32, cause error) error {
	if severity == everythingFails && IsLocked(cause) {
		return fmt.Errorf("%w: %s", ErrUnavailable, cause.Error())
	}
	return cause
}

// resetProbe lets the next failure start a new probe.
func (o *outage) resetProbe() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.probed = nil
}

// stopProbing ends the running probe and waits for it. No probe starts afterwards.
func (o *outage) stopProbing() {
	o.mu.Lock()
	if !o.closed {
		o.closed = true
		close(o.stop)
	}
	o.mu.Unlock()
	o.probing.Wait()
}

// before and after make *DB the guard of reading statements. During an outage they fail immediately; otherwise their errors are classified.
func (d *DB) before(ctx context.Context) (context.Context, error) { return ctx, d.checkReadable() }
func (d *DB) after(ctx context.Context, err error) error          { return d.classify(ctx, err) }

// FilterOutageLogs returns a handler that drops records whose cause is ErrOutage, and while the disk is full those whose cause is
// apperr.NoSpace: an outage and a full disk are logged once.
func FilterOutageLogs(h slog.Handler, isDiskFull func() bool) slog.Handler {
	return outageFilter{h, isDiskFull}
}

type outageFilter struct {
	slog.Handler
	isDiskFull func() bool
}

func (q outageFilter) Handle(ctx context.Context, r slog.Record) error {
	drop := false
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "cause" {
			cause := a.Value.String()
			drop = strings.Contains(cause, ErrOutage.Error()) || strings.Contains(cause, apperr.NoSpace.Error()) && q.isDiskFull()
		}
		return !drop
	})
	if drop {
		return nil
	}
	return q.Handler.Handle(ctx, r)
}

func (q outageFilter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return outageFilter{q.Handler.WithAttrs(attrs), q.isDiskFull}
}

func (q outageFilter) WithGroup(name string) slog.Handler {
	return outageFilter{q.Handler.WithGroup(name), q.isDiskFull}
}
