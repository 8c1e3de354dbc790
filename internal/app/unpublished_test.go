package app

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// unpublishedSite has three works with a picture each: published.png, draft.png and scheduled.png. The draft and the published work also
// share the picture shared.png.
type unpublishedSite struct {
	*historySite
	anon, user, owner string // tokens
	cookie            *http.Cookie
}

func newUnpublishedSite(t *testing.T, dialect db.Dialect) *unpublishedSite {
	t.Helper()
	s := &unpublishedSite{historySite: newHistorySite(t, dialect, 0)}
	s.anon = key(t, s.App, identity.Anon)
	const email, password = "ines@example.pt", "a wall of whitewash"
	if err := s.Auth.AddOwner(t.Context(), email, password); err != nil {
		t.Fatal(err)
	}
	s.do("POST", "/auth/v1/admin/users", `{"email":"rui@example.pt","password":"`+password+`","email_confirm":true}`)
	signIn := func(email string) string {
		var session struct {
			AccessToken string `json:"access_token"`
		}
		if err := json.Unmarshal([]byte(s.do("POST", "/auth/v1/token?grant_type=password", `{"email":"`+email+`","password":"`+password+`"}`)), &session); err != nil || session.AccessToken == "" {
			t.Fatal(err)
		}
		return session.AccessToken
	}
	s.owner, s.user = signIn(email), signIn("rui@example.pt")
	for n, name := range []string{"published.png", "draft.png", "scheduled.png", "shared.png"} {
		s.upload(name, uint8(10*n))
	}
	s.store("wave.mp4", readFile(t, "../demo/content/noite-no-cais.mp4"))
	s.upload("wave.still.jpg", 90)
	url := func(name string) string { return `"` + historyBase + name + `"` }
	s.do("POST", "/rest/v1/products", `{"id":"`+workID(1)+`","title":"Visible","artwork_type":"mural","is_featured":true,"image_url":`+url("published.png")+`,"image_gallery":[`+url("shared.png")+`]}`)
	s.do("POST", "/rest/v1/products", `{"id":"`+workID(2)+`","title":"Secret draft","artwork_type":"mural","is_featured":true,"published_at":null,"image_url":`+url("draft.png")+`,"image_gallery":[`+url("shared.png")+`],"video_gallery":[`+url("wave.mp4")+`]}`)
	s.do("POST", "/rest/v1/products", `{"id":"`+workID(3)+`","title":"Secret later","artwork_type":"mural","is_featured":true,"published_at":"`+db.FormatTime(s.clock.Add(time.Hour))+`","image_url":`+url("scheduled.png")+`}`)
	list := s.as(s.owner, "GET", "/rest/v1/products?select=*,media", "")
	cookies := list.Result().Cookies()
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode || cookies[0].Path != "/storage/v1/" {
		t.Fatalf("cookies of the owner: %v", cookies)
	}
	s.cookie = cookies[0]
	return s
}

// as sends a request with a token; "" means without one.
func (s *unpublishedSite) as(token, method, target, body string) *httptest.ResponseRecorder {
	s.t.Helper()
	return s.with(token, nil, method, target, body)
}

func (s *unpublishedSite) with(token string, cookie *http.Cookie, method, target, body string) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), method, target, strings.NewReader(body))
	if body == "" {
		r.Body, r.ContentLength = http.NoBody, 0
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if cookie != nil {
		r.AddCookie(cookie)
	}
	r.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	s.Handler().ServeHTTP(rec, r)
	return rec
}

// fileTargets are all URLs at which a file could be read.
func fileTargets(name string) []string {
	const bucket = "/product-images/"
	targets := []string{
		"/storage/v1/object/public" + bucket + name, "/storage/v1/object/info/public" + bucket + name,
		"/storage/v1/object/authenticated" + bucket + name, "/storage/v1/object" + bucket + name, "/storage/v1/object/info" + bucket + name, "/storage/v1/object/info/authenticated" + bucket + name,
	}
	if !strings.HasSuffix(name, ".mp4") {
		targets = append(targets, "/storage/v1/render/image/public"+bucket+name+"?width=8", "/storage/v1/render/image/public"+bucket+name+"?width=8&v=0123456789abcdef", "/storage/v1/render/image/authenticated"+bucket+name+"?width=8")
	}
	return targets
}

