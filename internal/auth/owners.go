package auth

import (
	"context"
	"errors"
	"time"

	"atelie/internal/db"
)

// This file adds, lists, notifies and removes owners (accounts with the role admin). It also sets the password of any account, for a
// command of the operator (who runs the server).

// Owners returns the owners, ordered by e-mail address.
func (s *Service) Owners(ctx context.Context) ([]Owner, error) {
	list, err := listOwners(ctx, s.db)
	for i, o := range list {
		list[i].Language = languageOfLocale(User{UserMetadata: o.metadata}.locale())
	}
	return list, err
}

// HasOwner reports whether the site has an owner.
func (s *Service) HasOwner(ctx context.Context) (bool, error) {
	n, err := countOwners(ctx, s.db)
	return n > 0, err
}

// AddOwner makes the account of an e-mail address an owner. It creates the account if there is none, and confirms the address. The given
// password replaces the account's password and ends its sessions. If the account is confirmed and has a password, the parameter password
// can be "", and the account keeps its password. All set-up links (for the first owner) become invalid. Errors:
//   - weak_password: the password is too short or easy to guess.
//   - validation_failed: the address is not valid, or the account needs a password.
func (s *Service) AddOwner(ctx context.Context, email, password string) error {
	email, err := normalizeEmail(email)
	if err != nil {
		return err
	}
	passwordHash := ""
	if password != "" {
		if passwordHash, err = s.validateAndHashPassword(ctx, password); err != nil {
			return err
		}
	}
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := lockOwners(ctx, tx); err != nil {
			return err
		}
		if passwordHash == "" {
			// Anybody can sign up with somebody else's address, so the password of an unconfirmed account must not open an owner's
			// account.
			existing, err := userByEmail(ctx, tx, email)
			if err != nil && !errors.Is(err, db.ErrNoRows) {
				return err
			}
			if existing.EmailConfirmedAt == nil || existing.passwordHash == "" {
				return errPasswordNeeded
			}
		}
		userID, err := s.saveOwner(ctx, tx, email, passwordHash)
		if err != nil || passwordHash == "" {
			return err
		}
		return s.auditCommand(ctx, tx, auditPasswordSet, userID)
	})
}

// SetPassword gives an account a new password and ends all its sessions. With resetFactors it also deletes the account's second
// factors, for a user who has lost the phone. Errors: user_not_found, weak_password, validation_failed.
func (s *Service) SetPassword(ctx context.Context, email, password string, resetFactors bool) error {
	email, err := normalizeEmail(email)
	if err != nil {
		return err
	}
	passwordHash, err := s.validateAndHashPassword(ctx, password)
	if err != nil {
		return err
	}
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		userID, err := setPassword(ctx, tx, email, passwordHash, s.now())
		if err != nil {
			return db.NoRowsAs(err, errNoSuchAccount)
		}
		if resetFactors {
			err = errors.Join(deleteFactors(ctx, tx, userID), s.auditCommand(ctx, tx, auditFactorDeleted, userID))
		}
		return errors.Join(err, s.auditCommand(ctx, tx, auditPasswordSet, userID), deletePending(ctx, tx, userID), deleteSessions(ctx, tx, userID))
	})
}

// RemoveOwner removes the role of an account, not the account. Errors: user_not_found; conflict for the last owner.
func (s *Service) RemoveOwner(ctx context.Context, email string) error {
	email, err := normalizeEmail(email)
	if err != nil {
		return err
	}
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := lockOwners(ctx, tx); err != nil {
			return err
		}
		if err := deleteOwnerRole(ctx, tx, email); err != nil {
			return err
		}
		left, err := countOwners(ctx, tx)
		if err == nil && left == 0 {
			err = errLastOwner // the error rolls the removal back
		}
		return err
	})
}

// refuseLastOwner returns errLastOwner when the account is the only administrator. The caller must have called lockOwners.
func (s *Service) refuseLastOwner(ctx context.Context, tx *db.Tx, userID string) error {
	isOwner, err := hasOwnerRole(ctx, tx, userID)
	if err != nil || !isOwner {
		return err
	}
	owners, err := countOwners(ctx, tx)
	if err == nil && owners <= 1 {
		err = errLastOwner
	}
	return err
}

// saveOwner makes the account of an e-mail address an owner, and creates the account if there is none. The caller must have
// called lockOwners. passwordHash is the hash of a new password, which ends the account's sessions; "" keeps the password.
func (s *Service) saveOwner(ctx context.Context, tx *db.Tx, email, passwordHash string) (userID string, err error) {
	now := s.now()
	existing, err := userByEmail(ctx, tx, email)
	switch {
	case err == nil && existing.EmailConfirmedAt == nil:
		err = s.reclaimForOwner(ctx, tx, existing.ID)
	case errors.Is(err, db.ErrNoRows):
		err = nil
	}
	if err != nil {
		return "", err
	}
	if userID, err = saveConfirmedUser(ctx, tx, email, passwordHash, now); err != nil {
		return "", err
	}
	err = saveAddressIdentity(ctx, tx, userID, "email", email, true, now)
	// With MailAutoconfirm, somebody else may have created the account with the owner's address and with a provider identity of
	// their own. Such an identity must not give access to an owner's account.
	hadUnverified, deleteErr := deleteUnverifiedIdentities(ctx, tx, userID, email)
	err = errors.Join(err, deleteErr)
	if hadUnverified {
		err = errors.Join(err, s.syncProviders(ctx, tx, userID))
	}
	if passwordHash != "" || hadUnverified {
		err = errors.Join(err, deleteSessions(ctx, tx, userID), deletePending(ctx, tx, userID))
	}
	return userID, errors.Join(err, saveOwnerRole(ctx, tx, userID), deleteAllSetupLinks(ctx, tx))
}

// reclaimForOwner removes every way into an account with an unconfirmed address, and its phone number, before the account becomes an
// owner's.
func (s *Service) reclaimForOwner(ctx context.Context, tx *db.Tx, userID string) error {
	return errors.Join(
		setUser(ctx, tx, userID, s.now(), columnChange{colPhone, nil}, columnChange{colPhoneConfirmed, nil}, columnChange{colEmailChange, nil}, columnChange{colPhoneChange, nil}),
		deleteOtherIdentities(ctx, tx, userID, "email", userID),
		s.removeUnconfirmedAccess(ctx, tx, userID),
	)
}

// NotifyOwners queues a mail of the kind for every owner with an e-mail address. The mail quotes cause unless it is "". NotifyOwners
// queues nothing and returns false when any node has queued mails of this kind, whatever their cause, less than interval ago.
func (s *Service) NotifyOwners(ctx context.Context, kind MailKind, cause string, interval time.Duration) (sent bool, err error) {
	owners, err := s.Owners(ctx)
	if err != nil {
		return false, err
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		now := s.now()
		if sent, err = startCooldown(ctx, tx, string(kind), "owners", interval, now); err != nil || !sent {
			return err
		}
		for _, o := range owners {
			if o.Email == "" {
				continue
			}
			if err := s.sendMail(ctx, tx, Mail{Kind: kind, To: o.Email, Language: o.Language, Cause: cause}); err != nil {
				return err
			}
		}
		return nil
	})
	return sent, err
}
