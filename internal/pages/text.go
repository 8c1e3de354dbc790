package pages

import (
	"regexp"
	"strings"
	"unicode"
)

// This file cleans and shortens the owner's texts for titles, meta tags and feeds.

var (
	// directionMarks matches characters that change the direction of text. In a title, they could also reverse the site's name, which follows
	// the title.
	directionMarks = regexp.MustCompile("[\u202a-\u202e\u2066-\u2069]")
	// whiteSpace matches sequences of control characters, line breaks and spaces.
	whiteSpace = regexp.MustCompile("[\\p{Cc}\u2028\u2029 ]+")
)

// oneLine returns a text as one line, for titles and tags. web/src/lib/use-page-title.ts removes and replaces the same characters in the
// titles that it sets in the browser.
func oneLine(text string) string {
	text = directionMarks.ReplaceAllString(strings.ToValidUTF8(text, "\ufffd"), "")
	return strings.TrimSpace(whiteSpace.ReplaceAllString(text, " "))
}

// descriptionLength is the number of characters that search engines show of a description.
const descriptionLength = 160

// shorten returns a text as one line of at most n code points, with … at the end if it was truncated. It truncates the text after the last
// word that ends in the second half of the line. If there is no such word, it truncates between two visible characters.
func shorten(text string, n int) string {
	runes := []rune(oneLine(text))
	if len(runes) <= n {
		return string(runes)
	}
	end := n - 1 // one code point is reserved for …
	for word := end; word > n/2; word-- {
		if runes[word] == ' ' {
			return strings.TrimRight(string(runes[:word]), " ,;:–-") + "…"
		}
	}
	for end > 1 && isSameCharacter(runes[end-1], runes[end]) {
		end--
	}
	return string(runes[:end]) + "…"
}

// shortenFirst returns the first text that is not empty, shortened to descriptionLength; "" if all texts are empty.
func shortenFirst(texts ...string) string {
	for _, text := range texts {
		if text = shorten(text, descriptionLength); text != "" {
			return text
		}
	}
	return ""
}

const joiner = '\u200d' // zero-width joiner

// isSameCharacter reports whether two consecutive code points belong to one visible character.
func isSameCharacter(before, after rune) bool {
	return before == joiner || after == joiner || unicode.Is(unicode.M, after) || unicode.Is(unicode.Sk, after) // M: accents; Sk: skin tones
}