// Proves F-unpublished.
//
// TestFilesOfUnpublishedWorksAreMissing checks that visitors get the same bytes for each URL of such a file as for a file that does not
// exist.
func TestFilesOfUnpublishedWorksAreMissing(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newUnpublishedSite(t, dialect)
			public := func(target string) bool {
				return strings.Contains(target, "/public/")
			}
			check := func(name, missing string, visible bool) {
				t.Helper()
				for who, token := range map[string]string{"nobody": "", "anonymous": s.anon, "user": s.user} {
					for i, target := range fileTargets(name) {
						if token == "" && !public(target) {
							continue
						}
						for _, method := range []string{"GET", "HEAD"} {
							got, none := s.as(token, method, target, ""), s.as(token, method, fileTargets(missing)[i], "")
							if visible {
								if got.Code != http.StatusOK {
									t.Errorf("%s: %s %s: %d %s", who, method, target, got.Code, got.Body)
								}
							} else if got.Code != none.Code || got.Code < 400 || strings.ReplaceAll(got.Body.String(), name, missing) != none.Body.String() {
								t.Errorf("%s: %s %s: %d %s, a missing file %d %s", who, method, target, got.Code, got.Body, none.Code, none.Body)
							}
						}
					}
				}
				for who, token := range map[string]string{"anonymous": s.anon, "user": s.user} {
					for _, call := range [][2]string{
						{"/storage/v1/object/sign/product-images/", `{"expiresIn":60}`}, {"/storage/v1/object/sign/product-images/", `{"expiresIn":60,"transform":{"width":8}}`},
					} {
						got, none := s.as(token, "POST", call[0]+name, call[1]), s.as(token, "POST", call[0]+missing, call[1])
						if (got.Code == http.StatusOK) != visible || (!visible && got.Body.String() != none.Body.String()) {
							t.Errorf("%s signs %s: %d %s", who, name, got.Code, got.Body)
						}
					}
					got := s.as(token, "POST", "/storage/v1/object/sign/product-images", `{"expiresIn":60,"paths":["`+name+`"]}`)
					if strings.Contains(got.Body.String(), "token=") != visible {
						t.Errorf("%s signs %s among others: %s", who, name, got.Body)
					}
				}
			}
			owners := func(name string) {
				t.Helper()
				for _, target := range fileTargets(name) {
					if rec := s.as(s.token, "GET", target, ""); !public(target) && rec.Code != http.StatusOK {
						t.Errorf("service: %s: %d %s", target, rec.Code, rec.Body)
					}
					if rec := s.as(s.owner, "GET", target, ""); !public(target) && rec.Code != http.StatusOK {
						t.Errorf("owner: %s: %d %s", target, rec.Code, rec.Body)
					}
					if rec := s.with("", s.cookie, "GET", target, ""); public(target) && (rec.Code != http.StatusOK || strings.Contains(rec.Header().Get("Cache-Control"), "public")) {
						t.Errorf("owner's browser: %s: %d %s %s", target, rec.Code, rec.Body, rec.Header().Get("Cache-Control"))
					}
				}
			}
			for _, name := range []string{"draft.png", "scheduled.png", "wave.still.jpg"} {
				owners(name) // requested first, to check that these responses are not cached for visitors
				check(name, "none"+name[strings.LastIndexByte(name, '.'):], false)
			}
			owners("wave.mp4")
			check("wave.mp4", "none.mp4", false)
			check("published.png", "none.png", true)
			check("shared.png", "none.png", true)

			// A URL that an owner has signed works for everybody. A URL that somebody else signed before the work was hidden does not.
			sign := func(token, name, body string) string {
				t.Helper()
				var signed struct{ SignedURL string }
				rec := s.as(token, "POST", "/storage/v1/object/sign/product-images/"+name, body)
				if err := json.Unmarshal(rec.Body.Bytes(), &signed); err != nil || signed.SignedURL == "" {
					t.Fatal(rec.Code, rec.Body)
				}
				return "/storage/v1" + signed.SignedURL
			}
			for _, body := range []string{`{"expiresIn":600}`, `{"expiresIn":600,"transform":{"width":8}}`} {
				if rec := s.as("", "GET", sign(s.owner, "draft.png", body), ""); rec.Code != http.StatusOK {
					t.Errorf("signed by the owner: %d %s", rec.Code, rec.Body)
				}
			}
			before := []string{sign(s.anon, "published.png", `{"expiresIn":600}`), sign(s.anon, "published.png", `{"expiresIn":600,"transform":{"width":8}}`)}
			s.do("PATCH", "/rest/v1/products?id=eq."+workID(1), `{"published_at":null}`)
			check("published.png", "none.png", false)
			check("shared.png", "none.png", false)
			for _, target := range before {
				if rec := s.as("", "GET", target, ""); rec.Code == http.StatusOK {
					t.Errorf("signed before: %d", rec.Code)
				}
			}
			s.do("PATCH", "/rest/v1/products?id=eq."+workID(1), `{"published_at":"now"}`)
			check("published.png", "none.png", true)

			// The file is visible if a review uses it, or the portrait in the settings.
			s.do("POST", "/rest/v1/reviews", `{"client_name":"A","message":"B","image_url":"`+historyBase+`draft.png"}`)
			check("draft.png", "none.png", true)
			s.do("DELETE", "/rest/v1/reviews?client_name=eq.A", "")
			check("draft.png", "none.png", false)

			// At its time, the file of a scheduled work becomes visible.
			s.clock = s.clock.Add(2 * time.Hour)
			if _, err := s.Tables.ApplyScheduled(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.anon, s.user = key(t, s.App, identity.Anon), key(t, s.App, identity.Anon) // the user's session has expired
			check("scheduled.png", "none.png", true)

			// The cookie ends with the session.
			forged := *s.cookie
			forged.Value = forged.Value[:len(forged.Value)-4] + "AAAA"
			s.exec("delete from auth_sessions")
			for name, cookie := range map[string]*http.Cookie{"signed out": s.cookie, "forged": &forged, "empty": {Name: s.cookie.Name}} {
				if rec := s.with("", cookie, "GET", historyBase+"draft.png", ""); rec.Code == http.StatusOK {
					t.Errorf("%s: %d", name, rec.Code)
				}
			}
			if cookies := s.as(s.anon, "GET", "/rest/v1/products", "").Result().Cookies(); len(cookies) > 0 {
				t.Errorf("a visitor gets %v", cookies)
			}
		})
	}
}

