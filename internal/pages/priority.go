package pages

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

var (
	scripts = regexp.MustCompile(`<(script type="module"|link rel="modulepreload")`)
	// The first picture as the components draw it: what phones get, then what all others get.
	cutHero = regexp.MustCompile(`<source media="([^"]+)" srcSet="([^"]+)" sizes="([^"]+)"[^>]*/><img srcSet="([^"]+)" sizes="([^"]+)"[^>]* fetchPriority="high"`)
)

// afterPicture lets scripts wait for what a visitor sees: on a page that stands there already they only make it move.
func afterPicture(page []byte) []byte {
	return scripts.ReplaceAll(page, []byte(`<$1 fetchpriority="low"`))
}

// urgentPicture names the picture that screens of different shapes are waiting for, so that it is asked for before the
// page has arrived. React does so itself for pictures that are the same on all screens.
func urgentPicture(drawn string) string {
	found := cutHero.FindStringSubmatch(drawn)
	if found == nil {
		return ""
	}
	var links strings.Builder
	for n, media := range []string{found[1], "not all and " + found[1]} {
		links.WriteString(`<link rel="preload" as="image" media="` + media + `" imagesrcset="` + found[2+2*n] + `" imagesizes="` + found[3+2*n] + `" fetchpriority="high">`)
	}
	return links.String()
}

// withUrgent puts links before the sheet, which is ten times as long as all that stands before it. What stands in a noscript
// element before it is another style.
func withUrgent(page []byte, links string) []byte {
	head := bytes.Index(page, []byte(headEnd))
	at := bytes.LastIndex(page[:head], []byte("<style>"))
	if last := bytes.LastIndex(page[:head], []byte("</noscript>")); at <= last {
		at = head
	}
	return slices.Concat(page[:at], []byte(links), page[at:])
}
