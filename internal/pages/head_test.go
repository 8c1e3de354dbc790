package pages

import (
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/i18n"
	"atelie/internal/settings"
	"atelie/internal/settings/settingstest"
)

var (
	titleTag = regexp.MustCompile(`<title>([^<]*)</title>`)
	metaTag  = regexp.MustCompile(`<meta (?:name|property)="([^"]+)" content="([^"]*)">`)
	linkTag  = regexp.MustCompile(`<link rel="([^"]+)"(?: hreflang="([^"]+)")?(?: type="[^"]+" title="[^"]+")? href="([^"]+)">`)
)

// headOf parses the head of a page: its title, the meta tags by name, and the links by "rel hreflang".
func headOf(t *testing.T, page string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, m := range titleTag.FindAllStringSubmatch(page, -1) {
		out["title"] += html.UnescapeString(m[1])
	}
	for _, m := range metaTag.FindAllStringSubmatch(page, -1) {
		if _, twice := out[m[1]]; twice {
			t.Errorf("%s occurs twice", m[1])
		}
		out[m[1]] = html.UnescapeString(m[2])
	}
	for _, m := range linkTag.FindAllStringSubmatch(page, -1) {
		out[strings.TrimSpace(m[1]+" "+m[2])] += html.UnescapeString(m[3])
	}
	return out
}

// Proves P-found-title, P-found-description, P-found-canonical, P-found-home, P-found-language, P-found-art, P-found-picture-of.
func TestTheHeadOfEveryPage(t *testing.T) {
	s := newServiceWith(t, dbtest.Open(t, db.SQLite), newFakeContent())
	site := settings.Site{Name: "Alvor", Portrait: "/known/me.jpg", Texts: settings.SiteTexts{EN: settings.Texts{AboutDescription: "I paint " + strings.Repeat("walls and houses ", 12)}, PT: settings.Texts{AboutTitle: "Pinto"}}}
	if err := settingstest.SaveSite(t.Context(), s.db, site, day); err != nil {
		t.Fatal(err)
	}
	const root = "https://a.example"
	firstWork := "art=" + workID(1) // the parameter of its URLs
	for _, c := range []struct{ target, path, title, description, picture, alt string }{
		{"/", "/", "Alvor", "I paint walls and houses walls", "/share/known/cover.jpg", "A cover, Alvor"},
		{"/?utm_source=x&fbclid=y", "/", "Alvor", "I paint", "/share/known/cover.jpg", ""},
		{"/?" + firstWork, "/gallery/mural?" + firstWork, "Winter sun · Alvor", "The owner's own words.", "/share/known/sol.jpg", ""}, // featured
		{"/gallery", "/gallery/all", "Gallery · Alvor", "Digital paintings, murals and watercolours by Alvor. I paint walls", "/share/known/film.mp4", "Untitled, Digital Painting"},
		{"/gallery/", "/gallery/all", "Gallery · Alvor", "Digital paintings", "/share/known/film.mp4", ""},
		{"/gallery/sculpture", "/gallery/all", "Gallery · Alvor", "Digital paintings", "/share/known/film.mp4", ""},
		{"/gallery/mural", "/gallery/mural", "Mural · Gallery · Alvor", "Murals by Alvor. I paint walls", "/share/known/sol.jpg", "Sol de inverno, Acrylic on plaster"},
		{"/gallery/watercolour", "/gallery/watercolour", "Watercolour · Gallery · Alvor", "Watercolours by Alvor. I paint", "/share/known/cover.jpg", ""}, // its only work has no picture
		{"/gallery/mural?" + firstWork, "/gallery/mural?" + firstWork, "Winter sun · Alvor", "The owner's own words.", "/share/known/sol.jpg", "Sol de inverno, Acrylic on plaster"},
		{"/gallery?x=1&" + strings.ToUpper(firstWork[4:]) + "&" + firstWork, "/gallery/mural?" + firstWork, "Winter sun · Alvor", "The owner's own words.", "/share/known/sol.jpg", ""},
		{"/gallery/all?art=" + workID(2), "/gallery/watercolour?art=" + workID(2), "Serra · Alvor", "Serra · Watercolour · 46 × 61 cm", "/icon-512.png", "Alvor"},
		{"/gallery/digital?art=" + workID(4), "/gallery/digital?art=" + workID(4), "Untitled · Alvor", "Untitled · Digital Painting", "/share/known/film.mp4", ""},
		{"/politica-privacidade", "/politica-privacidade", "Política de Privacidade · Alvor", "Que dados Alvor guarda", "/share/known/cover.jpg", ""},
	} {
		for _, l := range i18n.Languages {
			target := c.target
			if l == i18n.PT {
				target = localizePath(target, l)
			}
			h := headOf(t, fetch(t, s.Page, target))
			if l == i18n.EN && (h["title"] != c.title || !strings.HasPrefix(h["description"], c.description) || c.alt != "" && h["og:image:alt"] != c.alt) {
				t.Errorf("%s: %q %q %q", target, h["title"], h["description"], h["og:image:alt"])
			}
			want := map[string]string{
				"canonical": root + localizePath(c.path, l), "og:url": root + localizePath(c.path, l),
				"alternate en": root + c.path, "alternate pt": root + localizePath(c.path, i18n.PT), "alternate x-default": root + c.path, "alternate": localizePath("/feed.xml", l),
				"og:image": root + c.picture, "twitter:image": root + c.picture, "manifest": localizePath("/site.webmanifest", l), "apple-touch-icon": "/apple-touch-icon.png", "robots": "",
			}
			for name, value := range want {
				if h[name] != value {
					t.Errorf("%s: %s is %q, not %q", target, name, h[name], value)
				}
			}
			if n := len([]rune(h["description"])); n == 0 || n > descriptionLength || strings.Contains(h["description"], "\n") {
				t.Errorf("%s: a description of %d characters: %q", target, n, h["description"])
			}
		}
	}
	for target, title := range map[string]string{
		"/gallery/mural?lang=pt":            "Mural · Galeria · Alvor",
		"/politica-privacidade?lang=pt":     "Política de Privacidade · Alvor",
		"/gallery?lang=pt&art=" + workID(4): "Sem título · Alvor",
		"/nope?lang=pt":                     "Oh! Página não encontrada · Alvor",
	} {
		if h := headOf(t, request(t, s.Page, "GET", target).Body.String()); h["title"] != title {
			t.Errorf("%s: %q", target, h["title"])
		}
	}
}

