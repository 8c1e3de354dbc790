package activity

import (
	"context"

	"atelie/internal/db"
	"atelie/internal/history"
)

// EachEntryOf calls yield for each entry whose title contains an e-mail address, such as that of a review by it, and for those about
// the role of an account with the address. What the account itself changed is no data about it: those entries stay, without a name.
func (s *Service) EachEntryOf(ctx context.Context, q db.Querier, address string, yield func(any) error) error {
	found, err := entriesOf(ctx, q, address)
	if err != nil {
		return err
	}
	for _, c := range found {
		c.Account, c.Title = "", c.title // not who acted
		if err := yield(c.Entry); err != nil {
			return err
		}
	}
	return nil
}

// EraseEntriesOf deletes the entries of EachEntryOf. It needs the accounts to find them.
func (s *Service) EraseEntriesOf(ctx context.Context, tx *db.Tx, address string) error {
	found, err := entriesOf(ctx, tx, address)
	if err != nil {
		return err
	}
	for _, c := range found {
		if err := deleteEntry(ctx, tx, c.number); err != nil {
			return err
		}
	}
	return nil
}

// entriesOf leaves out the entries whose title has the address only as a part of a longer one.
func entriesOf(ctx context.Context, q db.Querier, address string) ([]change, error) {
	whole, err := history.WholeAddress(address)
	if err != nil {
		return nil, err
	}
	all, err := listWith(ctx, q, address)
	if err != nil {
		return nil, err
	}
	found := all[:0]
	for _, c := range all {
		if c.Table == "user_roles" || whole.MatchString(c.title) {
			found = append(found, c)
		}
	}
	return found, nil
}
