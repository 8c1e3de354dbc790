package i18n

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var placeholder = regexp.MustCompile(`\{\w+\}`)

// placeholders returns the names in braces in a text, sorted and without duplicates.
func placeholders(text string) []string {
	found := placeholder.FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// Proves A-mail-1.
func TestBothCataloguesAreComplete(t *testing.T) {
	for _, l := range Languages {
		for key, text := range catalogues[l] {
			if text == "" || strings.TrimSpace(text) != text {
				t.Errorf("%s: %s is empty or has spaces around it", l, key)
			}
			if strings.ContainsAny(text, "<>\n") {
				t.Errorf("%s: %s: texts are plain, one line", l, key)
			}
			for _, other := range Languages {
				translated, ok := catalogues[other][key]
				if !ok {
					t.Errorf("%s has no %s", other, key)
				} else if !slices.Equal(placeholders(text), placeholders(translated)) {
					t.Errorf("%s: %s and %s name different values: %q, %q", key, l, other, text, translated)
				}
			}
		}
	}
}

// TestNoDuplicateKeys reads the keys itself, because encoding/json accepts a repeated key, and keeps the last value.
func TestNoDuplicateKeys(t *testing.T) {
	for _, l := range Languages {
		data, err := files.ReadFile(string(l) + ".json")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		d := json.NewDecoder(bytes.NewReader(data))
		if _, err := d.Token(); err != nil {
			t.Fatal(err)
		}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.Token(); err != nil {
				t.Fatal(err)
			}
			if seen[key.(string)] {
				t.Errorf("%s: %s is repeated", l, key)
			}
			seen[key.(string)] = true
		}
		if len(seen) != len(catalogues[l]) {
			t.Errorf("%s: read %d keys of %d", l, len(seen), len(catalogues[l]))
		}
	}
}

// The texts have no exclamation marks, no subject "tu" or "você", no "a carregar", and European spelling.
func TestWordingRules(t *testing.T) {
	for _, l := range Languages {
		for key, text := range catalogues[l] {
			if strings.Contains(text, "!") && key != "contact.success.title" && key != "notFound.title" { // required wording
				t.Errorf("%s %s shouts: %q", l, key, text)
			}
		}
	}
	wrong := regexp.MustCompile(`(?i)\b(tu|você|vocês|teu|tua|clique|usuário|password|login|salvar|deletar)\b`)
	for key, text := range catalogues[PT] {
		if wrong.MatchString(text) {
			t.Errorf("pt %s: %q", key, text)
		}
	}
}

// Proves A-mail-3.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		wishes []string
		want   Language
	}{
		{nil, EN},
		{[]string{"", "pt-PT,pt;q=0.9,en;q=0.8"}, PT},
		{[]string{"pt_BR"}, PT},
		{[]string{"PT"}, PT},
		{[]string{"en", "pt"}, EN},
		{[]string{"fr-FR", "pt"}, PT},
		{[]string{"fr, en;q=0.2, pt;q=0.7"}, PT},
		{[]string{"pt;q=0, en;q=0.1"}, EN},
		{[]string{"pt;q=x"}, EN},
		{[]string{"*", "de;q=0.4"}, EN},
		{[]string{"ptolemaic"}, EN},
		{[]string{strings.Repeat("pt,", 1000)}, EN},
		{[]string{"\x00\r\n", "{pt}"}, EN},
	} {
		if got := Choose(c.wishes...); got != c.want {
			t.Errorf("%q: got %s", c.wishes, got)
		}
	}
}

func TestTextAndTime(t *testing.T) {
	at := time.Date(2026, 3, 9, 23, 5, 59, 0, time.FixedZone("", -3600))
	if got := EN.Time(at); got != "10 March 2026, 00:05 UTC" {
		t.Error(got)
	}
	if got := PT.Time(at); got != "10 de março de 2026, 00:05 UTC" {
		t.Error(got)
	}
	if got := EN.Date("2026-03-09") + " " + PT.Date("2026-12-24") + EN.Date(""); got != "9 March 2026 24 de dezembro de 2026" {
		t.Error(got)
	}
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 102: "102nd", 111: "111th"} {
		if got := EN.Ordinal(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	if got := PT.Ordinal(3); got != "3.º" {
		t.Error(got)
	}
	for m := range 12 {
		for _, l := range Languages {
			if got := l.Time(time.Date(2026, time.Month(m+1), 1, 0, 0, 0, 0, time.UTC)); strings.Contains(got, "{") {
				t.Error(got)
			}
		}
	}
	// A value that looks like a placeholder is not replaced.
	if got := EN.Text("sms.code", "code", "{site}", "site", "Alvor"); got != "{site} is your code for Alvor. Share it with nobody." {
		t.Error(got)
	}
	defer func() {
		if recover() == nil {
			t.Error("an unknown key must not pass")
		}
	}()
	EN.Text("no.such.key")
}
