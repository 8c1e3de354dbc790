package archive

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

var renderedPage = `<!doctype html><html lang="en"><head><title>T</title><meta property="og:url" content="https://a.example/">
<link rel="canonical" href="https://a.example/"><link rel="icon" href="/favicon.svg"><script type="module" src="/start.js"></script>
<style>@font-face{src:url(/fonts/a.woff2)}` + longCSS + `</style></head><body><!--$-->
<a id="home" href="/?lang=pt#about">Home</a><a id="all" href="https://a.example/gallery/all">All</a><a id="work" href="/gallery/all?art=00000000-0000-4000-8000-000000000001">W</a>
<a id="gone" href="/gallery/all?art=00000000-0000-4000-8000-000000000002">G</a><a id="admin" href="/admin">A</a><a id="out" href="https://other.example/x?a=1">O</a>
<a id="script" href="javascript:alert(1)">J</a><a id="mail" href="mailto:a@b.example">M</a><a id="main" href="#main">S</a>
<noscript data-plain=""><b>plain</b></noscript><noscript class="c"><i>classed</i></noscript><button type="button">no</button><button type="button" aria-haspopup="dialog"><span class="text-link">more</span></button>
<img id="p" alt="" srcset="/storage/v1/render/image/public/b/one.png?width=320&amp;v=1 320w,/storage/v1/render/image/public/b/one.png?width=640&amp;v=1 640w,/storage/v1/render/image/public/b/one.png?width=1200&amp;v=1 1200w" src="https://old.example/storage/v1/object/public/b/one.png">
<img id="original" alt="" src="https://old.example/storage/v1/object/public/b/two.png"><img id="missing" alt="" src="/storage/v1/object/public/b/none.png"><img id="foreign" alt="" src="https://other.example/x.png">
<form action="/functions/v1/x"><input></form><div role="list"></div></body></html>`

var longCSS = strings.Repeat("a{color:red}", 300)

// writeStatic writes a static copy of two pages, one of them the gallery in two parts.
func writeStatic(t *testing.T) (map[string]string, error) {
	t.Helper()
	const work = "00000000-0000-4000-8000-000000000001"
	cfg := Config{
		SiteURL: "https://a.example", APIURL: "https://a.example",
		Paths: func(context.Context) ([]string, error) { return []string{"/", "/gallery/all"}, nil },
		Render: func(_ context.Context, v View) ([]byte, int, error) {
			parts := 1
			if v.Path == "/gallery/all" && v.Work == "" {
				parts = 2
			}
			return []byte(strings.Replace(renderedPage, `lang="en"`, `lang="`+v.Language+`"`, 1)), parts, nil
		},
		Locate: func(_ context.Context, linked View) (View, bool, error) {
			return View{Path: "/gallery/all", Language: linked.Language, Work: work}, linked.Work == work, nil
		},
		Get: func(_ context.Context, target string) (Response, error) {
			switch {
			case strings.Contains(target, "none"):
				return Response{Status: 404}, nil
			case strings.Contains(target, "render"):
				return Response{Status: 200, ContentType: "image/webp", Body: []byte(target)}, nil
			}
			return Response{Status: 200, ContentType: "text/plain", Body: []byte(target)}, nil
		},
	}
	var b bytes.Buffer
	e := &exporter{Config: cfg, zip: zip.NewWriter(&b), workTitles: map[string]string{work: "Água"}, files: []File{
		{Bucket: "b", Name: "one.png", Path: "files/b/agua.png", PublicIsStripped: true}, {Bucket: "b", Name: "two.png", Path: "files/b/two.png"}}}
	if err := e.writePages(t.Context(), func(string, int, int) {}); err != nil {
		return nil, err
	}
	if err := e.zip.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range r.File {
		body, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(body)
		if err := errors.Join(err, body.Close()); err != nil {
			t.Fatal(err)
		}
		out[f.Name] = string(text)
	}
	if e.manifest.Pages != 7 || len(e.manifest.Entries) != len(out) {
		t.Errorf("%d pages, %d entries of %d", e.manifest.Pages, len(e.manifest.Entries), len(out))
	}
	return out, nil
}

func TestStaticCopyOfPages(t *testing.T) {
	out, err := writeStatic(t)
	if err != nil {
		t.Fatal(err)
	}
	page := out["site/works/agua.html"]
	for _, want := range []string{
		`id="home" href="../pt/index.html#about"`, `id="all" href="../gallery/all.html"`, `id="work" href="agua.html"`, `id="gone">`, `id="admin">`,
		`id="out" href="https://other.example/x?a=1"`, `id="script">`, `id="mail" href="mailto:a@b.example"`, `id="main" href="#main"`,
		`<b>plain</b>`, `<div class="c"><i>classed</i></div>`, `<div><span class="text-link" style="visibility:hidden">more</span></div>`,
		`srcset="../pictures/agua-640.webp 640w, ../pictures/agua-1200.webp 1200w" src="../pictures/agua-1200.webp"`,
		`id="original" alt="" src="../../files/b/two.png"`, `href="../assets/style.css"`, `href="../assets/favicon.svg"`, `This copy of the site cannot send messages.`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is not in\n%s", want, page)
		}
	}
	for _, not := range []string{"<script", "<noscript", "<form", "<button", "og:url", "canonical", "javascript:", "missing", "foreign", "<!--", `aria-current`} {
		if strings.Contains(page, not) {
			t.Errorf("%s is in\n%s", not, page)
		}
	}
	if css := out["site/assets/style.css"]; !strings.HasPrefix(css, "@font-face{src:url(a.woff2)}") || out["site/assets/a.woff2"] != "/fonts/a.woff2" {
		t.Errorf("style sheet %.60s, font %q", css, out["site/assets/a.woff2"])
	}
	for name, want := range map[string]string{
		"site/gallery/all.html":      `<a class="text-link" href="all.html" aria-label="Page 1" aria-current="page">1</a><a class="text-link" href="all-2.html" aria-label="Page 2">2</a></nav>`,
		"site/pt/gallery/all-2.html": `<a class="text-link" href="all-2.html" aria-label="Página 2" aria-current="page">2</a></nav>`,
	} {
		if !strings.Contains(out[name], want) {
			t.Errorf("%s: %s is not in\n%s", name, want, out[name])
		}
	}
	if again, err := writeStatic(t); err != nil || len(again) != len(out) || slices.ContainsFunc([]string{"site/index.html", "site/gallery/all.html"}, func(name string) bool { return again[name] != out[name] }) {
		t.Errorf("a second copy differs: %v", err)
	}
}
