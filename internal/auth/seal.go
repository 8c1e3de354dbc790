package auth

import (
	"encoding/base64"
	"fmt"

	"atelie/internal/seal"
)

// sealer keeps secrets that must be read again (TOTP secrets, providers' tokens, signing keys) as text columns.
type sealer struct{ bytes seal.Sealer }

// seal binds the secret to its purpose: unseal with another purpose fails.
func (s sealer) seal(purpose string, plain []byte) string {
	return base64.RawStdEncoding.EncodeToString(s.bytes.Seal(plain, purpose))
}

// unseal fails with seal.ErrOpen alone.
func (s sealer) unseal(purpose, sealed string) ([]byte, error) {
	raw, err := base64.RawStdEncoding.DecodeString(sealed)
	if err != nil {
		return nil, fmt.Errorf("a stored secret cannot be read: %w", seal.ErrOpen)
	}
	plain, err := s.bytes.Open(raw, purpose)
	if err != nil {
		return nil, fmt.Errorf("a stored secret cannot be read: %w", err)
	}
	return plain, nil
}
