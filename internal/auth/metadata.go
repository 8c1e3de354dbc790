package auth

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// This file validates, encodes and merges the metadata of accounts. An account has two JSON objects: its user metadata, which its holder
// can change, and its app metadata, which only this package and programs with the service key (the API key with full rights) can change.

// Limits of an account's app metadata and of its user metadata, each as JSON. The access token contains both and is sent in a
// header of each request. The limits keep this header below the 64 kB of headers that the server accepts.
const (
	maxMetadataBytes = 16 << 10
	// maxMetadataDepth is in levels of nesting. PostgreSQL's own limit is far higher: some thousand levels, depending on its stack size.
	maxMetadataDepth = 64
)

var errMetadata = errInvalid("Metadata can have at most %d kB, nested at most %d levels deep", maxMetadataBytes>>10, maxMetadataDepth)

// encodeMetadata returns metadata as JSON for the database; nil becomes {}. It returns errMetadata for metadata that is too
// large or nested too deeply, and errUnstorableText for metadata with a NUL.
func encodeMetadata(m map[string]any) (string, error) {
	if m == nil {
		return "{}", nil
	}
	if exceedsDepth(m, maxMetadataDepth) {
		return "", errMetadata.Becausef("nested more than %d levels deep", maxMetadataDepth)
	}
	text, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	if len(text) > maxMetadataBytes {
		return "", errMetadata.Becausef("%d bytes", len(text))
	}
	if containsNUL(text) {
		return "", errUnstorableText.Becausef("NUL in metadata") // PostgreSQL cannot store it
	}
	return string(text), nil
}

// validateMetadata returns an error for metadata that cannot be stored.
func validateMetadata(data map[string]any) error {
	_, err := encodeMetadata(data)
	return err
}

// mergeMetadata returns a copy of before to which changes are applied. A key with the value nil in changes is removed.
func mergeMetadata(before, changes map[string]any) map[string]any {
	after := map[string]any{}
	maps.Copy(after, before)
	for name, value := range changes {
		if value == nil {
			delete(after, name)
		} else {
			after[name] = value
		}
	}
	return after
}

// exceedsDepth reports whether a JSON value has more than maxDepth levels.
func exceedsDepth(value any, maxDepth int) bool {
	if maxDepth < 0 {
		return true
	}
	deeper := func(inner any) bool { return exceedsDepth(inner, maxDepth-1) }
	switch v := value.(type) {
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), deeper)
	case []any:
		return slices.ContainsFunc(v, deeper)
	}
	return false
}

// containsNUL reports whether a JSON text contains an escaped NUL; a raw NUL is not valid JSON. It replaces escaped backslashes
// first, because \\u0000 in JSON means a backslash and the letters u0000.
func containsNUL(text []byte) bool {
	return bytes.Contains(bytes.ReplaceAll(text, []byte(`\\`), []byte("-")), []byte(`\u0000`))
}

// isStorableText reports whether PostgreSQL can store a text: it rejects invalid UTF-8 and NUL.
func isStorableText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
