package history

import (
	"context"
	"regexp"

	"atelie/internal/db"
)

// This file finds and deletes the revisions (rows as they were before a change) that contain an email address, for requests about
// personal data.

// EachRevisionOf calls yield for each revision that contains the address, for example in the text of a review.
func (s *Service) EachRevisionOf(ctx context.Context, q db.Querier, address string, yield func(any) error) error {
	revisions, err := revisionsOf(ctx, q, address)
	if err != nil {
		return err
	}
	for _, v := range revisions {
		if err := yield(v); err != nil {
			return err
		}
	}
	return nil
}

// EraseRevisionsOf deletes the revisions that contain the address. The next hourly maintenance deletes the files that only these revisions
// used.
func (s *Service) EraseRevisionsOf(ctx context.Context, tx *db.Tx, address string) error {
	revisions, err := revisionsOf(ctx, tx, address)
	if err != nil {
		return err
	}
	for _, v := range revisions {
		urls, err := urlTexts([]string{string(v.RowBefore)})
		if err != nil {
			return err
		}
		if err := s.cfg.ReleaseFiles(ctx, tx, urls); err != nil {
			return err
		}
		if err := deleteRevision(ctx, tx, v.ID); err != nil {
			return err
		}
	}
	return nil
}

// WholeAddress returns a pattern that matches texts with the email address. It does not match a text in which the address is only a part of
// a longer one: the pattern of ana@example.org does not match joana@example.org and ana@example.org.br. A full stop that ends a sentence
// may follow the address.
func WholeAddress(address string) (*regexp.Regexp, error) {
	return regexp.Compile(`(?i)(^|[^\pL\pN.!#$%&'*+/=?^_{|}~-])` + regexp.QuoteMeta(address) + `($|[^\pL\pN.-]|\.($|[^\pL\pN]))`)
}

// revisionsOf returns the revisions that contain the email address. It filters the result of listRevisionsWith by WholeAddress, because that
// result also has longer addresses.
func revisionsOf(ctx context.Context, q db.Querier, address string) ([]addressRevision, error) {
	whole, err := WholeAddress(address)
	if err != nil {
		return nil, err
	}
	all, err := listRevisionsWith(ctx, q, address)
	if err != nil {
		return nil, err
	}
	found := all[:0]
	for _, v := range all {
		if whole.MatchString(string(v.RowBefore)) {
			found = append(found, v)
		}
	}
	return found, nil
}
