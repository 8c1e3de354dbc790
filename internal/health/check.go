package health

import (
	"context"
	"errors"
	"slices"
)

// Check records since when a backup, a proof or a certificate is missing, and queues mails to the owners about every trouble. Each node
// calls it once an hour.
func (s *Service) Check(ctx context.Context) error {
	r, err := s.read(ctx)
	if err != nil {
		return err
	}
	if err := s.note(ctx, r); err != nil {
		return err
	}
	var errs []error
	for _, t := range r.troubles() {
		if r.mailable(t) {
			errs = append(errs, s.cfg.MailOwners(ctx, t, mailInterval(t.Code)))
		}
	}
	return errors.Join(errs...)
}

// note records since when something is missing. Nothing else knows that time: there is no event when something is not done.
func (s *Service) note(ctx context.Context, r reading) error {
	b := r.backup
	certificate, ok := r.firstToEnd()
	missing := map[string]bool{
		recordOff:                b.Place == "",
		recordNoBackup:           b.Place != "" && b.LastBackup.IsZero(),
		recordNoProof:            b.Place != "" && !b.LastBackup.IsZero() && b.LastProof.IsZero(),
		recordMissingCertificate: ok && certificate.End.IsZero(),
	}
	var errs []error
	for name, holds := range missing {
		_, known := r.records[name]
		switch {
		case holds && !known:
			errs = append(errs, noteSince(ctx, s.db, name, r.now))
		case !holds && known:
			errs = append(errs, deleteRecord(ctx, s.db, name))
		}
	}
	return errors.Join(errs...)
}

// Ended reports whether a trouble has ended since a mail about it was queued; mails can wait long, for example for the mail server. Ended
// returns false for troubles that only the node that has them can see, and for texts that are not in Codes.
func (s *Service) Ended(ctx context.Context, c Code) (bool, error) {
	if !c.IsTrouble() || c.isNodeLocal() {
		return false, nil
	}
	r, err := s.read(ctx)
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(r.troubles(), func(t Trouble) bool { return t.Code == c }), nil
}
