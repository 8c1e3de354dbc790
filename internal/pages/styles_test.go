package pages

import (
	"testing"
	"testing/fstest"
)

func TestStylesAreWrittenIntoTheShell(t *testing.T) {
	dist := fstest.MapFS{"assets/a.css": {Data: []byte("b{c:d}\n")}, "assets/bad.css": {Data: []byte("b{c:'</STYLE>'}")}}
	link := func(name string) string {
		return `  <link rel="stylesheet" crossorigin href="/assets/` + name + `">` + "\n"
	}
	got, err := withStyles([]byte("<head>\n"+link("a.css")+"</head>"), dist)
	if want := "<head>\n<style>b{c:d}</style>\n</head>"; err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if got, err := withStyles([]byte("<head></head>"), dist); err != nil || string(got) != "<head></head>" {
		t.Errorf("without a sheet: %q, %v", got, err)
	}
	for _, shell := range []string{link("a.css") + link("a.css"), link("gone.css"), link("bad.css")} {
		if got, err := withStyles([]byte(shell), dist); err == nil {
			t.Errorf("%s became %q", shell, got)
		}
	}
}
