package app

import (
	"context"
	"errors"

	"atelie/internal/certificates"
	"atelie/internal/jobs"
)

// ReleaseLeases ends the leases on resumable uploads, jobs and certificates that a killed server has left in the database, so
// that the new server need not wait until they expire. The caller must make sure that no other server of this database runs.
// Leases on pictures stay, because atelie media rebuild may hold them while a server runs.
func (a *App) ReleaseLeases(ctx context.Context) error {
	return errors.Join(a.uploads.ReleaseAll(ctx), jobs.ReleaseAll(ctx, a.DB), certificates.ReleaseAll(ctx, a.DB))
}
