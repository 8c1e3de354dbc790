package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"errors"
)

// sealer keeps secrets that must be read again (TOTP secrets, providers' tokens, signing keys) unreadable in the
// database and its backups: AES-256-GCM with a key that is not stored there.
type sealer struct{ aead cipher.AEAD }

// newSealer takes 32 bytes; it panics otherwise, as New does for keys.
func newSealer(key []byte) sealer {
	block, err := aes.NewCipher(key)
	if err != nil || len(key) != 32 {
		panic("auth: SealKey needs 32 bytes")
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES has the block size that GCM wants
	}
	return sealer{aead}
}

// seal binds the secret to its purpose: unseal with another purpose fails.
func (s sealer) seal(purpose string, plain []byte) string {
	return base64.RawStdEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, []byte(purpose)))
}

var errUnsealable = errors.New("a stored secret cannot be read: the server's secret was changed, or the row")

func (s sealer) unseal(purpose, sealed string) ([]byte, error) {
	raw, err := base64.RawStdEncoding.DecodeString(sealed)
	if err != nil {
		return nil, errUnsealable
	}
	plain, err := s.aead.Open(nil, nil, raw, []byte(purpose))
	if err != nil {
		return nil, errors.Join(errUnsealable, err)
	}
	return plain, nil
}
