package health

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"atelie/internal/datafolder"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var start = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

// site is a service whose sources and clock are set by the test.
type site struct {
	*Service
	t            *testing.T
	at           time.Time
	backup       Backup
	backupErr    error
	disk         datafolder.Usage
	mails        Mails
	certificates []Certificate
	mailed       []string // the calls of MailOwners since the last check
}

// newSite returns a site without problems, where everything is proved.
func newSite(t *testing.T, d *db.DB) *site {
	s := &site{t: t, at: start, disk: datafolder.Usage{Free: 40 << 30, Total: 100 << 30}}
	s.certificates = []Certificate{{"alvor.example", start.AddDate(0, 0, -10), start.AddDate(0, 0, 80)}}
	s.fresh()
	s.Service = New(d, Config{
		Version: "1.2.0", MailServer: true,
		Disk:         func() datafolder.Usage { return s.disk },
		Backup:       func(context.Context) (Backup, error) { return s.backup, s.backupErr },
		Mails:        func(context.Context) (Mails, error) { return s.mails, nil },
		Certificates: func() []Certificate { return s.certificates },
		MailOwners: func(_ context.Context, p Problem, interval time.Duration) error {
			s.mailed = append(s.mailed, fmt.Sprintf("%s %s %s", p.Code, p.Cause, interval))
			return nil
		},
	}, slog.New(slog.DiscardHandler), func() time.Time { return s.at })
	s.MailSent(t.Context(), nil)
	return s
}

// fresh sets a backup from now that was tested six hours ago.
func (s *site) fresh() {
	s.backup = Backup{Destination: "s3://copies/alvor", LastBackup: s.at, LastRestoreTest: s.at.Add(-6 * time.Hour), TestedRestorePoint: s.at.Add(-7 * time.Hour)}
}

func (s *site) state() State {
	s.t.Helper()
	r, err := s.read(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	state, err := s.Service.state(r)
	if err != nil {
		s.t.Fatal(err)
	}
	return state
}

func (s *site) codes() (codes []Code) {
	s.t.Helper()
	for _, t := range s.state().Problems {
		codes = append(codes, t.Code)
	}
	return codes
}

func (s *site) want(what string, codes ...Code) {
	s.t.Helper()
	if got := s.codes(); !slices.Equal(got, codes) {
		s.t.Errorf("%s: problems %v, want %v", what, got, codes)
	}
}

func (s *site) check() []string {
	s.t.Helper()
	s.mailed = nil
	if err := s.Check(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	return s.mailed
}

func each(t *testing.T, fn func(t *testing.T, s *site)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) { fn(t, newSite(t, d)) })
}

// Proves A-health-data.
func TestHealthyStateIsProved(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		got := s.state()
		at := func(d time.Duration) *time.Time { return utc(start.Add(d)) }
		want := State{
			CheckedAt: start, Version: "1.2.0", Problems: []Problem{},
			Backup:      backupState{Verified: true, Destination: "s3://copies/alvor", LastRestorePoint: at(0), RestoreTestAt: at(-6 * time.Hour), TestedRestorePoint: at(-7 * time.Hour)},
			Disk:        diskState{Verified: true, Level: "enough", Free: 40 << 30, Total: 100 << 30},
			Mail:        mailState{Verified: true, HasServer: true, DeliveredAt: at(0)},
			Certificate: &certificateState{Verified: true, Domain: "alvor.example", EndsAt: utc(start.AddDate(0, 0, 80))},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		if mailed := s.check(); mailed != nil {
			t.Errorf("mailed %q", mailed)
		}
		for what, c := range map[string]struct {
			change   func()
			verified func(State) bool
		}{
			"a backup that was never restored":    {func() { s.backup.LastRestoreTest = time.Time{} }, func(st State) bool { return st.Backup.Verified }},
			"a backup on the same disk":           {func() { s.backup.SameDisk = true }, func(st State) bool { return st.Backup.Verified }},
			"a disk that cannot be measured":      {func() { s.disk = datafolder.Usage{} }, func(st State) bool { return st.Disk.Verified }},
			"a delivery of last month":            {func() { s.at = start.AddDate(0, 0, 30); s.fresh() }, func(st State) bool { return st.Mail.Verified }},
			"files that still have to be copied":  {func() { s.backup.WaitingFiles = 1 }, func(st State) bool { return st.Backup.Verified }},
			"a proof before all files were there": {func() { s.backup.UntestedFiles = 1 }, func(st State) bool { return st.Backup.Verified }},
		} {
			before := *s
			c.change()
			if st := s.state(); c.verified(st) || len(st.Problems) > 0 {
				t.Errorf("%s: %+v", what, st)
			}
			*s = before
		}
		s.certificates = nil
		if s.state().Certificate != nil {
			t.Error("a certificate where another program answers HTTPS")
		}
	})
}

