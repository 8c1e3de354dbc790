package auth

import (
	"context"
	"sync"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// Limits of userAnswers.
const (
	maxUserAnswers     = 256
	maxUserAnswerBytes = 16 << 10
	userAnswerLife     = time.Minute
)

// userAnswers keeps answers of GetUser for as long as nothing at all is committed to the database, which db.DB.Changes tells at each
// request. So a session that was ended, or an account that was banned, is refused at once, whichever process did it.
type userAnswers struct {
	mu  sync.Mutex
	at  db.Changes // what all answers are of
	all map[userSession]userAnswer
}

// userSession is the account and the session that an access token names.
type userSession struct{ userID, sessionID string }

// userAnswer is a body that is right from a moment until another: sessions end and bans expire by time alone.
type userAnswer struct {
	body        []byte
	from, until time.Time
}

// get returns the answer for a session. wanted is whether put may store one: after a change only the second request stores an answer, so
// that nothing is spent on answers while the database is being written.
func (a *userAnswers) get(at db.Changes, of userSession, now time.Time) (body []byte, wanted bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at != a.at {
		a.at, a.all = at, nil
		return nil, false
	}
	answer, ok := a.all[of]
	if !ok || now.Before(answer.from) || !now.Before(answer.until) {
		return nil, true
	}
	return answer.body, true
}

// put stores an answer that was read after at.
func (a *userAnswers) put(at db.Changes, of userSession, answer userAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at != a.at || len(answer.body) > maxUserAnswerBytes {
		return
	}
	if a.all == nil || len(a.all) >= maxUserAnswers {
		a.all = map[userSession]userAnswer{}
	}
	a.all[of] = answer
}

// storeAnswer stores the answer to currentUser's caller, if it stays right for userAnswerLife unless something is committed. now is when
// the account was read.
func (s *Service) storeAnswer(ctx context.Context, at db.Changes, body []byte, userID, sessionID string, now time.Time) error {
	until := now.Add(userAnswerLife)
	if sessionID != "" {
		// A session never becomes alive again by time, so that one which is alive then is alive until then.
		alive, err := userSessionIsAlive(ctx, s.db, sessionID, userID, s.aliveArgsAt(until))
		if err != nil || !alive {
			return err
		}
	}
	caller := identity.Of(ctx)
	s.answers.put(at, userSession{caller.UserID, caller.SessionID}, userAnswer{body, now, until})
	return nil
}
