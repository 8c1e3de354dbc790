// Package history gives owners access to earlier versions of works, series, reviews, covers (pictures at the top of the home page) and
// settings, and to deleted rows. A revision is a row as it was before a change or a deletion. Database triggers (migrations 29, 38 and 48)
// write the revisions. To restore a revision, the browser calls RestoreFiles for its files and then saves the row as usual.
package history

import (
	"context"
	"net/http"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// Purge deletes the revisions that exceed these limits.
const (
	Retention    = 30 * 24 * time.Hour // age of a revision
	maxRevisions = 50                  // revisions of one row
)

// Limits of a request.
const (
	maxBody = 1 << 20 // bytes of the body
	maxURLs = 1000    // URLs of one rpc/restore_files
)

// contentTables are the tables whose rows have revisions, besides site_settings. Visitors' messages have none, so that nothing of a
// deleted message remains.
var contentTables = []string{"products", "reviews", "cover_images", "series"}

const (
	settingsTable = "site_settings"
	// seriesWorksTable has a row for each work in a series. One revision of this table contains several rows:
	//
	//   - After the deletion of a work or a series: all rows of that work or series, under its id (migration 38).
	//   - After any other change of the works of a series: all rows of the series, under the id of the series (migration 48).
	seriesWorksTable = "series_works"
)

// Config holds the functions of other packages that the service calls. All of them are required.
type Config struct {
	// RestoreFiles restores removed files at their public URLs, and returns the URLs whose files no longer exist. If at is not zero, it
	// also restores the earlier content of files that were replaced since that time.
	RestoreFiles func(ctx context.Context, urls []string, at time.Time) (missing []string, err error)
	// Replaced returns a function that reports whether the file at a URL has been replaced since the time at.
	Replaced func(ctx context.Context) (func(url string, at time.Time) bool, error)
	// ReleaseFiles allows the removed files at these URLs to be deleted before their retention ends, because the revisions that refer to
	// them are erased. remaining are the texts with a slash in the remaining revisions: the files at URLs among them stay.
	ReleaseFiles func(ctx context.Context, tx *db.Tx, urls, remaining []string) error
}

// Service handles rpc/get_history, rpc/get_deleted and rpc/restore_files, all for administrators.
type Service struct {
	db  *db.DB
	cfg Config
	now func() time.Time
}

// New returns a service that reads the revisions in d.
func New(d *db.DB, cfg Config, now func() time.Time) *Service { return &Service{d, cfg, now} }

// Errors of requests. The codes are those of PostgREST, like all codes of /rest/v1.
var (
	errBadTable    = apperr.New(http.StatusBadRequest, "22023", `"table" must be products, reviews, cover_images or series; get_history knows series_works and site_settings too`)
	errBadID       = apperr.New(http.StatusBadRequest, "22023", `"id" must be the id of a row, a UUID; site_settings takes none`)
	errBadTime     = apperr.New(http.StatusBadRequest, "22023", `"at" must be a time, such as 2026-11-22T10:00:00Z`)
	errTooManyURLs = apperr.New(http.StatusBadRequest, "22023", `"urls" must be a list of at most 1000 URLs`)
)

// authorizeAndDecode checks that the caller may use the history, and decodes the body of the request.
func authorizeAndDecode(w http.ResponseWriter, r *http.Request, body any) error {
	if caller := identity.Of(r.Context()); !policy.History(caller) {
		return httpx.DeniedError(caller, "the history")
	}
	return httpx.DecodeRPC(w, r, maxBody, body)
}
