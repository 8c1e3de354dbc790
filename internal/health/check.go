package health

import (
	"context"
	"errors"
	"slices"
)

// Check queues mails to the owners about the problems of the site. Each node (server of the site) calls it once an hour. If a backup, a
// restore test (a nightly trial restore of the backup) or a certificate is missing, Check also stores when this was first noticed.
func (s *Service) Check(ctx context.Context) error {
	r, err := s.read(ctx)
	if err != nil {
		return err
	}
	if err := s.updateMissingRecords(ctx, r); err != nil {
		return err
	}
	var errs []error
	for _, p := range r.problems() {
		if r.shouldMail(p) {
			errs = append(errs, s.cfg.MailOwners(ctx, p, mailInterval(p.Code)))
		}
	}
	return errors.Join(errs...)
}

// updateMissingRecords updates the records that say since when a thing is missing, such as a certificate. If a thing is missing and has no
// record, it inserts one with the time of r. If a thing is no longer missing, it deletes the record.
func (s *Service) updateMissingRecords(ctx context.Context, r reading) error {
	b := r.backup
	certificate, hasCertificates := r.firstCertificateToExpire()
	missing := map[string]bool{ // by name of the record
		recordBackupOff:          b.Destination == "",
		recordNoBackup:           b.Destination != "" && b.LastBackup.IsZero(),
		recordNoRestoreTest:      b.Destination != "" && !b.LastBackup.IsZero() && b.LastRestoreTest.IsZero(),
		recordMissingCertificate: hasCertificates && certificate.End.IsZero(),
	}
	var errs []error
	for name, isMissing := range missing {
		_, hasRecord := r.records[name]
		switch {
		case isMissing && !hasRecord:
			errs = append(errs, insertRecord(ctx, s.db, name, r.now))
		case !isMissing && hasRecord:
			errs = append(errs, deleteRecord(ctx, s.db, name))
		}
	}
	return errors.Join(errs...)
}

// Ended reports whether a problem has ended. It is called before a queued mail about the problem is sent, because the mail may have waited
// for a long time, for example until the mail server was reachable. Ended returns false for a problem that only one node can see. It also
// returns false for a code that is not one of Codes, because it is called before mails of other kinds too.
func (s *Service) Ended(ctx context.Context, c Code) (bool, error) {
	if !c.IsProblem() || c.isNodeLocal() {
		return false, nil
	}
	r, err := s.read(ctx)
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(r.problems(), func(p Problem) bool { return p.Code == c }), nil
}
