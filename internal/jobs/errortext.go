package jobs

import (
	"strings"
	"unicode/utf8"
)

const maxErrorText = 500 // bytes

// errorText returns the text of an error for the column last_error of the table jobs: at most maxErrorText bytes, without NUL
// and invalid UTF-8, which PostgreSQL rejects.
func errorText(err error) string {
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
