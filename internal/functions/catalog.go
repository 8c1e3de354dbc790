// Package functions is the server functions surface (/functions/v1): a short catalogue of calls by name.
package functions

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// Service answers the calls of the functions surface.
type Service struct {
	db       *db.DB
	now      func() time.Time
	recorded func(ctx context.Context, tx *db.Tx, id string) error
}

// New makes the service.
func New(d *db.DB, now func() time.Time) *Service {
	return &Service{db: d, now: now, recorded: func(context.Context, *db.Tx, string) error { return nil }}
}

// SetRecorded sets what is told of a new submission, in the transaction that stores it. It is for wiring, before the first
// request.
func (s *Service) SetRecorded(fn func(ctx context.Context, tx *db.Tx, id string) error) {
	s.recorded = fn
}

// function is an entry of the catalogue. perMinute limits the calls of visitors from one address; who may call at all
// says package policy.
type function struct {
	perMinute int
	run       func(*Service, http.ResponseWriter, *http.Request) error
}

var catalog = map[string]function{
	"submit-contact": {perMinute: 30, run: (*Service).submitContact},
}

// Invoke answers POST /functions/v1/{name}.
func (s *Service) Invoke(w http.ResponseWriter, r *http.Request) error {
	name, caller := r.PathValue("name"), identity.Of(r.Context())
	f, ok := catalog[name]
	if !ok {
		return errNoFunction
	}
	if !policy.Function(caller, name) {
		return errForbidden
	}
	if !caller.Admin && caller.Role != identity.Service { // READING §2: visitors are limited
		if err := s.limit(w, r, name, f.perMinute); err != nil {
			return err
		}
	}
	return f.run(s, w, r)
}

// limit counts the call, also one that will be refused, and says when the next one may come (RFC 9110 §10.2.3).
func (s *Service) limit(w http.ResponseWriter, r *http.Request, name string, perMinute int) error {
	now := s.now()
	hits, err := s.db.Hit(r.Context(), name, httpx.LimitSubject(r.Context()), time.Minute, now)
	if err != nil {
		return err
	}
	if hits > perMinute {
		w.Header().Set("Retry-After", strconv.FormatInt(60-now.Unix()%60, 10))
		return errTooMany.Becausef("call %d of this minute", hits)
	}
	return nil
}
