package activity

import (
	"context"

	"atelie/internal/db"
	"atelie/internal/history"
)

// This file finds and deletes the entries about an email address, for requests about personal data.

// EachEntryAbout calls yield for each entry about an email address: the entries whose title (the name of what was changed) contains the
// address, and those about changes of the role of the account with the address. It leaves out the entries of changes that this account
// made, because they are about other rows. When the account is erased, those entries stay, but lose the account's name.
func (s *Service) EachEntryAbout(ctx context.Context, q db.Querier, address string, yield func(any) error) error {
	found, err := listEntriesAbout(ctx, q, address)
	if err != nil {
		return err
	}
	for _, c := range found {
		c.Account, c.Title = "", c.recordedTitle // without the account that made the change: it is not data about the address
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

// listEntriesAbout returns the entries of EachEntryAbout. It leaves out an entry whose title contains the address only as a part of a longer
// address, as joana@example.org contains ana@example.org.
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
