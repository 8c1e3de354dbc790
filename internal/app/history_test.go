package app

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atelie/internal/config"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
	"atelie/internal/storage"
)

// historySite is a new site without content. The test sets its clock.
type historySite struct {
	*App
	t     *testing.T
	clock time.Time
	token string // the service key
}

// historyBase precedes the names of files in their public URLs.
const historyBase = "/storage/v1/object/public/product-images/"

func newHistorySite(t *testing.T, dialect db.Dialect, quota config.Bytes) *historySite {
	t.Helper()
	s := &historySite{t: t, clock: time.Now()}
	cfg := configuration(t)
	cfg.Database.URL, cfg.Storage.Quota = dbtest.URL(t, dialect), quota
	s.App = newAppOf(t, cfg, func() time.Time { return s.clock })
	s.token = key(t, s.App, identity.Service)
	return s
}

// send sends a request with the service key.
func (s *historySite) send(method, target, body string) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	s.Handler().ServeHTTP(rec, r)
	return rec
}

// do sends a request as send does, fails the test unless the response is a success, and returns the body.
func (s *historySite) do(method, target, body string) string {
	s.t.Helper()
	rec := s.send(method, target, body)
	if rec.Code >= 300 {
		s.t.Fatalf("%s %s: %d %s", method, target, rec.Code, rec.Body)
	}
	return rec.Body.String()
}

