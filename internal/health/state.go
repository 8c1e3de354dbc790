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

// mailProof is how long the delivery of a mail counts as evidence that mails arrive.
const mailProof = 7 * day

// State is the response of rpc/get_site_health. The browser makes texts from its values and codes. A time is null if the event has not
// happened yet. A field Proved is true if a recent success is known; that no failure is known is not enough.
type State struct {
	CheckedAt   time.Time         `json:"checked_at"`
	Backup      backupState       `json:"backup"`
	Disk        diskState         `json:"disk"`
	Mail        mailState         `json:"mail"`
	Certificate *certificateState `json:"certificate"` // null: this program obtains none
	Version     string            `json:"version"`
	Release     *releaseState     `json:"release"` // null: the operator has set no release file
	Problems    []Problem         `json:"problems"`
}

// backupState is the state of the backup.
type backupState struct {
	Proved             bool       `json:"proved"`
	Destination        string     `json:"destination"` // "": backups are off
	SameDisk           bool       `json:"same_disk"`
	LastAt             *time.Time `json:"last_at"`              // latest time whose state the backup can restore
	ProofAt            *time.Time `json:"proof_at"`             // when the newest successful proof (a trial restore) ended
	ProvenRestorePoint *time.Time `json:"proven_restore_point"` // the time whose state that proof has restored
	WaitingFiles       int64      `json:"waiting_files"`        // files that are not in the destination yet
	UnprovenFiles      int        `json:"unproven_files"`       // files that were not part of that proof, because the destination did not have them yet
}

// diskState is the state of the disk with the data folder.
type diskState struct {
	Proved bool   `json:"proved"`
	Level  string `json:"level"` // enough, low or full
	Free   int64  `json:"free"`  // bytes
	Total  int64  `json:"total"` // bytes; 0: it could not be measured
}

// mailState is the state of the mail delivery.
type mailState struct {
	Proved      bool       `json:"proved"`
	Server      bool       `json:"server"` // false: mails are written to files
	DeliveredAt *time.Time `json:"delivered_at"`
	Waiting     int        `json:"waiting"`
	Retried     int        `json:"retried"` // how many of Waiting have failed at least once
	Failed      int        `json:"failed"`  // mails that were given up within the last 30 days
}

// certificateState is the state of the certificate that expires first, or of a missing one.
type certificateState struct {
	Proved bool       `json:"proved"`
	Domain string     `json:"domain"`
	EndsAt *time.Time `json:"ends_at"`
}

// levels are the names of the levels of the disk in JSON.
var levels = map[datafolder.Level]string{datafolder.Enough: "enough", datafolder.Low: "low", datafolder.Full: "full"}

// read reads the state of everything that can be a problem.
func (s *Service) read(ctx context.Context) (r reading, err error) {
	r = reading{now: s.now(), mailServer: s.cfg.MailServer, disk: s.cfg.Disk(), certificates: s.cfg.Certificates()}
	var errs [3]error
	r.backup, errs[0] = s.cfg.Backup(ctx)
	r.mails, errs[1] = s.cfg.Mails(ctx)
	r.records, errs[2] = readRecords(ctx, s.db)
	return r, errors.Join(errs[:]...)
}

// isBackupProved reports whether the backup was restored last night, with all files, and has no problem. A backup that is lost with the
// disk is not proved: it is lost when it is needed most.
func (r reading) isBackupProved() bool {
	b, none := r.backup, true
	r.addBackupProblems(func(Code, time.Time, string) { none = false })
	return none && !b.LastBackup.IsZero() && !b.LastProof.IsZero() && !r.isOlder(b.LastProof, proofStaleAfter) &&
		!b.SameDisk && b.WaitingFiles == 0 && b.UnprovenFiles == 0
}

// state makes the answer of a reading.
func (s *Service) state(r reading) (State, error) {
	problems := r.problems()
	has := func(codes ...Code) bool {
		return slices.ContainsFunc(problems, func(t Problem) bool { return slices.Contains(codes, t.Code) })
	}
	b, m := r.backup, r.mails
	delivered := r.records[recordDelivered].at
	_, failing := r.records[recordFailing]
	release, err := s.release(r.records)
	if err != nil {
		return State{}, err
	}
	state := State{
		CheckedAt: r.now.UTC(), Version: s.cfg.Version, Release: release, Problems: problems,
		Backup: backupState{
			Proved: r.isBackupProved(), Destination: b.Destination, SameDisk: b.SameDisk, LastAt: utc(b.LastBackup), ProofAt: utc(b.LastProof),
			ProvenRestorePoint: utc(b.ProvenRestorePoint), WaitingFiles: b.WaitingFiles, UnprovenFiles: b.UnprovenFiles,
		},
		Disk: diskState{Proved: r.disk.Total > 0 && r.disk.Level == datafolder.Enough, Level: levels[r.disk.Level], Free: r.disk.Free, Total: r.disk.Total},
		Mail: mailState{
			Proved: s.cfg.MailServer && !delivered.IsZero() && r.now.Sub(delivered) <= mailProof && !failing && !has(MailFailing, MailWaiting),
			Server: s.cfg.MailServer, DeliveredAt: utc(delivered), Waiting: m.Waiting, Retried: m.Retried, Failed: m.Failed,
		},
	}
	if c, ok := r.firstCertificateToExpire(); ok {
		state.Certificate = &certificateState{Proved: c.End.After(r.now) && !has(CertificateEnding, CertificateMissing), Domain: c.Domain, EndsAt: utc(c.End)}
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
