// Package i18n contains the server's texts in English and Portuguese, for mails, text messages, page heads, and pages for browsers without
// scripts. The texts of the site's components are in web/src/locales.
package i18n

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Language is one of the languages of the site.
type Language string

// The two languages. English is the default.
const (
	EN Language = "en"
	PT Language = "pt"
)

// Languages lists the languages of the site.
var Languages = []Language{EN, PT}

//go:embed en.json pt.json
var files embed.FS

// catalogues contains the texts of each language, by key. A new text needs the same key in en.json and pt.json.
var catalogues = map[Language]map[string]string{EN: readCatalogue("en.json"), PT: readCatalogue("pt.json")}

func readCatalogue(name string) map[string]string {
	data, err := files.ReadFile(name)
	if err != nil {
		panic(err) // cannot happen: the file is embedded
	}
	var texts map[string]string
	if err := json.Unmarshal(data, &texts); err != nil {
		panic(fmt.Sprintf("%s: %v", name, err)) // the file is embedded, so this package's tests find the mistake
	}
	return texts
}

// maxPreference is the maximum length in bytes of a preference that Choose reads. Browsers send less. Longer values would only cost time and
// memory.
const maxPreference = 1000

// Choose returns the language of the first preference that names one of Languages, or English if no preference does. A preference is a
// language tag (pt, pt-BR, pt_PT) or a value of the Accept-Language header, such as "pt-BR,pt;q=0.9,en;q=0.8" (RFC 9110 §12.5.4). If a
// header names both languages, the one with the higher quality (q) is chosen. If their qualities are equal, the first one is chosen.
func Choose(preferences ...string) Language {
	for _, preference := range preferences {
		if len(preference) > maxPreference {
			continue
		}
		type candidate struct {
			language Language
			quality  float64 // weight of the language in Accept-Language, 0 (not acceptable) to 1
		}
		var candidates []candidate
		for part := range strings.SplitSeq(preference, ",") {
			tag, parameters, _ := strings.Cut(part, ";")
			tag = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(tag)), "_", "-")
			primary, _, _ := strings.Cut(tag, "-") // the language without the country
			quality := 1.0                         // the default without a q parameter
			if q, ok := strings.CutPrefix(strings.TrimSpace(parameters), "q="); ok {
				parsed, err := strconv.ParseFloat(q, 64)
				if err != nil {
					continue // ignore a language with an invalid quality
				}
				quality = parsed
			}
			if l := Language(primary); quality > 0 && slices.Contains(Languages, l) {
				candidates = append(candidates, candidate{l, quality})
			}
		}
		if len(candidates) > 0 {
			byQuality := func(a, b candidate) int { return cmp.Compare(a.quality, b.quality) }
			return slices.MaxFunc(candidates, byQuality).language // MaxFunc returns the first of several maximal elements
		}
	}
	return EN
}

// Text returns the text of a key. pairs are alternating names and values. Each {name} in the text is replaced by the value, but not inside
// other values. Text panics for an unknown key; tests use all keys.
func (l Language) Text(key string, pairs ...string) string {
	text, ok := catalogues[l][key]
	if !ok {
		panic(fmt.Sprintf("i18n: no text %q in %q", key, l))
	}
	replacements := slices.Clone(pairs)
	for i := 0; i < len(pairs); i += 2 {
		replacements[i] = "{" + pairs[i] + "}"
	}
	return strings.NewReplacer(replacements...).Replace(text)
}

// Time formats a date and time as is usual in the language: to the minute, in UTC, and with the abbreviation UTC.
func (l Language) Time(t time.Time) string {
	t = t.UTC()
	return l.Text("time", "day", strconv.Itoa(t.Day()), "month", l.Text("month."+strconv.Itoa(int(t.Month()))), "year", strconv.Itoa(t.Year()), "clock", t.Format("15:04"))
}

// Date formats a day, given as YYYY-MM-DD, as is usual in the language. It returns any other text unchanged.
func (l Language) Date(day string) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return l.Text("date", "day", strconv.Itoa(t.Day()), "month", l.Text("month."+strconv.Itoa(int(t.Month()))), "year", strconv.Itoa(t.Year()))
}

// Ordinal returns a positive number as a place in an order: 1st, 2nd, 3rd; in Portuguese 1.º.
func (l Language) Ordinal(n int) string {
	ending := "th"
	switch {
	case l == PT:
		ending = ".º"
	case n%100 >= 11 && n%100 <= 13:
	case n%10 >= 1 && n%10 <= 3:
		ending = []string{"st", "nd", "rd"}[n%10-1]
	}
	return strconv.Itoa(n) + ending
}

// Other returns Portuguese for English, and English for Portuguese.
func (l Language) Other() Language {
	if l == PT {
		return EN
	}
	return PT
}
