package auth

import (
	"bytes"
	"encoding/json"
)

// Metadata travels in every access token, and a token in a header: with these limits both kinds together still fit into
// the 64 kB of headers that the server takes.
const (
	maxMetadataBytes = 16 << 10
	maxMetadataDepth = 64 // PostgreSQL's own limit lies at some thousand, by its stack
)

// metadata gives the stored form; nothing is {}. It returns errMetadata for what is too large or nested
// too deep, errUnreadableText for a NUL.
func metadata(m map[string]any) (string, error) {
	if m == nil {
		return "{}", nil
	}
	if deeper(m, maxMetadataDepth) {
		return "", errMetadata.Becausef("nested more than %d levels deep", maxMetadataDepth)
	}
	text, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	if len(text) > maxMetadataBytes {
		return "", errMetadata.Becausef("%d bytes", len(text))
	}
	if holdsNUL(text) {
		return "", errUnreadableText.Becausef("NUL in metadata") // PostgreSQL cannot store it
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

// holdsNUL looks for the escape of NUL in JSON; raw it cannot stand there. A backslash that is escaped itself begins
// nothing.
func holdsNUL(text []byte) bool {
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if bytes.HasPrefix(text[i+1:], []byte("u0000")) {
			return true
		}
		i++
	}
	return false
}
