package app

import (
	"context"
	"errors"

	"atelie/internal/certificates"
	"atelie/internal/jobs"
)

// ReleaseLeases ends the leases (locks that expire) on resumable uploads, jobs and certificates. The caller must make sure that no other
// server uses the database. A server on SQLite calls it at its start. If the server before it was killed, its leases are still in the
// database, and the new server would have to wait until they expire. Leases on pictures stay, because a running "atelie media rebuild" may
// hold them.
func (a *App) ReleaseLeases(ctx context.Context) error {
	// jobs.ReleaseAll needs the time, because it makes some jobs wait before their next try.
	return errors.Join(a.uploads.ReleaseAll(ctx), jobs.ReleaseAll(ctx, a.DB, a.now()), certificates.ReleaseAll(ctx, a.DB))
}
