package app

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/settings"
	"atelie/internal/settings/settingstest"
)

// hostileTexts are titles that try to inject markup into a page. They contain no NUL, because databases refuse it.
var hostileTexts = []string{
	`</script><img src=x onerror=alert(1)>`,
	`"></title><script>alert(1)</script><!--`,
	`' onload='alert(1)`,
	"\u202egnp.live\u202c \u2067אבג\u2069 \u200f!",
	strings.Repeat("🎨", 200),
	"a\x01b\x08c\x1b[2Jd\x7f",
	"]]></title><x xmlns=\"urn:y\">&lol;<![CDATA[",
	"one\u2028two\u2029three\ufffe\uffff",
	"{{.Site}} ${alert(1)} %s",
}

// elements parses an HTML document. It returns the number of elements of each name, the title, and the harmful tags: those with an event
// handler, with a javascript: URL or with the src of hostileTexts.
func elements(t *testing.T, document string) (counts map[string]int, title string, harmful []string) {
	t.Helper()
	counts = map[string]int{}
	z := html.NewTokenizer(strings.NewReader(document))
	last := ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) {
				t.Fatal(z.Err())
			}
			return counts, title, harmful
		case html.TextToken:
			if last == "title" {
				title += string(z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			last = token.Data
			counts[last]++
			for _, a := range token.Attr {
				if strings.HasPrefix(a.Key, "on") || strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") || (a.Key == "src" && a.Val == "x") {
					harmful = append(harmful, token.String())
				}
			}
		case html.EndTagToken:
			last = ""
		}
	}
}

// withoutRendering makes browsers render the pages, because server rendering takes seconds with the race detector. internal/pages has
// tests of rendered pages.
func withoutRendering(t *testing.T, a *App) {
	t.Helper()
	if err := a.pages.Close(); err != nil {
		t.Fatal(err)
	}
}

// Proves P-found-hostile.
//
// Page, boot data, structured data, feed and sitemap contain any title as text only. Mails have their own test (internal/mail).
func TestHostileTitlesAreEscaped(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newApp(t, dialect)
			withoutRendering(t, a)
			service := identity.Caller{Role: identity.Service}
			var rows []map[string]any
			for i, text := range hostileTexts {
				rows = append(rows, map[string]any{"id": workID(i), "title": text, "description": text + "\n" + text, "artwork_type": "mural", "medium": line200(text), "dimensions": line200(text),
					"seo_meta_desc": text, "tags": []string{"x"}, "image_url": "/storage/v1/object/public/product-images/" + text, "created_at": time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC)})
			}
			if err := a.Tables.InsertRows(t.Context(), service, "products", rows); err != nil {
				t.Fatal(err)
			}
			clean, _, _ := elements(t, sendRequest(a, "GET", "/gallery/mural", "").Body.String())
			for i, text := range hostileTexts {
				site := settings.Site{Name: "Alvor " + line200(text), PrivacySince: "2026-01-01", Texts: settings.SiteTexts{EN: settings.Texts{AboutTitle: text, AboutDescription: text}}}
				if err := settingstest.SaveSite(t.Context(), a.DB, site, time.Now()); err != nil {
					t.Fatal(err)
				}
				for _, target := range []string{"/", "/gallery/mural", "/politica-privacidade?lang=pt", "/gallery/mural?art=" + workID(i), "/nope"} {
					page := sendRequest(a, "GET", target, "").Body.String()
					names, title, harmful := elements(t, page)
					if len(harmful) > 0 || names["x"] > 0 || names["title"] != 1 || names["script"] > clean["script"] || names["body"] != 1 {
						t.Errorf("%q at %s: %v %v", text, target, harmful, names)
					}
					if !strings.Contains(title, "Alvor") || strings.ContainsAny(title, "\u202e\u2067\u2028\x01\x08\x1b") {
						t.Errorf("%q at %s: title %q", text, target, title)
					}
					for _, kind := range []string{"ld+json", "json"} {
						_, rest, ok := strings.Cut(page, `<script type="application/`+kind+`"`)
						if !ok && target == "/nope" && kind == "ld+json" {
							continue
						}
						_, rest, _ = strings.Cut(rest, ">")
						block, _, _ := strings.Cut(rest, "</script>")
						if !ok || !json.Valid([]byte(block)) || strings.ContainsAny(block, "<\u2028\u2029") {
							t.Errorf("%q at %s: %s %s", text, target, kind, block)
						}
					}
				}
				for _, target := range []string{"/feed.xml", "/sitemap.xml", "/site.webmanifest"} {
					checkGenerated(t, text, target, sendRequest(a, "GET", target, "").Body.String())
				}
			}
		})
	}
}

