package storage

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/storage/storagetest"
)

// listAll requests all pages of a list and returns the names in order, with the folders of a page before its objects. options is the beginning
// of the request's JSON.
func (s *site) listAll(options string) string {
	s.T.Helper()
	var names []string
	cursor := ""
	for range 50 {
		text, err := json.Marshal(cursor)
		if err != nil {
			s.T.Fatal(err)
		}
		rec := s.Call("admin", "POST", "/object/list-v2/product-images", strings.NewReader(`{`+options+`"cursor":`+string(text)+`}`))
		var response listV2Response
		storagetest.Decode(s.T, rec, &response)
		if rec.Code != 200 || response.Folders == nil || response.Objects == nil || response.HasNext != (response.NextCursor != "") {
			s.T.Fatalf("%d %s", rec.Code, rec.Body)
		}
		for _, f := range response.Folders {
			names = append(names, f.Name)
		}
		for _, o := range response.Objects {
			names = append(names, o.Name)
		}
		if cursor = response.NextCursor; cursor == "" {
			break
		}
	}
	return strings.Join(names, " ")
}

// Proves F-list-v2, F-download-version, F-list-who.
func TestListingV2(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		start := s.Clock
		for i, name := range []string{"b.png", "A.png", "praia/mar.png", "praia/2026/a.png", "praia/2026/b.png", "praia0.png", "p.png", "%C3%A9.png"} {
			s.Clock = start.Add(time.Duration(i/2) * time.Minute)
			s.UploadFile("product-images/"+name, storagetest.PNG(i+1, 1))
		}
		s.UploadFile("cover-images/other.png", storagetest.PNG(1, 1))
		for _, c := range []struct{ options, want string }{
			{``, "A.png b.png p.png praia/2026/a.png praia/2026/b.png praia/mar.png praia0.png é.png"},
			{`"sortBy":{"column":"name","order":"desc"},`, "é.png praia0.png praia/mar.png praia/2026/b.png praia/2026/a.png p.png b.png A.png"},
			{`"prefix":"pr",`, "praia/2026/a.png praia/2026/b.png praia/mar.png praia0.png"},
			{`"prefix":"/praia/",`, "praia/2026/a.png praia/2026/b.png praia/mar.png"},
			{`"prefix":"praia/","with_delimiter":true,`, "praia/2026/ praia/mar.png"},
			{`"prefix":"none",`, ""},
			{`"sortBy":{"column":"created_at"},`, "A.png b.png praia/2026/a.png praia/mar.png praia/2026/b.png praia0.png p.png é.png"},
			{`"sortBy":{"column":"updated_at","order":"desc"},`, "é.png p.png praia0.png praia/2026/b.png praia/mar.png praia/2026/a.png b.png A.png"},
			{`"with_delimiter":true,"sortBy":{"column":"created_at","order":"desc"},`, "praia/ é.png p.png praia0.png b.png A.png"},
		} {
			for _, limit := range []string{"", `"limit":1,`, `"limit":2,`, `"limit":3,`, `"limit":9999,`} {
				if got := s.listAll(limit + c.options); got != c.want {
					t.Errorf("%s%s\n got %s\nwant %s", limit, c.options, got, c.want)
				}
			}
		}
		if got := s.listAll(`"limit":1,"with_delimiter":true,`); got != "A.png b.png p.png praia/ praia0.png é.png" {
			t.Error(got)
		}
		o := s.Object("product-images", "praia/mar.png")
		storagetest.WantJSON(t, s.Call("service", "POST", "/object/list-v2/product-images", strings.NewReader(`{"prefix":"praia/","with_delimiter":true}`)), map[string]any{
			"hasNext": false, "folders": []any{map[string]any{"name": "praia/2026/", "key": "2026"}},
			"objects": []any{map[string]any{"id": o.ID, "name": "praia/mar.png", "key": "mar.png", "created_at": "2026-03-12T10:01:00.000Z", "updated_at": "2026-03-12T10:01:00.000Z",
				"last_accessed_at": "2026-03-12T10:01:00.000Z", "metadata": metadataOf(&o)}},
		})
		for _, who := range []string{"anon", "user"} {
			storagetest.WantJSON(t, s.Call(who, "POST", "/object/list-v2/product-images", strings.NewReader(`{}`)), map[string]any{"hasNext": false, "folders": []any{}, "objects": []any{}})
		}
		storagetest.Refused(t, s.Call("expired", "POST", "/object/list-v2/product-images", strings.NewReader(`{}`)), "401", "Unauthorized")
		for body, word := range map[string]string{
			`{"limit":0}`: "InvalidParameter", `{"cursor":"*"}`: "InvalidParameter", `{"cursor":"e30","sortBy":{"column":"created_at"}}`: "InvalidParameter", `{"cursor":"eyJ0IjoiMjAyNi0wMS0wMVQwMDowMDowMFoifQ"}`: "InvalidParameter",
			`{"cursor":"eyJuIjoiXHUwMDAwIn0"}`: "InvalidParameter", `{"sortBy":{"column":"size"}}`: "InvalidParameter", `{"sortBy":{"order":"up"}}`: "InvalidParameter", `{"prefix":"\u0000"}`: "InvalidParameter",
			`{"noncurrentVersions":"include"}`: "FeatureNotEnabled", `{"with_delimiter":"yes"}`: "InvalidRequest",
		} {
			storagetest.Refused(t, s.Call("admin", "POST", "/object/list-v2/product-images", strings.NewReader(body)), "400", word)
		}
	})
}

// Proves F-list-v2.
//
// TestListOmitsNothingWhileObjectsAreRemoved removes each entry after it was listed, and checks that all others are listed.
func TestListOmitsNothingWhileObjectsAreRemoved(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for i := range 6 {
			s.UploadFile(fmt.Sprintf("product-images/%d.png", i), storagetest.PNG(2, 2))
		}
		seen, cursor := 0, ""
		for range 10 {
			var response listV2Response
			storagetest.Decode(t, s.Call("admin", "POST", "/object/list-v2/product-images", strings.NewReader(`{"limit":2,"cursor":"`+cursor+`"}`)), &response)
			for _, o := range response.Objects {
				seen++
				s.Call("admin", "DELETE", "/object/product-images/"+o.Name, nil)
			}
			if cursor = response.NextCursor; cursor == "" {
				break
			}
		}
		if seen != 6 {
			t.Errorf("%d seen", seen)
		}
	})
}
