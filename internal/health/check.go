package health

import (
	"context"
	"errors"
	"slices"
)

// Check stores the time at which it first noticed that a backup, a proof (a nightly trial restore of the backup) or a certificate is
// missing, and queues mails to the owners about every problem. Each node calls it once an hour.
func (s *Service) Check(ctx context.Context) error {
	r, err := s.read(ctx)
	if err != nil {
		return err
	}
	if err := s.recordMissing(ctx, r); err != nil {
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

// recordMissing stores a record for each thing that is missing and has none yet, and deletes the record of each thing that is not missing.
func (s *Service) recordMissing(ctx context.Context, r reading) error {
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
		_, known := r.records[name]
		switch {
		case isMissing && !known:
			errs = append(errs, insertRecord(ctx, s.db, name, r.now))
		case !isMissing && known:
			errs = append(errs, deleteRecord(ctx, s.db, name))
		}
	}
	return errors.Join(errs...)
}

// Ended reports whether a problem has ended since a mail about it was queued. A mail can wait for a long time, for example until the mail
// server is reachable. Ended returns false for a problem that only one node can see, and for codes that are not in Codes.
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
