// Package i18n holds the texts that the server itself says, in mails, text messages and the pages that need no script, in
// both languages. What the site says is in web/src/locales.
package i18n

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Language is one of the two that the product speaks.
type Language string

// The two languages. English is what a person gets of whom nothing is known.
const (
	EN Language = "en"
	PT Language = "pt"
)

// Languages lists them all.
var Languages = []Language{EN, PT}

//go:embed en.json pt.json
var files embed.FS

var catalogues = map[Language]map[string]string{EN: load("en.json"), PT: load("pt.json")}

func load(name string) map[string]string {
	data, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	var texts map[string]string
	if err := json.Unmarshal(data, &texts); err != nil {
		panic(fmt.Sprintf("%s: %v", name, err)) // the tests of this package do not pass with it
	}
	return texts
}

// Choose gives the language of the first wish that names one of ours, else English. A wish is a tag (pt, pt-BR, pt_PT)
// or an Accept-Language header (RFC 9110 §12.5.4).
func Choose(wishes ...string) Language {
	for _, wish := range wishes {
		if len(wish) > 1000 { // no honest header is so long
			continue
		}
		type ranged struct {
			language Language
			quality  float64
		}
		var known []ranged
		for item := range strings.SplitSeq(wish, ",") {
			tag, parameters, _ := strings.Cut(item, ";")
			primary, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(tag)), "_", "-"), "-")
			quality := 1.0
			if q, ok := strings.CutPrefix(strings.TrimSpace(parameters), "q="); ok {
				parsed, err := strconv.ParseFloat(q, 64)
				if err != nil {
					continue // an item that cannot be read says nothing
				}
				quality = parsed
			}
			if l := Language(primary); quality > 0 && slices.Contains(Languages, l) {
				known = append(known, ranged{l, quality})
			}
		}
		if len(known) > 0 {
			slices.SortStableFunc(known, func(a, b ranged) int {
				switch {
				case a.quality > b.quality:
					return -1
				case a.quality < b.quality:
					return 1
				}
				return 0
			})
			return known[0].language
		}
	}
	return EN
}

// Text gives the text of a key with its {names} filled in from pairs of name and value. The values are not looked
// into again. It panics for a key or a name that does not exist: tests go through all of them.
func (l Language) Text(key string, pairs ...string) string {
	text, ok := catalogues[l][key]
	if !ok {
		panic(fmt.Sprintf("i18n: no text %q in %q", key, l))
	}
	marks := make([]string, len(pairs))
	for i, p := range pairs {
		marks[i] = p
		if i%2 == 0 {
			marks[i] = "{" + p + "}"
		}
	}
	return strings.NewReplacer(marks...).Replace(text)
}

// Time writes a moment to the minute, in UTC, and says so.
func (l Language) Time(t time.Time) string {
	t = t.UTC()
	return l.Text("time", "day", strconv.Itoa(t.Day()), "month", l.Text("month."+strconv.Itoa(int(t.Month()))), "year", strconv.Itoa(t.Year()), "clock", t.Format("15:04"))
}

// Keys lists the keys of the English catalogue, sorted.
func Keys() []string {
	keys := make([]string, 0, len(catalogues[EN]))
	for key := range catalogues[EN] {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// Other gives the other of the two languages.
func (l Language) Other() Language {
	if l == PT {
		return EN
	}
	return PT
}
