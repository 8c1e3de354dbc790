package pages

import (
	"testing"
	"testing/fstest"
)

func TestStylesAreWrittenIntoTheShell(t *testing.T) {
	assets, err := readFiles(fstest.MapFS{"assets/a.css": {Data: []byte("b{c:d}\n")}, "assets/bad.css": {Data: []byte("b{c:'</STYLE>'}")}})
	if err != nil {
		t.Fatal(err)
	}
	s := &Service{assets: assets}
	link := func(name string) string {
		return `  <link rel="stylesheet" crossorigin href="/assets/` + name + `">` + "\n"
	}
	got, err := s.withStyles([]byte("<head>\n" + link("a.css") + "</head>"))
	if want := "<head>\n<style>b{c:d}</style>\n</head>"; err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if got, err := s.withStyles([]byte("<head></head>")); err != nil || string(got) != "<head></head>" {
		t.Errorf("without a sheet: %q, %v", got, err)
	}
	for _, shell := range []string{link("a.css") + link("a.css"), link("gone.css"), link("bad.css")} {
		if got, err := s.withStyles([]byte(shell)); err == nil {
			t.Errorf("%s became %q", shell, got)
		}
	}
}
