package activity

import (
	"context"
	"slices"

	"atelie/internal/db"
	"atelie/internal/history"
)

// This file finds and deletes the entries about an email address, for requests about personal data.

// EachEntryAbout calls yield for each entry about an email address. An entry is about the address in two cases:
//
//   - The title of the changed row or of its series contained the address when the entry was recorded.
//   - It is about a change of the role of the account with the address.
//
// An entry is not about the address only because the account with the address made the change. When that account is erased, the entry stays,
// but no longer says which account made the change.
func (s *Service) EachEntryAbout(ctx context.Context, q db.Querier, address string, yield func(any) error) error {
	entries, err := listEntriesAbout(ctx, q, address)
	if err != nil {
		return err
	}
	for _, e := range entries {
		e.Account = "" // the account that made the change is not data about the address
		// The current titles may no longer contain the address.
		e.Title = e.recordedTitle
		if e.Series != nil {
			e.Series.Title = e.recordedSeriesTitle
		}
		if err := yield(e.Entry); err != nil {
			return err
		}
	}
	return nil
}

// EraseEntriesAbout deletes the entries of EachEntryAbout. The caller must erase the accounts with the address afterwards,
// because EraseEntriesAbout needs the accounts to find the entries about their roles.
func (s *Service) EraseEntriesAbout(ctx context.Context, tx *db.Tx, address string) error {
	entries, err := listEntriesAbout(ctx, tx, address)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := deleteEntry(ctx, tx, e.entryID); err != nil {
			return err
		}
	}
	return nil
}

// listEntriesAbout returns the entries of EachEntryAbout. It leaves out an entry whose titles contain the address only as a part of a
// longer address, as joana@example.org contains ana@example.org.
func listEntriesAbout(ctx context.Context, q db.Querier, address string) ([]storedEntry, error) {
	addressPattern, err := history.WholeAddress(address)
	if err != nil {
		return nil, err
	}
	candidates, err := listCandidatesFor(ctx, q, address)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(candidates, func(e storedEntry) bool {
		return e.Table != "user_roles" && !addressPattern.MatchString(e.recordedTitle) && !addressPattern.MatchString(e.recordedSeriesTitle)
	}), nil
}
