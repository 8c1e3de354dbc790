package saml

import (
	"crypto/aes"
	"crypto/cipher"
	"testing"
)

// sealGCM encrypts a text with AES-GCM.
func sealGCM(t *testing.T, key, nonce []byte, text string) []byte {
	t.Helper()
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	return gcm.Seal(nonce, nonce, []byte(text), nil)
}
