package app

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// Proves P-cover-times, F-cover-times, H-archive-cover-times.
//
// TestCoversOutsideOfTheirTimeAreNowhere checks that neither a text nor the file of a cover is on a page, in a response to visitors or in
// the public pages of an archive, before and after the time of the cover. The owner can read all of it.
func TestCoversOutsideOfTheirTimeAreNowhere(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newUnpublishedSite(t, dialect)
			background, stop := context.WithCancel(t.Context())
			var running sync.WaitGroup
			defer running.Wait()
			defer stop()
			running.Go(func() { s.content.Run(background) })
			// hour returns the time in n hours as JSON.
			hour := func(n int) string { return `"` + db.FormatTime(s.clock.Add(time.Duration(n)*time.Hour)) + `"` }
			files := map[string]string{"Always": "always.png", "Secret soon": "soon.png", "Secret past": "past.png", "Until noon": "noon.png"}
			times := map[string]string{
				"Secret soon": `,"visible_from":` + hour(1), "Secret past": `,"visible_from":` + hour(-2) + `,"visible_until":` + hour(-1), "Until noon": `,"visible_from":` + hour(-1) + `,"visible_until":` + hour(1),
			}
			for title, name := range files {
				s.upload(name, uint8(len(title)))
				s.do("POST", "/rest/v1/cover_images", `{"title":"`+title+`","image_url":"`+historyBase+name+`","media_type":"image","display_order":1`+times[title]+`}`)
			}
			ownerList := s.as(s.owner, "GET", "/rest/v1/cover_images?select=*,media", "")
			cookies := ownerList.Result().Cookies()
			if len(cookies) != 1 || cookies[0].Name != ownerCookie || strings.Count(ownerList.Body.String(), `"title":`) != len(files) {
				t.Fatalf("the owner's covers: %v %s", cookies, ownerList.Body)
			}
			check := func(when string, visible ...string) {
				t.Helper()
				isVisible := map[string]bool{}
				for _, title := range visible {
					isVisible[title] = true
				}
				for _, target := range []string{
					"/", "/?lang=pt", "/gallery/all", "/sitemap.xml", "/feed.xml",
					"/rest/v1/cover_images", "/rest/v1/cover_images?select=*,media&is_active=eq.true&order=display_order.asc", "/rest/v1/cover_images?order=visible_until.asc.nullslast",
				} {
					for _, token := range []string{s.anon, s.user} {
						if !strings.HasPrefix(target, "/rest/") {
							token = ""
						}
						text := s.as(token, "GET", target, "").Body.String()
						for title, name := range files {
							if !isVisible[title] && (strings.Contains(text, title) || strings.Contains(text, name)) {
								t.Errorf("%s: %s contains %s", when, target, title)
							}
							if isVisible[title] && (target == "/" || strings.HasPrefix(target, "/rest/")) && !strings.Contains(text, title) {
								t.Errorf("%s: %s lacks %s", when, target, title)
							}
						}
					}
				}
				for title, name := range files {
					for i, target := range fileTargets(name) {
						if !strings.Contains(target, "/public/") {
							continue
						}
						got, none := s.as("", "GET", target, ""), s.as("", "GET", fileTargets("none.png")[i], "")
						if isVisible[title] && got.Code != http.StatusOK || !isVisible[title] && (got.Code != none.Code || strings.ReplaceAll(got.Body.String(), name, "none.png") != none.Body.String()) {
							t.Errorf("%s: %s: %d %s", when, target, got.Code, got.Body)
						}
						if got := s.with("", cookies[0], "GET", target, ""); got.Code != http.StatusOK {
							t.Errorf("%s: the owner's browser gets %d for %s", when, got.Code, target)
						}
					}
				}
			}
			check("at first", "Always", "Until noon")
			s.checkStaticCopy("Always", "Secret", "soon.png", "past.png")

			// A file that another row uses stays visible.
			s.do("POST", "/rest/v1/reviews", `{"client_name":"A","message":"B","image_url":"`+historyBase+`soon.png"}`)
			if s.public("soon.png") == "" {
				t.Error("the file of a review is missing")
			}
			s.do("DELETE", "/rest/v1/reviews?client_name=eq.A", "")

			s.clock = s.clock.Add(90 * time.Minute)
			if _, err := s.Tables.ApplyScheduled(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.anon, s.user = key(t, s.App, identity.Anon), key(t, s.App, identity.Anon) // the user's session has expired
			check("ninety minutes later", "Always", "Secret soon")
		})
	}
}

