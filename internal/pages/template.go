package pages

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// This file splits index.html at the places where the server inserts content, and fills these places for each page.

// The marks in the built index.html. For each page the server replaces a mark with a text for this page, such as headEndMark with the
// page's meta tags and </head>. The build puts scriptsMark and sheetMark where the entry module and the style sheet were
// (web/vite.config.ts).
const (
	langMark    = `<html lang="en"`
	titleMark   = `<title>Ateliê</title>`
	scriptsMark = `<!--scripts-->`
	sheetMark   = `<!--sheet-->`
	headEndMark = `</head>`
	rootMark    = `<div id="root"></div>`
	bootMark    = `<script type="application/json" id="boot">{}</script>`
)

// pageTemplate is index.html, split at its marks, so that the marks are searched only once for all pages.
type pageTemplate []segment

// segment is a part of index.html and the mark that follows it. The last segment has the mark "".
type segment struct {
	text []byte
	mark string
}

// parseTemplate splits index.html at its marks. It returns an error unless each mark occurs exactly once.
func parseTemplate(html []byte) (pageTemplate, error) {
	markAt := map[int]string{} // by offset in html
	for _, mark := range []string{langMark, titleMark, scriptsMark, sheetMark, headEndMark, rootMark, bootMark} {
		if bytes.Count(html, []byte(mark)) != 1 {
			return nil, fmt.Errorf("index.html must contain %q exactly once", mark)
		}
		markAt[bytes.Index(html, []byte(mark))] = mark
	}
	var t pageTemplate
	from := 0
	for _, i := range slices.Sorted(maps.Keys(markAt)) {
		t = append(t, segment{html[from:i], markAt[i]})
		from = i + len(markAt[i])
	}
	return append(t, segment{text: html[from:]}), nil
}

// fill returns a page: the template with each mark replaced by its value in values. A mark without a value is removed.
func (t pageTemplate) fill(values map[string]string) []byte {
	var page bytes.Buffer
	for _, s := range t {
		page.Write(s.text)
		page.WriteString(values[s.mark])
	}
	return page.Bytes()
}

// styleElement returns a style element with the content of the style sheet at the path sheet, so that the browser can paint after a
// single response. It returns "" if sheet is "".
func styleElement(assets map[string]*file, sheet string) (string, error) {
	if sheet == "" {
		return "", nil
	}
	file := assets[sheet[1:]]
	if file == nil {
		return "", fmt.Errorf("the site has no style sheet %s", sheet)
	}
	b, err := file.loadBody()
	if err != nil {
		return "", err
	}
	text := bytes.TrimSpace(b.plain())
	if bytes.Contains(bytes.ToLower(text), []byte("</style")) {
		return "", errors.New("the site's style sheet contains </style, which would end its element")
	}
	return "<style>" + string(text) + "</style>", nil
}
