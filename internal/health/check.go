package health

import (
	"context"
	"errors"
	"slices"
)

// This file has the hourly check, which mails the owners about problems.

// Check queues mails to the owners about every problem. Each node (server of the site) calls it once an hour. If a backup, a proof (a
// nightly trial restore of the backup) or a certificate is missing, Check also stores the time at which this was first noticed.
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
		if r.mailable(p) {
			errs = append(errs, s.cfg.MailOwners(ctx, p, mailInterval(p.Code)))
		}
	}
	return errors.Join(errs...)
}

// updateMissingRecords updates the records that say since when something is missing, such as a certificate. It inserts a record for each
// thing that is newly missing, with the time of r, and deletes the record of each thing that is no longer missing.
func (s *Service) updateMissingRecords(ctx context.Context, r reading) error {
	b := r.backup
	certificate, ok := r.firstCertificateToExpire()
	missing := map[string]bool{
		recordBackupOff:          b.Destination == "",
		recordNoBackup:           b.Destination != "" && b.LastBackup.IsZero(),
		recordNoProof:            b.Destination != "" && !b.LastBackup.IsZero() && b.LastProof.IsZero(),
		recordMissingCertificate: ok && certificate.End.IsZero(),
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

// Ended reports whether a problem has ended. It is called before a queued mail about the problem is sent, because that mail may have waited
// for a long time, for example until the mail server was reachable. Ended returns false for a problem that only one node can see, and for a
// code that is not one of Codes, because mails of other kinds are checked too.
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
