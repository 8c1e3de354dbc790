package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"atelie/internal/archive"
	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/settings"
	"atelie/internal/settings/settingstest"
)

const (
	lightSeries = "00000000-0000-4000-8000-0000000000a1"
	darkSeries  = "00000000-0000-4000-8000-0000000000a2"
)

func seriesWorkID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// fillSeries stores the works 0 to n-1, alternately murals and watercolours. The published lightSeries has all of them, the last one first.
// The hidden darkSeries has the work 0.
func fillSeries(t *testing.T, a *App, n int) {
	t.Helper()
	var works, pairs []map[string]any
	for i := range n {
		works = append(works, map[string]any{"id": seriesWorkID(i), "title": fmt.Sprintf("Work %d.", i), "artwork_type": []string{"mural", "watercolour"}[i%2], "created_at": time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC)})
		pairs = append(pairs, map[string]any{"series_id": lightSeries, "product_id": seriesWorkID(n - 1 - i)})
	}
	for _, insert := range []struct {
		table string
		rows  []map[string]any
	}{
		{"products", works},
		{"series", []map[string]any{
			{"id": lightSeries, "slug": "light-on-lime", "title": "Light on lime", "title_pt": nil, "text": "What the sun does.", "text_pt": "O que o sol faz."},
			{"id": darkSeries, "slug": "dark", "title": "Dark secret", "title_pt": nil, "text": nil, "text_pt": nil, "is_published": false},
		}},
		{"series_works", append(pairs, map[string]any{"series_id": darkSeries, "product_id": seriesWorkID(0)})},
	} {
		for rows := range slices.Chunk(insert.rows, 200) { // the limit of rows in a request
			if err := a.Tables.InsertRows(t.Context(), identity.Caller{Role: identity.Service}, insert.table, rows); err != nil {
				t.Fatal(err)
			}
		}
	}
}

var (
	bootElement = regexp.MustCompile(`<script type="application/json" id="boot">(.*?)</script>`)
	metaTag     = regexp.MustCompile(`<title>(.*?)</title>|<meta name="(?:description|robots)" content="(.*?)">|<link rel="canonical" href="(.*?)">`)
)

// bootOf returns the boot data of a page, and the result of the query with a key.
func bootOf(t *testing.T, a *App, target string, key ...any) (status int, page, data string) {
	t.Helper()
	rec := sendRequest(a, "GET", target, "")
	page = rec.Body.String()
	found := bootElement.FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("%s: %d without boot data", target, rec.Code)
	}
	var boot struct{ Queries [][]json.RawMessage }
	if err := json.Unmarshal([]byte(found[1]), &boot); err != nil {
		t.Fatal(err)
	}
	wanted, err := json.Marshal(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range boot.Queries {
		if string(q[0]) == string(wanted) {
			data = string(q[1])
		}
	}
	return rec.Code, page, data
}

