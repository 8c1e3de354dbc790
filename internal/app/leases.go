package app

import (
	"context"
	"errors"

	"atelie/internal/certificates"
	"atelie/internal/jobs"
)

// ReleaseLeases ends the leases (locks that expire) on resumable uploads, jobs and certificates that a killed server has left in the
// database. Otherwise the new server would have to wait until they expire. The caller must make sure that no other server uses the
// database. Leases on pictures stay, because the command atelie media rebuild can hold them at the same time.
func (a *App) ReleaseLeases(ctx context.Context) error {
	return errors.Join(a.uploads.ReleaseAll(ctx), jobs.ReleaseAll(ctx, a.DB, a.now()), certificates.ReleaseAll(ctx, a.DB))
}
