package auth

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// mustRefresh refreshes a session and returns the response. It ends the test if that fails.
func (h *fixture) mustRefresh(token string) reply {
	h.t.Helper()
	r := h.refreshWith(token)
	if r.status != http.StatusOK {
		h.t.Fatalf("refresh: %d %s", r.status, r.raw)
	}
	return r
}

// Proves S7-token-5.
func TestRefreshReturnsTheRenewedSession(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		first := h.mustSignIn()
		h.clock.advance(2 * time.Hour) // the access token has expired; the refresh token has not
		r := h.mustRefresh(first.text("refresh_token"))
		if got := keysOf(r.body); got != "access_token expires_at expires_in refresh_token token_type user" {
			t.Errorf("session has %s", got)
		}
		if r.text("refresh_token") == first.text("refresh_token") || r.header.Get("Cache-Control") != "no-store" {
			t.Errorf("got %s", r.raw)
		}
		before, after := h.claims(first.text("access_token")), h.claims(r.text("access_token"))
		for _, name := range []string{"sub", "session_id", "aal", "email", "iss"} {
			if before[name] != after[name] {
				t.Errorf("claim %s changed from %v to %v", name, before[name], after[name])
			}
		}
		if checked, err := h.tokens.Verify(r.text("access_token")); err != nil || checked.AMR[0].Timestamp != int64(before["iat"].(float64)) || checked.AMR[0].Method != "password" {
			t.Errorf("amr must have the time of the sign-in: %+v, %v", checked, err)
		}
		h.expect("user", h.user(r.text("access_token")), 200, "")
		var refreshed time.Time
		if err := h.db.QueryRow(t.Context(), "select refreshed_at from auth_sessions").Scan(&refreshed); err != nil || !refreshed.Equal(h.clock.now()) {
			t.Errorf("refreshed_at %v, %v", refreshed, err)
		}
	})
}

// Proves S7-token-6, S7-token-7.
func TestReplayedRefreshTokens(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		a := h.mustSignIn().text("refresh_token")
		b := h.mustRefresh(a).text("refresh_token")
		h.clock.advance(time.Hour)
		if again := h.mustRefresh(a).text("refresh_token"); again != b {
			t.Error("the parent of the current token must always return the same successor")
		}
		c := h.mustRefresh(b).text("refresh_token")
		last := h.mustRefresh(c)
		if got := h.mustRefresh(b).text("refresh_token"); got != last.text("refresh_token") {
			t.Error("an older token must return the current one within the reuse interval")
		}
		h.clock.advance(h.cfg.RefreshReuse)
		if got := h.mustRefresh(b).text("refresh_token"); got != last.text("refresh_token") {
			t.Error("the interval's last moment belongs to it")
		}
		h.expect("live session", h.user(last.text("access_token")), 200, "")
		other := h.mustSignIn()
		h.clock.advance(time.Microsecond)
		h.expect("older token, too late", h.refreshWith(b), 400, "refresh_token_already_used")
		h.expect("the session is gone", h.user(last.text("access_token")), 403, "session_not_found")
		h.expect("and its current token", h.refreshWith(last.text("refresh_token")), 400, "refresh_token_not_found")
		h.expect("and its parent", h.refreshWith(c), 400, "refresh_token_not_found")
		h.expect("another session lives", h.user(other.text("access_token")), 200, "")
	})
}

// Proves S7-token-8.
func TestManyRefreshesAtOnceHaveOneSuccessor(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		token := h.mustSignIn().text("refresh_token")
		for round := range 3 {
			var (
				wg    sync.WaitGroup
				mu    sync.Mutex
				next  = map[string]int{}
				start = make(chan struct{})
			)
			for range 64 {
				wg.Go(func() {
					<-start
					r := h.refreshWith(token)
					h.expect("refresh", r, 200, "")
					mu.Lock()
					defer mu.Unlock()
					next[r.text("refresh_token")]++
				})
			}
			close(start)
			wg.Wait()
			if len(next) != 1 {
				t.Fatalf("round %d: %d successors", round, len(next))
			}
			for token = range next {
			}
		}
		if n := h.count("auth_refresh_tokens"); n != 4 {
			t.Errorf("%d refresh tokens", n)
		}
	})
}

// Proves A-safe-6.
func TestRefreshTokensRestAsHashes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		tokens := []string{h.mustSignIn().text("refresh_token")}
		for range 3 {
			tokens = append(tokens, h.mustRefresh(tokens[len(tokens)-1]).text("refresh_token"))
		}
		for generation, token := range tokens {
			if got := h.value("select token_hash from auth_refresh_tokens where generation = $1", generation); got != hashToken(token) || got == token {
				t.Errorf("generation %d is stored as %s", generation, got)
			}
		}
	})
}

func TestANewRefreshKeyKeepsCurrentTokensOnly(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		kept := h.mustSignIn().text("refresh_token")
		parent := h.mustSignIn().text("refresh_token")
		current := h.mustRefresh(parent).text("refresh_token")
		h.cfg.RefreshKey = []byte("another-key-of-thirty-two-bytes-or-more")
		h.mustRefresh(h.mustRefresh(kept).text("refresh_token"))
		h.expect("a parent whose successor is not known any more", h.refreshWith(parent), 400, "refresh_token_already_used")
		h.expect("its session", h.refreshWith(current), 400, "refresh_token_not_found")
	})
}

func TestShortRefreshKeysAreRefused(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New must panic")
		}
	}()
	New(nil, nil, nil, Config{RefreshKey: make([]byte, 31)}, time.Now)
}
