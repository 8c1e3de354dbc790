package pages

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	// directions matches characters that change the direction of text. Without an end mark they would also affect the site's
	// name after the text.
	directions = regexp.MustCompile("[\u202a-\u202e\u2066-\u2069]")
	// breaks matches control characters, line breaks and spaces.
	breaks = regexp.MustCompile("[\\p{Cc}\u2028\u2029 ]+")
)

// line returns a text as one line, for titles and tags. web/src/lib/use-page-title.ts must do the same.
func line(text string) string {
	text = directions.ReplaceAllString(strings.ToValidUTF8(text, "\ufffd"), "")
	return strings.TrimSpace(breaks.ReplaceAllString(text, " "))
}

// descriptionLength is the number of characters that search engines show of a description.
const descriptionLength = 160

// shorten returns a text as one line of at most n code points, with … at the end if it was cut. It cuts after a word if
// possible, and never before a combining character.
func shorten(text string, n int) string {
	runes := []rune(line(text))
	if len(runes) <= n {
		return string(runes)
	}
	end := n - 1 // one code point is reserved for …
	for word := end; word > n/2; word-- {
		if runes[word] == ' ' {
			return strings.TrimRight(string(runes[:word]), " ,;:–-") + "…"
		}
	}
	for end > 1 && joined(runes[end-1], runes[end]) {
		end--
	}
	return string(runes[:end]) + "…"
}

// firstShort returns the first text that is not empty, shortened to descriptionLength, or "".
func firstShort(texts ...string) string {
	for _, text := range texts {
		if text = shorten(text, descriptionLength); text != "" {
			return text
		}
	}
	return ""
}

const joiner = '\u200d' // zero-width joiner

// joined reports whether two code points belong to one visible character.
func joined(before, after rune) bool {
	return before == joiner || after == joiner || unicode.Is(unicode.M, after) || unicode.Is(unicode.Sk, after) // Sk: skin tones
}
