package app

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"atelie/internal/auth"
	"atelie/internal/certificates"
	"atelie/internal/datafolder"
	"atelie/internal/db"
)

// This file derives the keys of the program from the site's secret (the setting jwt-secret). If the operator replaces the secret, the new
// one is the current secret, and the one before is the previous secret (the setting jwt-secret-previous). Stored data that was sealed
// (encrypted) with the previous secret is then sealed again with the current one.

// resealEvery is how often data that was sealed with the previous secret is sealed again with the current one. Once is not enough, because
// other nodes (servers of the site) can still seal data with the previous secret.
const resealEvery = time.Hour

// derive derives the key for one purpose, such as "refresh tokens", from a secret. A key reveals nothing about the keys of other purposes.
// The text of a purpose must not change: another text gives another key, which cannot open what is already sealed.
func derive(secret []byte, purpose string) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("atelie " + purpose))
	return mac.Sum(nil)
}

// deriveCurrent derives the key for a purpose from the current secret.
func (a *App) deriveCurrent(purpose string) []byte {
	return derive([]byte(a.cfg.Auth.JWTSecret), purpose)
}

// derivePrevious derives the key for a purpose from the previous secret. It returns nil if there is no previous secret.
func (a *App) derivePrevious(purpose string) []byte {
	if a.cfg.Auth.JWTSecretPrevious == "" {
		return nil
	}
	return derive([]byte(a.cfg.Auth.JWTSecretPrevious), purpose)
}

// previousSecret returns the previous secret, or nil if there is none.
func (a *App) previousSecret() []byte {
	if a.cfg.Auth.JWTSecretPrevious == "" {
		return nil
	}
	return []byte(a.cfg.Auth.JWTSecretPrevious)
}

// previousAuthKeys derives the keys of package auth from the previous secret. It returns nil if there is no previous secret.
func (a *App) previousAuthKeys() *auth.Keys {
	if a.cfg.Auth.JWTSecretPrevious == "" {
		return nil
	}
	return &auth.Keys{RefreshKey: a.derivePrevious("refresh tokens"), CodeKey: a.derivePrevious("codes"), SealKey: a.derivePrevious("sealed secrets")}
}

// claimKeys returns the keys that db.Claim compares between nodes. Two nodes can run together only if each accepts what the other signs
// and encrypts: their current secrets are equal, or each has the current secret of the other as its previous one.
func claimKeys(secret, previous string) db.ClaimKeys {
	firstInt32 := func(key []byte) int32 { return int32(binary.BigEndian.Uint32(key)) }
	const purpose = "what nodes have in common"
	own := derive([]byte(secret), purpose)
	c := db.ClaimKeys{Current: firstInt32(own)}
	if previous == "" {
		return c
	}
	other := derive([]byte(previous), purpose)
	// In a fixed order, so that two nodes get the same Pair if each has the current secret of the other as its previous one.
	first, second := own, other
	if bytes.Compare(first, second) > 0 {
		first, second = second, first
	}
	sum := sha256.Sum256(append(bytes.Clone(first), second...))
	c.Previous, c.Pair, c.HasPrevious = firstInt32(other), firstInt32(sum[:]), true
	return c
}

// Reseal seals again, with the current secret, the values that were sealed with the previous one, and returns their number. If write
// is false, it only counts them. Without a previous secret it returns 0.
func (a *App) Reseal(ctx context.Context, write bool) (found int, err error) {
	if a.cfg.Auth.JWTSecretPrevious == "" {
		return 0, nil
	}
	jobs, err := a.Jobs.Reseal(ctx, write)
	accounts, authErr := a.Auth.Reseal(ctx, write)
	names, certErr := certificates.Reseal(ctx, a.DB, a.deriveCurrent("certificates"), a.derivePrevious("certificates"), write)
	return jobs + accounts + names, errors.Join(err, authErr, certErr)
}

// resealOnce reseals all values of the previous secret, and logs whether that secret is still needed.
func (a *App) resealOnce(ctx context.Context) {
	done, err := a.Reseal(ctx, true)
	left := 0
	if err == nil {
		left, err = a.Reseal(ctx, false)
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
