package auth

import (
	"context"
	"sync"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// Limits of userCache.
const (
	maxCachedUsers     = 256
	maxCachedUserBytes = 16 << 10
	cachedUserLife     = time.Minute
)

// userCache caches response bodies of GetUser. Any commit of any process to the database empties the cache: each request compares
// db.DB.Changes. So a sign-out or a ban takes effect at the next request.
type userCache struct {
	mu      sync.Mutex
	changes db.Changes // state of the database in which all entries were read
	entries map[userSession]cachedUser
}

// userSession is the account and the session that an access token names.
type userSession struct{ userID, sessionID string }

// cachedUser is a response body and the period in which it may be used. from is when the account was read. until is cachedUserLife later:
// a session that reaches its maximum age, or a ban that ends, changes the response without a commit.
type cachedUser struct {
	body        []byte
	from, until time.Time
}

// get returns the body for a session, or nil. store reports whether the caller should cache the body that it reads from the database;
// store is false for the first request after a commit, so that nothing is cached while commits are frequent.
func (c *userCache) get(changes db.Changes, key userSession, now time.Time) (body []byte, store bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if changes != c.changes {
		c.changes, c.entries = changes, nil
		return nil, false
	}
	cached, ok := c.entries[key]
	if !ok || now.Before(cached.from) || !now.Before(cached.until) {
		return nil, true
	}
	return cached.body, true
}

// put caches a body. changes is the state of the database from before the body was read.
func (c *userCache) put(changes db.Changes, key userSession, u cachedUser) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if changes != c.changes || len(u.body) > maxCachedUserBytes {
		return
	}
	if c.entries == nil || len(c.entries) >= maxCachedUsers {
		c.entries = map[userSession]cachedUser{}
	}
	c.entries[key] = u
}

// cacheUser caches the body for the caller, unless the session ends within cachedUserLife. now is when the account was read.
func (s *Service) cacheUser(ctx context.Context, changes db.Changes, body []byte, userID, sessionID string, now time.Time) error {
	until := now.Add(cachedUserLife)
	if sessionID != "" {
		// Time alone never makes an ended session alive again, so a session that is alive at until is alive before that too.
		alive, err := userSessionIsAlive(ctx, s.db, sessionID, userID, s.sessionAliveArgsAt(until))
		if err != nil || !alive {
			return err
		}
	}
	caller := identity.Of(ctx)
	s.users.put(changes, userSession{caller.UserID, caller.SessionID}, cachedUser{body, now, until})
	return nil
}
