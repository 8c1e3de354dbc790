package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/identity"
)

// This file creates, rotates and retires the key pairs that sign access tokens with ES256 (ECDSA signatures). It also stores the issuers
// (the URLs in the iss claim) that access tokens may have.

// Times in a rotation of the signing key, in which a new key replaces the old one.
const (
	// signingGrace is the time between the publication of a new key and its first use. Nodes (servers of the site) and clients cache the
	// published keys for ten minutes (jwksMaxAge), so all of them know the new key before the first token that it signs.
	signingGrace = 15 * time.Minute
	// retireLeeway is how long an old key is still accepted after its last token has expired, because the clocks of nodes differ.
	retireLeeway = 5 * time.Minute
)

const (
	// purposeSigningKey, followed by the key's id, is the purpose with which a private key is sealed (encrypted). A sealed value can be
	// decrypted only with its own purpose.
	purposeSigningKey = "signing key "

	auditKeyRotated auditAction = "signing_key_rotated" // action in the audit log
)

var (
	errNoKeyRotation = apperr.New(http.StatusBadRequest, "validation_failed", "Keys are rotated with jwt-algorithm ES256 only; with HS256, tokens are signed with the secret")
	errRotating      = apperr.New(http.StatusConflict, "conflict", "A new key was made already and has not begun to sign yet")
)

// SigningKeys returns the key pairs that sign ES256 access tokens; it is an identity.KeyLoader. It leaves out keys that were
// sealed with another secret, so their tokens are no longer accepted.
func (s *Service) SigningKeys(ctx context.Context) ([]identity.SigningKey, error) {
	return s.openSigningKeys(ctx, s.db)
}

// openSigningKeys is SigningKeys for any q, for example a transaction.
func (s *Service) openSigningKeys(ctx context.Context, q db.Querier) ([]identity.SigningKey, error) {
	rows, err := listSigningKeys(ctx, q)
	if err != nil {
		return nil, err
	}
	keys := make([]identity.SigningKey, 0, len(rows))
	for _, row := range rows {
		der, err := s.sealer.unseal(purposeSigningKey+row.id, row.sealedPrivate)
		if err != nil { // sealed with another secret
			continue
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

// EnsureSigningKey creates a key when access tokens are signed with ES256 and no usable key is stored. Nodes that start at the
// same time make one key together, because the table is locked.
func (s *Service) EnsureSigningKey(ctx context.Context) error {
	if !s.cfg.ES256 {
		return nil
	}
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := lockSigningKeys(ctx, tx); err != nil {
			return err
		}
		keys, err := s.openSigningKeys(ctx, tx)
		now := s.now()
		if err != nil || slices.ContainsFunc(keys, func(k identity.SigningKey) bool { return k.VerifyUntil.IsZero() && !startsTooFarAhead(k, now) }) {
			return err
		}
		_, err = s.addSigningKey(ctx, tx, now)
		return err
	})
}

// startsTooFarAhead reports whether a node with a wrong clock has created the key. Such a key is ignored.
func startsTooFarAhead(k identity.SigningKey, now time.Time) bool {
	return k.SignFrom.After(db.LatestPlausible(now, signingGrace))
}

// RetireUnusedKeys sets the end of all keys when access tokens are not signed with ES256: the keys are accepted until their
// last tokens have expired. Only a server may call it, because a command could run with other settings than the server.
func (s *Service) RetireUnusedKeys(ctx context.Context) error {
	if s.cfg.ES256 {
		return nil
	}
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		return retireSigningKeys(ctx, tx, s.now().Add(s.cfg.JWTExpiry+retireLeeway))
	})
}

// RotateSigningKey creates a new key. The key is published immediately and signs after signingGrace; tokens of the old keys are
// accepted until they expire. It returns the new key's id and the time from which it signs. Errors: validation_failed without
// ES256, and conflict while an earlier new key does not sign yet.
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
		if slices.ContainsFunc(keys, func(k identity.SigningKey) bool { return k.SignFrom.After(now) && !startsTooFarAhead(k, now) }) {
			return errRotating
		}
		from = now.Add(signingGrace)
		if err := retireSigningKeys(ctx, tx, from.Add(s.cfg.JWTExpiry+retireLeeway)); err != nil {
			return err
		}
		if id, err = s.addSigningKey(ctx, tx, from); err != nil {
			return err
		}
		return s.audit(ctx, tx, clientInfo{}, auditKeyRotated, "", map[string]any{"key": id})
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
	return id, insertSigningKey(ctx, tx, signingKey{id: id, sealedPrivate: s.sealer.seal(purposeSigningKey+id, der), signFrom: from}, s.now())
}

// issuerLife is how long a former URL of the service stays an accepted issuer. It is longer than the life of any access token
// (the setting jwt-expiry is a week at most).
const issuerLife = 8 * 24 * time.Hour

func (s *Service) issuer() string { return s.cfg.APIURL + "/auth/v1" }

// RecordIssuer stores the issuer of this service's access tokens with the current time, so that all nodes accept it.
func (s *Service) RecordIssuer(ctx context.Context) error {
	return saveIssuer(ctx, s.db, s.issuer(), s.now())
}

// Issuers returns the accepted issuers of access tokens; it is an identity.IssuerLoader. A former URL of the service stays
// among them until its last tokens have expired, so that a change of the URL signs nobody out.
func (s *Service) Issuers(ctx context.Context) ([]string, error) {
	return issuersSince(ctx, s.db, s.now().Add(-issuerLife))
}