func (s *unpublishedSite) exec(query string) {
	s.t.Helper()
	if err := db.Exec(s.t.Context(), s.DB, query); err != nil {
		s.t.Fatal(err)
	}
}

// Proves P-published-nowhere.
//
// TestUnpublishedWorksAreNowhere publishes and unpublishes works. No page, file or response for visitors may contain a text or a picture
// of a work that is not published.
func TestUnpublishedWorksAreNowhere(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newUnpublishedSite(t, dialect)
			background, stop := context.WithCancel(t.Context())
			var running sync.WaitGroup
			defer running.Wait()
			defer stop()
			running.Go(func() { s.content.Run(background) })
			// A series whose first works and cover are hidden.
			s.do("POST", "/rest/v1/series", `{"id":"`+workID(9)+`","slug":"coast","title":"Coast","is_published":true,"cover_id":"`+workID(2)+`"}`)
			for _, n := range []int{2, 3, 1} {
				s.do("POST", "/rest/v1/series_works", `{"series_id":"`+workID(9)+`","product_id":"`+workID(n)+`"}`)
			}
			targets := []string{
				"/", "/?lang=pt", "/gallery/all", "/gallery/mural", "/gallery/all?art=" + workID(1), "/gallery/mural?lang=pt", "/feed.xml", "/feed.xml?lang=pt", "/sitemap.xml",
				"/rest/v1/products", "/rest/v1/products?select=*,media&is_featured=eq.true&order=created_at.desc", "/rest/v1/products?order=published_at.desc.nullsfirst",
				"/gallery/all?series=coast", "/gallery/mural?series=coast&lang=pt", "/gallery/all?series=coast&art=" + workID(1), "/rest/v1/series_works", "/rest/v1/series_works?select=*,artwork_type,is_visible&order=position",
			}
			// These name no work, so they need not name the visible one.
			others := []string{"/privacy", "/robots.txt", "/site.webmanifest", "/rest/v1/series", "/rest/v1/series?select=*,types,image_url", "/rest/v1/reviews", "/rest/v1/cover_images"}
			// read returns what the anon key gets, or a signed-in user who is not the owner.
			read := func(target, token string) string {
				t.Helper()
				if !strings.HasPrefix(target, "/rest/") {
					token = ""
				}
				return s.as(token, "GET", target, "").Body.String()
			}
			names := map[string][]string{"Secret draft": {workID(2), "draft.png", "wave"}, "Secret later": {workID(3), "scheduled.png"}}
			check := func(when string, visible map[string]bool) {
				t.Helper()
				for i, target := range append(slices.Clone(targets), others...) {
					for _, token := range []string{s.anon, s.user} {
						text := read(target, token)
						for title, parts := range names {
							for _, part := range append([]string{title}, parts...) {
								if !visible[title] && strings.Contains(text, part) {
									t.Errorf("%s: %s contains %s", when, target, part)
								}
							}
						}
						if i < len(targets) && !strings.Contains(text, workID(1)) {
							t.Errorf("%s: %s lacks the published work: %s", when, target, text)
						}
					}
				}
				for id, title := range map[string]string{workID(2): "Secret draft", workID(3): "Secret later"} {
					rec := s.as("", "GET", "/gallery/mural?art="+id, "")
					if (rec.Code == http.StatusOK) != visible[title] || strings.Contains(rec.Body.String(), title) != visible[title] {
						t.Errorf("%s: the URL of %s has the status %d", when, title, rec.Code)
					}
					text := read("/rest/v1/products?select=title,is_featured&order=title&id=eq."+id, s.user)
					if strings.Contains(text, title) != visible[title] {
						t.Errorf("%s: %s", when, text)
					}
					if visible[title] {
						for _, target := range targets[:4] {
							if !strings.Contains(read(target, s.anon), title) {
								t.Errorf("%s: %s lacks %s", when, target, title)
							}
						}
					}
				}
			}
			later := func() { s.clock = s.clock.Add(2 * time.Second) } // sitemap and feed are cached for a second
			check("at first", nil)
			s.do("PATCH", "/rest/v1/products?id=eq."+workID(2), `{"published_at":"now"}`)
			later()
			check("the draft published", map[string]bool{"Secret draft": true})
			s.do("PATCH", "/rest/v1/products?id=eq."+workID(2), `{"published_at":null}`)
			later()
			check("and hidden again", nil)
			s.clock = s.clock.Add(2 * time.Hour)
			s.user = s.anon // the session of the user has expired
			check("due, and not yet published", nil)
			if _, err := s.Tables.ApplyScheduled(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.anon = key(t, s.App, identity.Anon)
			s.user = s.anon
			later()
			check("at its time", map[string]bool{"Secret later": true})
		})
	}
}

