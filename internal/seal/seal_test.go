package seal_test

import (
	"encoding/base64"
	"errors"
	"testing"

	"atelie/internal/seal"
)

var key = []byte("the-key-of-exactly-thirty-2-byte")

// TestValuesOfEarlierVersionsOpen opens a value that an earlier version has encrypted. Existing databases have such values.
func TestValuesOfEarlierVersionsOpen(t *testing.T) {
	sealed, err := base64.RawStdEncoding.DecodeString("DGzvclBpX9253CnG5M9hsElIWhQSVb1PSJUwSoo6kER/VK52")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := seal.New(key).Open(sealed, "its row")
	if err != nil || string(plain) != "a secret" {
		t.Errorf("got %q, error %v", plain, err)
	}
}

func TestOpenNeedsTheKeyAndThePurpose(t *testing.T) {
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
		t.Errorf("got %q, error %v", plain, err)
	}
	if again := s.Seal([]byte("a secret"), "its row"); string(again) == string(sealed) {
		t.Error("two encryptions of one value are equal: the nonce is not random")
	}
}

// Proves A-keys-9.
func TestPreviousKeyOpensUntilResealed(t *testing.T) {
	before, after := seal.New(key), seal.New([]byte("another-key-of-exactly-32-bytes!"))
	during := after.WithPrevious(key)
	old := before.Seal([]byte("a secret"), "its row")
	if plain, err := during.Open(old, "its row"); err != nil || string(plain) != "a secret" {
		t.Errorf("got %q, error %v", plain, err)
	}
	if _, err := during.Open(old, "another row"); !errors.Is(err, seal.ErrOpen) {
		t.Errorf("at another place: %v", err)
	}
	again, ok := during.Reseal(old, "its row")
	if plain, err := after.Open(again, "its row"); !ok || err != nil || string(plain) != "a secret" {
		t.Errorf("resealed: %v, %q, %v", ok, plain, err)
	}
	for name, sealed := range map[string][]byte{"a value of the current key": again, "no sealed value": []byte("x")} {
		if _, ok := during.Reseal(sealed, "its row"); ok {
			t.Errorf("%s was resealed", name)
		}
	}
	if _, ok := after.Reseal(old, "its row"); ok {
		t.Error("resealed without the previous key")
	}
}
