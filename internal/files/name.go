package files

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file decides which names objects may have.

// MaxName is the maximum length of an object's name in bytes. A database index cannot contain much longer names.
const MaxName = 1024

// ValidName reports whether an object may have the name. A valid name, such as works/sea.jpg,
//
//   - consists of segments that are separated by single slashes, none of them "." or "..",
//   - is valid UTF-8 without control characters and backslashes, and
//   - stays valid if its percent-escapes are decoded, once or several times.
//
// The last rule is only a precaution, because this program uses no name as a file path.
func ValidName(name string) bool {
	for {
		if !validPath(name) {
			return false
		}
		decoded, err := url.PathUnescape(name)
		if err != nil || decoded == name {
			return true
		}
		name = decoded
	}
}

// validPath checks a name like ValidName, but decodes nothing.
func validPath(name string) bool {
	if len(name) > MaxName || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r == '\\' || unicode.IsControl(r) }) {
		return false
	}
	for segment := range strings.SplitSeq(name, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

// Storable reports whether a string is valid UTF-8 without control characters. PostgreSQL rejects U+0000 and invalid UTF-8.
func Storable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}
