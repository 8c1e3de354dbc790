// Package health reports the state of the site to its owners (accounts with the role admin): backups, disk, mail, certificate and version.
// It decides which states are problems. The overview in the admin area shows the problems, and owners get mails about them.
package health

import (
	"context"
	"log/slog"
	"time"

	"atelie/internal/datafolder"
	"atelie/internal/db"
)

// Config has the functions through which the service reads the state of other packages. All functions are required.
type Config struct {
	Version    string // version of the program
	MailServer bool   // false: mails are written to files instead of being sent
	Disk       func() datafolder.Usage
	Backup     func(ctx context.Context) (Backup, error)
	Mails      func(ctx context.Context) (Mails, error)
	// Certificates returns the certificates that this program obtains itself, one for each domain. The result is empty if another program
	// serves HTTPS.
	Certificates func() []Certificate
	// ReleaseFile names the newest release of the program; nil if the operator (who runs the server) has set no such file.
	ReleaseFile *ReleaseFile
	// MailOwners queues a mail about a problem to every owner. It does nothing if any node (server of the site) has queued mails about this
	// problem less than interval ago.
	MailOwners func(ctx context.Context, p Problem, interval time.Duration) error
}

// Backup is the state of the backup. A restore point is a point in time whose state the backup can restore. A restore test is a nightly trial
// restore that is compared with the site. It is incomplete if it had to stop, for example because the destination was unreachable.
type Backup struct {
	Destination        string    // label without secrets; "": backups are off
	SameDisk           bool      // all copies of the backup are on the disk of the data folder
	LastBackup         time.Time // time of the latest restore point; zero: none
	BackupError        string    // safe text of the current failure; "": none
	ErrorSince         time.Time // when the current failure began
	LastRestoreTest    time.Time // when the newest successful restore test ended; zero: none
	TestedRestorePoint time.Time // the restore point of the newest successful restore test
	RestoreTestError   string    // the damage that the newest complete restore test has found; "": none
	WaitingFiles       int64     // files that are not in the destination yet

	RestoreTestIncomplete      string    // reason why the newest restore test is incomplete; "": it is complete
	RestoreTestIncompleteCode  string    // code of RestoreTestIncomplete
	RestoreTestIncompleteSince time.Time // when the first of the consecutive incomplete restore tests ended
	DestinationUnreachable     bool      // the restore test is incomplete because the destination was unreachable

	UntestedFiles int // files that were not in the destination yet at the newest successful restore test
}

// Mails counts the mails in the queue.
type Mails struct {
	Waiting int       // mails that are not delivered yet, and not given up
	Retried int       // how many of the waiting mails have failed at least once and will be retried
	Failed  int       // mails that were given up within the last 30 days
	Oldest  time.Time // when the oldest waiting mail (except thank-you mails) was queued; zero: none waits
}

// Certificate is the certificate of a domain. Begin and End are zero if there is none yet.
type Certificate struct {
	Domain     string
	Begin, End time.Time
}

// Service reads the state of the site, returns it by rpc/get_site_health, and queues mails to the owners.
type Service struct {
	db  *db.DB
	cfg Config
	log *slog.Logger
	now func() time.Time
}

// New returns a service.
func New(d *db.DB, cfg Config, log *slog.Logger, now func() time.Time) *Service {
	return &Service{d, cfg, log, now}
}

// recordTimeout is the limit for recording the result of an attempt to deliver a mail.
const recordTimeout = 5 * time.Second

// MailSent records the result of an attempt to deliver a mail to the mail server; err is nil if it was delivered.
func (s *Service) MailSent(ctx context.Context, err error) {
	if !s.cfg.MailServer {
		return
	}
	// The context of an attempt that has timed out has ended, but the attempt is recorded too.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	if err == nil {
		err = saveDelivery(ctx, s.db, s.now())
	} else {
		err = saveFailure(ctx, s.db, s.now(), summary(err))
	}
	// No error is returned: the caller would send a delivered mail again.
	if err != nil {
		s.log.Warn("the overview will not tell of this attempt to deliver a mail, because it could not be recorded", "cause", err.Error())
	}
}
