package history

import (
	"context"
	"regexp"

	"atelie/internal/db"
)

// EachRevisionOf calls yield for each revision whose row contained an e-mail address, such as a review that names it.
func (s *Service) EachRevisionOf(ctx context.Context, q db.Querier, address string, yield func(any) error) error {
	found, err := revisionsOf(ctx, q, address)
	if err != nil {
		return err
	}
	for _, v := range found {
		if err := yield(v); err != nil {
			return err
		}
	}
	return nil
}

// EraseRevisionsOf deletes the revisions of EachRevisionOf. Files that only they refer to are deleted by the next maintenance.
func (s *Service) EraseRevisionsOf(ctx context.Context, tx *db.Tx, address string) error {
	found, err := revisionsOf(ctx, tx, address)
	if err != nil {
		return err
	}
	for _, v := range found {
		if err := deleteRevision(ctx, tx, v.ID); err != nil {
			return err
		}
	}
	return nil
}

// WholeAddress returns a pattern that matches texts with an e-mail address as a whole, and not as a part of a longer one.
func WholeAddress(address string) (*regexp.Regexp, error) {
	return regexp.Compile(`(?i)(^|[^\pL\pN.!#$%&'*+/=?^_{|}~-])` + regexp.QuoteMeta(address) + `($|[^\pL\pN.-]|\.($|[^\pL\pN]))`)
}

// revisionsOf returns the revisions whose row contained the address as a whole.
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