func checkGenerated(t *testing.T, text, target, document string) {
	t.Helper()
	if target == "/site.webmanifest" {
		if !json.Valid([]byte(document)) {
			t.Errorf("%q: %s", text, document)
		}
		return
	}
	allowed := " urlset url loc lastmod link image feed id title subtitle updated icon author name uri entry published summary content "
	var content strings.Builder
	d := xml.NewDecoder(strings.NewReader(document)) // strict: it rejects characters and entities that XML does not have
	inside := ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%q: %s: %v", text, target, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if inside = token.Name.Local; !strings.Contains(allowed, " "+inside+" ") {
				t.Errorf("%q: %s holds <%s>", text, target, inside)
			}
		case xml.EndElement:
			inside = ""
		case xml.CharData:
			if inside == "content" {
				content.Write(token)
			}
		}
	}
	if names, _, harmful := elements(t, content.String()); len(harmful) > 0 || names["script"]+names["x"]+names["title"] > 0 {
		t.Errorf("%q: %s shows %v %v", text, target, names, harmful)
	}
}

func workID(n int) string { return "00000000-0000-4000-8000-00000000010" + string(rune('0'+n)) }

func line200(text string) string {
	runes := []rune(text)
	return string(runes[:min(60, len(runes))])
}

// Proves P-found-art, P-found-hidden.
//
// Search engines and link previews get the same content as visitors: no hidden covers, and no works of types that the gallery does not
// show.
func TestHiddenContentIsNotFound(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newApp(t, dialect)
			withoutRendering(t, a)
			service := identity.Caller{Role: identity.Service}
			const file = "/storage/v1/object/public/cover-images/"
			for table, rows := range map[string][]map[string]any{
				"cover_images":        {{"image_url": file + "secret.jpg", "title": "Secret cover", "is_active": false, "display_order": 1}},
				"products":            {{"id": workID(0), "title": "Secret oil", "artwork_type": "oil"}, {"id": workID(1), "title": "Wall", "artwork_type": "mural"}},
				"reviews":             {{"client_name": "Secret client", "message": "Secret words", "is_active": false}},
				"contact_submissions": {{"name": "Secret sender", "email": "secret@example.com", "message": "Secret message"}},
			} {
				if err := a.Tables.InsertRows(t.Context(), service, table, rows); err != nil {
					t.Fatal(err)
				}
			}
			for target, status := range map[string]int{
				"/": 200, "/gallery": 200, "/gallery/oil?art=" + workID(0): 404, "/gallery/all?art=" + workID(0): 404, "/feed.xml": 200, "/sitemap.xml": 200, "/site.webmanifest": 200, "/politica-privacidade": 200,
			} {
				rec := sendRequest(a, "GET", target, "")
				if text := strings.ToLower(rec.Body.String()); rec.Code != status || strings.Contains(text, "secret") || strings.Contains(text, workID(0)) {
					t.Errorf("%s: %d %s", target, rec.Code, text)
				}
			}
			if feed := sendRequest(a, "GET", "/feed.xml", "").Body.String(); !strings.Contains(feed, "<title>Wall</title>") {
				t.Error(feed)
			}
			for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
				for _, target := range []string{"/robots.txt", "/feed.xml", "/sitemap.xml", "/site.webmanifest"} {
					if rec := sendRequest(a, method, target, ""); rec.Code != 405 || rec.Header().Get("Allow") != "GET, HEAD" {
						t.Errorf("%s %s: %d", method, target, rec.Code)
					}
				}
			}
		})
	}
}
