package pages

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
	"atelie/internal/i18n"
	"atelie/internal/settings"
	"atelie/internal/settings/settingstest"
)

// Proves P-types-pages.
func TestPagesFollowTheShownTypes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newServiceWith(t, d, newFakeContent())
		h := httpx.Handle(WriteError, s.Page)
		save := func(g settings.Gallery) {
			t.Helper()
			if err := settingstest.SaveSite(t.Context(), d, settings.Site{Name: "Alvor", Gallery: g}, day); err != nil {
				t.Fatal(err)
			}
		}
		save(settings.Gallery{})
		if page := sendRequest(h, "/gallery/oil").Body.String(); headOf(t, page)["canonical"] != "https://a.example/gallery/all" || !strings.Contains(page, `artwork_type`) {
			t.Errorf("a type that the gallery does not show: %v", headOf(t, page))
		}
		if rec := sendRequest(h, "/gallery/all?art="+workID(3)); rec.Code != http.StatusNotFound {
			t.Errorf("a hidden work: %d", rec.Code)
		}

		save(settings.Gallery{Types: []string{"oil", "acrylic"}})
		for target, want := range map[string]struct{ canonical, title, description string }{
			"/gallery/oil":                  {"/gallery/oil", "Oil · Gallery · Alvor", "Oil paintings by Alvor."},
			"/gallery/acrylic?lang=pt":      {"/gallery/acrylic?lang=pt", "Acrílico · Galeria · Alvor", "Pinturas a acrílico de Alvor."},
			"/gallery/mural":                {"/gallery/all", "Gallery · Alvor", "Oil paintings and acrylic paintings by Alvor."},
			"/gallery/all?art=" + workID(3): {"/gallery/oil?art=" + workID(3), "Hidden · Alvor", "Hidden · Oil"},
		} {
			rec := sendRequest(h, target)
			head := headOf(t, rec.Body.String())
			if rec.Code != http.StatusOK || head["canonical"] != "https://a.example"+want.canonical || head["title"] != want.title || !strings.HasPrefix(head["description"], want.description) {
				t.Errorf("%s: %d %+v", target, rec.Code, head)
			}
		}
		if rec := sendRequest(h, "/gallery/all?art="+workID(1)); rec.Code != http.StatusNotFound {
			t.Errorf("a mural, which the gallery does not show any more: %d", rec.Code)
		}
		if page := sendRequest(h, "/gallery/all").Body.String(); !strings.Contains(page, `"title":"Hidden"`) || strings.Contains(page, `"title":"Serra"`) || !strings.Contains(page, `"types":["oil","acrylic"]`) {
			t.Errorf("the data of the gallery: %s", page)
		}
		var addresses []string
		for _, u := range readSitemap(t, s, "/sitemap.xml").URLs {
			addresses = append(addresses, strings.TrimPrefix(u.Address, "https://a.example"))
		}
		for address, want := range map[string]bool{
			"/gallery/all": true, "/gallery/oil": true, "/gallery/acrylic": false, "/gallery/mural": false, // there is no acrylic work
			"/gallery/oil?art=" + workID(3): true, "/gallery/mural?art=" + workID(1): false,
		} {
			if slices.Contains(addresses, address) != want {
				t.Errorf("the sitemap names %s: %v", address, !want)
			}
		}
		if feed := fetch(t, s.Feed, "/feed.xml"); !strings.Contains(feed, "/gallery/oil?art="+workID(3)) || strings.Contains(feed, workID(1)) || !strings.Contains(feed, "Oil paintings and acrylic paintings") {
			t.Errorf("the feed: %s", feed)
		}
		if paths := renderedPathsOf(t, s); !slices.Contains(paths, "/gallery/oil") || slices.Contains(paths, "/gallery/mural") {
			t.Errorf("rendered pages: %v", paths)
		}
		if at, ok, err := s.LocateStatic(t.Context(), StaticView{Path: "/gallery/all", Language: "en", Work: workID(3)}); err != nil || !ok || at.Path != "/gallery/oil" {
			t.Errorf("the page of a work in the static copy: %+v, %v, %v", at, ok, err)
		}
	})
}

func renderedPathsOf(t *testing.T, s *Service) []string {
	t.Helper()
	site, err := s.pagesOf(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return site.serverRenderedPaths()
}

// Proves P-types-empty.
func TestEmptyTypesCanHaveNoButton(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newServiceWith(t, d, newFakeContent())
		h := httpx.Handle(WriteError, s.Page)
		types := []string{"acrylic", "mural", "oil"}
		for hide, want := range map[bool]bool{false: false, true: true} {
			if err := settingstest.SaveSite(t.Context(), d, settings.Site{Gallery: settings.Gallery{Types: types, HideEmpty: hide}}, day); err != nil {
				t.Fatal(err)
			}
			if page := sendRequest(h, "/gallery/all").Body.String(); strings.Contains(page, `"empty":["acrylic"]`) != want || strings.Contains(page, `"empty"`) != want {
				t.Errorf("hidden %v: %s", hide, page)
			}
		}
	})
}

func TestQueriesOfWorksFollowTheOwnersChoices(t *testing.T) {
	queries := func(g settings.Gallery, path string) string {
		p := newSitePages(testManifest, g).page(path)
		for _, q := range p.Queries {
			if q.Table == "products" {
				return q.Query
			}
		}
		t.Fatalf("%s lists no works", path)
		return ""
	}
	all := []string{"digital", "watercolour", "mural", "oil", "acrylic"}
	for _, c := range []struct {
		gallery    settings.Gallery
		path, want string
	}{
		{settings.Gallery{Types: []string{"digital", "mural", "watercolour"}, Order: settings.OrderNewest}, "/gallery/mural", "artwork_type=not.in.(oil,acrylic)&artwork_type=eq.mural&order=created_at.desc"},
		{settings.Gallery{Types: []string{"oil"}, Order: settings.OrderManual}, "/gallery/oil", "artwork_type=not.in.(digital,watercolour,mural,acrylic)&artwork_type=eq.oil&order=position.asc"},
		{settings.Gallery{Types: all, Order: settings.OrderNewest}, "/gallery/all", "artwork_type=not.is.null&order=created_at.desc"},
		{settings.Gallery{Types: all, Order: settings.OrderNewest}, "/", "is_featured=eq.true&order=created_at.desc"},
		{settings.Gallery{Types: all, Order: settings.OrderManual}, "/", "is_featured=eq.true&order=position.asc"},
		{settings.Gallery{Types: all, Order: settings.OrderNewest, StripOrder: settings.OrderManual}, "/", "is_featured=eq.true&order=position.asc"},
		{settings.Gallery{Types: all, Order: settings.OrderManual, StripOrder: settings.OrderNewest}, "/", "is_featured=eq.true&order=created_at.desc"},
	} {
		if got := queries(c.gallery, c.path); got != c.want {
			t.Errorf("%+v, %s: %s, want %s", c.gallery, c.path, got, c.want)
		}
	}
	changed := testManifest
	changed.Pages = slices.Clone(testManifest.Pages)
	changed.Pages[0].Queries = []pageQuery{{Table: "products", Query: "is_featured=eq.true&order=title"}}
	if err := changed.checkWorks(); err == nil {
		t.Error("a build with another order was accepted")
	}
}

func TestListOfTypes(t *testing.T) {
	for want, types := range map[string][]string{"Murais": {"mural"}, "Murais e aguarelas": {"mural", "watercolour"}, "Pinturas a óleo, murais e aguarelas": {"oil", "mural", "watercolour"}} {
		if got := listTypes(i18n.PT, types...); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
