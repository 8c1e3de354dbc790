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

// SigningKey is a key pair for ES256 (RFC 7518 §3.4). It signs from SignFrom on until a newer one does; its tokens are
// good until VerifyUntil (zero: no end is set).
type SigningKey struct {
	ID          string // the kid of its tokens
	Private     *ecdsa.PrivateKey
	SignFrom    time.Time
	VerifyUntil time.Time
}

// KeyLoader reads the signing keys that all nodes share.
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

// How long a set of keys is used before it is read again, how long at most when it cannot be read, how often an unknown
// kid may cause a reading, and how long one may take. A rotation's grace must be longer than keysStale.
const (
	keysFresh   = time.Minute
	keysStale   = 10 * time.Minute
	keysAskAll  = 5 * time.Second
	keysTimeout = 5 * time.Second
)

var errNoSigningKey = errors.New("there is no key to sign with")

// keySet is what a node knows of the shared keys.
type keySet struct {
	mu       sync.Mutex
	load     KeyLoader
	now      func() time.Time
	keys     []SigningKey
	loadedAt time.Time
	triedAt  time.Time
	failure  error // of the last reading, nil when it worked
}

// current gives the keys, read anew when they are no longer fresh. An error means that they are too old to be used.
func (k *keySet) current() ([]SigningKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if now.Sub(k.loadedAt) >= keysFresh && now.Sub(k.triedAt) >= keysAskAll {
		k.read(now)
	}
	if now.Sub(k.loadedAt) >= keysStale {
		return nil, fmt.Errorf("signing keys were last read at %s: %w", k.loadedAt.Format(time.RFC3339), k.failure)
	}
	return k.keys, nil
}

// read asks the database, with a context of its own: the keys serve all requests, not only the one that waits.
func (k *keySet) read(now time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), keysTimeout)
	defer cancel()
	k.triedAt = now
	keys, err := k.load(ctx)
	if k.failure = err; err == nil {
		k.keys, k.loadedAt = keys, now
	}
}

// find gives the key of a kid that is still good. An unknown kid may be a new one: the keys are then read once more.
func (k *keySet) find(id string) (*ecdsa.PublicKey, error) {
	keys, err := k.current()
	if err != nil {
		return nil, err
	}
	if key := good(keys, id, k.now()); key != nil {
		return key, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := k.now(); now.Sub(k.triedAt) >= keysAskAll {
		k.read(now)
	}
	if key := good(k.keys, id, k.now()); key != nil {
		return key, nil
	}
	return nil, fmt.Errorf("no key has the kid %.60q: %w", id, errors.Join(errUnknownKid, k.failure))
}

var errUnknownKid = errors.New("unknown or retired key")

func good(keys []SigningKey, id string, now time.Time) *ecdsa.PublicKey {
	for _, key := range keys {
		if key.ID == id && key.good(now) {
			return &key.Private.PublicKey
		}
	}
	return nil
}

func (k SigningKey) good(now time.Time) bool {
	return k.VerifyUntil.IsZero() || now.Before(k.VerifyUntil)
}

// signer gives the newest key whose time has come.
func (k *keySet) signer() (SigningKey, error) {
	keys, err := k.current()
	if err != nil {
		return SigningKey{}, err
	}
	now := k.now()
	var newest SigningKey
	for _, key := range keys {
		if !key.SignFrom.After(now) && key.good(now) && (newest.Private == nil || key.SignFrom.After(newest.SignFrom)) {
			newest = key
		}
	}
	if newest.Private == nil {
		return SigningKey{}, errNoSigningKey
	}
	return newest, nil
}

// public gives the keys in the form for publication, also those that are to sign later.
func (k *keySet) public() ([]JWK, error) {
	keys, err := k.current()
	if err != nil {
		return nil, err
	}
	out := []JWK{}
	for _, key := range keys {
		if !key.good(k.now()) {
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
