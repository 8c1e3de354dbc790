package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/seal"
)

// signingGrace is how long a new key is published before it signs: longer than nodes and the clients' caches of the
// published keys (jwksMaxAge) keep what they know. retireLeeway is added to the life of an old key's last token, for
// clocks that differ.
const (
	signingGrace = 15 * time.Minute
	retireLeeway = 5 * time.Minute
)

const (
	purposeSigning = "signing key "

	auditKeyRotated auditAction = "signing_key_rotated"
)

// SigningKeys reads the keys for ES256; it is an identity.KeyLoader. Keys sealed under another secret are left out: with
// a new secret everything that was signed before is void.
func (s *Service) SigningKeys(ctx context.Context) ([]identity.SigningKey, error) {
	return s.openSigningKeys(ctx, s.db)
}

func (s *Service) openSigningKeys(ctx context.Context, q db.Querier) ([]identity.SigningKey, error) {
	rows, err := signingKeys(ctx, q)
	if err != nil {
		return nil, err
	}
	keys := make([]identity.SigningKey, 0, len(rows))
	for _, row := range rows {
		der, err := s.sealer.unseal(purposeSigning+row.id, row.private)
		if errors.Is(err, seal.ErrOpen) {
			continue
		}
		if err != nil {
			return nil, err
		}
		private, err := x509.ParseECPrivateKey(der)
		if err != nil {
			return nil, fmt.Errorf("signing key %s: %w", row.id, err)
		}
		key := identity.SigningKey{ID: row.id, Private: private, SignFrom: row.signFrom}
		if row.verifyUntil != nil {
			key.VerifyUntil = *row.verifyUntil
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// EnsureSigningKey makes the first key when access tokens are to be signed with ES256. Several nodes that start at once
// end up with one.
func (s *Service) EnsureSigningKey(ctx context.Context) error {
	if !s.cfg.ES256 {
		return nil
	}
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := lockSigningKeys(ctx, tx); err != nil {
			return err
		}
		keys, err := s.openSigningKeys(ctx, tx)
		if err != nil || slices.ContainsFunc(keys, inUse) {
			return err
		}
		_, err = s.addSigningKey(ctx, tx, s.now())
		return err
	})
}

func inUse(k identity.SigningKey) bool { return k.VerifyUntil.IsZero() }

// RetireUnusedKeys ends the keys of a service that no longer signs with them, once their last tokens have expired. Only
// a serving program may call it: a command could run with other settings.
func (s *Service) RetireUnusedKeys(ctx context.Context) error {
	if s.cfg.ES256 {
		return nil
	}
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		return retireSigningKeys(ctx, tx, s.now().Add(s.cfg.JWTExpiry+retireLeeway))
	})
}

// RotateSigningKey makes a new key, which is published at once and signs after a grace; the old ones stay good until
// their tokens have expired. It returns the new key's id and when it begins. Errors: validation_failed without ES256,
// conflict while the last new key has not begun.
func (s *Service) RotateSigningKey(ctx context.Context) (id string, from time.Time, err error) {
	if !s.cfg.ES256 {
		return "", time.Time{}, errNoKeyRotation
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := lockSigningKeys(ctx, tx); err != nil {
			return err
		}
		keys, err := s.openSigningKeys(ctx, tx)
		if err != nil {
			return err
		}
		now := s.now()
		if slices.ContainsFunc(keys, func(k identity.SigningKey) bool { return k.SignFrom.After(now) }) {
			return errRotating
		}
		from = now.Add(signingGrace)
		if err := retireSigningKeys(ctx, tx, from.Add(s.cfg.JWTExpiry+retireLeeway)); err != nil {
			return err
		}
		if id, err = s.addSigningKey(ctx, tx, from); err != nil {
			return err
		}
		return s.audit(ctx, tx, client{}, auditKeyRotated, "", map[string]any{"key": id})
	})
	return id, from, err
}

func (s *Service) addSigningKey(ctx context.Context, tx *db.Tx, from time.Time) (id string, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return "", err
	}
	id = uuid.NewString()
	return id, insertSigningKey(ctx, tx, signingKey{id: id, private: s.sealer.seal(purposeSigning+id, der), signFrom: from}, s.now())
}
