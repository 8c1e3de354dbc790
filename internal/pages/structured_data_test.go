package pages

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/i18n"
	"atelie/internal/settings"
	"atelie/internal/settings/settingstest"
)

// schema describes how the site uses a type of schema.org: which properties are required, and for each property a function that checks its
// value. A type that occurs only as the value of a property is checked by the function of that property.
type schema struct {
	required   []string
	properties map[string]func(any) bool
}

// text reports whether v is a text that is not empty and has no spaces around it. The functions below check other kinds of values.
func text(v any) bool { s, ok := v.(string); return ok && strings.TrimSpace(s) == s && s != "" }

func absoluteURL(v any) bool {
	s, ok := v.(string)
	u, err := url.Parse(s)
	return ok && err == nil && u.Scheme == "https" && u.Host == "a.example"
}

func anyURL(v any) bool {
	s, ok := v.(string)
	u, err := url.Parse(s)
	return ok && err == nil && u.Scheme == "https" && u.Host != ""
}

func date(v any) bool {
	s, ok := v.(string)
	_, err := time.Parse(time.DateOnly, s)
	return ok && err == nil
}

func language(v any) bool {
	s, ok := v.(string)
	return ok && slices.Contains(i18n.Languages, i18n.Language(s))
}

func reference(v any) bool {
	m, ok := v.(map[string]any)
	return ok && len(m) == 1 && absoluteURL(m["@id"])
}

func oneOrMore(one func(any) bool) func(any) bool {
	return func(v any) bool {
		list, ok := v.([]any)
		if !ok {
			return one(v)
		}
		return len(list) > 0 && !slices.ContainsFunc(list, func(v any) bool { return !one(v) })
	}
}

var schemas map[string]schema

func init() { // not a declaration with a value, because the checks of ImageGallery refer to schemas
	schemas = map[string]schema{
		"Person": {[]string{"@id", "name", "url"}, map[string]func(any) bool{
			"@id": absoluteURL, "name": text, "url": absoluteURL, "image": absoluteURL, "description": text, "sameAs": oneOrMore(anyURL),
		}},
		"WebSite": {[]string{"@id", "name", "url", "publisher", "inLanguage"}, map[string]func(any) bool{
			"@id": absoluteURL, "name": text, "url": absoluteURL, "publisher": reference, "inLanguage": oneOrMore(language),
		}},
		"VisualArtwork": {[]string{"@id", "name", "url", "creator"}, map[string]func(any) bool{
			"@id": absoluteURL, "name": text, "url": absoluteURL, "creator": reference, "image": oneOrMore(absoluteURL), "description": text, "artform": text, "artMedium": text,
			"size": text, "dateCreated": date, "keywords": text, "mainEntityOfPage": absoluteURL, "isPartOf": reference,
		}},
		"ImageGallery": {[]string{"@id", "name", "url", "author", "isPartOf", "inLanguage"}, map[string]func(any) bool{
			"@id": absoluteURL, "name": text, "url": absoluteURL, "description": text, "inLanguage": language, "author": reference, "isPartOf": reference,
			"hasPart": oneOrMore(func(v any) bool { return misfit(v) == "" }),
		}},
	}
}

// misfit returns what is wrong with a node, or "".
func misfit(v any) string {
	node, ok := v.(map[string]any)
	kind, _ := node["@type"].(string)
	s, known := schemas[kind]
	if !ok || !known {
		return "not a node of a kind that we use"
	}
	for _, name := range s.required {
		if node[name] == nil {
			return kind + " without " + name
		}
	}
	for name, value := range node {
		if name == "@type" {
			continue
		}
		if fits := s.properties[name]; fits == nil || !fits(value) {
			return kind + " with a wrong " + name
		}
	}
	return ""
}

// graphOf parses the only block of structured data of a page.
func graphOf(t *testing.T, page string) (nodes []map[string]any) {
	t.Helper()
	_, rest, ok := strings.Cut(page, `<script type="application/ld+json">`)
	block, _, closed := strings.Cut(rest, "</script>")
	var document struct {
		Context string           `json:"@context"`
		Graph   []map[string]any `json:"@graph"`
	}
	if err := json.Unmarshal([]byte(block), &document); err != nil || !ok || !closed || strings.Contains(block, "<") || document.Context != "https://schema.org" || strings.Count(page, "ld+json") != 1 {
		t.Fatalf("%v: %s", err, block)
	}
	return document.Graph
}

