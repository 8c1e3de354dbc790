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
// the encoded tokens. New tokens are added to the map recent. When recent is full, it becomes the map older, an empty map becomes
// recent, and the tokens of the former map older are dropped. A token that is still in use is not dropped, because get copies it from older
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
	cached, ok := s.recent[token]
	if ok {
		return cached, true
	}
	if cached, ok = s.older[token]; ok {
		s.add(token, cached)
	}
	return cached, ok
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
	if cached, ok := t.signatures.get(token); ok {
		if cached.kid == "" {
			return cached, nil
		}
		_, err := t.keys.find(cached.kid) // fails for a key that was retired
		return cached, err
	}
	var verified verifiedToken
	parsed, err := t.parser.ParseWithClaims(token, &verified.claims, t.keyFor)
	if err != nil {
		return verifiedToken{}, err
	}
	verified.method = parsed.Method
	if verified.method == jwt.SigningMethodES256 {
		verified.kid, _ = parsed.Header["kid"].(string) // keyFor has checked that there is a kid
	}
	t.signatures.put(token, verified)
	return verified, nil
}
