package jobs

import (
	"strings"
	"unicode/utf8"
)

const maxErrorText = 500 // bytes

// storable makes an error's text fit the column: PostgreSQL takes no NUL and no broken UTF-8.
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