// Proves P-series.
func TestTheGalleryShowsASeriesInItsOwnOrder(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			clock := time.Now()
			a := newAppAt(t, dialect, func() time.Time { return clock })
			withoutRendering(t, a)
			fillSeries(t, a, 100)
			if err := settingstest.SaveSite(t.Context(), a.DB, settings.Site{Name: "Alvor"}, time.Now()); err != nil {
				t.Fatal(err)
			}
			titles := func(data string) (first string, rows, total int) {
				t.Helper()
				var page struct {
					Rows  []struct{ Title string }
					Total int
				}
				if err := json.Unmarshal([]byte(data), &page); err != nil {
					t.Fatalf("%q: %v", data, err)
				}
				if len(page.Rows) > 0 {
					first = page.Rows[0].Title
				}
				return first, len(page.Rows), page.Total
			}
			for _, c := range []struct {
				filter      string
				first       string
				rows, total int
			}{{"all", "Work 99.", 48, 100}, {"mural", "Work 98.", 48, 50}} {
				status, _, data := bootOf(t, a, "/gallery/"+c.filter+"?series=light-on-lime", "products", "series", c.filter, "light-on-lime", 0)
				if first, rows, total := titles(data); status != http.StatusOK || first != c.first || rows != c.rows || total != c.total {
					t.Errorf("%s: %d, %d of %d works from %q", c.filter, status, rows, total, first)
				}
			}
			if _, page, data := bootOf(t, a, "/gallery/mural", "series", "gallery", "mural"); !strings.HasPrefix(data, `[{"id":"`+lightSeries+`","slug":"light-on-lime","title":"Light on lime"`) || strings.Contains(page, "Dark secret") || strings.Contains(page, "series_works") {
				t.Errorf("the row of series: %s", data)
			}
			for target, want := range map[string]string{
				"/gallery/mural?series=light-on-lime":       "Light on lime · Gallery · Alvor|What the sun does.|https://alvor.example/gallery/all?series=light-on-lime",
				"/gallery/all?lang=pt&series=light-on-lime": "Light on lime · Galeria · Alvor|O que o sol faz.|https://alvor.example/gallery/all?series=light-on-lime&amp;lang=pt",
				"/gallery/all?series=dark":                  "Gallery · Alvor|noindex",
				"/gallery/mural?series=Not+a+slug":          "Mural · Gallery · Alvor|noindex",
			} {
				status, page, _ := bootOf(t, a, target)
				var head []string
				for _, m := range metaTag.FindAllStringSubmatch(page, -1) {
					head = append(head, m[1]+m[2]+m[3])
				}
				if got := strings.ReplaceAll(strings.Join(head, "|"), "http://site.example", "https://alvor.example"); got != want {
					t.Errorf("%s: the head is %q, want %q", target, got, want)
				}
				wantStatus := http.StatusOK
				if strings.HasSuffix(want, "noindex") {
					wantStatus = http.StatusNotFound
				}
				if status != wantStatus || strings.Contains(page, `"noSeries":true`) != (status == http.StatusNotFound) || strings.Contains(page, "Dark secret") {
					t.Errorf("%s: status %d, %s", target, status, bootElement.FindString(page))
				}
				if again := sendRequest(a, "GET", target, "").Code; again != wantStatus {
					t.Errorf("%s: %d at first, then %d", target, status, again)
				}
			}
			for _, target := range []string{"/", "/?lang=pt", "/gallery/all", "/gallery/mural?lang=pt", "/feed.xml", "/feed.xml?lang=pt", "/sitemap.xml"} {
				if text := sendRequest(a, "GET", target, "").Body.String(); strings.Contains(text, "Dark secret") || strings.Contains(text, "series=dark") || strings.Contains(text, darkSeries) {
					t.Errorf("%s tells of the hidden series: %s", target, text)
				}
			}
			// Pages that were made before follow each change of the series and of its works.
			sitemap := func() int {
				return strings.Count(sendRequest(a, "GET", "/sitemap.xml", "").Body.String(), "<loc>http://site.example/gallery/all?series=")
			}
			if got := sitemap(); got != 2 {
				t.Errorf("the sitemap has %d addresses of series", got)
			}
			for _, step := range []struct {
				statement string
				status    int
				total     int
				mapped    int
			}{
				{"delete from series_works where product_id = '" + seriesWorkID(99) + "'", http.StatusOK, 99, 2},
				{"update products set published_at = null, is_published = false where id = '" + seriesWorkID(98) + "'", http.StatusOK, 98, 2},
				{"update series set is_published = false where id = '" + lightSeries + "'", http.StatusNotFound, 0, 0},
				{"update series set is_published = true where id = '" + darkSeries + "'", http.StatusNotFound, 0, 2},
				{"update products set artwork_type = 'oil'", http.StatusNotFound, 0, 0},
			} {
				if dialect == db.SQLite {
					step.statement = strings.NewReplacer("= false", "= 0", "= true", "= 1").Replace(step.statement)
				}
				if _, err := a.DB.Exec(t.Context(), step.statement); err != nil {
					t.Fatal(err)
				}
				clock = clock.Add(2 * time.Second) // the sitemap is made once a second
				status, _, data := bootOf(t, a, "/gallery/all?series=light-on-lime", "products", "series", "all", "light-on-lime", 0)
				if status == http.StatusOK {
					if _, _, total := titles(data); total != step.total {
						t.Errorf("%s: %d works", step.statement, total)
					}
				}
				if got := sitemap(); status != step.status || got != step.mapped {
					t.Errorf("%s: status %d and %d addresses in the sitemap", step.statement, status, got)
				}
			}
		})
	}
}

// Proves P-plain-read.
//
// TestAWorkIsShownOverASeriesWithoutIt requests the URL of a work and of a series that does not have the work any more. The series is so
// short that the page has all its works.
func TestAWorkIsShownOverASeriesWithoutIt(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newApp(t, dialect)
			withoutRendering(t, a)
			fillSeries(t, a, 3)
			target := "/gallery/all?series=light-on-lime&art=" + seriesWorkID(1)
			check := func(separately bool) {
				t.Helper()
				status, _, data := bootOf(t, a, target, "products", "gallery-work", "all", seriesWorkID(1))
				if status != http.StatusOK || strings.Contains(data, seriesWorkID(1)) != separately {
					t.Errorf("%d, %q", status, data)
				}
			}
			check(false) // the work is among those of the series
			if _, err := a.DB.Exec(t.Context(), "delete from series_works where product_id = $1", seriesWorkID(1)); err != nil {
				t.Fatal(err)
			}
			check(true)
		})
	}
}

