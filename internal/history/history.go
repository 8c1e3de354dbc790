// Package history answers what works, reviews, covers and settings were before, and what was deleted. Triggers write the revisions
// (migration 29); a row comes back by the calls that save rows, after RestoreFiles has brought back its files.
package history

import (
	"context"
	"errors"
	"net/http"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// Retention is how long revisions are kept, and maxRevisions how many of one row.
const (
	Retention    = 30 * 24 * time.Hour
	maxRevisions = 50
)

// maxBody is the largest body of a request, in bytes; maxURLs is the largest number of URLs in it.
const (
	maxBody = 1 << 20
	maxURLs = 1000
)

// contentTables are the tables whose rows have a history, as the settings have. Visitors' messages have none: deleting a message
// leaves nothing behind.
var contentTables = []string{"products", "reviews", "cover_images"}

const settingsTable = "site_settings"

// Config holds the functions of other packages that the service calls. All of them are required.
type Config struct {
	// RestoreFiles brings removed files back to their public URLs, and returns the URLs whose files no longer exist.
	RestoreFiles func(ctx context.Context, urls []string) (missing []string, err error)
}

// Service answers rpc/get_history, rpc/get_deleted and rpc/restore_files, all for administrators.
type Service struct {
	db  *db.DB
	cfg Config
	now func() time.Time
}

// New returns a service that reads the revisions in d.
func New(d *db.DB, cfg Config, now func() time.Time) *Service { return &Service{d, cfg, now} }

// Purge deletes the revisions that are older than Retention, and all but the newest maxRevisions of each row.
func (s *Service) Purge(ctx context.Context) error {
	return purgeRevisions(ctx, s.db, s.now().Add(-Retention))
}

// The errors have PostgREST's codes, as on all of /rest/v1.
var (
	errTooLarge = apperr.New(http.StatusRequestEntityTooLarge, "54000", "The request is too large")
	errBadJSON  = apperr.New(http.StatusBadRequest, "PGRST102", "Empty or invalid json")
	errTable    = apperr.New(http.StatusBadRequest, "22023", `"table" must be products, reviews or cover_images; get_history knows site_settings too`)
	errRow      = apperr.New(http.StatusBadRequest, "22023", `"id" must be the id of a row, a UUID; site_settings takes none`)
	errURLs     = apperr.New(http.StatusBadRequest, "22023", `"urls" must be a list of at most 1000 URLs`)
)

// read checks that the caller may use the history, and decodes the body of the request.
func read(w http.ResponseWriter, r *http.Request, body any) error {
	if caller := identity.Of(r.Context()); !policy.History(caller) {
		status := http.StatusForbidden
		if caller.Role == identity.Anon || caller.Role == "" {
			status = http.StatusUnauthorized
		}
		return apperr.New(status, "42501", "permission denied for the history")
	}
	switch err := httpx.DecodeJSON(w, r, maxBody, body); {
	case errors.Is(err, httpx.ErrTooLarge):
		return errTooLarge.Because(err)
	case errors.Is(err, httpx.ErrBadJSON):
		return errBadJSON.Because(err)
	default:
		return err
	}
}

// answer writes v, which no cache may keep.
func answer(w http.ResponseWriter, v any) error {
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, v)
}
