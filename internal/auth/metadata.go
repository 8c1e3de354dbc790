package auth

import (
	"encoding/json"
)

// Metadata travels in every access token, and a token in a header: with these limits both kinds together still fit into
// the 64 kB of headers that the server takes.
const (
	maxMetadataBytes = 16 << 10
	maxMetadataDepth = 64 // PostgreSQL's own limit lies at some thousand, by its stack
)

// metadata gives the stored form; nothing is {}. It returns errDataTooLarge for what is too large or nested
// too deep, errDataUnstorable for a NUL.
func metadata(m map[string]any) (string, error) {
	if m == nil {
		return "{}", nil
	}
	if deeper(m, maxMetadataDepth) {
		return "", errDataTooLarge.Becausef("nested more than %d levels deep", maxMetadataDepth)
	}
	if holdsNUL(m) {
		return "", errDataUnstorable.Becausef("NUL in a text") // PostgreSQL cannot keep it
	}
	text, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	if len(text) > maxMetadataBytes {
		return "", errDataTooLarge.Becausef("%d bytes", len(text))
	}
	return string(text), nil
}

// deeper tells whether a JSON value has more levels than most.
func deeper(value any, most int) bool {
	if most < 0 {
		return true
	}
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			if deeper(inner, most-1) {
				return true
			}
		}
	case []any:
		for _, inner := range v {
			if deeper(inner, most-1) {
				return true
			}
		}
	}
	return false
}
