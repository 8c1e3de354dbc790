package auth

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/seal"
)

// This file seals (encrypts and authenticates) the secrets that this package stores. The key is derived from the site's secret.
//   - If the site's secret is replaced, Reseal seals the values with the new key.
//   - If the site's secret is lost, DeleteUnreadable deletes the values that cannot be decrypted.
// A new column with sealed values needs an element of sealedColumns.

// CountSealed returns how many stored secrets the key can decrypt (readable) and how many it cannot (unreadable). Package app uses the
// numbers to check whether the configured secret belongs to the database. CountSealed counts only lasting secrets: the secrets of
// authenticator apps (TOTP), and private keys.
func CountSealed(ctx context.Context, q db.Querier, sealKey []byte) (readable, unreadable int, err error) {
	s := sealer{seal.New(sealKey)}
	err = eachLastingSecret(ctx, q, func(c sealedColumn, v sealedValue) error {
		if s.canUnseal(c, v) {
			readable++
		} else {
			unreadable++
		}
		return nil
	})
	return readable, unreadable, err
}

// DeleteUnreadable is for a site whose secret is lost. It deletes every stored secret that the key cannot decrypt. It also deletes all
// recovery codes, sessions, mailed links and flows (pending sign-ins). For each second factor that is lost, it adds an entry to the audit
// log. accounts has the e-mail address, or else the phone number, of each account that loses a second factor.
func DeleteUnreadable(ctx context.Context, tx *db.Tx, sealKey []byte, now time.Time) (accounts []string, err error) {
	s := sealer{seal.New(sealKey)}
	err = eachLastingSecret(ctx, tx, func(c sealedColumn, v sealedValue) error {
		if s.canUnseal(c, v) {
			return nil
		}
		if c.table == "auth_factors" {
			userID, account, err := accountOfFactor(ctx, tx, v.id)
			if err != nil {
				return err
			}
			detail, err := encodeMetadata(map[string]any{"actor": actorCommand, "factor_id": v.id})
			if err == nil {
				err = insertAudit(ctx, tx, auditFactorDeleted, userID, detail, clientInfo{}, now)
			}
			if err != nil {
				return err
			}
			if !slices.Contains(accounts, account) {
				accounts = append(accounts, account)
			}
		}
		return deleteSealed(ctx, tx, c, v)
	})
	if err != nil {
		return nil, err
	}
	return accounts, deleteRowsOfLostSecret(ctx, tx)
}

// eachLastingSecret calls do for each value of the sealedColumns whose field lasting is true.
func eachLastingSecret(ctx context.Context, q db.Querier, do func(sealedColumn, sealedValue) error) error {
	for _, c := range sealedColumns {
		if !c.lasting {
			continue
		}
		values, err := sealedValues(ctx, q, c)
		if err != nil {
			return err
		}
		for _, v := range values {
			if err := do(c, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// sealedColumns are all columns with sealed values of this package. The boolean is the field lasting.
var sealedColumns = []sealedColumn{
	{"auth_factors", "secret", true, func(id string) []string { return []string{purposeTOTP + id} }},
	{"auth_signing_keys", "private_key", true, func(id string) []string { return []string{purposeSigningKey + id} }},
	{"auth_sso_keys", "sealed_key", true, func(string) []string { return []string{purposeSSOKey} }},
	{"auth_flow_states", "provider_secrets", false, func(string) []string { return []string{purposeFlowSecrets, purposeProviderTokens} }},
	{"auth_hash_keys", "sealed_key", false, func(id string) []string { return []string{purposeHashKey + id} }},
}

// Reseal seals with the current secret all values that the previous secret sealed, and returns their number. If write is false,
// it only counts them. Recovery codes are keyed hashes and cannot be resealed; their previous key is stored instead, sealed
// with the current secret, and is counted as one value.
func (s *Service) Reseal(ctx context.Context, write bool) (found int, err error) {
	if s.cfg.Previous == nil {
		return 0, nil
	}
	for _, c := range sealedColumns {
		values, err := sealedValues(ctx, s.db, c)
		if err != nil {
			return found, err
		}
		for _, v := range values {
			resealed, ok := s.sealer.reseal(c.purposes(v.id), v.sealed)
			if !ok {
				continue
			}
			found++
			if write {
				if err := replaceSealed(ctx, s.db, c, v, resealed); err != nil {
					return found, err
				}
			}
		}
	}
	missing, err := s.storePreviousCodeKey(ctx, write)
	return found + missing, err
}

// storePreviousCodeKey stores the previous CodeKey when there are unused recovery codes. It returns 1 when the key was not
// stored yet, otherwise 0. Without write it stores nothing.
func (s *Service) storePreviousCodeKey(ctx context.Context, write bool) (missing int, err error) {
	needed, err := hasRecoveryCodes(ctx, s.db)
	if err != nil || !needed {
		return 0, err
	}
	stored, err := s.storedHashKeys(ctx, s.db)
	if err != nil {
		return 0, err
	}
	if slices.ContainsFunc(stored, func(key []byte) bool { return bytes.Equal(key, s.cfg.Previous.CodeKey) }) {
		return 0, nil
	}
	if !write {
		return 1, nil
	}
	id := uuid.NewString()
	return 1, insertHashKey(ctx, s.db, id, s.sealer.seal(purposeHashKey+id, s.cfg.Previous.CodeKey), s.now())
}

// sealer seals (encrypts and authenticates) secrets that the service must read again, such as TOTP secrets, providers' tokens and
// signing keys. It encodes the sealed bytes in base64, for text columns.
type sealer struct{ encrypter seal.Sealer }

// seal seals a secret and binds it to a purpose: unseal fails with another purpose.
func (s sealer) seal(purpose string, plain []byte) string {
	return base64.RawStdEncoding.EncodeToString(s.encrypter.Seal(plain, purpose))
}

// unseal returns a secret that was sealed for the purpose. Every error wraps seal.ErrOpen.
func (s sealer) unseal(purpose, sealed string) ([]byte, error) {
	raw, err := base64.RawStdEncoding.DecodeString(sealed)
	if err != nil {
		return nil, fmt.Errorf("a stored secret cannot be read: %w", seal.ErrOpen)
	}
	plain, err := s.encrypter.Open(raw, purpose)
	if err != nil {
		return nil, fmt.Errorf("a stored secret cannot be read: %w", err)
	}
	return plain, nil
}

// canUnseal reports whether the sealer can decrypt a stored value.
func (s sealer) canUnseal(c sealedColumn, v sealedValue) bool {
	return slices.ContainsFunc(c.purposes(v.id), func(purpose string) bool {
		_, err := s.unseal(purpose, v.sealed)
		return err == nil
	})
}

// reseal decrypts a value with the previous key and seals it with the current key. It tries the purposes one after the other. ok is
// false if the previous key decrypts the value with none of the purposes.
func (s sealer) reseal(purposes []string, sealed string) (resealed string, ok bool) {
	raw, err := base64.RawStdEncoding.DecodeString(sealed)
	if err != nil {
		return "", false
	}
	for _, purpose := range purposes {
		if raw, ok := s.encrypter.Reseal(raw, purpose); ok {
			return base64.RawStdEncoding.EncodeToString(raw), true
		}
	}
	return "", false
}