// Proves P-found-gone, P-found-noindex.
func TestPrivatePagesAreNoindex(t *testing.T) {
	s := newServiceWith(t, dbtest.Open(t, db.SQLite), newFakeContent())
	for _, target := range []string{"/admin", "/admin/", "/admin/auth", "/admin/products?art=" + workID(1), "/nope", "/gallery/a/b", "/galleryx", "/gallery/all?art=" + workID(99), "/gallery/mural?art=%27%20or%201=1"} {
		page := request(t, s.Page, "GET", target).Body.String()
		h := headOf(t, page)
		if h["robots"] != "noindex" || len(h) != 2 || strings.Contains(page, "ld+json") {
			t.Errorf("%s: %v", target, h)
		}
	}
}

// Proves P-found-card.
//
// The fields of https://ogp.me and of the large card, each with a check of its value.
func TestShareCardsAreComplete(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newServiceWith(t, d, newFakeContent())
		address := func(text string) bool {
			u, err := url.Parse(text)
			return err == nil && u.Scheme == "https" && u.Host != ""
		}
		filled := func(text string) bool { return strings.TrimSpace(text) == text && text != "" }
		oneOf := func(texts ...string) func(string) bool {
			return func(text string) bool { return slices.Contains(texts, text) }
		}
		fields := map[string]func(string) bool{
			"og:title": filled, "og:type": oneOf("website"), "og:image": address, "og:url": address, // the four that are required
			"og:description": filled, "og:site_name": filled, "og:locale": oneOf("en_GB", "pt_PT"), "og:locale:alternate": oneOf("en_GB", "pt_PT"),
			"og:image:width": oneOf("1200", "512"), "og:image:height": oneOf("630", "512"), "og:image:alt": filled,
			"twitter:card": oneOf("summary", "summary_large_image"), "twitter:title": filled, "twitter:description": filled, "twitter:image": address, "twitter:image:alt": filled,
		}
		for _, path := range []string{"/", "/gallery", "/gallery/digital", "/gallery/mural", "/gallery/watercolour", "/politica-privacidade", "/gallery/mural?art=" + workID(1), "/gallery/all?art=" + workID(2)} {
			for _, l := range i18n.Languages {
				h := headOf(t, fetch(t, s.Page, localizePath(path, l)))
				for name, fits := range fields {
					if !fits(h[name]) {
						t.Errorf("%s %s: %s is %q", l, path, name, h[name])
					}
				}
				if large := h["og:image:width"] == "1200"; large != (h["twitter:card"] == "summary_large_image") || h["og:locale"] == h["og:locale:alternate"] || (h["og:locale"] == "pt_PT") != (l == i18n.PT) {
					t.Errorf("%s %s: %v", l, path, h)
				}
			}
		}
	})
}
