package storage

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is the length of an object's name in bytes. It also keeps the name within what an index can hold.
const maxName = 1024

// validName tells whether a name can belong to an object: segments parted by single slashes, none of them "." or
// "..", valid UTF-8 without control characters or backslashes. A name that becomes a climbing path when something
// decodes it once more is refused too, although names never become paths here.
func validName(name string) bool {
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

func validPath(name string) bool {
	if len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r == '\\' || unicode.IsControl(r) }) {
		return false
	}
	for segment := range strings.SplitSeq(name, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

// storable tells whether both databases take a text: PostgreSQL refuses U+0000 and broken UTF-8 with an error.
func storable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}
