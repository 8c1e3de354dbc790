package health

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"atelie/internal/datafolder"
)

// This file decides which states of the site are problems. A new kind of problem needs a Code, an element of Codes, and a check in
// reading.problems.

// Code names a kind of problem. For each code there is a kind of mail (internal/mail) and a sentence in the overview of the admin area.
type Code string

// The kinds of problems. A restore test is a nightly trial restore of the backup that is compared with the site. Stored codes call it proof.
const (
	BackupOff             Code = "backup_off"
	BackupFailing         Code = "backup_failing"
	BackupStale           Code = "backup_stale"        // no failure is known, but the newest backup is older than backupStaleAfter
	RestoreTestFailed     Code = "proof_failed"        // the newest complete restore test has found damage
	RestoreTestIncomplete Code = "proof_incomplete"    // the newest restore test had to stop, although the backup destination was reachable
	RestoreTestStale      Code = "proof_stale"         // no restore test has succeeded for restoreTestStaleAfter
	DiskLow               Code = "disk_low"            // the disk is nearly full, or full
	MailFailing           Code = "mail_failing"        // deliveries of mails fail
	MailWaiting           Code = "mail_waiting"        // a mail has waited for longer than mailWaitingAfter
	CertificateEnding     Code = "certificate_ending"  // a certificate expires soon
	CertificateMissing    Code = "certificate_missing" // a domain has no certificate
)

// Codes are all kinds of problems, in the order of the constants.
var Codes = []Code{
	BackupOff, BackupFailing, BackupStale, RestoreTestFailed, RestoreTestIncomplete, RestoreTestStale,
	DiskLow, MailFailing, MailWaiting, CertificateEnding, CertificateMissing,
}

// Problem is a state of the site that somebody must act on.
type Problem struct {
	Code  Code       `json:"code"`
	Since *time.Time `json:"since"` // null: unknown
	Cause string     `json:"cause"` // text of the error, or the domain of the certificate; "" if there is none
}

// Limits beyond which a state is a problem.
const (
	backupStaleAfter        = 25 * time.Hour      // a snapshot is taken each night, and may take an hour
	restoreTestStaleAfter   = 36 * time.Hour      // a restore test runs each night, and may take hours
	mailFailingAfter        = time.Hour           // time since the first failure after the newest delivery
	mailFailures            = 3                   // consecutive failed attempts; a single failure can be the fault of the recipient's address
	mailWaitingAfter        = 2 * time.Hour       // time for which the oldest mail has waited
	certificateEndsWithin   = 14 * 24 * time.Hour // remaining validity of a certificate
	certificateMissingAfter = time.Hour           // a new domain gets its certificate within minutes
)

const day = 24 * time.Hour

// How long these problems must last before owners get mails, because most of them end by themselves earlier. The overview shows them
// immediately.
const (
	failingMailedAfter          = time.Hour // for BackupFailing and for RestoreTestIncomplete
	backupOffMailedAfter        = day       // the operator of a new site may still set a backup destination
	restoreTestStaleMailedAfter = 3 * day   // a machine that was off runs the restore test after its start
)

// mailInterval returns the minimum time between two mails about a problem, from all nodes together. Backups are turned off on purpose, so
// the owners are reminded only once a week.
func mailInterval(c Code) time.Duration {
	if c == BackupOff {
		return 7 * day
	}
	return day
}

// shouldMail reports whether owners get mails about a problem.
func (r reading) shouldMail(p Problem) bool {
	switch p.Code {
	case BackupOff:
		return p.Since != nil && r.isOlder(*p.Since, backupOffMailedAfter)
	case BackupFailing, RestoreTestIncomplete:
		return p.Since == nil || r.isOlder(*p.Since, failingMailedAfter)
	case RestoreTestStale:
		return r.isOlder(r.untestedSince(), restoreTestStaleMailedAfter)
	default:
		return true
	}
}

// IsProblem reports whether c is one of Codes. Callers convert the kind of a mail to Code.
func (c Code) IsProblem() bool { return slices.Contains(Codes, c) }

// isNodeLocal reports whether only the node that has the problem can tell when it ends.
func (c Code) isNodeLocal() bool {
	return c == DiskLow || c == CertificateMissing || c == CertificateEnding
}

