// Package seal encrypts and authenticates ("seals") secrets, job payloads and private keys before they are stored in the database. It uses
// AES-256-GCM with a key that is not in the database. The sealed bytes begin with a random nonce, and are bound to a purpose: a text
// that names their use or row.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
)

// KeySize is the length of a key in bytes.
const KeySize = 32

// ErrOpen is returned by Open if the bytes were sealed with another key, were sealed for another purpose, or have changed. Commands show its
// text to the operator.
var ErrOpen = errors.New("it was sealed with another secret, or changed")

// Sealer seals with the current key, and decrypts what the current key or the previous key has sealed.
type Sealer struct {
	current  cipher.AEAD
	previous cipher.AEAD // nil: there is no previous key
}

// New returns a sealer for a key of KeySize bytes. It panics if the key has another length. All keys are computed from a secret, so a wrong
// length is a mistake in the code.
func New(key []byte) Sealer {
	return Sealer{current: newAEAD(key)}
}

// WithPrevious returns a copy of the sealer that also decrypts what the previous key sealed.
func (s Sealer) WithPrevious(previous []byte) Sealer {
	s.previous = newAEAD(previous)
	return s
}

func newAEAD(key []byte) cipher.AEAD {
	if len(key) != KeySize {
		panic("seal: a key has 32 bytes")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // cannot happen: 32 bytes are a valid key
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // cannot happen: AES has the block size that GCM requires
	}
	return aead
}

// Seal encrypts plain and binds it to a purpose. Open fails for any other purpose, so sealed bytes that are copied to another row or column
// cannot be opened there.
func (s Sealer) Seal(plain []byte, purpose string) []byte {
	return s.current.Seal(nil, nil, plain, []byte(purpose))
}

// Open returns the bytes that were sealed for this purpose. Its only error is ErrOpen.
func (s Sealer) Open(sealed []byte, purpose string) ([]byte, error) {
	plain, err := s.current.Open(nil, nil, sealed, []byte(purpose))
	if err != nil && s.previous != nil {
		plain, err = s.previous.Open(nil, nil, sealed, []byte(purpose))
	}
	if err != nil {
		return nil, ErrOpen
	}
	return plain, nil
}

// Reseal seals with the current key what the previous key has sealed. ok is false if the previous key does not decrypt it, or if
// there is no previous key.
func (s Sealer) Reseal(sealed []byte, purpose string) (resealed []byte, ok bool) {
	if s.previous == nil {
		return nil, false
	}
	plain, err := s.previous.Open(nil, nil, sealed, []byte(purpose))
	if err != nil {
		return nil, false
	}
	return s.Seal(plain, purpose), true
}
