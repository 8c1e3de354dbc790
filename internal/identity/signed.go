package identity

import (
	"sync"

	"github.com/golang-jwt/jwt/v5"
)

// signedToken is a token whose signature is right. Everything that can change is checked at each use: the times, the key that signed it,
// the issuer, and whether a key was revoked.
type signedToken struct {
	claims Claims
	method jwt.SigningMethod
	kid    string // of the key pair that signed it; "" for HS256
}

// Limits of signedTokens.
const (
	maxSignedTokens     = 256     // of each of the two maps
	maxSignedTokenBytes = 4 << 10 // a longer token is read each time
)

// signedTokens remembers tokens with a right signature by their texts, because each request brings one or two, mostly the same ones. When
// recent is full, it becomes older, and what older held and nobody has asked for is forgotten.
type signedTokens struct {
	mu            sync.Mutex
	recent, older map[string]signedToken
}

func (s *signedTokens) get(token string) (signedToken, bool) {
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

func (s *signedTokens) put(token string, t signedToken) {
	if len(token) > maxSignedTokenBytes {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(token, t)
}

// add adds a token. The caller must have locked mu.
func (s *signedTokens) add(token string, t signedToken) {
	if s.recent == nil || len(s.recent) >= maxSignedTokens {
		s.recent, s.older = map[string]signedToken{}, s.recent
	}
	s.recent[token] = t
}

// readSigned returns a token after a check of its signature. Its times are not checked.
func (t *Tokens) readSigned(token string) (signedToken, error) {
	if known, ok := t.signed.get(token); ok {
		if known.kid == "" {
			return known, nil
		}
		_, err := t.keys.find(known.kid) // fails for a key that was retired
		return known, err
	}
	var read signedToken
	parsed, err := t.parser.ParseWithClaims(token, &read.claims, t.keyFor)
	if err != nil {
		return signedToken{}, err
	}
	read.method = parsed.Method
	if read.method == jwt.SigningMethodES256 {
		read.kid, _ = parsed.Header["kid"].(string) // keyFor has found it
	}
	t.signed.put(token, read)
	return read, nil
}
