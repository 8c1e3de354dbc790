// Package seal keeps what must be read again (secrets, payloads, private keys) unreadable in the database and its
// backups: AES-256-GCM with a key that is not stored there, and a random nonce in front.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
)

// KeySize is how many bytes a key has.
const KeySize = 32

// ErrOpen is what Open returns for bytes of another key, of another place, or changed ones.
var ErrOpen = errors.New("it was sealed with another secret, or changed")

// Sealer seals and opens with one key.
type Sealer struct{ aead cipher.AEAD }

// New takes a key of KeySize bytes; it panics otherwise, for callers derive their keys.
func New(key []byte) Sealer {
	if len(key) != KeySize {
		panic("seal: a key has 32 bytes")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // 32 bytes are a valid key
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES has the block size that GCM wants
	}
	return Sealer{aead}
}

// Seal binds what it seals to its place (a purpose, a row, a name): it cannot be moved to another one.
func (s Sealer) Seal(plain []byte, place string) []byte {
	return s.aead.Seal(nil, nil, plain, []byte(place))
}

// Open gives back what Seal was given for this place; an error is always ErrOpen.
func (s Sealer) Open(sealed []byte, place string) ([]byte, error) {
	plain, err := s.aead.Open(nil, nil, sealed, []byte(place))
	if err != nil {
		return nil, ErrOpen
	}
	return plain, nil
}
