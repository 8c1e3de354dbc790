package tables

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// This file parses, checks and encodes the alternative texts of pictures (what a picture shows, in words).

// altTexts maps the URL of each picture to the picture's texts by language (en, pt). It contains neither empty texts nor pictures without a
// text. It is the Go type of the values in columns of the kind AltTexts (see schema.go). The database stores the JSON that encode returns,
// such as {"https://…/a.jpg":{"en":"A boat","pt":"Um barco"}}.
type altTexts map[string]map[string]string

// altLanguages are the languages of alternative texts, in the order in which encode writes them.
var altLanguages = []string{"en", "pt"}

// altTextsFromJSON converts a decoded JSON value to altTexts. If there are no texts, it returns nil, which is stored as NULL. The result has
// the type any so that this nil is a nil interface. v can also be a string that contains the JSON. The column is a text column, so revisions
// (rows as they were before a change) have such strings.
func altTextsFromJSON(v any) (any, error) {
	if text, ok := v.(string); ok {
		decoded, err := decodeJSON([]byte(text))
		if err != nil {
			return nil, errBadValue(AltTexts, text).Because(err)
		}
		v = decoded
	}
	if v == nil {
		return nil, nil
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, errAltTexts(v, "it must be an object with the URLs of pictures as keys")
	}
	all := altTexts{}
	for url, texts := range object {
		byLanguage, ok := texts.(map[string]any)
		if !ok {
			return nil, errAltTexts(texts, "the texts of a picture must be an object with the keys en and pt")
		}
		for language, text := range byLanguage {
			text, ok := text.(string)
			if !ok || !slices.Contains(altLanguages, language) {
				return nil, errAltTexts(byLanguage, "the texts of a picture must be an object with the keys en and pt, and texts as values")
			}
			if err := checkText("A text", url+text); err != nil { // one call checks both the URL and the text
				return nil, err
			}
			if strings.TrimSpace(text) == "" {
				continue
			}
			if all[url] == nil {
				all[url] = map[string]string{}
			}
			all[url][language] = text
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, nil
}

func errAltTexts(v any, details string) error {
	text, err := json.Marshal(v)
	if err != nil {
		return errBadValue(AltTexts, "").Because(err)
	}
	return withDetails(errBadValue(AltTexts, string(text)), "%s", details)
}

// check returns an error if there are too many texts, or one is too long.
func (a altTexts) check(c *Column) error {
	if len(a) > c.MaxItems {
		return errTooLong(c, fmt.Sprintf("%s may have at most %d pictures", c.Name, c.MaxItems))
	}
	for url, texts := range a {
		if utf8.RuneCountInString(url) > maxAddress {
			return errTooLong(c, fmt.Sprintf("a URL in %s may have at most %d characters", c.Name, maxAddress))
		}
		for _, text := range texts {
			if utf8.RuneCountInString(text) > c.MaxLen {
				return errTooLong(c, fmt.Sprintf("a text in %s may have at most %d characters", c.Name, c.MaxLen))
			}
		}
	}
	return nil
}

// encode writes the texts as JSON, sorted by URL.
func (a altTexts) encode() string {
	var pictures []string
	for _, url := range slices.Sorted(maps.Keys(a)) {
		var texts []string
		for _, language := range altLanguages {
			if text := a[url][language]; text != "" {
				texts = append(texts, jsonText(language)+":"+jsonText(text))
			}
		}
		pictures = append(pictures, jsonText(url)+":{"+strings.Join(texts, ",")+"}")
	}
	return "{" + strings.Join(pictures, ",") + "}"
}
