package auth

import (
	"encoding/base64"
	"fmt"

	"atelie/internal/seal"
)

// sealer seals (encrypts) secrets that the service must read again, such as TOTP secrets, providers' tokens and signing keys.
// It encodes the sealed bytes of a seal.Sealer in base64, for text columns.
type sealer struct{ inner seal.Sealer }

// seal seals a secret and binds it to a purpose: unseal fails with another purpose.
func (s sealer) seal(purpose string, plain []byte) string {
	return base64.RawStdEncoding.EncodeToString(s.inner.Seal(plain, purpose))
}

// unseal returns a secret that was sealed for the purpose. Every error wraps seal.ErrOpen.
func (s sealer) unseal(purpose, sealed string) ([]byte, error) {
	raw, err := base64.RawStdEncoding.DecodeString(sealed)
	if err != nil {
		return nil, fmt.Errorf("a stored secret cannot be read: %w", seal.ErrOpen)
	}
	plain, err := s.inner.Open(raw, purpose)
	if err != nil {
		return nil, fmt.Errorf("a stored secret cannot be read: %w", err)
	}
	return plain, nil
}

// reseal opens a value with the previous key and seals it with the current key. It tries the purposes one after the other. ok is
// false if the previous key opens the value with none of the purposes.
func (s sealer) reseal(purposes []string, sealed string) (resealed string, ok bool) {
	raw, err := base64.RawStdEncoding.DecodeString(sealed)
	if err != nil {
		return "", false
	}
	for _, purpose := range purposes {
		if raw, ok := s.inner.Reseal(raw, purpose); ok {
			return base64.RawStdEncoding.EncodeToString(raw), true
		}
	}
	return "", false
}
