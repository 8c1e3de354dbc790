package app

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"atelie/internal/certificates"
	"atelie/internal/datafolder"
	"atelie/internal/db"
)

// This file derives the keys of the program from the site's secret (the setting jwt-secret). If the operator replaces the secret, the new
// secret is called the current secret, and the replaced one the previous secret (the setting jwt-secret-previous). Stored data that was
// sealed (encrypted) with the previous secret is then resealed: it is opened, and sealed with the current secret.

// resealInterval is the interval at which data is resealed. Once is not enough, because a node (server of the site) that was not restarted
// yet still seals data with the previous secret.
const resealInterval = time.Hour

// deriveKey derives the key for one purpose, such as "refresh tokens", from a secret. A key reveals nothing about the keys of other purposes.
// The purpose strings must not change: a key that is derived from another string cannot open stored data.
func deriveKey(secret, purpose string) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("atelie " + purpose))
	return mac.Sum(nil)
}

// currentKey returns the key for a purpose that is derived from the current secret.
func (a *App) currentKey(purpose string) []byte {
	return deriveKey(a.cfg.Auth.JWTSecret, purpose)
}

// previousKey returns the key for a purpose that is derived from the previous secret, or nil if there is no previous secret.
func (a *App) previousKey(purpose string) []byte {
	if !a.HasPreviousSecret() {
		return nil
	}
	return deriveKey(a.cfg.Auth.JWTSecretPrevious, purpose)
}

// claimKeys returns the keys that db.Claim compares between nodes. Two nodes can run together only if each accepts what the other signs
// and encrypts: their current secrets are equal, or each has the current secret of the other as its previous secret.
func claimKeys(current, previous string) db.ClaimKeys {
	firstInt32 := func(key []byte) int32 { return int32(binary.BigEndian.Uint32(key)) }
	const purpose = "what nodes have in common"
	currentKey := deriveKey(current, purpose)
	keys := db.ClaimKeys{Current: firstInt32(currentKey)}
	if previous == "" {
		return keys
	}
	previousKey := deriveKey(previous, purpose)
	// The keys are sorted, so that two nodes get the same Pair if each has the current secret of the other as its previous secret.
	first, second := currentKey, previousKey
	if bytes.Compare(first, second) > 0 {
		first, second = second, first
	}
	pairHash := sha256.Sum256(append(bytes.Clone(first), second...))
	keys.Previous, keys.Pair, keys.HasPrevious = firstInt32(previousKey), firstInt32(pairHash[:]), true
	return keys
}

// Reseal reseals the values that were sealed with the previous secret, and returns their number. If write is false, it only counts them.
// Without a previous secret it returns 0.
func (a *App) Reseal(ctx context.Context, write bool) (found int, err error) {
	if !a.HasPreviousSecret() {
		return 0, nil
	}
	jobs, err := a.Jobs.Reseal(ctx, write)
	accounts, authErr := a.Auth.Reseal(ctx, write)
	names, certErr := certificates.Reseal(ctx, a.DB, a.currentKey("certificates"), a.previousKey("certificates"), write)
	return jobs + accounts + names, errors.Join(err, authErr, certErr)
}

// resealOnce reseals all values of the previous secret, and logs whether that secret is still needed.
func (a *App) resealOnce(ctx context.Context) {
	done, err := a.Reseal(ctx, true /* write */)
	left := 0
	if err == nil {
		left, err = a.Reseal(ctx, false /* only count */)
	}
	if err == nil && left == 0 {
		err = a.acceptOnlyCurrentSecret(ctx)
	}
	switch {
	case err != nil && ctx.Err() != nil:
	case err != nil:
		a.log.Error("values that the previous secret has sealed could not be resealed; it is tried again in an hour and at the next start", "cause", err.Error())
	case left > 0:
		a.log.Warn("values are still sealed with the previous secret: keep it", "resealed", done, "left", left)
	default:
		a.log.Info("nothing is sealed with the previous secret any more: once all nodes have the new one, remove jwt-secret-previous (atelie secret forget); keys and access tokens made with it end then", "resealed", done)
	}
}

// acceptOnlyCurrentSecret makes the database reject the previous secret. A later start with only that secret fails,
// because it could not decrypt the sealed values.
func (a *App) acceptOnlyCurrentSecret(ctx context.Context) error {
	return a.DB.WithTx(ctx, func(tx *db.Tx) error {
		return db.AcceptOnlySecret(ctx, tx, Fingerprint(a.cfg.Auth.JWTSecret), a.now())
	})
}

// ForgetPreviousSecret removes the previous secret from the data folder, and makes the database reject it.
func (a *App) ForgetPreviousSecret(ctx context.Context) error {
	if err := a.acceptOnlyCurrentSecret(ctx); err != nil {
		return err
	}
	return datafolder.ForgetPreviousSecret(a.cfg.Server.DataDir)
}

// HasPreviousSecret reports whether a previous secret is configured.
func (a *App) HasPreviousSecret() bool { return a.cfg.Auth.JWTSecretPrevious != "" }
