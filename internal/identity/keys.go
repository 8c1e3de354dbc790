package identity

import (
	"context"
	"crypto/ecdsa"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"time"
)

// This file caches the key pairs that sign access tokens, and returns their public halves, which /auth/v1/.well-known/jwks.json publishes.

// SigningKey is a key pair for signatures with ES256 (RFC 7518 §3.4).
type SigningKey struct {
	ID          string // the kid (key id) in the header of its tokens
	Private     *ecdsa.PrivateKey
	SignFrom    time.Time // from then on it signs new tokens, until the SignFrom of a newer key
	VerifyUntil time.Time // until then its tokens are accepted; zero: without an end
}

// KeyLoader reads the signing keys that all nodes (servers of the site) share.
type KeyLoader func(ctx context.Context) ([]SigningKey, error)

// JWK is the public half of a signing key, as it is published (RFC 7517 §4).
type JWK struct {
	KeyType    string   `json:"kty"`
	Curve      string   `json:"crv"`
	X          string   `json:"x"`
	Y          string   `json:"y"`
	ID         string   `json:"kid"`
	Algorithm  string   `json:"alg"`
	Use        string   `json:"use"`
	Operations []string `json:"key_ops"`
}

// Times of keyCache. A node that cannot read the database may still sign with a replaced key for keysStale. So all nodes must accept the
// tokens of a replaced key for longer than keysStale.
const (
	keysMaxAge      = time.Minute      // the cached keys are read again at this age
	keysStale       = 10 * time.Minute // the cached keys are no longer used at this age
	keysMinInterval = 5 * time.Second  // minimum time between two reads after a failure or an unknown kid
	keysTimeout     = 5 * time.Second  // maximum duration of one read
)

var errNoSigningKey = errors.New("there is no key to sign with")

// keyCache caches the signing keys that all nodes share.
type keyCache struct {
	mu       sync.Mutex
	load     KeyLoader
	now      func() time.Time
	keys     []SigningKey
	loadedAt time.Time
	triedAt  time.Time // start of the most recent read, successful or not
	readErr  error     // error of the most recent read; nil when it succeeded
}

// current returns the keys. If the cached keys are older than keysMaxAge, it first reads them again. If this read fails, it returns the
// cached keys, or an error once they are older than keysStale.
func (k *keyCache) current() ([]SigningKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if now.Sub(k.loadedAt) >= keysMaxAge && now.Sub(k.triedAt) >= keysMinInterval {
		k.read(now)
	}
	if now.Sub(k.loadedAt) >= keysStale {
		return nil, fmt.Errorf("%w since %s: %w", errKeysUnread, k.loadedAt.Format(time.RFC3339), k.readErr)
	}
	return k.keys, nil
}

// read loads the keys. The caller must have locked mu. read has a context of its own, because all requests need the keys, even if
// the request that caused the read is cancelled.
func (k *keyCache) read(now time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), keysTimeout)
	defer cancel()
	k.triedAt = now
	keys, err := k.load(ctx)
	if k.readErr = err; err == nil {
		k.keys, k.loadedAt = keys, now
	}
}

// find returns the public key for a kid unless its VerifyUntil has passed. Another node may have added an unknown kid, so
// find reads the keys again before it returns errUnknownKid.
func (k *keyCache) find(id string) (*ecdsa.PublicKey, error) {
	keys, err := k.current()
	if err != nil {
		return nil, err
	}
	if key := findValid(keys, id, k.now()); key != nil {
		return key, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := k.now(); now.Sub(k.triedAt) >= keysMinInterval {
		k.read(now)
	}
	if key := findValid(k.keys, id, k.now()); key != nil {
		return key, nil
	}
	if k.readErr != nil {
		return nil, fmt.Errorf("%w to find the kid %.60q: %w", errKeysUnread, id, k.readErr)
	}
	return nil, fmt.Errorf("no key has the kid %.60q: %w", id, errUnknownKid)
}

var (
	errUnknownKid = errors.New("unknown or retired key")
	// errKeysUnread: whether a token is valid is not known, so that it is not rejected as a bad one.
	errKeysUnread = errors.New("the signing keys could not be read")
)

// findValid returns the public key for a kid, or nil when there is none or its time is over.
func findValid(keys []SigningKey, id string, now time.Time) *ecdsa.PublicKey {
	for _, key := range keys {
		if key.ID == id && key.valid(now) {
			return &key.Private.PublicKey
		}
	}
	return nil
}

func (k SigningKey) valid(now time.Time) bool {
	return k.VerifyUntil.IsZero() || now.Before(k.VerifyUntil)
}

// signer returns the key with the latest SignFrom that is not in the future.
func (k *keyCache) signer() (SigningKey, error) {
	keys, err := k.current()
	if err != nil {
		return SigningKey{}, err
	}
	now := k.now()
	var newest SigningKey
	for _, key := range keys {
		if !key.SignFrom.After(now) && key.valid(now) && (newest.Private == nil || key.SignFrom.After(newest.SignFrom)) {
			newest = key
		}
	}
	if newest.Private == nil {
		return SigningKey{}, errNoSigningKey
	}
	return newest, nil
}

// public returns the keys in their published form, including keys that will sign later: verifiers cache the list.
func (k *keyCache) public() ([]JWK, error) {
	keys, err := k.current()
	if err != nil {
		return nil, err
	}
	out := []JWK{}
	for _, key := range keys {
		if !key.valid(k.now()) {
			continue
		}
		point, err := key.Private.PublicKey.Bytes() // 4, X, Y (SEC 1 §2.3.3)
		if err != nil {
			return nil, err
		}
		x, y := point[1:1+len(point)/2], point[1+len(point)/2:]
		out = append(out, JWK{
			KeyType: "EC", Curve: "P-256", X: base64.RawURLEncoding.EncodeToString(x), Y: base64.RawURLEncoding.EncodeToString(y),
			ID: key.ID, Algorithm: "ES256", Use: "sig", Operations: []string{"verify"},
		})
	}
	return out, nil
}
