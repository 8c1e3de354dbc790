package pages

import (
	"strings"
	"testing"
	"testing/fstest"
)

// Proves P-weight-order.
func TestUrgentPicturePrecedesTheSheet(t *testing.T) {
	html := langMark + `><head>` + titleMark + `<noscript><style>b</style></noscript>` + scriptsMark + "\n" + sheetMark + `</head>` + rootMark + bootMark
	parsed, err := parseTemplate([]byte(html))
	if err != nil {
		t.Fatal(err)
	}
	got := string(parsed.fill(map[string]string{
		langMark: `<html lang="pt"`, titleMark: "<title>T</title>", scriptsMark: "S", sheetMark: "<link><style>a</style>", headEndMark: "P</head>", rootMark: "R", bootMark: "B",
	}))
	if want := `<html lang="pt"><head><title>T</title><noscript><style>b</style></noscript>S` + "\n" + `<link><style>a</style>P</head>RB`; got != want {
		t.Errorf("got %s", got)
	}
	for _, other := range []string{strings.Replace(html, sheetMark, "", 1), html + rootMark} {
		if _, err := parseTemplate([]byte(other)); err == nil {
			t.Errorf("accepted %s", other)
		}
	}
}

// Proves P-weight-sheet.
func TestSheetIsInlined(t *testing.T) {
	assets, err := readFiles(fstest.MapFS{"assets/a.css": {Data: []byte("b{c:d}\n")}, "assets/bad.css": {Data: []byte("b{c:'</STYLE>'}")}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := styleElement(assets, "/assets/a.css"); err != nil || got != "<style>b{c:d}</style>" {
		t.Errorf("got %q, error %v", got, err)
	}
	if got, err := styleElement(assets, ""); err != nil || got != "" {
		t.Errorf("without a sheet: %q, %v", got, err)
	}
	for _, sheet := range []string{"/assets/gone.css", "/assets/bad.css"} {
		if got, err := styleElement(assets, sheet); err == nil {
			t.Errorf("%s became %q", sheet, got)
		}
	}
}
