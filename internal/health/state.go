package health

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"atelie/internal/datafolder"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// This file handles rpc/get_site_health. The overview in the admin area calls it to show the state of the site.

// mailVerifiedFor is how long after a delivery mailState.Verified stays true.
const mailVerifiedFor = 7 * day

// State is the response of rpc/get_site_health. The browser makes texts from its values and codes. A time is null if the event has not
// happened yet. A field Verified is true if a recent success is known. The mere absence of failures is not enough.
type State struct {
	CheckedAt   time.Time         `json:"checked_at"`
	Backup      backupState       `json:"backup"`
	Disk        diskState         `json:"disk"`
	Mail        mailState         `json:"mail"`
	Certificate *certificateState `json:"certificate"` // null: this program obtains no certificates
	Version     string            `json:"version"`
	Release     *releaseState     `json:"release"` // null: the operator has set no release file
	Problems    []Problem         `json:"problems"`
}

// backupState is the state of the backup. A restore point is a point in time whose state the backup can restore. A restore test is a trial
// restore that is compared with the site.
type backupState struct {
	Verified           bool       `json:"proved"`
	Destination        string     `json:"destination"` // "": backups are off
	SameDisk           bool       `json:"same_disk"`   // all copies of the backup are on the disk of the data folder, and are lost with it
	LastRestorePoint   *time.Time `json:"last_at"`
	RestoreTestAt      *time.Time `json:"proof_at"`             // when the newest successful restore test ended
	TestedRestorePoint *time.Time `json:"proven_restore_point"` // the restore point of the newest successful restore test
	WaitingFiles       int64      `json:"waiting_files"`        // files that are not in the destination yet
	UntestedFiles      int        `json:"unproven_files"`       // files that the newest successful restore test left out, because they were waiting
}

// diskState is the state of the disk with the data folder.
type diskState struct {
	Verified bool   `json:"proved"`
	Level    string `json:"level"` // enough, low or full
	Free     int64  `json:"free"`  // bytes
	Total    int64  `json:"total"` // bytes; 0: it could not be measured
}

// mailState is the state of the mail delivery.
type mailState struct {
	Verified    bool       `json:"proved"`
	HasServer   bool       `json:"server"`       // false: mails are written to files instead of being sent
	DeliveredAt *time.Time `json:"delivered_at"` // when a mail was last delivered
	Waiting     int        `json:"waiting"`      // mails that are not delivered yet, and not given up
	Retried     int        `json:"retried"`      // how many of the waiting mails have failed at least once and will be retried
	Failed      int        `json:"failed"`       // mails that were given up within the last 30 days
}

// certificateState is the state of the certificate that expires first, or of a missing one.
type certificateState struct {
	Verified bool       `json:"proved"`
	Domain   string     `json:"domain"`
	EndsAt   *time.Time `json:"ends_at"` // null: the certificate is missing
}

// levels are the names of the levels of the disk in JSON.
var levels = map[datafolder.Level]string{datafolder.Enough: "enough", datafolder.Low: "low", datafolder.Full: "full"}

// read reads the states from which problems and State are made.
func (s *Service) read(ctx context.Context) (r reading, err error) {
	r = reading{now: s.now(), mailServer: s.cfg.MailServer, disk: s.cfg.Disk(), certificates: s.cfg.Certificates()}
	var errs [3]error
	r.backup, errs[0] = s.cfg.Backup(ctx)
	r.mails, errs[1] = s.cfg.Mails(ctx)
	r.records, errs[2] = readRecords(ctx, s.db)
	return r, errors.Join(errs[:]...)
}

// isBackupVerified reports whether a recent restore test with all files has succeeded, and the backup has no problem. A backup on the disk of
// the data folder is not verified, because it is lost when it is needed most.
func (r reading) isBackupVerified() bool {
	b, hasProblem := r.backup, false
	r.addBackupProblems(func(Code, time.Time, string) { hasProblem = true })
	return !hasProblem && !b.LastBackup.IsZero() && !b.LastRestoreTest.IsZero() && !r.isOlder(b.LastRestoreTest, restoreTestStaleAfter) &&
		!b.SameDisk && b.WaitingFiles == 0 && b.UntestedFiles == 0
}

// state makes the State of a reading.
func (s *Service) state(r reading) (State, error) {
	problems := r.problems()
	hasProblem := func(codes ...Code) bool {
		return slices.ContainsFunc(problems, func(p Problem) bool { return slices.Contains(codes, p.Code) })
	}
	b, m := r.backup, r.mails
	delivered := r.records[recordDelivered].at
	_, isFailing := r.records[recordFailing]
	release, err := s.release(r.records)
	if err != nil {
		return State{}, err
	}
	state := State{
		CheckedAt: r.now.UTC(), Version: s.cfg.Version, Release: release, Problems: problems,
		Backup: backupState{
			Verified: r.isBackupVerified(), Destination: b.Destination, SameDisk: b.SameDisk, LastRestorePoint: utc(b.LastBackup), RestoreTestAt: utc(b.LastRestoreTest),
			TestedRestorePoint: utc(b.TestedRestorePoint), WaitingFiles: b.WaitingFiles, UntestedFiles: b.UntestedFiles,
		},
		Disk: diskState{Verified: r.disk.Total > 0 && r.disk.Level == datafolder.Enough, Level: levels[r.disk.Level], Free: r.disk.Free, Total: r.disk.Total},
		Mail: mailState{
			Verified:  s.cfg.MailServer && !delivered.IsZero() && r.now.Sub(delivered) <= mailVerifiedFor && !isFailing && !hasProblem(MailFailing, MailWaiting),
			HasServer: s.cfg.MailServer, DeliveredAt: utc(delivered), Waiting: m.Waiting, Retried: m.Retried, Failed: m.Failed,
		},
	}
	if c, ok := r.firstCertificateToExpire(); ok {
		state.Certificate = &certificateState{Verified: c.End.After(r.now) && !hasProblem(CertificateEnding, CertificateMissing), Domain: c.Domain, EndsAt: utc(c.End)}
	}
	return state, nil
}

// GetSiteHealth handles rpc/get_site_health: it returns the State, for administrators and the service key.
func (s *Service) GetSiteHealth(w http.ResponseWriter, r *http.Request) error {
	if caller := identity.Of(r.Context()); !policy.SiteHealth(caller) {
		return httpx.DeniedError(caller, "the health of the site")
	}
	found, err := s.read(r.Context())
	if err != nil {
		return err
	}
	state, err := s.state(found)
	if err != nil {
		return err
	}
	return httpx.UncachedJSON(w, state)
}