// Proves P-found-data.
func TestStructuredDataFollowsItsSchemas(t *testing.T) {
	s := newServiceWith(t, dbtest.Open(t, db.SQLite), newFakeContent())
	site := settings.Site{Name: "Alvor", Portrait: "/known/me.jpg", Instagram: "@alvor", Facebook: "https://www.facebook.com/alvor"}
	if err := settingstest.SaveSite(t.Context(), s.db, site, day); err != nil {
		t.Fatal(err)
	}
	for path, kinds := range map[string]string{
		"/": "Person WebSite", "/politica-privacidade": "Person WebSite", "/gallery": "Person WebSite ImageGallery", "/gallery/mural": "Person WebSite ImageGallery",
		"/gallery/mural?art=" + workID(1): "Person WebSite VisualArtwork", "/gallery/all?art=" + workID(4): "Person WebSite VisualArtwork",
	} {
		for _, l := range i18n.Languages {
			page := fetch(t, s.Page, localizePath(path, l))
			var got []string
			for _, node := range graphOf(t, page) {
				got = append(got, node["@type"].(string))
				if problem := misfit(node); problem != "" {
					t.Errorf("%s %s: %s: %v", l, path, problem, node)
				}
			}
			if strings.Join(got, " ") != kinds {
				t.Errorf("%s %s: %q", l, path, got)
			}
			head, _, _ := strings.Cut(page, `id="boot"`) // the rows after it may have any text
			for _, never := range []string{"Offer", "offers", "price", "0001-01-01"} {
				if strings.Contains(head, never) {
					t.Errorf("%s %s holds %s", l, path, never)
				}
			}
		}
	}
	nodes := graphOf(t, fetch(t, s.Page, "/gallery/mural?lang=pt&art="+workID(1)))
	person, artwork := nodes[0], nodes[2]
	for name, want := range map[string]string{
		"name": "Sol de inverno", "description": "A street that faces north.", "artform": "Mural", "artMedium": "Acrylic on plaster", "size": "14 × 7 m", "dateCreated": "2025-09-02", "keywords": "sun, street",
		"url": "https://a.example/gallery/mural?art=" + workID(1) + "&lang=pt", "@id": "https://a.example/gallery/mural?art=" + workID(1),
	} {
		if artwork[name] != want {
			t.Errorf("%s is %v", name, artwork[name])
		}
	}
	if images, _ := artwork["image"].([]any); len(images) != 2 || images[0] != "https://a.example/large/known/sol.jpg" || images[1] != "https://a.example/large/known/near.jpg" {
		t.Errorf("images %v", artwork["image"])
	}
	if links, _ := person["sameAs"].([]any); len(links) != 2 || links[0] != "https://www.instagram.com/alvor" || links[1] != "https://www.facebook.com/alvor" || person["image"] != "https://a.example/large/known/me.jpg" {
		t.Errorf("artist %v", person)
	}
	if works, _ := graphOf(t, fetch(t, s.Page, "/gallery"))[2]["hasPart"].([]any); len(works) != 3 || works[0].(map[string]any)["name"] != "Untitled" {
		t.Errorf("works %v", works)
	}
}

// Proves P-found-data.
//
// A gallery of thousands of works does not make its page large.
func TestStructuredDataOfAGalleryIsBounded(t *testing.T) {
	many := &fakeContent{}
	for n := range 100 {
		many.works = append(many.works, work{ID: workID(n), Title: "W", Type: "mural", CreatedAt: day.Add(time.Duration(n) * time.Hour)})
	}
	s := newServiceWith(t, dbtest.Open(t, db.SQLite), many)
	if works := graphOf(t, fetch(t, s.Page, "/gallery/mural"))[2]["hasPart"].([]any); len(works) != worksInData || !strings.HasSuffix(works[0].(map[string]any)["@id"].(string), workID(99)) {
		t.Errorf("%d works, the first %v", len(works), works[0])
	}
}