// Proves A-health-backup.
func TestProblemsOfBackups(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.backup.BackupError, s.backup.ErrorSince = "the bucket does not answer", start
		s.want("failing", BackupFailing)
		s.at = start.Add(59 * time.Minute)
		if got := s.check(); got != nil {
			t.Errorf("mailed within the first hour: %q", got)
		}
		s.at = start.Add(61 * time.Minute)
		if got := s.check(); !slices.Equal(got, []string{"backup_failing the bucket does not answer 24h0m0s"}) {
			t.Errorf("mailed %q", got)
		}
		if s.state().Backup.Verified {
			t.Error("a failing backup is verified")
		}
		if got := s.state().Problems[0]; got.Cause != "the bucket does not answer" || !got.Since.Equal(start) {
			t.Errorf("%+v", got)
		}
		s.at = start.Add(26 * time.Hour)
		s.want("failing for a day is one problem", BackupFailing)

		s.at = start
		s.fresh()
		s.at = start.Add(26 * time.Hour)
		s.want("the newest backup of yesterday", BackupStale)

		s.backup = Backup{}
		s.want("off", BackupOff)
		if got := s.check(); got != nil {
			t.Errorf("mailed at once: %q", got)
		}
		s.at = s.at.Add(25 * time.Hour)
		if got := s.check(); !slices.Equal(got, []string{"backup_off  168h0m0s"}) {
			t.Errorf("mailed %q", got)
		}
	})
}

// Proves A-health-away.
func TestUnreachableDestinationIsAProblemOfTheDestination(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.backup.RestoreTestIncomplete, s.backup.RestoreTestIncompleteSince, s.backup.DestinationUnreachable = "the place cannot be reached", start, true
		s.at = start.Add(59 * time.Minute)
		if got := s.check(); got != nil {
			t.Errorf("mailed within the first hour: %q", got)
		}
		s.at = start.Add(61 * time.Minute)
		if got := s.check(); !slices.Equal(got, []string{"backup_failing the place cannot be reached 24h0m0s"}) {
			t.Errorf("mailed %q", got)
		}
		s.want("away", BackupFailing)
		if got := s.state(); !got.Problems[0].Since.Equal(start) || got.Problems[0].Cause != "the place cannot be reached" || got.Backup.Verified || !got.Backup.RestoreTestAt.Equal(s.backup.LastRestoreTest) {
			t.Errorf("%+v", got)
		}
		s.backup.BackupError, s.backup.ErrorSince = "the bucket does not answer", start.Add(-time.Hour)
		s.want("with writes that do not arrive either, it is one problem", BackupFailing)
		s.backup.BackupError, s.backup.DestinationUnreachable = "", false
		s.want("a proof that could not be done for another reason is another problem", RestoreTestIncomplete)
	})
}

// Proves A-health-proof.
func TestProblemsOfProofs(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.backup.RestoreTestError = "blobs/ab/cd/1 differs"
		s.want("damaged", RestoreTestFailed)
		s.backup.DestinationUnreachable = true
		s.want("damaged, and then the place is away", BackupFailing, RestoreTestFailed)
		s.backup.RestoreTestError, s.backup.DestinationUnreachable = "", false
		s.backup.LastRestoreTest = start.Add(-36 * time.Hour)
		s.want("proven last night, at the latest")
		if !s.state().Backup.Verified {
			t.Error("not verified after 36 hours")
		}
		s.backup.LastRestoreTest = start.Add(-37 * time.Hour)
		s.want("not proven last night", RestoreTestStale)
		if s.state().Backup.Verified {
			t.Error("verified after 37 hours")
		}
		if got := s.check(); got != nil {
			t.Errorf("mailed within three days: %q", got)
		}
		s.backup.LastRestoreTest = start.Add(-73 * time.Hour)
		if got := s.check(); !slices.Equal(got, []string{"proof_stale  24h0m0s"}) {
			t.Errorf("mailed %q", got)
		}

		s.fresh()
		s.backup.RestoreTestIncomplete, s.backup.RestoreTestIncompleteSince = "there is no room", start.Add(-59*time.Minute)
		if got := s.state(); len(got.Problems) != 1 || got.Problems[0].Code != RestoreTestIncomplete || got.Problems[0].Cause != "there is no room" || !got.Problems[0].Since.Equal(s.backup.RestoreTestIncompleteSince) || got.Backup.Verified {
			t.Errorf("%+v", got)
		}
		if got := s.check(); got != nil {
			t.Errorf("mailed within the first hour: %q", got)
		}
		s.backup.RestoreTestIncompleteSince = start.Add(-61 * time.Minute)
		if got := s.check(); !slices.Equal(got, []string{"proof_incomplete there is no room 24h0m0s"}) {
			t.Errorf("mailed %q", got)
		}
		s.backup.LastRestoreTest = start.Add(-73 * time.Hour)
		s.want("two sentences would say the same", RestoreTestIncomplete)

		// A new site has no backup yet, and then no restore test yet. Each problem counts from the first check that noticed it.
		s.backup = Backup{Destination: "backups"}
		s.want("nothing noted")
		s.check()
		s.at = start.Add(24 * time.Hour)
		s.check()
		s.want("without a backup for a day")
		s.at = start.Add(26 * time.Hour)
		s.want("without a backup for more than a day", BackupStale)

		s.backup.LastBackup = s.at
		s.check()
		s.at = s.at.Add(36 * time.Hour)
		s.backup.LastBackup = s.at
		s.check()
		s.want("without a proof for 36 hours")
		s.at = s.at.Add(2 * time.Hour)
		s.want("without a proof for longer", RestoreTestStale)
		s.at = s.at.Add(35 * time.Hour)
		s.backup.LastBackup = s.at
		if got := s.check(); !slices.Equal(got, []string{"proof_stale  24h0m0s"}) {
			t.Errorf("mailed %q", got)
		}
		s.backup.LastRestoreTest = s.at
		s.check()
		s.backup.LastRestoreTest = time.Time{}
		s.want("a proof ends it, and the next time counts anew")
		if records, err := readRecords(t.Context(), s.db); err != nil || len(records) != 1 {
			t.Errorf("records %v, %v: want the delivery alone", records, err)
		}
	})
}

