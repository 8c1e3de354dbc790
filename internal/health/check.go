package health

import (
	"context"
	"errors"
	"slices"
)

// Check notes since when something is missing, and has the owners mailed about every trouble. It is called once an hour on each
// node.
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

// note records since when something is missing. Its time is known only to who has looked.
func (s *Service) note(ctx context.Context, r reading) error {
	b := r.backup
	c, ok := r.firstToEnd()
	missing := map[string]bool{
		recordOff:                b.Place == "",
		recordNoBackup:           b.Place != "" && b.LastBackup.IsZero(),
		recordNoProof:            b.Place != "" && !b.LastBackup.IsZero() && b.LastProof.IsZero(),
		recordMissingCertificate: ok && c.End.IsZero(),
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

// Ended reports whether a trouble that an owner is about to be mailed of has ended meanwhile, for example because mails could not be
// delivered until now. It is false for what only one of several nodes can know, and for codes that are none.
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
