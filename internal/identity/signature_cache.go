package identity

import (
	"sync"

	"github.com/golang-jwt/jwt/v5"
)

// This file verifies the signatures of tokens (access tokens and API keys), and caches the verified tokens.

// verifiedToken is a token whose signature was verified. Its times, its issuer, and whether its key was retired or revoked are checked at
// each use of the token, because these can change.
type verifiedToken struct {
	claims Claims
	method jwt.SigningMethod
	kid    string // id of the key pair that signed it; "" for HS256
}

// Limits of signatureCache.
const (
	maxCachedTokens     = 256     // entries of each of the two maps
	maxCachedTokenBytes = 4 << 10 // a longer token is not cached
)

// signatureCache caches verified tokens, because most requests have the same token as an earlier request. It has two maps, whose keys are
// the encoded tokens. New tokens are added to the map recent. When recent is full, it becomes the map older, and an empty map becomes
// recent. The tokens in the previous map older are dropped. A token that is still in use stays, because the method get copies it from older
// to recent.
type signatureCache struct {
	mu     sync.Mutex
	recent map[string]verifiedToken
	older  map[string]verifiedToken
}

// get returns a cached token.
func (s *signatureCache) get(token string) (verifiedToken, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.recent[token]
	if ok {
		return known, true
	}
	if known, ok = s.older[token]; ok {
		s.add(token, known)
	}
	return known, ok
}

// put adds a token. It does nothing if the token has more than maxCachedTokenBytes.
func (s *signatureCache) put(token string, t verifiedToken) {
	if len(token) > maxCachedTokenBytes {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(token, t)
}

// add adds a token to the map recent. If recent is full, it becomes older first. The caller must have locked mu.
func (s *signatureCache) add(token string, t verifiedToken) {
	if s.recent == nil || len(s.recent) >= maxCachedTokens {
		s.recent, s.older = map[string]verifiedToken{}, s.recent
	}
	s.recent[token] = t
}

// verifySignature parses a token and verifies its signature, or returns the cached result. It does not check the token's times.
func (t *Tokens) verifySignature(token string) (verifiedToken, error) {
	if known, ok := t.signatures.get(token); ok {
		if known.kid == "" {
			return known, nil
		}
		_, err := t.keys.find(known.kid) // fails for a key that was retired
		return known, err
	}
	var read verifiedToken
	parsed, err := t.parser.ParseWithClaims(token, &read.claims, t.keyFor)
	if err != nil {
		return verifiedToken{}, err
	}
	read.method = parsed.Method
	if read.method == jwt.SigningMethodES256 {
		read.kid, _ = parsed.Header["kid"].(string) // keyFor has found it
	}
	t.signatures.put(token, read)
	return read, nil
}