// Proves P-series-slug.
//
// TestOldSlugsOfSeriesRedirect checks that an old slug redirects to the current slug of a series that visitors can see. It also checks
// that the page of a series of a thousand works shows the first of them.
func TestOldSlugsOfSeriesRedirect(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newApp(t, dialect)
			withoutRendering(t, a)
			fillSeries(t, a, 1000)
			rename := func(series, slug string) {
				t.Helper()
				if _, err := a.DB.Exec(t.Context(), "update series set slug = $1 where id = $2", slug, series); err != nil {
					t.Fatal(err)
				}
			}
			check := func(name, target string, status int, location string) {
				t.Helper()
				rec := sendRequest(a, "GET", target, "")
				if h := rec.Header(); rec.Code != status || h.Get("Location") != location || location != "" && h.Get("Cache-Control") != "no-cache" || strings.Contains(rec.Body.String(), "Dark secret") {
					t.Errorf("%s: %d to %q (%s), want %d to %q", name, rec.Code, h.Get("Location"), h.Get("Cache-Control"), status, location)
				}
			}
			const first = "/gallery/mural?series=light-on-lime"
			check("the first slug", first, http.StatusOK, "")
			rename(lightSeries, "light")
			rename(darkSeries, "darker")
			check("another slug", first, http.StatusMovedPermanently, "/gallery/mural?series=light")
			check("in Portuguese, with a work", "/gallery/all?lang=pt&art="+strings.ToUpper(seriesWorkID(3))+"&series=light-on-lime", http.StatusMovedPermanently, "/gallery/all?series=light&art="+seriesWorkID(3)+"&lang=pt")
			check("a hidden series", "/gallery/all?series=dark", http.StatusNotFound, "")
			check("what never was a slug", "/gallery/all?series=lime", http.StatusNotFound, "")
			rename(lightSeries, "lime")
			check("two slugs later", first, http.StatusMovedPermanently, "/gallery/mural?series=lime")
			check("the last one", "/gallery/mural?series=light", http.StatusMovedPermanently, "/gallery/mural?series=lime")
			rename(darkSeries, "light")
			check("a slug that a hidden series has now", "/gallery/mural?series=light", http.StatusNotFound, "")
			rename(lightSeries, "light-on-lime")
			status, _, data := bootOf(t, a, first, "products", "series", "mural", "light-on-lime", 0)
			var page struct {
				Rows  []json.RawMessage
				Total int
			}
			if err := json.Unmarshal([]byte(data), &page); err != nil || status != http.StatusOK || len(page.Rows) != 48 || page.Total != 500 {
				t.Errorf("the first slug again: %d, %d of %d works, %v", status, len(page.Rows), page.Total, err)
			}
			check("the slug between", "/gallery/mural?series=lime", http.StatusMovedPermanently, "/gallery/mural?series=light-on-lime")
			rest := sendRequest(a, "GET", "/rest/v1/series_old_slugs", "")
			if rest.Code != http.StatusNotFound && rest.Code != http.StatusUnauthorized {
				t.Errorf("the table of old slugs: %d", rest.Code)
			}
			if _, err := a.DB.Exec(t.Context(), "delete from series where id = $1", lightSeries); err != nil {
				t.Fatal(err)
			}
			check("a deleted series", "/gallery/mural?series=lime", http.StatusNotFound, "")
		})
	}
}

// Proves H-archive-series.
func TestArchivesHaveSeries(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newApp(t, dialect)
			fillSeries(t, a, 60)
			for _, slug := range []string{"lime", "light-on-lime"} {
				if _, err := a.DB.Exec(t.Context(), "update series set slug = $1 where id = $2", slug, lightSeries); err != nil {
					t.Fatal(err)
				}
			}
			// A series whose slug is that of the long one with a number, as the form suggests for a second series with the same title.
			const second = "00000000-0000-4000-8000-0000000000a3"
			for _, insert := range []struct {
				table string
				row   map[string]any
			}{
				{"series", map[string]any{"id": second, "slug": "light-on-lime-2", "title": "Light on lime", "title_pt": nil, "text": nil, "text_pt": nil}},
				{"series_works", map[string]any{"series_id": second, "product_id": seriesWorkID(0)}},
			} {
				if err := a.Tables.InsertRows(t.Context(), identity.Caller{Role: identity.Service}, insert.table, []map[string]any{insert.row}); err != nil {
					t.Fatal(err)
				}
			}
			file, entries := exportSite(t, a)
			for name, text := range entries {
				if strings.HasSuffix(name, ".html") && strings.Contains(text, "Dark secret") {
					t.Errorf("%s shows a hidden series", name)
				}
			}
			for _, name := range []string{"site/gallery/all-series-light-on-lime.html", "site/gallery/all-series-light-on-lime--2.html", "site/gallery/all-series-light-on-lime-2.html", "site/pt/gallery/mural-series-light-on-lime.html"} {
				if _, ok := entries[name]; !ok {
					t.Errorf("the static copy has no %s", name)
				}
			}
			from, err := archive.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = from.Close() }()
			if err := from.Verify(t.Context(), noReport); err != nil {
				t.Fatal(err)
			}
			other := newApp(t, dialect)
			if err := importAll(t.Context(), other, from, noReport); err != nil {
				t.Fatal(err)
			}
			for _, table := range []string{"series", "series_works", "series_old_slugs"} {
				rows := func(of *App) (all []string) {
					t.Helper()
					if err := db.ReadJSON(t.Context(), of.DB, of.DB.Dialect, table, func(row json.RawMessage) error {
						all = append(all, string(row))
						return nil
					}); err != nil {
						t.Fatal(err)
					}
					return all
				}
				if before, after := rows(a), rows(other); len(before) == 0 || strings.Join(before, "\n") != strings.Join(after, "\n") {
					t.Errorf("%s: %d rows became %d: %s", table, len(before), len(after), after)
				}
			}
		})
	}
}
