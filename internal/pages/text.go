package pages

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	// Marks that turn the direction of what follows them: unclosed, they would turn the site's name too.
	directions = regexp.MustCompile("[\u202a-\u202e\u2066-\u2069]")
	// What is no text, and all that breaks a line.
	breaks = regexp.MustCompile("[\\p{Cc}\u2028\u2029 ]+")
)

// line makes one line of a text, for places that show nothing else. web/src/lib/use-page-title.ts does the same.
func line(text string) string {
	text = directions.ReplaceAllString(strings.ToValidUTF8(text, "\ufffd"), "")
	return strings.TrimSpace(breaks.ReplaceAllString(text, " "))
}

// descriptionLength is how many characters of a description search engines show.
const descriptionLength = 160

// shorten makes one line of at most n characters (code points), cut at a word where there is one. What belongs to the
// character before it, such as an accent or the parts of an emoji, is not cut from it.
func shorten(text string, n int) string {
	runes := []rune(line(text))
	if len(runes) <= n {
		return string(runes)
	}
	end := n - 1 // room for the dots
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

const joiner = '\u200d'

func joined(before, after rune) bool {
	return before == joiner || after == joiner || unicode.Is(unicode.M, after) || unicode.Is(unicode.Sk, after) // Sk: skin tones
}
