package auth

import (
	"context"
	"errors"
	"time"

	"atelie/internal/db"
)

// Owner is an administrator, as the command line lists them.
type Owner struct {
	ID           string
	Email        string
	Language     string // en or pt, as the account's own data ask for
	CreatedAt    time.Time
	LastSignInAt *time.Time // nil: never
}

// Owners lists the administrators by address.
func (s *Service) Owners(ctx context.Context) ([]Owner, error) { return owners(ctx, s.db) }

// HasOwner tells whether there is an administrator.
func (s *Service) HasOwner(ctx context.Context) (bool, error) {
	n, err := countOwners(ctx, s.db)
	return n > 0, err
}

// AddOwner makes an administrator of the address: a new account, or the one that has it. The address counts as
// confirmed. An empty password leaves a confirmed account's own; a given one replaces it and ends its sessions. Every
// set-up link is void afterwards. Errors: validation_failed, weak_password.
func (s *Service) AddOwner(ctx context.Context, email, password string) error {
	email, err := normalizeEmail(email)
	if err != nil {
		return err
	}
	hash := ""
	if password != "" {
		if hash, err = s.newHash(ctx, password); err != nil {
			return err
		}
	}
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := lockOwners(ctx, tx); err != nil {
			return err
		}
		if hash == "" {
			// Who opened an unconfirmed account is unknown: its password must not become an owner's.
			known, err := userByEmail(ctx, tx, email)
			if err != nil && !errors.Is(err, db.ErrNoRows) {
				return err
			}
			if known.EmailConfirmedAt == nil || known.hash == "" {
				return errPasswordNeeded
			}
		}
		_, err := s.saveOwner(ctx, tx, email, hash)
		return err
	})
}

// SetPassword gives an account a new password and ends all its sessions; with resetFactors its second factors go too,
// for an owner who has lost the phone. Errors: user_not_found, weak_password, validation_failed.
func (s *Service) SetPassword(ctx context.Context, email, password string, resetFactors bool) error {
	email, err := normalizeEmail(email)
	if err != nil {
		return err
	}
	hash, err := s.newHash(ctx, password)
	if err != nil {
		return err
	}
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		userID, err := setPassword(ctx, tx, email, hash, s.now())
		if errors.Is(err, db.ErrNoRows) {
			return errNoSuchAccount
		}
		if err != nil {
			return err
		}
		if resetFactors {
			if err := deleteFactors(ctx, tx, userID); err != nil {
				return err
			}
		}
		if err := deleteUnderWay(ctx, tx, userID); err != nil {
			return err
		}
		return deleteSessions(ctx, tx, userID)
	})
}

// RemoveOwner takes the role from an account, which stays. Errors: user_not_found; conflict for the last owner.
func (s *Service) RemoveOwner(ctx context.Context, email string) error {
	email, err := normalizeEmail(email)
	if err != nil {
		return err
	}
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := lockOwners(ctx, tx); err != nil {
			return err
		}
		removed, err := deleteOwnerRole(ctx, tx, email)
		if err != nil {
			return err
		}
		if !removed {
			return errNotOwner
		}
		left, err := countOwners(ctx, tx)
		if err != nil {
			return err
		}
		if left == 0 {
			return errLastOwner // rolls the removal back
		}
		return nil
	})
}

// newHash checks a new password and hashes it.
func (s *Service) newHash(ctx context.Context, password string) (string, error) {
	if err := s.validatePassword(password); err != nil {
		return "", err
	}
	return s.passwords.hash(ctx, password)
}

// saveOwner creates or promotes the account of an address, within a transaction that holds lockOwners. hash may be ""
// for an account that keeps its password; otherwise the account's sessions end.
func (s *Service) saveOwner(ctx context.Context, tx *db.Tx, email, hash string) (userID string, err error) {
	now := s.now()
	known, err := userByEmail(ctx, tx, email)
	switch {
	case err == nil && known.EmailConfirmedAt == nil:
		err = s.reclaim(ctx, tx, known.ID)
	case errors.Is(err, db.ErrNoRows):
		err = nil
	}
	if err != nil {
		return "", err
	}
	if userID, err = saveConfirmedUser(ctx, tx, email, hash, now); err != nil {
		return "", err
	}
	if err := saveEmailIdentity(ctx, tx, userID, email, now); err != nil {
		return "", err
	}
	if hash != "" {
		if err := errors.Join(deleteSessions(ctx, tx, userID), deleteUnderWay(ctx, tx, userID)); err != nil {
			return "", err
		}
	}
	if err := saveAdminRole(ctx, tx, userID); err != nil {
		return "", err
	}
	return userID, deleteAllSetupLinks(ctx, tx)
}

// reclaim takes an account whose address was never proven from whoever opened it, number included: it is to become an
// owner's.
func (s *Service) reclaim(ctx context.Context, tx *db.Tx, userID string) error {
	if err := setUser(ctx, tx, userID, s.now(), change{colPhone, nil}, change{colPhoneConfirmed, nil}, change{colEmailChange, nil}, change{colPhoneChange, nil}); err != nil {
		return err
	}
	if err := deleteOtherIdentities(ctx, tx, userID, "email", userID); err != nil {
		return err
	}
	return s.disown(ctx, tx, userID)
}
