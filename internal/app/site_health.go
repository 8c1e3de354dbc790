package app

import (
	"context"
	"time"

	"atelie/internal/auth"
	"atelie/internal/health"
	"atelie/internal/interval"
	"atelie/internal/release"
)

// This file checks the health of the site (backups, disk, mails, certificates, new releases) and mails the owners about problems.

// healthDelay is the time from the start until the first health check. In this time, backups resume and certificates are loaded. An earlier
// check could report problems that are about to end.
const healthDelay = 5 * time.Minute

// wireHealth creates the service that reports the health of the site to the owners.
func (a *App) wireHealth() {
	a.health = health.New(a.DB, health.Config{
		Version: a.cfg.Build, MailServer: a.cfg.Mail.SMTPURL != "", Disk: a.space.Usage,
		Backup: a.backupHealth, Mails: a.mailHealth, Certificates: a.certificateHealth, ReleaseFile: a.releaseFile(), MailOwners: a.mailOwners,
	}, a.log, a.now)
}

// releaseFile returns the reader of the release file, which names the newest release. The operator (who runs the server) sets the URL or path
// of the file. releaseFile returns nil if none is set.
func (a *App) releaseFile() *health.ReleaseFile {
	location := a.cfg.Server.ReleaseFile
	if location == "" {
		return nil
	}
	return &health.ReleaseFile{
		Location: location,
		Read: func(ctx context.Context) (health.Release, error) {
			r, err := release.Read(ctx, location)
			return health.Release{Version: r.Version, Date: r.Date, Notes: r.Notes}, err
		},
		IsNewer: func(version string) bool { return release.IsNewer(version, a.cfg.Build) },
	}
}

// healthInterval is the interval of health checks.
const healthInterval = time.Hour

// checkHourly calls check once after healthDelay, and then at intervals of healthInterval until ctx ends. It logs the errors of check with
// the text failed.
func (a *App) checkHourly(ctx context.Context, check func(context.Context) error, failed string) {
	if interval.Sleep(ctx, healthDelay) != nil {
		return
	}
	interval.Every(ctx, healthInterval, func() {
		if err := check(ctx); err != nil && ctx.Err() == nil {
			a.log.Error(failed, "cause", err.Error())
		}
	})
}

// watchRelease calls CheckRelease every hour until ctx ends. CheckRelease reads the release file if no node has done so within a day. It is
// not part of watchHealth, because the server with the file may be slow.
func (a *App) watchRelease(ctx context.Context) {
	a.checkHourly(ctx, a.health.CheckRelease, "the content of the release file could not be stored; the next check is in an hour")
}

// watchHealth checks the health of the site every hour until ctx ends. A check queues mails to the owners about problems.
func (a *App) watchHealth(ctx context.Context) {
	a.checkHourly(ctx, a.health.Check, "the health check failed, so that the owners may get no mail about a problem; the next check is in an hour")
}

// backupHealth reads the state of the backups.
func (a *App) backupHealth(ctx context.Context) (health.Backup, error) {
	if a.Backup == nil {
		return health.Backup{}, nil // backups are off
	}
	status, err := a.Backup.Status(ctx)
	return health.Backup(status), err
}

// mailHealth counts the mails of all queues: those about accounts, and those about visitors' messages.
func (a *App) mailHealth(ctx context.Context) (health.Mails, error) {
	unsent, err := a.Functions.CountUnsentMails(ctx)
	if err != nil {
		return health.Mails{}, err
	}
	queued, err := a.Jobs.State(ctx, auth.JobMail)
	if err != nil {
		return health.Mails{}, err
	}
	m := health.Mails{Waiting: unsent.Waiting + queued.Waiting, Retried: unsent.Retried + queued.Retried, Failed: unsent.Failed + queued.Failed}
	m.Oldest, err = a.Jobs.OldestWaiting(ctx, auth.JobMail)
	if m.Oldest.IsZero() || !unsent.Oldest.IsZero() && unsent.Oldest.Before(m.Oldest) {
		m.Oldest = unsent.Oldest
	}
	return m, err
}

// certificateHealth returns the certificates of this site's domains. It returns nil if the program does not obtain certificates itself.
func (a *App) certificateHealth() []health.Certificate {
	manager := a.certificates.Load()
	if manager == nil {
		return nil
	}
	var all []health.Certificate
	for domain, valid := range manager.Validity() {
		all = append(all, health.Certificate{Domain: domain, Begin: valid[0], End: valid[1]})
	}
	return all
}

func (a *App) mailOwners(ctx context.Context, t health.Problem, interval time.Duration) error {
	_, err := a.Auth.NotifyOwners(ctx, auth.MailKind(t.Code), t.Cause, interval)
	return err
}
