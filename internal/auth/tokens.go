package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/big"

	"github.com/google/uuid"
)

// This file makes random tokens and codes, and brings tokens and UUIDs to the form in which the database stores them.

// randomToken returns 256 random bits in base64 (43 characters). It makes the tokens in links, the first refresh token of a session, and
// the secrets that a provider sends back to /callback.
func randomToken() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(b)
}

// hashToken returns the SHA-256 of a token in hex, the form in which the database stores tokens. 256 random bits cannot be
// guessed, so they need no slow hash.
func hashToken(token string) string { return hashKey(token) }

// hashKey returns the SHA-256 of a string in hex. Rows and limits have this hash as their key, so that the string (such as an e-mail
// address) is not stored. The hash does not protect against guessing: unlike a token, an e-mail address can be found by hashing likely
// ones.
func hashKey(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// sixDigitCode returns a random code of six digits.
func sixDigitCode() string {
	n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return fmt.Sprintf("%06d", n.Int64())
}

// canonicalUUID returns a UUID in lower case with dashes, as the database stores it, or false if s is not a UUID. Queries need
// this form, because SQLite does not find another spelling, and PostgreSQL returns an error for a string that is not a UUID.
func canonicalUUID(s string) (string, bool) {
	id, err := uuid.Parse(s)
	return id.String(), err == nil
}
