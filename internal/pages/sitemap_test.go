package pages

import (
	"encoding/xml"
	"net/http"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/settings"
	"atelie/internal/settings/settingstest"
)

// readMap is a sitemap as an XML parser that supports namespaces reads it.
type readMap struct {
	XMLName xml.Name
	URLs    []readURL `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 url"`
	Parts   []readURL `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 sitemap"`
}

// readURL is an entry of a sitemap.
type readURL struct {
	Address  string `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 loc"`
	Modified string `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 lastmod"`
	Links    []struct {
		Rel      string `xml:"rel,attr"`
		Language string `xml:"hreflang,attr"`
		Href     string `xml:"href,attr"`
	} `xml:"http://www.w3.org/1999/xhtml link"`
	Images []struct {
		Address string `xml:"http://www.google.com/schemas/sitemap-image/1.1 loc"`
	} `xml:"http://www.google.com/schemas/sitemap-image/1.1 image"`
}

// readSitemap returns the sitemap at a URL.
func readSitemap(t *testing.T, s *Service, target string) (m readMap) {
	t.Helper()
	if err := xml.Unmarshal([]byte(fetch(t, s.Sitemap, target)), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// Proves P-found-language, P-found-sitemap.
func TestTheSitemapNamesEveryPageInBothLanguages(t *testing.T) {
	s := newServiceWith(t, dbtest.Open(t, db.SQLite), newFakeContent())
	if err := settingstest.SaveSite(t.Context(), s.db, settings.Site{Name: "Alvor"}, day); err != nil {
		t.Fatal(err)
	}
	m := readSitemap(t, s, "/sitemap.xml")
	const root = "https://a.example"
	want := []struct {
		path     string
		modified time.Time
		images   int
	}{
		{"/", day.AddDate(0, 0, 9), 0}, {"/gallery/all", day.AddDate(0, 0, 9), 0}, {"/gallery/digital", day.AddDate(0, 0, 4), 0}, {"/gallery/mural", day.AddDate(0, 0, 9), 0},
		{"/gallery/watercolour", day.AddDate(0, 0, 2), 0}, {"/politica-privacidade", day, 0},
		{"/gallery/mural?art=" + workID(1), day.AddDate(0, 0, 9), 2}, {"/gallery/watercolour?art=" + workID(2), day.AddDate(0, 0, 2), 0}, {"/gallery/digital?art=" + workID(4), day.AddDate(0, 0, 4), 1},
	}
	if len(m.URLs) != 2*len(want) || m.XMLName.Local != "urlset" {
		t.Fatalf("%s of %d addresses: %+v", m.XMLName.Local, len(m.URLs), m.URLs)
	}
	for i, w := range want {
		for j, address := range []string{root + w.path, root + localizePath(w.path, "pt")} {
			u := m.URLs[2*i+j]
			links := map[string]string{}
			for _, l := range u.Links {
				links[l.Rel+" "+l.Language] = l.Href
			}
			if u.Address != address || u.Modified != formatTime(w.modified) || len(u.Images) != w.images || len(links) != 3 || links["alternate en"] != root+w.path ||
				links["alternate pt"] != root+localizePath(w.path, "pt") || links["alternate x-default"] != root+w.path {
				t.Errorf("%d: %+v, want %+v", i, u, w)
			}
		}
	}
	if m.URLs[12].Images[1].Address != root+"/large/known/near.jpg" {
		t.Errorf("%+v", m.URLs[12].Images)
	}
	empty := readSitemap(t, newServiceWith(t, dbtest.Open(t, db.SQLite), &fakeContent{}), "/sitemap.xml")
	if len(empty.URLs) != 6 || empty.URLs[0].Modified != "" {
		t.Errorf("without works: %+v", empty.URLs)
	}
}

// Proves P-found-sitemap.
//
// A scheduled work becomes visible without being written. The pages that list it were changed at that time.
func TestTheSitemapHasTheTimeOfAScheduledWork(t *testing.T) {
	content, published := newFakeContent(), day.AddDate(0, 0, 20)
	content.works[1].PublishedAt = published // the watercolour
	modified := map[string]string{}
	for _, u := range readSitemap(t, newServiceWith(t, dbtest.Open(t, db.SQLite), content), "/sitemap.xml").URLs {
		modified[strings.TrimPrefix(u.Address, "https://a.example")] = u.Modified
	}
	for path, want := range map[string]time.Time{"/": published, "/gallery/all": published, "/gallery/watercolour": published, "/gallery/mural": day.AddDate(0, 0, 9)} {
		if modified[path] != formatTime(want) {
			t.Errorf("%s: %s, want %s", path, modified[path], formatTime(want))
		}
	}
}

// Proves P-found-sitemap.
//
// With more works than a file may have, the sitemap is an index. Its files together have each work once, however few rows one query returns.
func TestLargeSitemapIsAnIndex(t *testing.T) {
	if 2*(sitemapWorks+6) > 50_000 {
		t.Errorf("a file may name %d addresses", 2*(sitemapWorks+6))
	}
	const size = 50
	many := &fakeContent{most: 30}
	for n := range size + 7 {
		many.works = append(many.works, work{ID: workID(n), Title: "W", Type: "mural", CreatedAt: day})
	}
	s := newServiceWith(t, dbtest.Open(t, db.SQLite), many)
	s.sitemapWorks = size
	index := readSitemap(t, s, "/sitemap.xml")
	if index.XMLName.Local != "sitemapindex" || len(index.Parts) != 2 {
		t.Fatalf("%s: %+v", index.XMLName.Local, index.Parts)
	}
	seen := map[string]bool{}
	for _, part := range index.Parts {
		file := fetch(t, s.Sitemap, strings.TrimPrefix(part.Address, "https://a.example"))
		var m readMap
		if err := xml.Unmarshal([]byte(file), &m); err != nil || len(m.URLs) > 2*(size+4) {
			t.Fatalf("%s: %v, %d addresses, %d bytes", part.Address, err, len(m.URLs), len(file))
		}
		for _, u := range m.URLs {
			if seen[u.Address] {
				t.Fatalf("%s occurs twice", u.Address)
			}
			seen[u.Address] = true
		}
	}
	if len(seen) != 2*(len(many.works)+4) { // home, two galleries, privacy
		t.Errorf("%d addresses", len(seen))
	}
	for _, part := range []string{"0", "3", "-1", "01", "+1", "x", "99999999999999999999", "1%00"} {
		if rec := request(t, s.Sitemap, http.MethodGet, "/sitemap.xml?part="+part); rec.Code != http.StatusNotFound {
			t.Errorf("part %s: %d", part, rec.Code)
		}
	}
}