// Proves A-health-mail.
func TestProblemsOfMails(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		refused := errors.New("mail: smtp.example:25: 535 <ana@alvor.example>:\r\n wrong password\x00")
		s.MailSent(t.Context(), refused)
		s.at = start.Add(3 * time.Hour)
		s.want("one refusal may be the address's fault")
		s.MailSent(t.Context(), refused)
		s.MailSent(t.Context(), errors.New("mail: smtp.example:25: no answer"))
		s.want("three in a row", MailFailing)
		if got := s.state().Problems[0]; !got.Since.Equal(start) || got.Cause != "mail: smtp.example:25: no answer" {
			t.Errorf("%+v", got)
		}
		s.MailSent(t.Context(), refused)
		if got := s.state().Problems[0].Cause; got != "mail: smtp.example:25: 535 <…>: wrong password" {
			t.Errorf("cause %q", got)
		}
		if s.state().Mail.Verified {
			t.Error("failing mail is verified")
		}
		s.MailSent(t.Context(), nil)
		s.want("one that is delivered ends it")
		for range 3 {
			s.MailSent(t.Context(), refused)
		}
		s.want("failing for a moment")
		s.MailSent(t.Context(), nil)

		s.mails = Mails{Waiting: 2, Retried: 1, Oldest: s.at.Add(-119 * time.Minute)}
		s.want("waiting for less than two hours")
		s.mails.Oldest = s.at.Add(-121 * time.Minute)
		s.want("waiting for more than two hours", MailWaiting)
		if got := s.state().Mail; got.Verified || got.Waiting != 2 || got.Retried != 1 {
			t.Errorf("%+v", got)
		}
		s.cfg.MailServer = false
		s.want("without a mail server nothing is sent")
		s.MailSent(t.Context(), nil)
		if got := s.state().Mail; got.Verified || got.HasServer {
			t.Errorf("a file is no delivery: %+v", got)
		}
	})
}

// Proves A-health-certificate.
func TestProblemsOfCertificates(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		ends := s.certificates[0].End
		s.at = ends.Add(-15 * 24 * time.Hour)
		s.fresh()
		s.want("renewal is late, but there is time")
		s.at = ends.Add(-13 * 24 * time.Hour)
		s.fresh()
		s.want("fourteen days", CertificateEnding)
		if got := s.check(); !slices.Equal(got, []string{"certificate_ending alvor.example 24h0m0s"}) {
			t.Errorf("mailed %q", got)
		}

		s.certificates = []Certificate{{"alvor.example", s.at.Add(-24 * time.Hour), s.at.Add(5 * 24 * time.Hour)}}
		s.want("a certificate of six days has most of its time left")
		s.certificates = append(s.certificates, Certificate{Domain: "www.alvor.example"})
		s.check()
		s.want("a name that is new")
		s.at = s.at.Add(2 * time.Hour)
		s.want("a name without a certificate", CertificateMissing)
		if got := s.state().Certificate; got.Verified || got.Domain != "www.alvor.example" || got.EndsAt != nil {
			t.Errorf("%+v", got)
		}
	})
}

// Proves A-dash-6.
func TestProblemsOfTheDisk(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		for level, name := range map[datafolder.Level]string{datafolder.Low: "low", datafolder.Full: "full"} {
			s.disk.Level = level
			s.want(name, DiskLow)
			if got := s.state().Disk; got.Verified || got.Level != name {
				t.Errorf("%+v", got)
			}
		}
	})
}

func TestEndedOnlyForProblemsThatAllNodesSee(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.backup = Backup{}
		for code, want := range map[Code]bool{BackupOff: false, BackupStale: true, MailFailing: true, DiskLow: false, CertificateEnding: false, "new_device": false} {
			if got, err := s.Ended(t.Context(), code); err != nil || got != want {
				t.Errorf("%s: %v %v", code, got, err)
			}
		}
	})
}

func TestCheckReportsUnreadableSources(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.backupErr = errors.New("no such table")
		if err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "no such table") {
			t.Error(err)
		}
	})
}
