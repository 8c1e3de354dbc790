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

// EraseRevisionsOf deletes the revisions that contain the address. The next hourly maintenance deletes the removed files that only these
// revisions used.
func (s *Service) EraseRevisionsOf(ctx context.Context, tx *db.Tx, address string) error {
	revisions, err := revisionsOf(ctx, tx, address)
	if err != nil || len(revisions) == 0 {
		return err
	}
	var erased []string
	for _, v := range revisions {
		erased = append(erased, string(v.RowBefore))
		if err := deleteRevision(ctx, tx, v.ID); err != nil {
			return err
		}
	}
	urls, err := urlTexts(erased)
	if err != nil {
		return err
	}
	remaining, err := FileURLsLike(ctx, tx, "")
	if err != nil {
		return err
	}
	return s.cfg.ReleaseFiles(ctx, tx, urls, remaining)
}

// WholeAddress returns a pattern that matches texts with the email address. It does not match a text in which the address is only a part of
// a longer one: the pattern of ana@example.org does not match joana@example.org and ana@example.org.br. A full stop that ends a sentence
// may follow the address.
func WholeAddress(address string) (*regexp.Regexp, error) {
	return regexp.Compile(`(?i)(^|[^\pL\pN.!#$%&'*+/=?^_{|}~-])` + regexp.QuoteMeta(address) + `($|[^\pL\pN.-]|\.($|[^\pL\pN]))`)
}

// revisionsOf returns the revisions that contain the email address. It filters the result of listRevisionsWith by WholeAddress, because that
// result also has longer addresses. The pattern is matched with the decoded texts: in JSON a line break before the address is \n, whose n
// would belong to a longer address.
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
		texts, err := selectTexts([]string{string(v.RowBefore)}, whole.MatchString)
		if err != nil {
			return nil, err
		}
		if len(texts) > 0 {
			found = append(found, v)
		}
	}
	return found, nil
}
