package auth

import (
	"context"
	"sync"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// This file caches the responses of GET /auth/v1/user.

// Limits of userCache.
const (
	maxCachedUsers     = 256         // entries; one more empties the cache
	maxCachedUserBytes = 16 << 10    // bytes of a body; a longer one is not cached
	cachedUserLife     = time.Minute // an older entry is not used
)

// userCache caches response bodies of GetUser, on SQLite only. Each request compares the state of the database (db.DB.Changes) with the
// state to which the entries belong. After a commit of any process the states differ, and the cache is emptied. A sign-out or a ban
// therefore takes effect at the next request.
type userCache struct {
	mu      sync.Mutex // protects the fields below
	state   db.Changes // the state of the database to which all entries belong
	entries map[userSession]cachedUser
}

// userSession is the account and the session that an access token names.
type userSession struct{ userID, sessionID string }

// cachedUser is a response body and the period in which it may be used. The period is short, because time alone can change the response
// without a commit: a session reaches its maximum age, or a ban ends.
type cachedUser struct {
	body  []byte
	from  time.Time // when the account was read
	until time.Time // cachedUserLife after from
}

// get returns the body for a session, or nil if none is cached. state is the current state of the database. shouldCache reports whether
// the caller should cache the body that it then reads from the database. shouldCache is false for the first request after a commit, so that
// nothing is cached while commits are frequent.
func (c *userCache) get(state db.Changes, key userSession, now time.Time) (body []byte, shouldCache bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state != c.state {
		c.state, c.entries = state, nil
		return nil, false
	}
	cached, ok := c.entries[key]
	if !ok || now.Before(cached.from) || !now.Before(cached.until) { // now is before from if the clock was set back
		return nil, true
	}
	return cached.body, true
}

// put caches a body of at most maxCachedUserBytes. state is the state of the database from before the body was read. put caches nothing if
// get has seen another state since.
func (c *userCache) put(state db.Changes, key userSession, u cachedUser) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state != c.state || len(u.body) > maxCachedUserBytes {
		return
	}
	if c.entries == nil || len(c.entries) >= maxCachedUsers {
		c.entries = map[userSession]cachedUser{}
	}
	c.entries[key] = u
}

// cacheUser caches the body for the caller, unless the session ends within cachedUserLife. now is when the account was read.
func (s *Service) cacheUser(ctx context.Context, state db.Changes, body []byte, userID, sessionID string, now time.Time) error {
	until := now.Add(cachedUserLife)
	if sessionID != "" {
		// Time alone never makes an ended session alive again, so a session that is alive at until is alive before that too.
		if _, err := sessionByID(ctx, s.db, sessionID, userID, s.sessionAliveArgsAt(until)); err != nil {
			return db.NoRowsAs(err, nil)
		}
	}
	caller := identity.Of(ctx)
	s.users.put(state, userSession{caller.UserID, caller.SessionID}, cachedUser{body, now, until})
	return nil
}