// checkStaticCopy exports the site, and checks that its public pages contain visible and none of the hidden texts.
func (s *unpublishedSite) checkStaticCopy(visible string, hidden ...string) {
	s.t.Helper()
	_, entries := exportSite(s.t, s.App)
	found := false
	for name, text := range entries {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		found = found || strings.Contains(text, visible)
		for _, part := range hidden {
			if strings.Contains(text, part) {
				s.t.Errorf("%s contains %s", name, part)
			}
		}
	}
	if !found {
		s.t.Errorf("no page contains %s", visible)
	}
}

// An import restores the times of covers, also times that have passed meanwhile. Covers of archives without times get none.
func TestImportsKeepTheTimesOfCovers(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newApp(t, dialect)
			cover := func(n int, more string) string {
				return `{"id":"` + workID(n) + `","image_url":"/a.jpg","is_active":true,"title":"` + string(rune('A'+n)) + `","created_at":"2026-01-02T03:04:05+00:00"` + more + "}"
			}
			const past, future = `"2026-01-02T03:04:05+00:00"`, `"2999-01-01T00:00:00+00:00"`
			from := smallArchive(t, map[string]string{"cover_images": "[" + cover(0, "") + "," + cover(1, `,"visible_from":`+future+`,"has_begun":false`) + "," +
				cover(2, `,"visible_from":`+past+`,"has_begun":false`) + "," + cover(3, `,"visible_until":`+past+`,"has_ended":false`) + "]"})
			if err := importAll(t.Context(), a, from, noReport); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Tables.ApplyScheduled(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := sendRequest(a, "GET", "/rest/v1/cover_images?select=title&order=title", key(t, a, identity.Anon)).Body.String(); got != `[{"title":"A"},{"title":"C"}]` {
				t.Error(got)
			}
		})
	}
}

// Proves A-cov-13.
//
// TestACoverKeepsItsCopyOfAWorksPicture deletes a work and its file, and removes unused files. The cover must still show its copy of the
// work's picture.
func TestACoverKeepsItsCopyOfAWorksPicture(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newHistorySite(t, dialect, 0)
			s.upload("onda.png", 1)
			before := s.public("onda.png")
			s.do("POST", "/rest/v1/products", `{"id":"`+workID(1)+`","title":"Onda","image_url":"`+historyBase+`onda.png"}`)
			s.do("POST", "/storage/v1/object/copy", `{"bucketId":"product-images","sourceKey":"onda.png","destinationKey":"copy.png","destinationBucket":"cover-images"}`)
			s.do("POST", "/storage/v1/object/copy", `{"bucketId":"product-images","sourceKey":"onda.png","destinationKey":"unused.png","destinationBucket":"cover-images"}`)
			const covers = "/storage/v1/object/public/cover-images/"
			s.do("POST", "/rest/v1/cover_images", `{"image_url":"`+covers+`copy.png","media_type":"image","display_order":1}`)
			s.do("DELETE", "/rest/v1/products?id=eq."+workID(1), "")
			s.do("DELETE", "/storage/v1/object/product-images/onda.png", "")
			s.clock = s.clock.Add(49 * time.Hour)
			s.token = key(t, s.App, identity.Service)
			if err := s.collectFiles(t.Context()); err != nil {
				t.Fatal(err)
			}
			if s.public("onda.png") != "" {
				t.Error("the work's file is still there")
			}
			if rec := sendRequest(s.App, "GET", covers+"copy.png", ""); rec.Code != http.StatusOK || rec.Body.String() != before {
				t.Errorf("the cover's file: %d", rec.Code)
			}
			if rec := sendRequest(s.App, "GET", covers+"unused.png", ""); rec.Code == http.StatusOK {
				t.Error("a copy that no cover uses is still there")
			}
		})
	}
}
