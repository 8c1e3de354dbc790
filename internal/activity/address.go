package activity

import (
	"context"

	"atelie/internal/db"
	"atelie/internal/history"
)

// This file finds and deletes the entries about an email address, for requests about personal data.

// EachEntryAbout calls yield for each entry about an email address. An entry is about the address in two cases:
//
//   - Its title (the name of what was changed) contains the address.
//   - It is about a change of the role of the account with the address.
//
// Changes that the account itself made are left out, because they are about other rows. When the account is erased, the entries of those
// changes stay, but lose the account's name.
func (s *Service) EachEntryAbout(ctx context.Context, q db.Querier, address string, yield func(any) error) error {
	found, err := listEntriesAbout(ctx, q, address)
	if err != nil {
		return err
	}
	for _, c := range found {
		c.Account = "" // the account that made the change is not data about the address
		c.Title = c.recordedTitle
		if c.Series != nil {
			c.Series.Title = c.recordedSeries
		}
		if err := yield(c.Entry); err != nil {
			return err
		}
	}
	return nil
}

// EraseEntriesAbout deletes the entries of EachEntryAbout. The caller must erase the accounts with the address afterwards,
// because EraseEntriesAbout needs the accounts to find the entries about their roles.
func (s *Service) EraseEntriesAbout(ctx context.Context, tx *db.Tx, address string) error {
	found, err := listEntriesAbout(ctx, tx, address)
	if err != nil {
		return err
	}
	for _, c := range found {
		if err := deleteEntry(ctx, tx, c.entryID); err != nil {
			return err
		}
	}
	return nil
}

// listEntriesAbout returns the entries of EachEntryAbout. It leaves out an entry whose title contains the address only as a part of a
// longer address, as joana@example.org contains ana@example.org.
func listEntriesAbout(ctx context.Context, q db.Querier, address string) ([]change, error) {
	whole, err := history.WholeAddress(address)
	if err != nil {
		return nil, err
	}
	all, err := listCandidatesFor(ctx, q, address)
	if err != nil {
		return nil, err
	}
	found := all[:0]
	for _, c := range all {
		if c.Table == "user_roles" || whole.MatchString(c.recordedTitle) || whole.MatchString(c.recordedSeries) {
			found = append(found, c)
		}
	}
	return found, nil
}
