package pages

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var (
	headTag   = regexp.MustCompile(`<(?:link|script)\b[^>]*>`)
	attribute = regexp.MustCompile(`([a-z-]+)(?:="([^"]*)")?`)
)

// earlyLinks reads what a head loads before anything else: module scripts, stylesheets and preloads, as values of Link
// (RFC 8288).
func earlyLinks(head []byte) (links []string) {
	for _, tag := range headTag.FindAllString(string(head), -1) {
		a, crossed := map[string]string{}, ""
		for _, m := range attribute.FindAllStringSubmatch(strings.TrimPrefix(tag, "<"), -1) {
			a[m[1]] = m[2]
			if m[1] == "crossorigin" {
				crossed = "; crossorigin"
			}
		}
		switch {
		case a["type"] == "module" && a["src"] != "":
			links = append(links, "<"+a["src"]+">; rel=modulepreload"+crossed)
		case a["href"] == "":
		case a["rel"] == "modulepreload":
			links = append(links, "<"+a["href"]+">; rel=modulepreload"+crossed)
		case a["rel"] == "stylesheet":
			links = append(links, "<"+a["href"]+">; rel=preload; as=style"+crossed)
		case a["rel"] == "preload" && a["as"] != "" && a["imagesrcset"] == "" && a["media"] == "":
			links = append(links, "<"+a["href"]+">; rel=preload; as="+a["as"]+crossed)
		}
	}
	return links
}

// hint sends 103 Early Hints (RFC 8297) while a page is being made. Browsers take them over HTTP/2 and newer alone, and
// what stands between over HTTP/1.1 may take them for the answer. A page from memory goes out at once instead.
func (s *Service) hint(w http.ResponseWriter, r *http.Request, v view) {
	if r.ProtoMajor < 2 || r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return
	}
	head, _, _ := bytes.Cut(s.shell, []byte(headEnd))
	head = append(slices.Clip(head), s.built.preloads(v.path, v.language)...)
	if s.draws(v) {
		head = s.built.afterPicture(head)
	}
	h := w.Header()
	if h["Link"] = earlyLinks(head); len(h["Link"]) > 0 {
		w.WriteHeader(http.StatusEarlyHints)
	}
	delete(h, "Link") // the page says it itself
}
