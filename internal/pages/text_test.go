package pages

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"atelie/internal/i18n"
)

// Proves P-found-hostile.
func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"  Sol de\tinverno\r\n":             "Sol de inverno",
		"a\x00b\x1b[31mc\u0085d":            "a b [31mc d",
		"one\u2028two\u2029three":           "one two three",
		"\u202egnp.exe\u202c \u2066x\u2069": "gnp.exe x",
		"שלום\u200f 3\u00a0m":               "שלום\u200f 3\u00a0m", // characters that do not change the direction stay
		"a\xffb":                            "a\ufffdb",
		"\u202e \x01":                       "",
	} {
		if got := oneLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Proves P-found-description.
func TestShorten(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"A wall", "A wall"},
		{"A wall of houses", "A wall of…"},
		{"Walls, and – houses", "Walls, and…"},
		{"Incomprehensibilities", "Incomprehens…"},
		{"123456789 ab\u0301cdef", "123456789…"},
		{"abcdefghijka\u0301\u0302xyz", "abcdefghijk…"}, // the accents stay with their letter
		{"abcdefghij👩\u200d🎨👩\u200d🎨", "abcdefghij…"},
		{"abcdefghijk👍🏽xyz", "abcdefghijk…"},
	} {
		if got := shorten(c.text, 13); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	if got := shorten(strings.Repeat("🎨", 200), descriptionLength); utf8.RuneCountInString(got) != descriptionLength || !strings.HasSuffix(got, "🎨…") {
		t.Errorf("%d characters: %s", utf8.RuneCountInString(got), got)
	}
	if got := shorten(strings.Repeat("\u0301", 200), 20); utf8.RuneCountInString(got) > 20 {
		t.Errorf("got %q", got)
	}
}

// Proves P-found-title.
//
// The server writes the title of a page, and the site's scripts change it later. Both must use the same texts, from two catalogues.
func TestServerTextsEqualTheTextsOfTheSite(t *testing.T) {
	for _, l := range i18n.Languages {
		site := map[string]string{}
		for _, name := range []string{string(l), "gallery/" + string(l), "not-found/" + string(l), "privacy"} {
			file, err := os.ReadFile("../../web/src/locales/" + name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(file, &site); err != nil { // adds to the texts that were read before
				t.Fatal(err)
			}
		}
		keys := []string{"notFound.title", "privacy.title", "gallery.title", "gallery.untitled"}
		for _, page := range testManifest.Pages {
			kind, ok := galleryFilter(page.Path)
			if !ok || kind == allTypes {
				continue
			}
			keys = append(keys, filterKey(kind), "type."+kind)
		}
		for _, key := range keys {
			if got := l.Text(key); got != site[key] {
				t.Errorf("%s %s: the site says %q, the server %q", l, key, site[key], got)
			}
		}
	}
}