// Proves P-published-nowhere.
//
// TestSeriesPagesNameNoUnpublishedCover checks that the page of a series does not contain the id of its cover, a draft.
func TestSeriesPagesNameNoUnpublishedCover(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newUnpublishedSite(t, dialect)
			s.do("POST", "/rest/v1/series", `{"id":"`+workID(9)+`","slug":"coast","title":"Coast","cover_id":"`+workID(2)+`"}`)
			s.do("POST", "/rest/v1/series_works", `{"series_id":"`+workID(9)+`","product_id":"`+workID(1)+`"}`)
			for _, target := range []string{"/gallery/all?series=coast", "/gallery/mural?series=coast&lang=pt"} {
				text := s.as("", "GET", target, "").Body.String()
				if !strings.Contains(text, workID(1)) || strings.Contains(text, workID(2)) {
					t.Errorf("%s lacks the published work, or names the draft: %s", target, text)
				}
			}
		})
	}
}

// Proves H-archive-unpublished.
//
// TestArchivesKeepTheVisibilityOfWorks checks that the public pages of an archive do not contain a draft, although its row and files are in the
// archive. An import restores the visibility of works, also a time that has passed meanwhile. It publishes the works of archives from
// versions without visibility.
func TestArchivesKeepTheVisibilityOfWorks(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newUnpublishedSite(t, dialect)
			_, entries := exportSite(t, s.App)
			visible, rows := 0, 0
			for name, text := range entries {
				switch {
				case strings.HasPrefix(name, "tables/"):
					rows += strings.Count(text, `"title":"Secret`)
				case strings.HasSuffix(name, ".html"):
					visible += strings.Count(text, "Visible")
					for _, part := range []string{"Secret", workID(2), workID(3), "draft.png", "scheduled.png"} {
						if strings.Contains(text, part) {
							t.Errorf("%s contains %s", name, part)
						}
					}
				}
			}
			if visible == 0 || rows != 2 {
				t.Errorf("the published work is %d times in the pages, and %d unpublished ones in the rows", visible, rows)
			}

			other := newApp(t, dialect)
			id := func(n int, more string) string {
				return `{"id":"` + workID(n) + `","title":"` + strconv.Itoa(n) + `","created_at":"2026-01-02T03:04:05+00:00"` + more + "}"
			}
			from := smallArchive(t, map[string]string{"products": "[" + id(1, "") + "," + id(2, `,"published_at":null,"is_published":false`) + "," +
				id(3, `,"published_at":"2999-01-01T00:00:00+00:00","is_published":false`) + "," + id(4, `,"published_at":"2026-01-02T03:04:05+00:00","is_published":false`) + "]"})
			if err := importAll(t.Context(), other, from, noReport); err != nil {
				t.Fatal(err)
			}
			if _, err := other.Tables.ApplyScheduled(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := sendRequest(other, "GET", "/rest/v1/products?select=title&order=title", key(t, other, identity.Anon)).Body.String(); got != `[{"title":"1"},{"title":"4"}]` {
				t.Error(got)
			}
			forged := smallArchive(t, map[string]string{"products": "[" + id(1, `,"published_at":null,"is_published":true`) + "]"})
			if err := importAll(t.Context(), newApp(t, dialect), forged, noReport); err == nil {
				t.Error("a draft was published")
			}
		})
	}
}
