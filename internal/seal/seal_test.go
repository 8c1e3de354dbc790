package seal_test

import (
	"encoding/base64"
	"errors"
	"testing"

	"atelie/internal/seal"
)

var key = []byte("the-key-of-exactly-thirty-2-byte")

// What earlier versions have sealed stays readable: databases are full of it.
func TestWhatWasSealedBeforeOpens(t *testing.T) {
	sealed, err := base64.RawStdEncoding.DecodeString("DGzvclBpX9253CnG5M9hsElIWhQSVb1PSJUwSoo6kER/VK52")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := seal.New(key).Open(sealed, "its row")
	if err != nil || string(plain) != "a secret" {
		t.Errorf("%q, %v", plain, err)
	}
}

func TestOnlyItsKeyAndItsPlaceOpenIt(t *testing.T) {
	s := seal.New(key)
	sealed := s.Seal([]byte("a secret"), "its row")
	changed := append([]byte{sealed[0] ^ 1}, sealed[1:]...)
	for name, open := range map[string]func() ([]byte, error){
		"another key": func() ([]byte, error) {
			return seal.New([]byte("another-key-of-exactly-32-bytes!")).Open(sealed, "its row")
		},
		"another place": func() ([]byte, error) { return s.Open(sealed, "another row") },
		"changed":       func() ([]byte, error) { return s.Open(changed, "its row") },
		"cut short":     func() ([]byte, error) { return s.Open(sealed[:5], "its row") },
	} {
		if plain, err := open(); !errors.Is(err, seal.ErrOpen) || plain != nil {
			t.Errorf("%s: %q, %v", name, plain, err)
		}
	}
	if plain, err := s.Open(sealed, "its row"); err != nil || string(plain) != "a secret" {
		t.Errorf("%q, %v", plain, err)
	}
	if again := s.Seal([]byte("a secret"), "its row"); string(again) == string(sealed) {
		t.Error("sealed alike twice: the nonce is not random")
	}
}
