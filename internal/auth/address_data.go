package auth

import (
	"context"
	"errors"

	"atelie/internal/db"
	"atelie/internal/device"
)

// AddressHasRole reports whether an account with a role has the e-mail address: as its own, as the one it wants to change to,
// or at a provider. Roles cannot change until tx ends.
func (s *Service) AddressHasRole(ctx context.Context, tx *db.Tx, address string) (bool, error) {
	if err := lockOwners(ctx, tx); err != nil {
		return false, err
	}
	return addressHasRole(ctx, tx, address)
}

// addressAccount is an account in an export.
type addressAccount struct {
	User
	Sessions []SessionInfo `json:"sessions"`
}

// EachAccountOf calls yield for each account that has the address (see AddressHasRole), with its sessions.
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
		sessions, err := sessionsOf(ctx, q, a.id, s.aliveArgs())
		if err != nil {
			return err
		}
		for i := range sessions {
			sessions[i].Device = device.Parse(sessions[i].UserAgent)
		}
		if err := yield(addressAccount{u, sessions}); err != nil {
			return err
		}
	}
	return nil
}

// EraseAccountsOf deletes the accounts that have the address, and what limits the mails to it. An account that only wants to
// change to the address stays; the change is cancelled.
func (s *Service) EraseAccountsOf(ctx context.Context, tx *db.Tx, address string) error {
	accounts, err := accountsWithAddress(ctx, tx, address)
	if err != nil {
		return err
	}
	err = deleteLastSent(ctx, tx, hashToken(address))
	for _, a := range accounts {
		if a.pending {
			err = errors.Join(err, setUser(ctx, tx, a.id, s.now(), columnChange{colEmailChange, nil}), deleteOneTimeTokens(ctx, tx, a.id, tokenEmailCurrent, tokenEmailNew))
			continue
		}
		err = errors.Join(err, deleteLastSent(ctx, tx, hashToken(a.id)), deleteUser(ctx, tx, a.id))
	}
	return err
}

// EachSignInOf calls yield for each entry of the audit log about the address: those of its accounts, and those whose detail
// contains it.
func (s *Service) EachSignInOf(ctx context.Context, q db.Querier, address string, yield func(any) error) error {
	entries, err := auditEntriesAbout(ctx, q, address)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := yield(e.response()); err != nil {
			return err
		}
	}
	return nil
}

// EraseSignInsOf deletes the entries of EachSignInOf. It needs the accounts to find them.
func (s *Service) EraseSignInsOf(ctx context.Context, tx *db.Tx, address string) error {
	return deleteAuditEntriesAbout(ctx, tx, address)
}