// reading is the state of the site at one time. The service decides from it what is a problem.
type reading struct {
	now          time.Time
	mailServer   bool
	backup       Backup
	disk         datafolder.Usage
	mails        Mails
	certificates []Certificate
	records      map[string]record
}

// problems returns all problems, in the order of the constants of Code.
func (r reading) problems() []Problem {
	found := []Problem{} // [] in JSON
	add := func(c Code, since time.Time, cause string) {
		found = append(found, Problem{c, utc(since), cause})
	}
	r.addBackupProblems(add)
	if r.disk.Level != datafolder.Enough {
		add(DiskLow, time.Time{}, "")
	}
	switch failing := r.records[recordFailing]; {
	case !r.mailServer:
	case failing.count >= mailFailures && r.isOlder(failing.at, mailFailingAfter):
		add(MailFailing, failing.at, failing.cause)
	case r.isOlder(r.mails.Oldest, mailWaitingAfter):
		add(MailWaiting, r.mails.Oldest, failing.cause)
	}
	switch c, ok := r.firstCertificateToExpire(); {
	case !ok:
	case c.End.IsZero():
		if since := r.records[recordMissingCertificate].at; r.isOlder(since, certificateMissingAfter) {
			add(CertificateMissing, since, c.Domain)
		}
	case c.End.Sub(r.now) < min(certificateEndsWithin, c.End.Sub(c.Begin)/6): // renewal is due when a third is left
		add(CertificateEnding, time.Time{}, c.Domain)
	}
	return found
}

func (r reading) addBackupProblems(add func(Code, time.Time, string)) {
	b := r.backup
	if b.Destination == "" {
		add(BackupOff, r.records[recordBackupOff].at, "")
		return
	}
	stale := cmp.Or(b.LastBackup, r.records[recordNoBackup].at)
	switch {
	case b.BackupError != "":
		add(BackupFailing, b.ErrorSince, b.BackupError)
	case b.DestinationUnreachable:
		add(BackupFailing, b.RestoreTestIncompleteSince, b.RestoreTestIncomplete)
	case r.isOlder(stale, backupStaleAfter):
		add(BackupStale, b.LastBackup, "")
	}
	switch {
	case b.RestoreTestError != "":
		add(RestoreTestFailed, time.Time{}, b.RestoreTestError)
	case b.RestoreTestIncomplete != "" && !b.DestinationUnreachable:
		add(RestoreTestIncomplete, b.RestoreTestIncompleteSince, b.RestoreTestIncomplete)
	case r.isOlder(r.untestedSince(), restoreTestStaleAfter):
		add(RestoreTestStale, b.LastRestoreTest, b.RestoreTestIncomplete)
	}
}

// untestedSince returns since when no restore test has succeeded; the zero time if that is unknown.
func (r reading) untestedSince() time.Time {
	return cmp.Or(r.backup.LastRestoreTest, r.records[recordNoRestoreTest].at)
}

// isOlder reports whether since is known and longer ago than limit.
func (r reading) isOlder(since time.Time, limit time.Duration) bool {
	return !since.IsZero() && r.now.Sub(since) > limit
}

// firstCertificateToExpire returns the certificate that ends first; one that is missing comes before all others.
func (r reading) firstCertificateToExpire() (Certificate, bool) {
	if len(r.certificates) == 0 {
		return Certificate{}, false
	}
	return slices.MinFunc(r.certificates, func(a, b Certificate) int { return a.End.Compare(b.End) }), true
}

// utc returns a time for JSON, nil for the zero time.
func utc(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// maxCause is the maximum number of characters of a cause.
const maxCause = 300

var addressPattern = regexp.MustCompile(`[^\s<>@:;,]+@[^\s<>@:;,]+`)

// summary returns an error's text in one line, without email addresses, because an erasure of an address would not find it there.
func summary(err error) string {
	text := strings.Map(func(c rune) rune {
		if c < ' ' || c == '\u007f' {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(err.Error(), "\uFFFD"))
	line := []rune(strings.Join(strings.Fields(addressPattern.ReplaceAllString(text, "…")), " "))
	return string(line[:min(len(line), maxCause)])
}
