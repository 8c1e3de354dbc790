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
	page     func(http.ResponseWriter, *http.Request, Page) error
	now      func() time.Time
	recorded func(ctx context.Context, tx *db.Tx, id string) error
	notices  Notices
	hooks    *http.Client
}

// New makes the service. page draws what browsers without scripts are answered with.
func New(d *db.DB, page func(http.ResponseWriter, *http.Request, Page) error, now func() time.Time) *Service {
	return &Service{db: d, page: page, now: now, recorded: func(context.Context, *db.Tx, string) error { return nil }}
}

// SetRecorded sets what is told of a new submission, in the transaction that stores it. It is for wiring, before the first
// request.
func (s *Service) SetRecorded(fn func(ctx context.Context, tx *db.Tx, id string) error) {
	s.recorded = fn
}

// function is an entry of the catalogue. perMinute limits the calls of visitors from one address; who may call at all
// says package policy. form and plain are for browsers that show the answer themselves; a function may have neither.
type function struct {
	perMinute int
	run       func(*Service, http.ResponseWriter, *http.Request) error
	form      func(*Service, http.ResponseWriter, *http.Request) error        // answers GET with an empty form
	plain     func(*Service, http.ResponseWriter, *http.Request, error) error // answers that form; the error is why the call is refused
}

var catalog = map[string]function{
	"submit-contact":     {perMinute: 30, run: (*Service).submitContact, form: (*Service).contactForm, plain: (*Service).plainContact},
	"contact-quarantine": {run: (*Service).contactQuarantine},
	"contact-notices":    {run: (*Service).contactNotices},
}

const methods = "GET, HEAD, POST, OPTIONS"

// Keyless tells the requests that a browser makes by itself, which cannot carry the public key: they count as a visitor's.
// It gives nothing away, because the key is public and no cookie is ever looked at.
func Keyless(r *http.Request) bool {
	if r.Header.Get("Authorization") != "" || r.Header.Get("apikey") != "" || r.URL.Query().Has("apikey") {
		return false
	}
	switch r.Method {
	case http.MethodOptions:
		return true
	case http.MethodGet, http.MethodHead:
		return wantsPage(r)
	case http.MethodPost:
		return wantsPage(r) && isForm(r.Header.Get("Content-Type"))
	}
	return false
}

// Invoke answers /functions/v1/{name}: POST calls the function, and a browser may GET its form.
func (s *Service) Invoke(w http.ResponseWriter, r *http.Request) error {
	name, caller := r.PathValue("name"), identity.Of(r.Context())
	f, ok := catalog[name]
	if !ok {
		return errNoFunction
	}
	if !policy.Function(caller, name) {
		return errForbidden
	}
	switch {
	case r.Method == http.MethodOptions:
		w.Header().Set("Allow", methods)
		w.WriteHeader(http.StatusNoContent)
		return nil
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && f.form != nil && wantsPage(r):
		return f.form(s, w, r)
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", methods)
		return errNoMethod
	}
	var refused error
	if !caller.Admin && caller.Role != identity.Service { // READING §2: visitors are limited
		refused = s.limit(w, r, name, f.perMinute)
	}
	if f.plain != nil && wantsPage(r) && isForm(r.Header.Get("Content-Type")) {
		return f.plain(s, w, r, refused)
	}
	if refused != nil {
		return refused
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
