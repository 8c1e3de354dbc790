package certificates

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// sealer keeps private keys unreadable in the database and its backups: AES-256-GCM with a key that is not stored there.
type sealer struct {
	aead cipher.AEAD
	// keyID tells values of another key apart; it says nothing about the key.
	keyID string
}

// newSealer takes 32 bytes; it panics otherwise, for the caller derives them.
func newSealer(key []byte) sealer {
	block, err := aes.NewCipher(key)
	if err != nil || len(key) != 32 {
		panic("certificates: SealKey needs 32 bytes")
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES has the block size that GCM wants
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("key id"))
	return sealer{aead, hex.EncodeToString(mac.Sum(nil)[:8])}
}

// close binds the value to its name: it cannot be moved to another one.
func (s sealer) close(plain []byte, name string) []byte {
	return s.aead.Seal(nil, nil, plain, []byte(name))
}

func (s sealer) open(sealed []byte, name string) ([]byte, error) {
	plain, err := s.aead.Open(nil, nil, sealed, []byte(name))
	if err != nil {
		return nil, errors.New("the stored value was changed: it cannot be opened")
	}
	return plain, nil
}
