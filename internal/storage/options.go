package storage

import (
	"encoding/json"
	"slices"
	"strings"
)

// This file checks the options of an upload: the Cache-Control header and the metadata.

// defaultCacheControl is used for uploads without a Cache-Control header. It is the default of the client (supabase-js), an hour.
const defaultCacheControl = "max-age=3600"

// cacheDirectives has the names of the Cache-Control directives that an upload may request for its file (RFC 9111 §5.2.2, RFC 5861,
// RFC 8246). The value is true if the directive takes a number of seconds.
var cacheDirectives = map[string]bool{
	"max-age": true, "s-maxage": true, "stale-while-revalidate": true, "stale-if-error": true,
	"public": false, "private": false, "no-cache": false, "no-store": false, "no-transform": false,
	"must-revalidate": false, "proxy-revalidate": false, "immutable": false,
}

// parseCacheControl checks the Cache-Control value that an upload requests for the downloads of its file. It returns the value in lower
// case with one space after each comma, or the default if the value is empty.
func parseCacheControl(value string) (string, error) {
	if strings.TrimSpace(value) == "" {
		return defaultCacheControl, nil
	}
	directives := strings.Split(value, ",")
	if len(directives) > len(cacheDirectives) { // some are repeated or unknown; this limits the length of the result
		return "", errBadCacheControl.Becausef("%d directives", len(directives))
	}
	for i, d := range directives {
		name, seconds, hasSeconds := strings.Cut(strings.ToLower(strings.TrimSpace(d)), "=")
		takesSeconds, known := cacheDirectives[name]
		if !known || takesSeconds != hasSeconds || (hasSeconds && !isSeconds(seconds)) {
			return "", errBadCacheControl.Becausef("%q", value)
		}
		directives[i] = name
		if hasSeconds {
			directives[i] += "=" + seconds
		}
	}
	return strings.Join(directives, ", "), nil
}

// isSeconds reports whether s is a number of seconds up to 2^31, the largest number that caches must understand (RFC 9111 §1.2.2). Of
// numbers with equally many digits, the larger number is the larger string, so isSeconds compares strings.
func isSeconds(s string) bool {
	const maxSeconds = "2147483648"
	isNumber := s != "" && strings.Trim(s, "0123456789") == ""
	return isNumber && (len(s) < len(maxSeconds) || (len(s) == len(maxSeconds) && s <= maxSeconds))
}

// Limits of an upload's metadata.
const (
	maxMetadataBytes = 1 << 20
	maxMetadataDepth = 32 // levels of nested arrays and objects
)

// encodeMetadata checks the limits of an upload's metadata. It returns m as JSON text for the database, or nil (null) if m is nil.
func encodeMetadata(m map[string]any) (any, error) {
	if m == nil {
		return nil, nil
	}
	if !isPlainJSON(m, maxMetadataDepth) {
		return nil, errBadMetadata.Becausef("too deep, or with U+0000")
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, errBadMetadata.Because(err)
	}
	if len(text) > maxMetadataBytes {
		return nil, errTooLarge.Becausef("metadata of %d bytes", len(text))
	}
	return string(text), nil
}

// isPlainJSON reports whether a JSON value has at most depth nested levels, and no U+0000, which JSON in PostgreSQL cannot contain.
func isPlainJSON(v any, depth int) bool {
	switch v := v.(type) {
	case string:
		return !strings.ContainsRune(v, 0)
	case []any:
		return depth > 0 && !slices.ContainsFunc(v, func(e any) bool { return !isPlainJSON(e, depth-1) })
	case map[string]any:
		for key, e := range v {
			if depth == 0 || strings.ContainsRune(key, 0) || !isPlainJSON(e, depth-1) {
				return false
			}
		}
	}
	return true
}

// decodeMetadata parses metadata, which must be a JSON object.
func decodeMetadata(text []byte) (map[string]any, error) {
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, errBadMetadata.Because(err)
	}
	return m, nil
}
