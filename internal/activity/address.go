package activity

import (
	"context"

	"atelie/internal/db"
	"atelie/internal/history"
)

// This file finds and deletes the entries about an email address, for requests about personal data.

// EachEntryOf calls yield for each entry about an email address: the entries whose title contains the address, and the entries about the
// role of an account with the address. The other actions of such an account are left out, because their entries are about the changed
// rows. They stay without the account's name when the account is erased.
func (s *Service) EachEntryOf(ctx context.Context, q db.Querier, address string, yield func(any) error) error {
	found, err := listEntriesOf(ctx, q, address)
	if err != nil {
		return err
	}
	for _, c := range found {
		c.Account, c.Title = "", c.recordedTitle // Account is the author of the change, which is not data about the address
		if c.Series != nil {
			c.Series.Title = c.recordedSeries
		}
		if err := yield(c.Entry); err != nil {
			return err
		}
	}
	return nil
}

// EraseEntriesOf deletes the entries of EachEntryOf. The caller must erase the accounts with the address later, because
// EraseEntriesOf finds the entries about roles by their accounts.
func (s *Service) EraseEntriesOf(ctx context.Context, tx *db.Tx, address string) error {
	found, err := listEntriesOf(ctx, tx, address)
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

// listEntriesOf returns the entries of EachEntryOf. It leaves out an entry whose title contains the address only as a part of a longer
// one.
func listEntriesOf(ctx context.Context, q db.Querier, address string) ([]change, error) {
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