// upload stores a small black picture with one grey pixel. Pictures of different shades have different bytes.
func (s *historySite) upload(name string, shade uint8) {
	s.t.Helper()
	img := image.NewGray(image.Rect(0, 0, 8, 8))
	img.Set(1, 1, color.Gray{shade})
	var picture bytes.Buffer
	err := png.Encode(&picture, img)
	if strings.HasSuffix(name, ".jpg") {
		picture.Reset()
		err = jpeg.Encode(&picture, img, nil)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.Storage.Put(s.t.Context(), identity.Caller{Role: identity.Service}, "product-images", name, &picture, -1, storage.PutOptions{Upsert: true}); err != nil {
		s.t.Fatal(err)
	}
}

// public returns the bytes at a file's public URL, or "" if there is no such file.
func (s *historySite) public(name string) string {
	s.t.Helper()
	rec := sendRequest(s.App, "GET", historyBase+name, "")
	if rec.Code != http.StatusOK {
		return ""
	}
	return rec.Body.String()
}

func (s *historySite) restore(urls ...string) (missing []string) {
	s.t.Helper()
	body, err := json.Marshal(map[string][]string{"urls": urls})
	if err != nil {
		s.t.Fatal(err)
	}
	var response struct{ Missing []string }
	if err := json.Unmarshal([]byte(s.do("POST", "/rest/v1/rpc/restore_files", string(body))), &response); err != nil || response.Missing == nil {
		s.t.Fatalf("%v %v", response, err)
	}
	return response.Missing
}

func (s *historySite) count(query string) int {
	s.t.Helper()
	n, err := db.One[int](s.t.Context(), s.DB, query)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// Proves A-history-files.
func TestRemovedFilesStayWhileARevisionRefersToThem(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newHistorySite(t, dialect, 0)
			const work = "11111111-1111-4111-8111-111111111111"
			s.upload("a%20b.png", 1) // a name that URLs encode differently
			s.upload("ã-1.png", 2)
			s.upload("wave.still.jpg", 3)
			s.upload("never.png", 4)
			urls := []string{historyBase + "a%2520b.png", "http://site.example" + historyBase + "%C3%A3-1.png", historyBase + "wave.mp4"}
			first, second := s.public("a%2520b.png"), s.public("%C3%A3-1.png")
			if first == "" || second == "" || first == second {
				t.Fatal("the pictures are not there to begin with")
			}
			s.do("POST", "/rest/v1/products", `{"id":"`+work+`","title":"Onda","image_url":"`+urls[0]+`","image_gallery":["`+urls[1]+`"],"video_gallery":["`+urls[2]+`"]}`)

			// As a form does, save the work without the files, and then remove the files.
			s.do("PATCH", "/rest/v1/products?id=eq."+work, `{"image_url":null,"image_gallery":[],"video_gallery":[]}`)
			s.do("DELETE", "/storage/v1/object/product-images", `{"prefixes":["a%20b.png","ã-1.png","wave.still.jpg","never.png"]}`)
			for _, name := range []string{"a%2520b.png", "%C3%A3-1.png", "wave.still.jpg", "never.png"} {
				if s.public(name) != "" {
					t.Errorf("%s is still at its public URL", name)
				}
			}
			if n := s.count("select count(*) from storage_objects"); n != 3 {
				t.Errorf("%d files are kept, want those of the revision and the still of its film", n)
			}
			if rec := s.send("GET", "/storage/v1/bucket", ""); strings.Contains(rec.Body.String(), "kept") {
				t.Errorf("the place of removed files is listed: %s", rec.Body)
			}
			for _, target := range []string{"/storage/v1/object/%09kept/x", "/storage/v1/bucket/%09kept", "/storage/v1/object/public/%09kept/x", "/storage/v1/render/image/public/%09kept/x"} {
				if rec := s.send("GET", target, ""); rec.Code < 400 {
					t.Errorf("%s: %d", target, rec.Code)
				}
			}
			s.maintain(t.Context())

			if missing := s.restore(append(urls, historyBase+"never.png", "https://elsewhere.example/x.png")...); len(missing) != 2 || missing[0] != urls[2] || missing[1] != historyBase+"never.png" {
				t.Errorf("missing: %v", missing) // the video itself was never uploaded
			}
			if s.public("a%2520b.png") != first || s.public("%C3%A3-1.png") != second {
				t.Error("the files are not back")
			}
			if missing := s.restore(urls[:2]...); len(missing) != 0 {
				t.Errorf("files that are there are missing: %v", missing)
			}
			s.do("PATCH", "/rest/v1/products?id=eq."+work, `{"image_url":"`+urls[0]+`","image_gallery":["`+urls[1]+`"]}`)

			// The files of a deleted work are removed after 48 hours and kept for the revision.
			s.do("DELETE", "/rest/v1/products?id=eq."+work, "")
			s.clock = s.clock.Add(49 * time.Hour)
			s.maintain(t.Context())
			if s.public("a%2520b.png") != "" {
				t.Error("the deleted work's picture is public")
			}
			var deleted []struct {
				RowBefore json.RawMessage `json:"row_before"`
			}
			if err := json.Unmarshal([]byte(s.do("POST", "/rest/v1/rpc/get_deleted", `{"table":"products"}`)), &deleted); err != nil || len(deleted) != 1 {
				t.Fatalf("%v %v", deleted, err)
			}
			if missing := s.restore(urls[:2]...); len(missing) != 0 {
				t.Errorf("missing: %v", missing)
			}
			s.do("POST", "/rest/v1/products", string(deleted[0].RowBefore))
			if s.public("a%2520b.png") != first || !strings.Contains(s.do("GET", "/rest/v1/products?select=title", ""), "Onda") {
				t.Error("the work is not back")
			}

			// After the retention no file is left.
			s.do("DELETE", "/rest/v1/products?id=eq."+work, "")
			s.clock = s.clock.Add(31 * 24 * time.Hour)
			s.maintain(t.Context())
			for _, table := range []string{"row_history", "storage_kept", "storage_objects", "media", "storage_trash"} {
				if n := s.count("select count(*) from " + table); n != 0 {
					t.Errorf("%s: %d rows", table, n)
				}
			}
		})
	}
}

// Proves A-history-files.
func TestKeptFilesAreNotInTheQuota(t *testing.T) {
	s := newHistorySite(t, db.SQLite, 150)
	s.upload("a.png", 1)
	s.do("POST", "/rest/v1/reviews", `{"client_name":"Rui","message":"Gostei.","image_url":"`+historyBase+`a.png"}`)
	s.do("DELETE", "/rest/v1/reviews?client_name=eq.Rui", "")
	s.do("DELETE", "/storage/v1/object/product-images/a.png", "")
	s.upload("b.png", 2) // the quota has room immediately
	if rec := s.send("POST", "/rest/v1/rpc/restore_files", `{"urls":["`+historyBase+`a.png"]}`); rec.Code != http.StatusRequestEntityTooLarge || s.public("a.png") != "" {
		t.Errorf("over the quota: %d %s", rec.Code, rec.Body)
	}
	s.do("DELETE", "/storage/v1/object/product-images/b.png", "")
	if missing := s.restore(historyBase + "a.png"); len(missing) != 0 || s.public("a.png") == "" {
		t.Error("the file is not back")
	}
}

