package pages

import "testing"

// Proves P-weight-order.
func TestRenderedPagesLoadScriptsLater(t *testing.T) {
	m := pageManifest{
		StartModule: "/assets/start-1.js", Scripts: []string{"/a.js", "/b.js"}, Languages: map[string][]string{"en": {"/en.js"}},
		Pages: []page{{Path: "/", Modules: []string{"/c.js"}}},
	}
	v := view{path: "/", language: "en"}
	if tags, preloads := m.scriptTags(v, true); tags != `<script type="module" crossorigin src="/assets/start-1.js" data-site="/a.js /b.js /en.js /c.js"></script>` || preloads != "" {
		t.Errorf("%s %s", tags, preloads)
	}
	tags, preloads := m.scriptTags(v, false)
	if tags != `<script type="module" crossorigin src="/a.js"></script><link rel="modulepreload" crossorigin href="/b.js">` ||
		preloads != `<link rel="modulepreload" crossorigin href="/en.js"><link rel="modulepreload" crossorigin href="/c.js">` {
		t.Errorf("%s %s", tags, preloads)
	}
}

func TestPatternsMatchOneSegmentOrNone(t *testing.T) {
	for path, want := range map[string]bool{
		"/gallery": true, "/gallery/mural": true, "/gallery/x y": true, "/gallery/": false, "/gallery/a/b": false, "/galleries": false, "/gallery/a/": false, "/": false,
	} {
		if got := matchesPattern("/gallery/:type?", path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
