package jobs

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"errors"
	"strings"
	"unicode/utf8"
)

// sealer keeps payloads unreadable at rest (AES-256-GCM, a random nonce in front).
type sealer struct{ aead cipher.AEAD }

func newSealer(key []byte) sealer {
	sum := sha256.Sum256(key) // any length of key gives the 32 bytes
	block, err := aes.NewCipher(sum[:])
	if err != nil {
		panic(err) // 32 bytes are a valid key
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES has the block size that GCM wants
	}
	return sealer{aead}
}

// close binds the payload to its row: it cannot be moved to another one.
func (s sealer) close(plain []byte, row string) []byte {
	return s.aead.Seal(nil, nil, plain, []byte(row))
}

func (s sealer) open(sealed []byte, row string) ([]byte, error) {
	plain, err := s.aead.Open(nil, nil, sealed, []byte(row))
	if err != nil {
		return nil, errors.New("the payload cannot be opened: it was sealed with another secret, or changed")
	}
	return plain, nil
}

const maxErrorText = 500 // bytes

// storable makes an error's text fit the column: PostgreSQL takes no NUL and no broken UTF-8.
func storable(err error) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(err.Error(), "�"), "\x00", "�")
	if len(text) <= maxErrorText {
		return text
	}
	cut := maxErrorText
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
