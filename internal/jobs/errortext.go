package jobs

import (
	"strings"
	"unicode/utf8"
)

const maxErrorText = 500 // bytes

// storable returns an error's text for the column last_error: at most maxErrorText bytes, without NUL and invalid UTF-8, which
// PostgreSQL rejects.
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
