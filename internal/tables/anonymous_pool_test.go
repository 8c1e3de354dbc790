package tables

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// Proves T-limits-places.
func TestSlotsAreSharedBetweenClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newAnonymousPool()
		// enter gets a slot, and returns the function that releases it.
		enter := func(address string) func() {
			t.Helper()
			leave, err := p.acquire(t.Context(), address)
			if err != nil {
				t.Fatalf("%s: %v", address, err)
			}
			return leave
		}
		leaveFirst := enter("a")
		ended := make(chan error, maxWaitingClient)
		for range maxWaitingClient { // fill the queue of one client, which cannot get a second slot
			go func() {
				_, err := p.acquire(t.Context(), "a")
				ended <- err
			}()
		}
		synctest.Wait()
		begin := time.Now()
		if _, err := p.acquire(t.Context(), "a"); !errors.Is(err, errBusy) || time.Since(begin) > 0 {
			t.Errorf("a full queue: %v after %v", err, time.Since(begin))
		}
		leaveOther := enter("b") // gets a slot although queries of client a wait
		if time.Since(begin) > 0 {
			t.Error("another client had to wait")
		}
		for range maxWaitingClient {
			if err := <-ended; !errors.Is(err, errBusy) {
				t.Errorf("a query that waited too long: %v", err)
			}
		}
		if got := time.Since(begin); got != defaultQueueTimeout {
			t.Errorf("they waited %v", got)
		}
		next := make(chan func())
		go func() { next <- enter("c") }()
		synctest.Wait()
		leaveFirst()
		leaveLast := <-next // the slot that client a has released

		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, err := p.acquire(ctx, "d")
			ended <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled caller: %v", err)
		}
		leaveOther()
		leaveLast()
		if p.free != db.AnonymousConns || len(p.waiting) != 0 || len(p.running) != 0 {
			t.Errorf("at the end %d places are free, %d wait, %d run", p.free, len(p.waiting), len(p.running))
		}
	})
}

// Proves T-limits-places.
//
// TestOnlyUnprivilegedCallersWait occupies all slots of unprivileged callers. Pages, the owner and programs with the service key still read.
func TestOnlyUnprivilegedCallersWait(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		s.service.anonymousPool.queueTimeout = time.Millisecond
		var held []func()
		for i := range db.AnonymousConns {
			leave, err := s.service.anonymousPool.acquire(t.Context(), fmt.Sprint(i))
			if err != nil {
				t.Fatal(err)
			}
			rows, err := s.db.AnonymousPool().Query(t.Context(), "select id from products")
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, leave, func() { _ = rows.Close() })
		}
		for _, who := range []string{admin, service} {
			if got := s.call(who, "GET", "products?select=id", ""); got.status != 200 {
				t.Errorf("%s: %d %s", who, got.status, got.body)
			}
		}
		if rows, err := s.service.Rows(t.Context(), identity.Caller{Role: identity.Anon}, "products", "select=id"); err != nil || len(rows) == 0 {
			t.Errorf("a page's own reading: %d rows, %v", len(rows), err)
		}
		for _, who := range []string{anonymous, signedIn} {
			got := s.call(who, "GET", "products?select=id", "")
			s.refused(who, got, 429, "PGRST003")
			if got.header.Get("Retry-After") == "" {
				t.Errorf("%s: no Retry-After", who)
			}
			if got := s.call(who, "HEAD", "products?select=id", ""); got.status != 429 {
				t.Errorf("%s: HEAD %d", who, got.status)
			}
		}
		for _, leave := range held {
			leave()
		}
		for _, who := range everyone {
			if got := s.call(who, "GET", "products?select=id", ""); got.status != 200 {
				t.Errorf("afterwards %s: %d %s", who, got.status, got.body)
			}
		}
		if s.service.anonymousPool.free != db.AnonymousConns {
			t.Errorf("%d places are free", s.service.anonymousPool.free)
		}
	})
}

// Proves T-limits-patterns.
func TestPatternsOfUnprivilegedCallersAreLimited(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		for _, query := range []string{
			"or=(title.eq.Oil" + strings.Repeat(",title.ilike.*x*", maxScans+1) + ")",
			strings.Repeat("title=not.match.x&", maxScans+1),
			"or=(" + strings.Repeat("not.and(tags.cs.{a},title.like.x),", maxScans) + "title.eq.x)",
			"title=ilike(any).{" + strings.Repeat("x,", maxScans) + "x}",
		} {
			for _, who := range []string{anonymous, signedIn} {
				s.refused(who+" "+truncate(query), s.call(who, "GET", "products?"+query, ""), 400, "PGRST100")
			}
			for _, who := range []string{admin, service} {
				if got := s.call(who, "GET", "products?"+query, ""); got.status != 200 {
					t.Errorf("%s %s: %d %s", who, truncate(query), got.status, got.body)
				}
			}
		}
	})
}

// Proves T-limits-bytes.
//
// TestResponseSizeIsLimited tests rows that are too long, and data about their files that is too long.
func TestResponseSizeIsLimited(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.service.anonymousPool.maxBytes = defaultMaxBytes / 20 // a busy machine cannot read more than that within the timeout of strangers
		for n := range 30 {                                     // each with a description of 4 kB
			s.exec("insert into products (id, title, description, artwork_type, created_at) values ($1, 'T', $2, 'mural', $3)", id(n+1), strings.Repeat("🎨", maxProse/20), today)
		}
		large := "products?select=a:description,b:description,c:description,d:description,e:description"
		for _, who := range []string{anonymous, signedIn} {
			for _, accept := range []string{"application/json", "text/csv"} {
				e := s.refused(who, s.call(who, "GET", large, "", "Accept: "+accept), 413, "54000")
				if e.Hint == nil || !strings.Contains(*e.Hint, "limit") {
					t.Errorf("%s: hint %v", who, e.Hint)
				}
			}
			if got := s.call(who, "GET", large+"&limit=10", ""); got.status != 200 || len(got.body) < 2e5 {
				t.Errorf("%s: a part: %d with %d bytes", who, got.status, len(got.body))
			}
		}
		if got := s.call(admin, "GET", large, ""); got.status != 200 || len(got.body) <= defaultMaxBytes/20 {
			t.Errorf("the owner: %d with %d bytes", got.status, len(got.body))
		}
	})
}

// Proves T-limits-places.
func TestResponsesBeingSentAreLimited(t *testing.T) {
	p := newAnonymousPool()
	sent := 0
	write := func() error { sent++; return nil }
	err := p.send(sendingBytes-smallResponse, func() error {
		if err := p.send(2*smallResponse, write); !errors.Is(err, errBusy) {
			t.Errorf("a large response beside it: %v", err)
		}
		return p.send(smallResponse, write) // a small response is always sent
	})
	if err != nil || sent != 1 {
		t.Errorf("%v, %d sent", err, sent)
	}
	if err := p.send(sendingBytes, write); err != nil || sent != 2 {
		t.Errorf("afterwards: %v, %d sent", err, sent)
	}
}