// Proves A-history-1.
//
// TestRevisionsNameTheAccount covers changes through the tables and the settings.
func TestRevisionsNameTheAccount(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newHistorySite(t, dialect, 0)
			const email, password = "ines@example.pt", "a wall of whitewash"
			if err := s.Auth.AddOwner(t.Context(), email, password); err != nil {
				t.Fatal(err)
			}
			var session struct {
				AccessToken string `json:"access_token"`
			}
			service := s.token
			s.token = key(t, s.App, identity.Anon)
			if err := json.Unmarshal([]byte(s.do("POST", "/auth/v1/token?grant_type=password", `{"email":"`+email+`","password":"`+password+`"}`)), &session); err != nil {
				t.Fatal(err)
			}
			s.token = session.AccessToken
			const id = "11111111-1111-4111-8111-111111111111"
			s.do("POST", "/rest/v1/products", `{"id":"`+id+`","title":"Onda"}`)
			s.do("PATCH", "/rest/v1/products?id=eq."+id, `{"title":"Maré"}`)
			for _, name := range []string{"Alvor", "Sal"} {
				var now struct{ Version string }
				if err := json.Unmarshal([]byte(s.do("POST", "/rest/v1/rpc/get_site_settings", "{}")), &now); err != nil {
					t.Fatal(err)
				}
				s.do("POST", "/rest/v1/rpc/save_site_settings", `{"version":"`+now.Version+`","settings":{"site":{"name":"`+name+`"}}}`)
			}
			s.token = service
			s.do("DELETE", "/rest/v1/products?id=eq."+id, "")
			s.token = session.AccessToken
			type revision struct {
				Action string
				Actor  *string
			}
			read := func(body string) (all []revision) {
				if err := json.Unmarshal([]byte(s.do("POST", "/rest/v1/rpc/get_history", body)), &all); err != nil {
					t.Fatal(err)
				}
				return all
			}
			if all := read(`{"table":"products","id":"` + id + `"}`); len(all) != 2 || all[0].Actor != nil || all[1].Actor == nil || *all[1].Actor != email {
				t.Errorf("%+v", all)
			}
			if all := read(`{"table":"site_settings"}`); len(all) != 1 || all[0].Actor == nil || *all[0].Actor != email {
				t.Errorf("%+v", all)
			}
		})
	}
}

// Proves A-history-1, A-history-series.
//
// A move is a call of a function, while works are added and removed through the table.
func TestAnAccountsChangesOfASeriesAreOneRevision(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newActivitySite(t, dialect)
			fillSeries(t, s.App, 4)
			if err := db.Exec(t.Context(), s.DB, "delete from row_history"); err != nil {
				t.Fatal(err)
			}
			pairs, err := db.Collect(t.Context(), s.DB, db.ScanOne[string], "select cast(id as text) from series_works where series_id = $1 order by position", lightSeries)
			if err != nil || len(pairs) != 4 {
				t.Fatalf("%q %v", pairs, err)
			}
			do := func(method, target, body string) []byte {
				t.Helper()
				rec := s.send(method, "/rest/v1/"+target, s.owner, body)
				if rec.Code >= 300 {
					t.Fatalf("%s %s: %d %s", method, target, rec.Code, rec.Body)
				}
				return rec.Body.Bytes()
			}
			do("DELETE", "series_works?id=eq."+pairs[0], "")
			do("POST", "rpc/move_series_work", `{"ids":["`+pairs[1]+`"],"place":"last","target":null}`)
			do("DELETE", "series_works?id=eq."+pairs[2], "")
			var revisions []struct {
				Actor *string
			}
			if err := json.Unmarshal(do("POST", "rpc/get_history", `{"table":"series","id":"`+lightSeries+`"}`), &revisions); err != nil {
				t.Fatal(err)
			}
			if len(revisions) != 1 || revisions[0].Actor == nil || *revisions[0].Actor != "ana@alvor.example" {
				t.Errorf("%d revisions: %+v", len(revisions), revisions)
			}
		})
	}
}
