package auth

import (
	"context"
	"errors"

	"atelie/internal/db"
)

// This file finds, exports and erases the accounts and audit entries of an e-mail address. An owner (an account with the role admin)
// requests this in the admin area, for somebody who asks for their personal data or its deletion. Package functions (the server functions
// of the site) handles the request and calls these methods.

// LockRolesAndCheckAddress reports whether an account with a role (an owner's account) has the e-mail address. If so, package functions
// refuses the request, so that no owner can erase another owner. The roles stay locked until tx ends, so that the result stays true until
// then. An account can have an address in three ways:
//   - as its own address
//   - as the new address of a pending change
//   - as the address of an identity (a way to sign in, such as an account at a provider)
func (s *Service) LockRolesAndCheckAddress(ctx context.Context, tx *db.Tx, address string) (bool, error) {
	if err := lockOwners(ctx, tx); err != nil {
		return false, err
	}
	return addressHasRole(ctx, tx, address)
}

// addressAccount is the JSON object of one account in an export.
type addressAccount struct {
	User
	Sessions []SessionInfo `json:"sessions"`
}

// EachAccountOf reads the accounts of an address for an export. For each account that has the address (in one of the three ways of
// LockRolesAndCheckAddress), it calls yield with an addressAccount. The parameter of yield is any, because yield also gets the entries of
// other places (functions.AddressPlace).
func (s *Service) EachAccountOf(ctx context.Context, q db.Querier, address string, yield func(any) error) error {
	accounts, err := accountsWithAddress(ctx, q, address)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		u, err := anyUserByID(ctx, q, a.id)
		if err != nil {
			return err
		}
		sessions, err := sessionsOf(ctx, q, a.id, s.sessionAliveArgs())
		if err != nil {
			return err
		}
		if err := yield(addressAccount{u, sessions}); err != nil {
			return err
		}
	}
	return nil
}

// EraseAccountsOf deletes the accounts that have the address. If an account has it only as the new address of a pending change, the account
// is kept and the change is cancelled. EraseAccountsOf also deletes the times at which the newest messages to the address were sent. They
// are stored to limit further messages.
func (s *Service) EraseAccountsOf(ctx context.Context, tx *db.Tx, address string) error {
	accounts, err := accountsWithAddress(ctx, tx, address)
	if err != nil {
		return err
	}
	err = deleteLastSent(ctx, tx, hashKey(address))
	for _, a := range accounts {
		if a.pending {
			err = errors.Join(err, setUser(ctx, tx, a.id, s.now(), columnChange{colEmailChange, nil}), deleteOneTimeTokens(ctx, tx, a.id, tokenEmailCurrent, tokenEmailNew))
			continue
		}
		err = errors.Join(err, deleteLastSent(ctx, tx, hashKey(a.id)), deleteUser(ctx, tx, a.id))
	}
	return err
}

// EachAuditEntryOf calls yield for each entry of the audit log about the address: the entries of its accounts, and the entries
// whose detail contains the address.
func (s *Service) EachAuditEntryOf(ctx context.Context, q db.Querier, address string, yield func(any) error) error {
	entries, err := auditEntriesAbout(ctx, q, address)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := yield(e.toLogEntry()); err != nil {
			return err
		}
	}
	return nil
}

// EraseAuditEntriesOf deletes the entries of EachAuditEntryOf. Call it before EraseAccountsOf, because it finds the entries
// of an account only while the account exists.
func (s *Service) EraseAuditEntriesOf(ctx context.Context, tx *db.Tx, address string) error {
	return deleteAuditEntriesAbout(ctx, tx, address)
}
