package pages

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	siteScript = regexp.MustCompile(`<(?:script type="module"|link rel="modulepreload")[^>]* (?:src|href)="(/[^"]+)">(?:</script>)?`)
	// The first picture as the components draw it: what phones get, then what all others get.
	cutHero = regexp.MustCompile(`<source media="([^"]+)" srcSet="([^"]+)" sizes="([^"]+)"[^>]*/><img srcSet="([^"]+)" sizes="([^"]+)"[^>]* fetchPriority="high"`)
)

// afterPicture lets scripts wait for what a visitor sees: on a page that stands there already they only make it move. In
// their place comes start.ts, which asks for them once the first pictures are painted; the entry is the first of them.
func (m manifest) afterPicture(page []byte) []byte {
	var site [][]byte
	for _, script := range siteScript.FindAllSubmatch(page, -1) {
		site = append(site, script[1])
	}
	if site == nil {
		return page
	}
	start := fmt.Appendf(nil, `<script type="module" crossorigin src="/%s" data-site="%s"></script>`, m[startModule].File, bytes.Join(site, []byte(" ")))
	return siteScript.ReplaceAllFunc(page, func([]byte) []byte {
		defer func() { start = nil }()
		return start
	})
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
